"""Intervals for a count that was shown because its noisy count reached a threshold, from the known law of the noise."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.noise.laws import DiscreteLaplace, Law


def conditional(law: Law, threshold: int, y: Array, level: float) -> tuple[Array, Array]:
    """Limits for the counts N >= 0 behind y = N + Z that were kept as y >= threshold, arrays of the shape of y.

    Lower: the least N with P(Y >= y | Y >= T) > a = (1 - level) / 2; this rises with N, as both laws of noise have a
    monotone likelihood ratio.  Upper: the greatest with P(Y <= y) > a, of any cell, kept or not: it fails among kept
    cells with probability (F(y*) - F(T - 1)) / (1 - F(T - 1)) <= F(y*) <= a, y* being the greatest y that it misses.
    So each end fails with probability a at most among cells that are kept, whatever N is.

    >>> from fractions import Fraction
    >>> conditional(DiscreteLaplace(Fraction(2)), 30, np.array([30.0, 60.0]), 0.95)
    (array([ 0., 54.]), array([36., 66.]))
    """
    a, T = (1 - level) / 2, float(threshold)
    # logs, as both tails may underflow; at N = y the condition holds, P(Z >= 0) being above 1/2 > a
    low = _first(lambda N: _log_sf(law, y - 1 - N) - _log_sf(law, T - 1 - N) > math.log(a), np.full_like(y, -1.0), y)
    # P(Y <= y) = P(Z <= y - N) > a for N up to y + d, where d is the greatest with P(Z <= -d) > a
    return low, y + reach(law, a)


def absent(law: Law, threshold: int, level: float) -> float:
    """The greatest N >= 0 that stays below the threshold with probability above 1 - level; 0 where there is none."""
    # one-sided: nothing bounds a count that did not pass from below but 0
    return max(0.0, threshold - 1 + reach(law, 1 - level))


def reach(law: Law, a: float) -> float:
    """Return the greatest d with P(Z <= -d) > a."""
    # 80 scales out tails are below 1e-34, less than any 1 - level in floats
    far = np.array([80 * float(law.scale) + 2])
    return float(_first(lambda d: law.cdf(-d) <= a, -far, far)[0]) - 1


def _first(holds: Callable[[Array], NDArray[np.bool_]], low: Array, high: Array) -> Array:
    """The least whole N in (low, high] from which on a condition holds, element by element; it holds at `high`."""
    low, high = np.floor(low), np.ceil(high)
    # invariant: the condition fails at `low`, or `low` is before the first N, and holds at `high`
    while (apart := high - low > 1).any():
        middle = np.floor((low + high) / 2)
        yes = holds(middle)
        low, high = np.where(apart & ~yes, middle, low), np.where(apart & yes, middle, high)
    return high


def _log_sf(law: Law, k: Array) -> Array:
    """Log P(Z > k), in the far tail too."""
    if isinstance(law, DiscreteLaplace):
        a = float(1 / law.scale)
        # q = exp(-a): q**(k + 1) / (1 + q) for k >= 0, and 1 - q**(-k) / (1 + q) below
        # k is cut so that the branch that is not taken stays finite
        far = -(np.maximum(k, -1) + 1) * a - math.log1p(math.exp(-a))
        near = np.log1p(-np.exp(np.minimum(k, -1) * a) / (1 + math.exp(-a)))
        return np.where(k >= 0, far, near)
    from scipy.special import log_ndtr  # pyright: ignore

    return np.asarray(log_ndtr(-(k + 0.5) * float(1 / law.scale)), dtype=np.float64)

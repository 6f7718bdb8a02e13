"""Limits and p-values of a binomial probability: Clopper and Pearson's, their mid-p form, and the randomised one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import special

STEPS = 60
"""Bisections of [0, 1]."""


def limits(counts: Array, sizes: Array, level: float, part: float | Array) -> Array:
    """Return limits of the probability of a success, shape (m, 2), from `counts` successes of `sizes`, shape (m,).

    The lower limit solves P(X > x) + u P(X = x) = (1 - level) / 2, the upper one P(X < x) + (1 - u) P(X = x) = the
    same. part: u and 1 - u at once: 1 takes the whole of P(X = x) in both (Clopper & Pearson), 1/2 half of it (mid-p),
    a uniform number u for the lower and 1 - u for the upper limit (Stevens), for which the level is exact.

    >>> limits(np.array([0.0]), np.array([10.0]), 0.95, 1.0).round(4).tolist()  # 1 - 0.025^(1/10)
    [[0.0, 0.3085]]
    """
    tail = (1 - level) / 2
    whole = isinstance(part, float) and part == 1.0
    below, above = (1.0, 1.0) if whole else (part, 1 - part)
    lower = _solved(lambda x: _from(counts, sizes, x, below) - tail, len(counts))
    # P(X < x) + v P(X = x) is 1 less P(X > x) + (1 - v) P(X = x)
    upper = _solved(lambda x: tail - (1 - _from(counts, sizes, x, 1 - above)), len(counts))
    # with no success (no failure) even all of P(X = x) leaves nothing to solve at the end of [0, 1]
    least, most = np.zeros(len(counts)), np.ones(len(counts))
    lower = np.where(_from(counts, sizes, least, below) >= tail, 0.0, lower)
    upper = np.where(1 - _from(counts, sizes, most, 1 - above) >= tail, 1.0, upper)
    return np.stack([lower, upper], axis=-1)


def mid_p_value(count: int, size: int, probability: float) -> float:
    """Return the two-sided mid-p value of `count` successes of `size` for a probability of success.

    >>> round(mid_p_value(5, 10, 0.5), 6)
    1.0
    """
    if not 0 < probability < 1:
        return float(count == size) if probability >= 1 else float(count == 0)
    above = float(_from(np.array([float(count)]), np.array([float(size)]), np.array([probability]), 0.5)[0])
    return min(1.0, 2 * min(above, 1 - above))


def _from(counts: Array, sizes: Array, probability: Array, part: float | Array) -> Array:
    """Return P(X > x) + part P(X = x), increasing in the probability of success."""
    lib = special()
    # P(X >= x) = I_p(x, n - x + 1)
    at_least = np.where(counts <= 0, 1.0, lib.betainc(np.maximum(counts, 0.5), sizes - counts + 1, probability))
    more = np.where(counts >= sizes, 0.0, lib.betainc(counts + 1, np.maximum(sizes - counts, 0.5), probability))
    return np.asarray(more + part * (at_least - more))


def _solved(rising: Callable[[Array], Array], size: int) -> Array:
    """Return where an increasing function of an array crosses 0, by bisection of [0, 1]."""
    low, high = np.zeros(size), np.ones(size)
    for _ in range(STEPS):
        middle = (low + high) / 2
        above = rising(middle) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return (low + high) / 2

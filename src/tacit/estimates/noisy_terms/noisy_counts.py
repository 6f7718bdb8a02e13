"""Exact intervals for a proportion or a rate when its count carries integer noise.  Pure array functions.

X = S + z with S binomial (n public) or Poisson, z independent noise of known law.  P_p(X <= k) falls and P_p(X >= k)
rises in p, so both tails are inverted: [low, high] with P_low(X >= k) = P_high(X <= k) = alpha / 2, which covers with
probability at least 1 - alpha for every p, as Clopper-Pearson does without noise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.total_errors.error_laws import halfwidth, split, tail
from tacit.noise.laws import Law

NDArrayBool: TypeAlias = NDArray[np.bool_]

EXACT: Final = 1e4
"""S of larger variance is taken as normal: its skewness then changes a tail of 0.025 by less than 0.0003."""
ROWS: Final = 256
"""Counts handled together, which bounds the memory of a table of probabilities."""
STEPS: Final = 44
"""Bisection steps: limits are found to 2**-44 of the range."""


def lower_tail(k: Array, p: Array, n: int | None, law: Law, *, mid: bool = False) -> Array:
    """Return P(S + z <= k), elementwise, shapes (m,); S ~ Binomial(n, p), or Poisson(p) where n is None.

    mid: with half of P(S + z = k) only.
    """
    mean, variance = _moments(p, n)
    out = np.empty_like(p)
    large = variance > EXACT
    if large.any():
        out[large] = _smooth_tail(k[large] + (0 if mid else 0.5), mean[large], variance[large], law)
    index = np.flatnonzero(~large)
    index = index[np.argsort(variance[index])]  # counts whose windows have similar lengths are handled together
    for start in range(0, index.size, ROWS):
        some = index[start : start + ROWS]
        out[some] = _window_tail(k[some], p[some], n, law, mid)
    return out


def _moments(p: Array, n: int | None) -> tuple[Array, Array]:
    """Return mean and variance of S: binomial, or Poisson where n is None."""
    return (p, p) if n is None else (n * p, n * p * (1 - p))


def _window_tail(k: Array, p: Array, n: int | None, law: Law, mid: bool) -> Array:
    """Return the sum of pmf(j) P(z <= k - j) over a window of j that holds all but 1e-12 of the law of S."""
    mean, variance = _moments(p, n)
    # one width for the whole group, that of its largest variance; 40 covers the skewness of small Poisson means
    reach = int(np.ceil(8 * np.sqrt(variance.max()) + 40))
    first = np.floor(mean) - reach
    last = np.floor(mean) + reach
    # the support {0, ..., n} is shorter than the window
    if n is not None and n <= 2 * reach:
        first, last = np.zeros_like(mean), np.full_like(mean, float(n))
    j: Array = first[:, None] + np.arange(float((last - first).max()) + 1)
    mass = _poisson(j, p[:, None]) if n is None else _binomial(j, n, p[:, None])
    # P(S + z <= k) = sum_j P(S = j) P(z <= k - j)
    left = (k[:, None] - j).astype(np.int64)
    below = (law.cdf(left) + law.cdf(left - 1)) / 2 if mid else law.cdf(left)
    return (mass * below).sum(axis=1)


def _poisson(j: Array, mean: Array) -> Array:
    """Return P(S = j) of a Poisson variable, 0 for negative j."""
    from scipy import special  # pyright: ignore[reportMissingTypeStubs]

    known: Any = special
    # negative j stay out of the gamma function; their mass is 0
    k = np.maximum(j, 0.0)
    return np.where(j < 0, 0.0, np.exp(known.xlogy(k, mean) - known.gammaln(k + 1) - mean))


def _binomial(j: Array, n: int, p: Array) -> Array:
    """Return P(S = j) of a binomial variable, 0 outside {0, ..., n}."""
    from scipy import stats  # pyright: ignore[reportMissingTypeStubs]

    return cast(Any, stats).binom.pmf(j, n, p)


def _smooth_tail(k: Array, mean: Array, variance: Array, law: Law) -> Array:
    """Return P(S + z <= k) with S taken as normal: k has the continuity correction of half a unit."""
    x = k - mean
    s, b = split(law, np.ones(1))
    above = tail(np.abs(x), np.sqrt(variance + s**2), b)
    return np.where(x >= 0, 1 - above, above)


def interval(k: Array, n: int | None, law: Law, level: float, *, mid: bool = False) -> tuple[Array, Array]:
    """Return lower and upper limits of p (of the Poisson mean where n is None) from noisy counts, shape (m,).

    A count that the noise moved out of [0, n] gets the interval of 0 or n: wider, and never empty.
    mid: count half of P(X = k) in both tails [Lancaster 1961]: nearer to the level, which is then no lower bound.
    """
    possible = np.clip(np.asarray(k, np.float64), 0, np.inf if n is None else n)
    # equal counts have equal intervals: each is searched once
    unique, back = np.unique(possible, return_inverse=True)
    half = (1 - level) / 2
    end = np.ones_like(unique)
    if n is None:
        # an upper end beyond the limit: the noise's far quantile, then ten Poisson standard deviations
        reach = unique + float(halfwidth(1 - half / 50, *split(law, np.ones(1)))) + 40
        end = reach + 10 * np.sqrt(reach)
    # P(X >= k) = 1 - P(X <= k - 1), for the counts are integers; with half of P(X = k) in both tails k stays
    less = unique if mid else unique - 1
    high = _crossing(end, lambda p: lower_tail(unique, p, n, law, mid=mid) >= half)
    low = _crossing(end, lambda p: 1 - lower_tail(less, p, n, law, mid=mid) < half)
    return low[back], high[back]


def _crossing(end: Array, before: Callable[[Array], NDArrayBool]) -> Array:
    """Return where `before` turns from true to false on [0, end], by bisection; 0 if never true, `end` if always."""
    low, high = np.zeros_like(end), end.copy()
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        yes = before(middle)
        low, high = np.where(yes, middle, low), np.where(yes, high, middle)
    return np.where(low <= 0, 0.0, np.where(high >= end, end, 0.5 * (low + high)))

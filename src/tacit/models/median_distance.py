"""Expected mean distance of Laplace rows from their own median, in scales; exact up to EXACT rows.

The distances from the median of t rows add up to twice the upper m = floor(t / 2) rows, in expectation (the law is
symmetric).  Given that N rows are above the centre, these are N exponential draws, and t - N below: with harmonic
numbers H the largest m of N add up to m (1 + H_N - H_m).  Where N < m, the sum is N less the smallest m - N of the
M = t - N rows below, which add up to m - N - (t - m) (H_M - H_{t - m}).  Odd t have the expectation of t - 1.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.lazy_imports import jax
from tacit.models.boxes import Array

EXACT: Final = 1_024
"""Largest number of rows in the table; the expansion used beyond it is exact to within 1e-8."""


def expected(count: Any) -> Any:
    """Return the expected mean distance of `count` rows from their median, in scales (JAX)."""
    lib = jax().numpy
    even = lib.maximum(count - count % 2, 2)
    small = lib.asarray(table())[lib.clip(even, 0, EXACT) // 2]
    # expansion for large t; its first term is the bias of -1/2 scale of `Laplace.bias_form`
    far = 1 - 0.5 / even - np.sqrt(2 / np.pi) / 3 * even**-1.5 + 0.26 / even**2
    return lib.where(even <= EXACT, small, far)


@lru_cache(maxsize=1)
def table() -> Array:
    """Return the expectations for 0, 2, 4, ..., EXACT rows.

    >>> table()[1:4].round(6).tolist()
    [0.75, 0.864583, 0.908333]
    """
    return np.array([1.0, *(_of(t) for t in range(2, EXACT + 1, 2))])


def _of(t: int) -> float:
    """Return the expectation for t rows, t even, by summing over N; its law is binomial (t, 1/2)."""
    above: NDArray[np.int64] = np.arange(t + 1, dtype=np.int64)
    m, below = t // 2, t - above
    inverse: Array = 1 / np.arange(1.0, t + 1)
    harmonic: Array = np.concatenate([[0.0], np.cumsum(inverse)])
    # log(j!) = -sum log(1 / j)
    log: Array = np.concatenate([[0.0], np.cumsum(-np.log(inverse))])
    largest: Array = m * (1 + harmonic[above] - harmonic[m])
    without: Array = above - (m - above) + (t - m) * (harmonic[below] - harmonic[t - m])
    # P(N) = C(t, N) / 2**t, in logs: t! overflows beyond 170
    chance: Array = np.exp(log[t] - log[above] - log[below] - t * np.log(2))
    upper: NDArray[np.bool_] = np.greater_equal(above, m)
    return 2 / t * float(chance[upper] @ largest[upper] + chance[~upper] @ without[~upper])

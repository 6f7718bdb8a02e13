"""Shares of levels that were shown because their noisy count reached a threshold, from two noisy numbers.

With y = c + Z and N' = N + Z', normal noises of standard deviations s and t, and y kept as y >= T, a share p = c / N is
in the interval unless D = y - p N' tells against it.  D has mean 0 and variance v + s^2 + p^2 t^2, v = N p (1 - p) if
the rows are a sample of a population, else 0.  W = N' + k y with k = p t^2 / (v + s^2) is uncorrelated with D, hence
independent of it, and y = (D + p W) / (1 + p k): given W, that the level is shown says D >= T (1 + p k) - p W, and no
more.  So the lower limit is the least p with P(D >= d | D >= d0) > a, a = (1 - level) / 2, which is exact for normal
errors whatever N is.  The upper limit is the greatest p with P(D <= d) > a for any level, shown or not: among those
that are shown it fails no more often, as the noise of these is larger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.terms import check_level

STEPS: Final = 60
"""Halvings of a range of shares."""


@dataclass(frozen=True)
class LevelShares:
    """Shares of the levels that were shown, in the order of the counts.

    counts: noisy, shape (m,).  total: the noisy number of all.  noise, known: standard deviations of the noise of each
    count, and of that number.  least: counts from here on were shown, half a unit of rounding below the threshold.
    half: that half unit.  sampled: whether the rows are a sample.  reason: why there are no shares, or None.
    """

    counts: Array
    total: float
    noise: float
    known: float
    least: float
    half: float
    sampled: bool
    reason: str | None = None

    @property
    def values(self) -> Array:
        """Shares, shape (m,): at most 1, and NaN where there is a `reason`."""
        if self.reason is not None:
            return np.full_like(self.counts, np.nan)
        return np.clip(self.counts / self.total, 0.0, 1.0)

    @property
    def std_errors(self) -> Array:
        """Standard errors, shape (m,): of the noise of both numbers, and of sampling."""
        return np.sqrt(self._variance(self.values)) / self.total

    def intervals(self, level: float = 0.95) -> Array:
        """Return limits, shape (m, 2), each given that the level was shown; InferenceError I01 (level)."""
        check_level(level)
        if self.reason is not None:
            return np.full((len(self.counts), 2), np.nan)
        limit, at = np.log((1 - level) / 2), self.values
        low = _crossing(lambda p: self._above(p) > limit, np.zeros_like(at), at)
        high = _crossing(lambda p: self._below(p) <= limit, at, np.ones_like(at))
        return np.stack([low, high], axis=-1)

    def _variance(self, p: Array) -> Array:
        """Return the variance of D at each share, shape (m,)."""
        return self._own(p) + p**2 * self.known**2

    def _own(self, p: Array) -> Array:
        """Return the part of it that y has: noise and, of a sample, the binomial variance."""
        # weights of persons from 0 to 1 vary no more than that of rows that count 0 or 1
        sampled = max(self.total, 1.0) * p * (1 - p) if self.sampled else np.zeros_like(p)
        return np.asarray(self.noise**2 + sampled, dtype=np.float64)

    def _above(self, p: Array) -> Array:
        """Return log P(D >= d | D >= d0) at each share."""
        from scipy.special import log_ndtr  # pyright: ignore

        k = p * self.known**2 / self._own(p)
        moved = p * (self.total + k * self.counts)
        sd = np.sqrt(self._variance(p))
        d, least = ((y * (1 + p * k) - moved) / sd for y in (self.counts - self.half, np.full_like(p, self.least)))
        return np.asarray(log_ndtr(-d) - log_ndtr(-least), dtype=np.float64)

    def _below(self, p: Array) -> Array:
        """Return log P(D <= d) at each share."""
        from scipy.special import log_ndtr  # pyright: ignore

        d = (self.counts + self.half - p * self.total) / np.sqrt(self._variance(p))
        return np.asarray(log_ndtr(d), dtype=np.float64)


def _crossing(holds: Callable[[Array], NDArray[np.bool_]], low: Array, high: Array) -> Array:
    """Return about the least p in [low, high] from which on a condition holds, by element; `high` if nowhere."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        yes = holds(middle)
        low, high = np.where(yes, low, middle), np.where(yes, middle, high)
    return high

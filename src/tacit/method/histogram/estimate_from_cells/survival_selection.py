"""Lower limits of survival that few releases answer, by its law given that there is an answer.

Survival S at a time is answered where the noisy rows at risk are clear of their noise.  Where few are at risk those
releases have an answer whose noise, and whose sample, made them more than they are: S is too high, and so is the number
of rows from which its variance is taken.  A smaller S0 = r S, 0 <= r <= 1, is therefore tested by

    P(error of S at least (1 - r) S, either way) / P(answer),    both if r times the rows were at risk,

and the lower limit is the smallest S0 that is not rejected.  The error has the sampling variance of S0 and the noise of
S if the rows at risk were LOWER standard deviations of their noise fewer; the chance of an answer is at most that with
so many fewer, too.  Upper limits need none of this: an answer says that noise was large, not that it was small.
Source: [Fithian, Sun & Taylor 2014], tests given a selection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.total_errors.error_laws import ndtr, tail
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Error

LOWER: Final = 1.645
"""The 95% point of a normal law: sums of the noises of many cells are nearly normal."""
SELDOM: Final = 0.8
"""Chance of an answer below which lower limits are those given an answer."""
PARTS: Final = np.linspace(0, 1, 201)[:, None]
"""Parts r of the estimate that are tested: a limit lies at the last that is rejected, and so is at most a step low."""


@dataclass(frozen=True)
class Decision:
    """Noisy rows that decide whether there is an answer at each of k times, shape (k,) each.

    at_risk, left: rows at risk, and left after the events.  least, least_left: what they must exceed.  noise: the law
    of the noise of those at risk.
    """

    at_risk: Array
    left: Array
    least: Array
    least_left: Array
    noise: Error

    @property
    def sd(self) -> Array:
        """Standard deviation of the noise, shape (k,)."""
        return np.maximum(self.noise.sd, 1e-9)

    @property
    def margin(self) -> Array:
        """By how many standard deviations of their noise rows are clear of it; below 0: not clear."""
        return np.minimum(self.at_risk - self.least, self.left - self.least_left) / self.sd

    def chance(self) -> Array:
        """Probability of an answer at the first times, if fewer were at risk than it seems: LOWER deviations.

        At most so many tests of level alpha times this chance reject among the answers as of level alpha among all
        releases.
        """
        return ndtr(np.minimum.accumulate(self.margin) - LOWER)

    def first(self, k: int) -> Decision:
        """Return the first k times."""
        some = Error(self.noise.variance[:k], self.noise.scales[:k], _rows(self.noise)[:k])
        return Decision(self.at_risk[:k], self.left[:k], self.least[:k], self.least_left[:k], some)

    def lowest(self, alpha: float, survival: Array, error: Error, noise: Array, sampled: bool) -> Array:
        """Return the lower limits of S that tests given an answer of level alpha leave, shape (k,); 1 where not SELDOM.

        survival, error, noise: S, the law of the error of log S, and the noise's part of its variance.  sampled:
        whether there is sampling error.
        """
        out, seldom = np.ones(len(survival)), self.chance()
        at = np.flatnonzero(seldom < SELDOM)
        if not at.size:
            return out
        r, S = PARTS, survival[at]
        left, at_risk = self.left[at], self.at_risk[at]
        # of fewer rows the noise of log S is larger by as much
        fewer = np.minimum(1 - LOWER * self.sd / self.at_risk, 1 - LOWER * self.sd / self.left)
        fewer = np.clip(np.minimum.accumulate(fewer)[at], 0.1, 1.0)
        own = np.maximum(error.sd**2 - noise, 0.0)[at]
        # S0 (1 - S0) / n, in units of S**2, n = left / S: Greenwood's variance at r = 1
        drawn = sampled * r * (own + (1 - r) * S / left)
        off = _beyond(1 - r, noise[at] / fewer**2, drawn, _kurtosis(error, noise)[at])
        heavy, sd = _kurtosis(self.noise, self.noise.sd**2)[at], self.sd[at]
        binomial = sampled * r * np.maximum(1 - r * S, 0.0)
        enough = _beyond(self.least[at] - r * at_risk, sd**2, binomial * at_risk, heavy)
        spared = _beyond(self.least_left[at] - r * left, sd**2, binomial * left, heavy)
        answered = np.minimum(np.minimum(enough, spared), seldom[at])
        rejected = 2 * off < alpha * answered
        # the last of the first ones that are all rejected
        number = np.where(rejected.all(axis=0), len(r), np.argmin(rejected, axis=0))
        out[at] = S * r[np.maximum(number - 1, 0), 0]
        return out


def _rows(error: Error) -> Array:
    """Return the numbers of noises with a row for each term, shape (k, scales)."""
    return np.broadcast_to(error.number, error.scales.shape)


def _kurtosis(error: Error, variance: Array) -> Array:
    """Return the excess kurtosis of the noise in an error, shape (k,), given the noise's variance."""
    fourth = 12 * (error.number * error.scales**4).sum(axis=-1)
    return fourth / np.maximum(variance, 1e-150) ** 2


def _beyond(x: Array, noise: Array, drawn: Array, kurtosis: Array) -> Array:
    """Return P(e > x), e normal with variance `drawn` plus noise with a variance and an excess kurtosis.

    By the normal plus one Laplace noise of the same variance and kurtosis, as half-widths (`Error.halfwidth`).
    """
    whole = np.maximum(noise + drawn, 1e-300)
    share = np.sqrt(np.clip(kurtosis * (noise / whole) ** 2 / 3, 0.0, 1.0))
    y = x / np.sqrt(whole)
    side = tail(np.abs(y), np.sqrt(1 - share), np.sqrt(share / 2)[..., None])
    return np.where(y >= 0, side, 1 - side)

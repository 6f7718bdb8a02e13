"""Shares of a noisy total: intervals by Fieller's argument where count and total carry the same noises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.noisy_terms.interval_inversion import CONTINUITY, Inversion
from tacit.estimates.total_errors.accepted_values import accepted
from tacit.estimates.total_errors.error_laws import halfwidth, is_gaussian, split, tail
from tacit.estimates.total_errors.selection import chance_of_answer
from tacit.noise.laws import Law
from tacit.release.document import Released

CLEAR: Final = 0.95
"""Two-sided level: a group has an answer where its noisy size exceeds the 97.5% point of the size's noise."""
FEW: Final = 2
"""Sums of at most this many noises keep their exact law; longer ones are taken as normal."""


@dataclass(frozen=True)
class ShareOfTotal:
    """Proportions p of the categories of a group whose size is the sum of their noisy counts.

    With noisy count k and noisy size K, D(p) = k - p K = (1 - p) z_own - p z_rest + sampling error is linear in the
    noises z for every p.  The interval holds all p with P(|N(0, C(p)) + noise| >= |D(p)|) >= alpha, where
    C(p) = K p (1 - p) is the sampling variance given the number of rows.  The level is that given an answer, which
    there is where K is above its noise (`unclear`): conservative where few groups have one.
    count: shape (m,), within [0, size].  size: K.  law: law of one cell's noise, in units of 1 / `share` rows.  added:
    number of cells in each count.  sampling: whether the rows are a sample (else C(p) = 0).
    Source: theory §1.5, [Fieller 1954]; score of [Wilson 1927], less a half for counting in whole rows.

    >>> from fractions import Fraction
    >>> from tacit.noise.laws import RoundedNormal
    >>> few = ShareOfTotal(np.array([50.0, 950.0]), 1000.0, RoundedNormal(Fraction(3)), 1, 1, True)
    >>> low, high = few.interval(0.95)
    >>> low.round(3), high.round(3)
    (array([0.037, 0.933]), array([0.067, 0.963]))
    """

    count: Array
    size: float
    law: Law
    added: int
    share: int
    sampling: bool

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return lower and upper limits of the proportions, shape (m,) each."""
        step = CONTINUITY if self.sampling else 0.0

        def p_value(p: Array) -> Array:
            distance = np.maximum(np.abs(self.count - p * self.size) - step, 0.0)
            variance = self.size * p * (1 - p) if self.sampling else np.zeros_like(p)
            s, b = self._noise(p)
            return 2 * tail(distance, np.sqrt(variance + s**2), b)

        alpha = (1 - level) * self._chance(1 - level)
        # the size is positive here: groups whose noisy size is unclear get `WholeUnitInterval`
        return accepted(p_value, self.count / self.size, 0.0, 1.0, alpha)

    def _chance(self, alpha: float) -> float:
        """Return the chance of an answer if the group were as small as it may be (`selection.chance_of_answer`)."""
        s, b = summed(self.law, self.added * len(self.count))
        least = reach(self.law, self.added * len(self.count), CLEAR) / self.share
        scales = (b if len(b) else np.zeros(1))[None] / self.share
        return float(
            chance_of_answer(np.array([self.size]), np.array([least]), np.array([s / self.share]), scales, alpha)[0]
        )

    def _noise(self, p: Array) -> tuple[Array, Array]:
        """Return normal standard deviation, (m,), and Laplace scales, (m, k), of (1 - p) z_own - p z_rest, in rows."""
        normal, scales = np.zeros_like(p), np.zeros((len(p), 0))
        # the size is the sum of all counts: a count's own noise enters with 1 - p, those of all others with -p
        for weight, number in ((1 - p, self.added), (p, self.added * (len(p) - 1))):
            s, b = summed(self.law, number)
            normal = normal + (weight * s / self.share) ** 2
            scales = np.concatenate([scales, np.abs(weight)[:, None] * b / self.share], axis=1)
        # one scale of 0 where all noise is normal: the laws expect an axis of scales
        return np.sqrt(normal), scales if scales.shape[1] else np.zeros((len(p), 1))


@dataclass(frozen=True)
class Scaled:
    """Intervals of another inversion, multiplied by a positive constant."""

    of: Inversion
    factor: float

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return lower and upper limits, multiplied by the constant, shape (bins,) each."""
        low, high = self.of.interval(level)
        return self.factor * low, self.factor * high


@dataclass(frozen=True)
class WholeUnitInterval:
    """The trivial intervals [0, 1] for `size` proportions of which nothing is known."""

    size: int

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return zeros and ones, shape (size,) each."""
        return np.zeros(self.size), np.ones(self.size)


def summed(law: Law, number: int) -> tuple[float, Array]:
    """Return normal standard deviation and Laplace scales of the sum of `number` independent noises."""
    if is_gaussian(law) or number > FEW:
        return float(np.sqrt(number * law.variance())), np.zeros(0)
    sd, scales = split(law, np.ones(number))
    return float(sd), scales


def unclear(size: float, law: Law, number: int, share: int) -> str | None:
    """Return a reason if a group's noisy size is not above the 97.5% point of its noise, else None."""
    q = reach(law, number, CLEAR) / share
    return f"size {round(float(size)):,} ± {q:,.0f}: not clearly above 0" if size <= q else None


def reach(law: Law, number: int, level: float) -> float:
    """Return q with P(|sum of `number` noises| <= q) = level, in the law's own units."""
    s, b = summed(law, number)
    return float(halfwidth(level, np.array(s), b if len(b) else np.zeros(1)))


def noise_reach(release: Released, added: int, level: float) -> float:
    """Return the same half-width for counts that are sums of `added` cells of a histogram, in rows (persons)."""
    part = release.parts[0]
    return reach(part.law, added, level) / part.parameters.get("share", 1)

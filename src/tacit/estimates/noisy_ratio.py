"""Shares of a noisy total: intervals by Fieller's argument where count and total carry the same noises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.error_laws import halfwidth, is_gaussian, split, tail
from tacit.estimates.interval_inversion import CONTINUITY, Inversion, accepted
from tacit.noise.laws import Law
from tacit.release.document import Released

FEW: Final = 2
"""Sums of up to so many noises keep their law; those of more are taken as normal, as sums of cells are elsewhere."""


@dataclass(frozen=True)
class ShareOfTotal:
    """Shares p of the cells of a group whose size is the noisy sum of them.

    D(p) = k - p K = (1 - p) z_own - p z_rest + sampling error is linear in the noise whatever p is.  p belongs to the
    interval where P(|N(0, C(p)) + noise| >= |D(p)|) >= alpha, C(p) = K p (1 - p) for rows given their number.
    count: shape (m,), within [0, size].  added: of how many cells each count is the sum.  share: the unit of a person.
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
        """Limits of the shares, shape (m,) each."""
        step = CONTINUITY if self.sampling else 0.0

        def p_value(p: Array) -> Array:
            distance = np.maximum(np.abs(self.count - p * self.size) - step, 0.0)
            variance = self.size * p * (1 - p) if self.sampling else np.zeros_like(p)
            s, b = self._noise(p)
            return 2 * tail(distance, np.sqrt(variance + s**2), b)

        return accepted(p_value, self.count / self.size, 0.0, 1.0, 1 - level)

    def _noise(self, p: Array) -> tuple[Array, Array]:
        """Normal standard deviation, shape (m,), and Laplace scales, shape (m, k), of (1 - p) z_own - p z_rest."""
        normal, scales = np.zeros_like(p), np.zeros((len(p), 0))
        for weight, number in ((1 - p, self.added), (p, self.added * (len(p) - 1))):
            s, b = summed(self.law, number)
            normal = normal + (weight * s / self.share) ** 2
            scales = np.concatenate([scales, np.abs(weight)[:, None] * b / self.share], axis=1)
        return np.sqrt(normal), scales if scales.shape[1] else np.zeros((len(p), 1))


@dataclass(frozen=True)
class Scaled:
    """Intervals of another inversion, times a constant."""

    of: Inversion
    factor: float

    def interval(self, level: float) -> tuple[Array, Array]:
        """Limits of shares, shape (bins,) each."""
        low, high = self.of.interval(level)
        return self.factor * low, self.factor * high


@dataclass(frozen=True)
class Everything:
    """Where nothing is known of `size` shares: from 0 to 1."""

    size: int

    def interval(self, level: float) -> tuple[Array, Array]:
        """0 and 1, shape (size,) each."""
        return np.zeros(self.size), np.ones(self.size)


def summed(law: Law, number: int) -> tuple[float, Array]:
    """The sum of so many independent noises -> (normal standard deviation, Laplace scales)."""
    if is_gaussian(law) or number > FEW:
        return float(np.sqrt(number * law.variance())), np.zeros(0)
    sd, scales = split(law, np.ones(number))
    return float(sd), scales


def unclear(size: float, law: Law, number: int, share: int) -> str | None:
    """Why a group says nothing: its noisy size is not above the 97.5% point of the noise in it; or None."""
    q = reach(law, number, 0.95) / share
    return f"size {size:,.0f} ± {q:,.0f}: not clearly above 0" if size <= q else None


def reach(law: Law, number: int, level: float) -> float:
    """How far the sum of so many noises goes on either side with the probability of the level."""
    s, b = summed(law, number)
    return float(halfwidth(level, np.array(s), b if len(b) else np.zeros(1)))


def noise_reach(release: Released, added: int, level: float) -> float:
    """The same for counts of a histogram that are sums of `added` cells, in rows (persons)."""
    part = release.parts[0]
    return reach(part.law, added, level) / part.parameters.get("share", 1)

"""Coefficients of many parties' regressions.  Pure array functions on their fits.

Sums of cross-products would add up, but the larger part of a `Regression`'s price is spent on scores that each party
aims by its own first answer, and those of two aims do not.  So what is combined are coefficients: each party's have the
second-order effect of their noise undone, and their two covariances.  Shapes: M parties, p coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.error_laws import normal_quantile
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.formula import parse
from tacit.method.regression.layout import layout
from tacit.method.regression.query import Regression
from tacit.pooling.random_effects import PartyEstimates
from tacit.release.document import Released
from tacit.release.parts import Variable

FAR: Final = 1e150
"""Where coefficients end: they have no bounds."""


@dataclass(frozen=True)
class Weighted:
    """Weighted means, shape (p,), with both variances; shares: weights that add up to 1, shape (M, p)."""

    value: Array
    sampling: Array
    privacy: Array
    shares: Array

    def interval(self, level: float) -> tuple[Array, Array]:
        """As of one regression: normal."""
        half = normal_quantile(level) * np.sqrt(self.sampling + self.privacy)
        return self.value - half, self.value + half


def names_of(release: Released) -> tuple[str, ...]:
    """Names of the coefficients."""
    variables = cast("tuple[Variable, ...]", getattr(release, "variables", ()))
    return layout(parse(cast(Regression, release.query).formula), variables).names


@dataclass(frozen=True)
class Coefficients:
    """Each party's own, `parts` of shape (M, p), and what their variances follow: rows, noise for the price, (M,)."""

    parts: PartyEstimates
    rows: Array
    noise: Array

    def steady(self) -> Array:
        """Variances for weights, s / N + g noise / N**2, shape (M, p): s and g from all parties, N rows of each.

        Weights that follow each party's own noisy variances would favour those that are too small by luck.
        """
        said, parts = self.parts.usable, self.parts
        rows, noise = self.rows[:, None], self.noise[:, None]
        worth = np.where(said, rows, 0.0)
        whole = np.maximum(worth.sum(axis=0), 1e-300)
        s = (worth * np.where(said, parts.sampling, 0.0) * rows).sum(axis=0) / whole
        g = (worth * np.where(said, parts.privacy, 0.0) * rows**2 / noise).sum(axis=0) / whole
        return s / rows + g * noise / rows**2


def coefficients(releases: Sequence[Released], index: Sequence[int]) -> Coefficients:
    """Each party's coefficients; those of several releases of the same people have their noise averaged.

    A party of which noise leaves no coefficients says nothing.
    """
    fits = [fit_release(one) for one in releases]
    value = np.array([one.values for one in fits])
    sampling = np.array([np.diag(one.cov_sampling) for one in fits])
    privacy = np.array([np.diag(one.cov_privacy) for one in fits])
    said = np.array([[reason is None for reason in one.reasons] for one in fits]) & np.isfinite(value)
    worth = np.where(said, 1 / np.where(said, np.maximum(privacy, 1e-300), 1.0), 0.0)
    place, parties = np.asarray(index), max(index) + 1
    heard = said.any(axis=1)

    def added(numbers: Array) -> Array:
        out = np.zeros((parties, *numbers.shape[1:]))
        np.add.at(out, place[heard], numbers[heard])
        return out

    total = added(worth)
    share = worth / np.maximum(total, 1e-300)[place]
    parts = PartyEstimates(added(share * value), added(share * sampling), added(share**2 * privacy), total > 0)
    rows = np.array([one.criteria.get("rows", 0.0) for one in fits])
    times = added(np.ones(len(fits)))
    precise = added(np.array([1 / _noise(one) for one in releases]))
    return Coefficients(
        parts,
        np.where(times > 0, np.maximum(added(rows) / np.maximum(times, 1.0), 1.0), 1.0),
        np.where(times > 0, 1 / np.maximum(precise, 1e-300), 1.0),
    )


def _noise(release: Released) -> float:
    """Variance of the noise in the last answers, for a sensitivity of 1."""
    part = release.parts[-1]
    return part.law.variance() / part.l2_squared


def common(found: Coefficients) -> Weighted:
    """One and the same regression everywhere: weights inverse to the (steady) variances, errors each party's own."""
    parts = found.parts
    worth = np.where(parts.usable, 1 / np.maximum(found.steady(), 1e-300), 0.0)
    share = worth / np.maximum(worth.sum(axis=0), 1e-300)
    value, sampling, privacy = (
        (weight * np.where(parts.usable, numbers, 0.0)).sum(axis=0)
        for weight, numbers in ((share, parts.value), (share**2, parts.sampling), (share**2, parts.privacy))
    )
    return Weighted(value, sampling, privacy, share)

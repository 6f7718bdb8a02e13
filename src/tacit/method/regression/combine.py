"""Combine the coefficients of many parties' regressions.  Pure array functions on their fits.

Cross-products of several parties would add up.  But most of a `Regression`'s price is spent on scores, which each party
evaluates at coefficients from its own first part; scores at different coefficients do not add up.  So coefficients are
combined: each party's are corrected for the second-order effect of their noise and come with both covariances.
Shapes: M parties, p coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.error_laws import normal_quantile
from tacit.fits.fit import Fit
from tacit.method.regression.estimate import fit_release, layout_of
from tacit.method.regression.estimate_cells import fitted_cells
from tacit.pooling.heterogeneity import PooledEffects
from tacit.pooling.random_effects import PartyEstimates, RandomEffects
from tacit.release.document import Released


@dataclass(frozen=True)
class Weighted:
    """Weighted means of coefficients, shape (p,), with both variances; shares: weights adding up to 1, shape (M, p).

    A coefficient that no party tells has the value NaN and an infinite variance.
    """

    value: Array
    sampling: Array
    privacy: Array
    shares: Array

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return normal limits, as for one regression."""
        half = normal_quantile(level) * np.sqrt(self.sampling + self.privacy)
        known = np.isfinite(self.value)
        return np.where(known, self.value - half, -np.inf), np.where(known, self.value + half, np.inf)


def names_of(release: Released) -> tuple[str, ...]:
    """Return the names of the coefficients."""
    return fit_of(release).names if getattr(release.query, "cells", ()) else layout_of(release).names


def fit_of(release: Released, *, linear: bool = False) -> Fit:
    """Return the fit of one party's release, from sums over its rows or from the counts of its cells."""
    return fitted_cells(release).fit if getattr(release.query, "cells", ()) else fit_release(release, linear=linear)


@dataclass(frozen=True)
class Coefficients:
    """Each party's own coefficients, `parts` of shape (M, p).

    rows: complete rows, shape (M,).  noise: variance of the noise for a sensitivity of 1, shape (M,).  shared:
    variances by an error that goes the same way in all parties, shape (M, p), which those of `parts` are without.
    """

    parts: PartyEstimates
    rows: Array
    noise: Array
    shared: Array

    @property
    def shown(self) -> PartyEstimates:
        """Each party's own coefficients with all of their errors."""
        return replace(self.parts, sampling=self.parts.sampling + self.shared)

    def widened(self, made: RandomEffects) -> RandomEffects:
        """Return random effects whose means have the error that all parties share."""
        error = np.sqrt(self.shared)

        def one(effect: PooledEffects | None, at: int) -> PooledEffects | None:
            if effect is None:
                return None
            common = float(effect.weights @ error[made.centred.usable[:, at], at])
            return replace(effect, variance=effect.variance + common**2 / effect.wider)

        effects = tuple(one(effect, at) for at, effect in enumerate(made.effects))
        return replace(made, parts=self.shown, effects=effects)

    def stable_variances(self) -> Array:
        """Return variances for weights, shape (M, p): s / N + g noise / N**2 for a party of N rows.

        s and g are fitted to all parties.  Weights from each party's own noisy variances would favour parties whose
        variance is too small by chance.
        """
        said, parts = self.parts.usable, self.parts
        rows, noise = self.rows[:, None], self.noise[:, None]
        worth = np.where(said, rows, 0.0)
        whole = np.maximum(worth.sum(axis=0), 1e-300)
        s = (worth * np.where(said, parts.sampling, 0.0) * rows).sum(axis=0) / whole
        g = (worth * np.where(said, parts.privacy, 0.0) * rows**2 / noise).sum(axis=0) / whole
        return s / rows + g * noise / rows**2


def coefficients(releases: Sequence[Released], index: Sequence[int], *, linear: bool = False) -> Coefficients:
    """Return each party's coefficients, averaged over its releases to reduce their noise.

    index: the party of each release.  A party whose noise is too large for coefficients is marked as not usable.
    linear: as `RegressionRelease.estimate` has it.
    """
    fits = [fit_of(one, linear=linear) for one in releases]
    value = np.array([one.values for one in fits])
    none = np.zeros(value.shape[1])
    shared = np.array([none if one.shared is None else one.shared for one in fits])
    sampling = np.array([np.diag(one.cov_sampling) for one in fits]) - shared
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
        added(share * np.sqrt(shared)) ** 2,
    )


def _noise(release: Released) -> float:
    """Return the variance of the last part's noise for a sensitivity of 1."""
    part = release.parts[-1]
    return part.law.variance() / part.l2_squared


def common(found: Coefficients) -> Weighted:
    """Return common coefficients of all parties, with weights inverse to the stable variances.

    The errors are computed from each party's own variances.
    """
    parts = found.parts
    worth = np.where(parts.usable, 1 / np.maximum(found.stable_variances(), 1e-300), 0.0)
    share = worth / np.maximum(worth.sum(axis=0), 1e-300)
    value, sampling, privacy = (
        (weight * np.where(parts.usable, numbers, 0.0)).sum(axis=0)
        for weight, numbers in ((share, parts.value), (share**2, parts.sampling), (share**2, parts.privacy))
    )
    # an error that all parties share has no mean that is smaller
    sampling = sampling + (share * np.sqrt(found.shared)).sum(axis=0) ** 2
    none = ~parts.usable.any(axis=0)
    return Weighted(np.where(none, np.nan, value), np.where(none, np.inf, sampling), privacy, share)

"""Random effects of noisy estimating equations: means over parties whose quantities differ, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.pooling.common_value import decorrelated_sizes, party_row_variances, pooled, row_variance
from tacit.pooling.evidence import Evidence
from tacit.pooling.heterogeneity import Method, PooledEffects, fit_effects
from tacit.pooling.presence import Presence, points_of, presence, tails_apart

SHARP = 0.95
"""Two-sided level: a party's own estimate is shown where its noisy size exceeds the 97.5 % point of its noise."""


@dataclass(frozen=True)
class PartyEstimates:
    """Each party's own estimate in the column's units: value, sampling and privacy variance, shape (M, T).

    usable: where its size is clearly above its noise, in cells to which somebody belongs (`presence`), shape (M, T).
    """

    value: Array
    sampling: Array
    privacy: Array
    usable: NDArray[np.bool_]


@dataclass(frozen=True)
class RandomEffects:
    """T random-effects estimates in the column's units; an effect is None where two parties with rows are not seen.

    parts: each party's estimate, for display.  limits: smallest and largest possible value, shape () or (T,) each;
    infinite where there are none: a mean without an effect is then NaN, of infinite variance.
    centred: the values that the effects were fitted to; for estimating equations x + D(x) / size around the common mean
    x, which are linear in the noise and not clipped.  there: noisy sizes, on which it depends whether there is an
    answer; None where that is certain.
    """

    parts: PartyEstimates
    effects: tuple[PooledEffects | None, ...]
    limits: tuple[Array, Array]
    centred: PartyEstimates
    there: Presence | None = None

    @property
    def value(self) -> Array:
        """The estimated means, shape (T,), within the limits; the middle of the limits where there is no effect."""
        low, high = (np.broadcast_to(end, (len(self.effects),)) for end in self.limits)
        bounded = np.isfinite(low) & np.isfinite(high)
        middle = np.where(bounded, (np.where(bounded, low, 0.0) + np.where(bounded, high, 0.0)) / 2, np.nan)
        return np.array(
            [middle[t] if one is None else min(max(one.mu, low[t]), high[t]) for t, one in enumerate(self.effects)]
        )

    @property
    def shares(self) -> Array:
        """Weights of the parties in each mean, adding up to 1 over parties, shape (M, T)."""
        out = np.zeros_like(self.parts.value)
        for t, one in enumerate(self.effects):
            if one is not None:
                out[self.centred.usable[:, t], t] = one.weights
        return out

    @property
    def privacy(self) -> Array:
        """Noise variance of the means, shape (T,)."""
        return (self.shares**2 * self.centred.privacy).sum(axis=0)

    @property
    def variance(self) -> Array:
        """Variance of the means, shape (T,): Hartung and Knapp's, but at least the known noise variance."""
        whole = np.broadcast_to(((self.limits[1] - self.limits[0]) / 2) ** 2, (len(self.effects),))
        found = np.array([whole[t] if one is None else one.error for t, one in enumerate(self.effects)])
        return np.maximum(found, self.privacy)

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return t intervals with each effect's degrees of freedom, within the limits: shape (T,) each end.

        Their level is higher where few cells as small as this would have an answer (`Presence.chance`).
        """
        low, high = self.limits
        known = np.array([one is not None for one in self.effects])
        chance = np.ones(len(known)) if self.there is None else self.there.chance(1 - level)
        levels = (1 - (1 - level) * chance).tolist()
        wide = np.array(
            # the quantile of t; `half` has it times the error, which `variance` may exceed
            [
                0.0 if one is None else one.half(each) / max(one.error, 1e-300) ** 0.5
                for one, each in zip(self.effects, levels, strict=True)
            ]
        )
        half = wide * np.sqrt(np.where(known, self.variance, 0.0))
        lower = np.where(known, np.maximum(self.value - half, low), low)
        return lower, np.where(known, np.minimum(self.value + half, high), high)


def party_estimates(found: Evidence, *, sampled: bool = True) -> PartyEstimates:
    """Return each party's own estimate total / size with its two variances.

    The second-order bias of a ratio whose denominator is noisy is corrected; the sampling variance of a row is the
    party's own, shrunk to the pooled one (`party_row_variances`).
    """
    size = np.maximum(found.size, 1.0)
    usable = (found.size > points_of(found, SHARP)) & presence(found).clear
    low, high = found.bounds
    x = np.clip(found.total / size, low, high)
    # E total / size is x - Cov(D(x), size) / size**2 to second order
    x = np.clip(x + found.with_size(x) / size**2, low, high)
    noise = found.privacy(x) / size**2
    sampling = party_row_variances(found, x, size) / size if sampled else np.zeros_like(size)
    scale = found.scale
    return PartyEstimates(found.shift + scale * x, scale**2 * sampling, scale**2 * noise, usable)


def linearised_estimates(found: Evidence, x: Array, *, sampled: bool = True) -> PartyEstimates:
    """Return each party's linearised estimate x + D(x) / size around one x for all parties, shape (T,).

    A party's own ratio total / size is biased by its noisy size and by clipping to its bounds.  That bias has the same
    sign in all parties, so a mean over parties does not reduce it.  D(x) is linear in the noise and has mean zero at
    the party's x, and the size used here is shrunk and uncorrelated with D(x) (`decorrelated_sizes`), so weighted
    sums of these values have neither bias (theory §6).  Values and variances are in the column's units.
    """
    # row_variance with equal weights: the weights of the effects are not known yet
    size = decorrelated_sizes(found, x, row_variance(found, np.ones_like(found.size), x))
    spread = party_row_variances(found, x, size) / size if sampled else np.zeros_like(size)
    scale = found.scale
    value = found.shift + scale * (x + found.distance(x) / size)
    return PartyEstimates(value, scale**2 * spread, scale**2 * found.privacy(x) / size**2, found.informative)


def linearised_effects(
    found: Evidence, method: Method, sampled: bool, certain: NDArray[np.bool_] | None = None
) -> tuple[tuple[PooledEffects | None, ...], PartyEstimates]:
    """Fit random effects to each of T cells; return them (None without two parties that have rows) and their data.

    certain: cells without errors, which have no effects, shape (T,).
    """
    # one centre for all, from the known noise: what parties of nobody say has little weight in it.  It is not moved to
    # the fitted mean, which may be that of many noisy parties and far from the few that have rows
    x = pooled(found, sampled=sampled).x
    # every party that says something enters, its size clear or not: D(x) needs no clear size, while a choice by noisy
    # sizes would depend on the noise.  Whether there are several is seen by what sizes have of their own
    there = presence(found)
    answered = there.several(tails_apart(found, x), (1 - SHARP) / 2) & there.clear
    answered = answered if certain is None else answered & ~certain
    several = (answered & found.informative).astype(np.float64)
    parts = linearised_estimates(found, x, sampled=sampled)
    total = np.maximum(parts.sampling + parts.privacy, 1e-300)
    return fit_effects(parts.value, total, several, method), parts


def random_effects(found: Evidence, method: Method = "REML", *, sampled: bool = True) -> RandomEffects:
    """Estimate random effects of each cell from estimating equations."""
    parts = party_estimates(found, sampled=sampled)
    made, own = linearised_effects(found, method, sampled)
    low, high = (np.asarray(found.shift + found.scale * end) for end in found.bounds)
    return RandomEffects(parts, made, (low, high), own, presence(found))


def effects_of_estimates(parts: PartyEstimates, limits: tuple[Array, Array], method: Method) -> RandomEffects:
    """Estimate random effects from parties' estimates as given; parties without any error variance are left out."""
    total = parts.sampling + parts.privacy
    own = replace(parts, usable=parts.usable & (total > 0))
    made = fit_effects(parts.value, total, own.usable.astype(np.float64), method)
    return RandomEffects(parts, made, limits, own)

"""Quantities that differ from party to party, from their estimating equations: random effects, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.error_laws import halfwidth
from tacit.pooling.common_value import SHARP, law, own_variances, pooled, row_variance, steady_sizes
from tacit.pooling.evidence import Evidence
from tacit.pooling.heterogeneity import Method, PooledEffects, every

ROUNDS = 2
"""Of re-centring: where one value is near, the next is nearer by the square."""


@dataclass(frozen=True)
class Parts:
    """Each party's own estimate in the column's units: value, sampling and privacy variance, shape (M, T).

    usable: where its size is clearly above its noise, shape (M, T).
    """

    value: Array
    sampling: Array
    privacy: Array
    usable: NDArray[np.bool_]


@dataclass(frozen=True)
class Varied:
    """T random-effects estimates, in the column's units; None where fewer than two parties say anything.

    limits: what a value may be, of shape () or (T,) each.  centred: what the effects are made of; of evidence, x +
    D(x) / size around their mean, linear in the noise, kept to no bounds.
    """

    parts: Parts
    effects: tuple[PooledEffects | None, ...]
    limits: tuple[Array, Array]
    centred: Parts

    @property
    def value(self) -> Array:
        """mu, shape (T,); the middle of what is possible where nothing is known."""
        low, high = (np.broadcast_to(end, (len(self.effects),)) for end in self.limits)
        middle = (low + high) / 2
        return np.array(
            [middle[t] if one is None else min(max(one.mu, low[t]), high[t]) for t, one in enumerate(self.effects)]
        )

    @property
    def shares(self) -> Array:
        """Weights of the parties, adding up to 1, shape (M, T)."""
        out = np.zeros_like(self.parts.value)
        for t, one in enumerate(self.effects):
            if one is not None:
                out[self.centred.usable[:, t], t] = one.weights
        return out

    @property
    def privacy(self) -> Array:
        """Part of the variance that is noise, shape (T,)."""
        return (self.shares**2 * self.centred.privacy).sum(axis=0)

    @property
    def variance(self) -> Array:
        """Of mu, shape (T,): Hartung and Knapp's, and never below the noise that is known."""
        whole = np.broadcast_to(((self.limits[1] - self.limits[0]) / 2) ** 2, (len(self.effects),))
        found = np.array([whole[t] if one is None else one.error for t, one in enumerate(self.effects)])
        return np.maximum(found, self.privacy)

    def interval(self, level: float) -> tuple[Array, Array]:
        """Lower and upper limits, shape (T,) each: t on their degrees of freedom, within the bounds."""
        low, high = self.limits
        known = np.array([one is not None for one in self.effects])
        wide = np.array(
            [0.0 if one is None else one.half(level) / max(one.error, 1e-300) ** 0.5 for one in self.effects]
        )
        half = wide * np.sqrt(self.variance)
        lower = np.where(known, np.maximum(self.value - half, low), low)
        return lower, np.where(known, np.minimum(self.value + half, high), high)


def parts_of(found: Evidence, *, sampled: bool = True) -> Parts:
    """Each party's estimate.  A ratio's second-order bias by its noisy size is undone; the sampling variance of a row
    is its own as far as noise leaves it clear, else that of all.
    """
    size = np.maximum(found.size, 1.0)
    usable = found.size > _reach(found)
    low, high = found.bounds
    x = np.clip(found.total / size, low, high)
    x = np.clip(x + found.with_size(x) / size**2, low, high)
    noise = found.privacy(x) / size**2
    sampling = own_variances(found, x, size) / size if sampled else np.zeros_like(size)
    scale = found.scale
    return Parts(found.shift + scale * x, scale**2 * sampling, scale**2 * noise, usable)


def _reach(found: Evidence) -> Array:
    """The 97.5% point of the noise of each party's size, shape (M, 1 or T); parties of one price and form have one."""
    each = found.loads[0] ** 2 * found.noise[:, None, :]
    inner = np.sqrt(((each * found.laplace[:, None, :]) ** 2).sum(axis=-1))
    pairs = np.stack([each.sum(axis=-1), inner], axis=-1)
    some, back = np.unique(pairs.reshape(-1, 2), axis=0, return_inverse=True)
    reach = halfwidth(SHARP, *law(np.zeros(len(some)), some[:, 0], some[:, 1]))
    return reach[back].reshape(pairs.shape[:-1])


def centred(found: Evidence, x: Array, *, sampled: bool = True) -> Parts:
    """Each party's x + D(x) / size around one x for all, shape (T,), in the column's units.

    A party's own ratio has the bias that its noisy size and the bounds of its column give it, the same in all parties,
    so that a mean over them keeps it.  D is linear in the noise and zero on average, and this size, shrunk and freed
    of what it shares with D, is no part of it: weighted sums of these are free of both (theory §6).
    """
    size = steady_sizes(found, x, row_variance(found, np.ones_like(found.size), x))
    spread = own_variances(found, x, size) / size if sampled else np.zeros_like(size)
    scale = found.scale
    value = found.shift + scale * (x + found.distance(x) / size)
    every = np.ones_like(size, dtype=np.bool_)
    return Parts(value, scale**2 * spread, scale**2 * found.privacy(x) / size**2, every)


def differing(
    found: Evidence, usable: NDArray[np.bool_], method: Method, sampled: bool
) -> tuple[tuple[PooledEffects | None, ...], Parts]:
    """How far parties differ in each of T cells, and what that is told from; None where two say nothing."""
    x = pooled(found, equal=True).x
    low, high = found.bounds
    several = np.broadcast_to(usable.sum(axis=0) >= 2, usable.shape).astype(np.float64)
    made: tuple[PooledEffects | None, ...] = (None,) * len(x)
    for _ in range(ROUNDS):
        parts = centred(found, x, sampled=sampled)
        total = np.maximum(parts.sampling + parts.privacy, 1e-300)
        made = every(parts.value, total, several, method)
        middle = [x[t] if one is None else (one.mu - found.shift) / found.scale for t, one in enumerate(made)]
        x = np.clip(middle, low, high)
    return made, centred(found, x, sampled=sampled)


def varied(found: Evidence, method: Method = "REML", *, sampled: bool = True) -> Varied:
    """Evidence -> random effects of each cell."""
    parts = parts_of(found, sampled=sampled)
    made, own = differing(found, parts.usable, method, sampled)
    low, high = (np.asarray(found.shift + found.scale * end) for end in found.bounds)
    return Varied(parts, made, (low, high), own)


def apart(parts: Parts, limits: tuple[Array, Array], method: Method) -> Varied:
    """Random effects of estimates as they are, of the usable parties that have an error."""
    total = parts.sampling + parts.privacy
    own = replace(parts, usable=parts.usable & (total > 0))
    made = every(parts.value, total, own.usable.astype(np.float64), method)
    return Varied(parts, made, limits, own)

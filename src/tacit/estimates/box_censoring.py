"""Means of blocks whose estimates end at their box: what the clamp took off, from released numbers alone.

A block's estimate beyond the box counts as its end, which pulls a parameter near an end inside.  Mean and variance of
the clamped estimates are released.  If a power of the estimates is normal (the first; their logarithm; another, as the
skewness of the family's estimates says), these two tell that law, and it the mean without the clamp: Tobin's model
[1958], solved for two moments.  Post-processing, costs nothing; where no block is near an end nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array

NODES: Final = np.linspace(-6.0, 6.0, 481)
WEIGHTS: Final = np.exp(-(NODES**2) / 2) / np.exp(-(NODES**2) / 2).sum()
STEPS: Final = 60
FURTHEST: Final = 0.5
"""Step of the location, in scales, and of the logarithm of the scale."""
SOLVED: Final = 1e-3
"""Of a standard deviation, and of a variance."""
LEAST: Final = 0.05
"""Least power of a positive number, as a part of that in the middle of the law: far tails are cut."""


@dataclass(frozen=True)
class Undone:
    """Means without the clamp, for m releases.

    value: shape (m,); NaN where the equations have no answer.  slopes: shape (2, m), its derivatives in the mean and
    the variance of clamped estimates.  share: of the blocks beyond an end, shape (m,).  sampling: shape (m,), the
    variance of `value` that one block would give.
    """

    value: Array
    slopes: Array
    share: Array
    sampling: Array


@dataclass(frozen=True)
class _Side:
    """Of a law at m places: values, shape (m, nodes), mean and variance, shape (2, m), and the derivatives of both in
    the location, in scales, and in the logarithm of the scale, shape (2, 2, m).
    """

    values: Array
    moments: Array
    slopes: Array


@dataclass(frozen=True)
class _Law:
    """Estimates as they are clamped, and without the clamp."""

    clamped: _Side
    free: _Side
    share: Array

    def moments(self, free: bool) -> Array:
        """The mean with the clamp; the variance with it, or without."""
        return np.stack([self.clamped.moments[0], (self.free if free else self.clamped).moments[1]])

    def slopes(self, free: bool) -> Array:
        """Of these."""
        return np.stack([self.clamped.slopes[0], (self.free if free else self.clamped).slopes[1]])


def undone(mean: Array, variance: Array, low: float, high: float, power: float = 1.0, *, free: bool = False) -> Undone:
    """Mean and variance of estimates clamped to [low, high], shape (m,) each -> what the clamp took off undone.

    free: the variance is known beforehand, and that of estimates without the clamp.  power: of the estimate, that is
    normal; 0 stands for the logarithm.  Other than 1 only of positive parameters.

    >>> found = undone(np.array([4.7]), np.array([0.1]), 0.0, 5.0)
    >>> found.value.round(2).tolist(), found.share.round(2).tolist()
    ([4.78], [0.3])
    """
    sd = np.sqrt(variance)
    inner = np.clip(mean, low, high)
    places = np.stack([_power(inner, power), np.log(sd * inner ** (power - 1) if power != 1 else sd)])
    wanted, scale = np.stack([mean, variance]), np.stack([sd, variance])
    for _ in range(STEPS):
        law = _law(places, low, high, power)
        step = np.clip(_solve(law.slopes(free), law.moments(free) - wanted), -FURTHEST, FURTHEST)
        places = places - step * np.stack([np.exp(places[1]), np.ones_like(sd)])
    law = _law(places, low, high, power)
    fine = (np.abs(law.moments(free) - wanted) / scale < SOLVED).all(axis=0)
    axes = np.eye(2)[:, :, None] * np.ones_like(sd)
    slopes = np.stack([(law.free.slopes[0] * _solve(law.slopes(free), one)).sum(axis=0) for one in axes])
    slopes[1] = 0.0 if free else slopes[1]
    clamped = law.clamped
    own = clamped.values - clamped.moments[0][:, None]
    moved = slopes[0][:, None] * own + slopes[1][:, None] * (own**2 - clamped.moments[1][:, None])
    return Undone(np.where(fine, law.free.moments[0], np.nan), slopes, law.share, moved**2 @ WEIGHTS)


def _law(places: Array, low: float, high: float, power: float) -> _Law:
    scale = np.exp(places[1])[:, None]
    values, rise = _unpowered(places[0][:, None], places[0][:, None] + scale * NODES, power)
    beyond = (values <= low) | (values >= high)
    each = np.stack([rise * scale, rise * scale * NODES])
    inside = np.where(beyond, 0.0, each)
    return _Law(_side(np.clip(values, low, high), inside), _side(values, each), beyond @ WEIGHTS)


def _side(values: Array, each: Array) -> _Side:
    mean = values @ WEIGHTS
    own = values - mean[:, None]
    return _Side(values, np.stack([mean, own**2 @ WEIGHTS]), np.stack([each @ WEIGHTS, 2 * (each * own) @ WEIGHTS]))


def _solve(slopes: Array, gap: Array) -> Array:
    """The steps x, shape (2, m), with slopes x = gap; slopes of shape (2, 2, m)."""
    (a, b), (c, d) = slopes
    whole = a * d - b * c
    whole = np.where(np.abs(whole) > 1e-300, whole, 1e-300)
    return np.stack([d * gap[0] - b * gap[1], a * gap[1] - c * gap[0]]) / whole


def _power(values: Array, power: float) -> Array:
    """(x**power - 1) / power, of which the limit at 0 is the logarithm [Box & Cox 1964]."""
    if power == 1:
        return values
    return np.log(values) if power == 0 else (values**power - 1) / power


def _unpowered(middle: Array, places: Array, power: float) -> tuple[Array, Array]:
    """The inverse of `_power`, and its derivative."""
    if power == 1:
        return places, np.ones_like(places)
    if power == 0:
        values = np.exp(np.clip(places, -300, 300))
        return values, values
    base, least = power * places + 1, LEAST * np.maximum(power * middle + 1, 1e-9)
    values = np.maximum(base, least) ** (1 / power)
    return values, np.where(base > least, values / np.maximum(base, least), 0.0)

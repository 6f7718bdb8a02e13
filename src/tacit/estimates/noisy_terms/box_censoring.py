"""Correction of means of clamped block estimates for the bias of the clamp, from released numbers alone.

Estimates of blocks of rows are clamped to a box [low, high], which biases their mean inwards if the parameter lies near
an end.  Mean and variance of the clamped estimates are released.  Suppose that a power of the unclamped estimates is
normal (the estimate itself, its logarithm, or another power, by the skewness of the family's estimates).  Then the two
moments determine that normal law, hence the mean without the clamp: Tobin's model [1958], fitted by the method of
moments.  Post-processing, so it costs nothing; where no block is near an end the correction is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array

# beyond 6 standard deviations lies a mass of 2e-9
NODES: Final = np.linspace(-6.0, 6.0, 481)
WEIGHTS: Final = np.exp(-(NODES**2) / 2) / np.exp(-(NODES**2) / 2).sum()
"""Weights of the nodes under the standard normal law: expectations are sums over nodes."""
STEPS: Final = 60
"""Newton steps at most."""
STILL: Final = 1e-6
"""Newton steps after which nothing more is found: the error is about their square."""
# bounded, as the slopes are nearly 0, and a Newton step is huge, where the clamp holds nearly all blocks
FURTHEST: Final = 0.5
"""Largest Newton step: of the location, in units of the scale, and of the logarithm of the scale."""
SOLVED: Final = 1e-3
"""Largest remaining error of the mean, relative to the standard deviation, and of the variance, relative to it."""
LEAST: Final = 0.05
"""Least value of `power * x + 1` relative to that at the location; the tail without an inverse is cut."""


@dataclass(frozen=True)
class UnclampedMeans:
    """Means corrected for the clamp, for m releases.

    value: corrected means, shape (m,); NaN where the equations have no solution.  slopes: derivatives of `value` in
    the mean and the variance of the clamped estimates, shape (2, m).  share: fraction of the blocks at an end of the
    box, shape (m,).  sampling: variance of the influence of one block on `value`, shape (m,): with k blocks the
    sampling variance of `value` is sampling / k.  clamped: variance of the clamped estimates, shape (m,).
    """

    value: Array
    slopes: Array
    share: Array
    sampling: Array
    clamped: Array


@dataclass(frozen=True)
class _Side:
    """A law, clamped or not, at m pairs of location and scale.

    values: at the nodes, shape (m, nodes).  moments: mean and variance, shape (2, m).  slopes: derivatives of the
    moments in the location, in units of the scale, and in the logarithm of the scale, shape (2, 2, m).
    """

    values: Array
    moments: Array
    slopes: Array


@dataclass(frozen=True)
class _Law:
    """The law of the estimates with the clamp and without; share: probability of lying at an end of the box."""

    clamped: _Side
    free: _Side
    share: Array

    def moments(self, free: bool) -> Array:
        """Return the mean with the clamp and the variance with it (or without, if `free`), shape (2, m)."""
        return np.stack([self.clamped.moments[0], (self.free if free else self.clamped).moments[1]])

    def slopes(self, free: bool) -> Array:
        """Return the derivatives of these two moments, shape (2, 2, m)."""
        return np.stack([self.clamped.slopes[0], (self.free if free else self.clamped).slopes[1]])


# what has no solution overflows on the way, and is told by its value
@np.errstate(over="ignore", invalid="ignore")
def unclamped_means(
    mean: Array, variance: Array, low: float, high: float, power: float = 1.0, *, free: bool = False
) -> UnclampedMeans:
    """Correct means for the clamp to [low, high], from mean and variance of clamped estimates, shape (m,) each.

    free: `variance` is known beforehand and belongs to the unclamped estimates.  power: the power of the estimate that
    is taken as normal; 0 stands for the logarithm.  Powers other than 1 are for positive parameters only.

    >>> found = unclamped_means(np.array([4.7]), np.array([0.1]), 0.0, 5.0)
    >>> found.value.round(2).tolist(), found.share.round(2).tolist()
    ([4.78], [0.3])
    """
    sd = np.sqrt(variance)
    # start: location at the transformed mean, scale by the delta method: derivative of (x**p - 1) / p is x**(p - 1)
    inner = np.clip(mean, low, high)
    places = np.stack([_power(inner, power), np.log(sd * inner ** (power - 1) if power != 1 else sd)])
    wanted, scale = np.stack([mean, variance]), np.stack([sd, variance])
    left = np.arange(len(mean))
    for _ in range(STEPS):
        here = places[:, left]
        law = _law(here, low, high, power)
        step = np.clip(_solve(law.slopes(free), law.moments(free) - wanted[:, left]), -FURTHEST, FURTHEST)
        # slopes in the location are per unit of the scale, so its step is multiplied by the scale
        places[:, left] = here - step * np.stack([np.exp(here[1]), np.ones_like(here[1])])
        left = left[(np.abs(step) > STILL).any(axis=0)]
        if not len(left):
            break
    law = _law(places, low, high, power)
    fine = (np.abs(law.moments(free) - wanted) / scale < SOLVED).all(axis=0)
    # implicit function theorem: the location and scale that solve the equations move by inverse(slopes) times a change
    # axes: the two unit vectors of the moments, each repeated for the m releases, shape (2, 2, m)
    axes = np.eye(2)[:, :, None] * np.ones_like(sd)
    slopes = np.stack([(law.free.slopes[0] * _solve(law.slopes(free), one)).sum(axis=0) for one in axes])
    # a variance known beforehand carries no error into the result
    slopes[1] = 0.0 if free else slopes[1]
    clamped = law.clamped
    # influence of one block: x - mean on the mean, (x - mean)**2 - variance on the variance, chained with `slopes`
    own = clamped.values - clamped.moments[0][:, None]
    moved = slopes[0][:, None] * own + slopes[1][:, None] * (own**2 - clamped.moments[1][:, None])
    value = np.where(fine, law.free.moments[0], np.nan)
    return UnclampedMeans(value, slopes, law.share, moved**2 @ WEIGHTS, clamped.moments[1])


def _law(places: Array, low: float, high: float, power: float) -> _Law:
    """Return the law with this location and logarithm of the scale, with the clamp to [low, high] and without."""
    scale = np.exp(places[1])[:, None]
    values, rise = _unpowered(places[0][:, None], places[0][:, None] + scale * NODES, power)
    beyond = (values <= low) | (values >= high)
    each = np.stack([rise * scale, rise * scale * NODES])
    # a value held at an end of the box does not move with location or scale
    inside = np.where(beyond, 0.0, each)
    return _Law(_side(np.clip(values, low, high), inside), _side(values, each), beyond @ WEIGHTS)


def _side(values: Array, each: Array) -> _Side:
    """Return mean and variance of values at the nodes, with slopes from `each`, the derivatives of the values."""
    mean = values @ WEIGHTS
    # d variance = 2 E[(x - mean) dx]: the term in d mean drops out, as E[x - mean] = 0
    own = values - mean[:, None]
    return _Side(values, np.stack([mean, own**2 @ WEIGHTS]), np.stack([each @ WEIGHTS, 2 * (each * own) @ WEIGHTS]))


def _solve(slopes: Array, gap: Array) -> Array:
    """Solve slopes @ x = gap for x, shape (2, m), by Cramer's rule; slopes: shape (2, 2, m)."""
    (a, b), (c, d) = slopes
    whole = a * d - b * c
    whole = np.where(np.abs(whole) > 1e-300, whole, 1e-300)
    return np.stack([d * gap[0] - b * gap[1], a * gap[1] - c * gap[0]]) / whole


def _power(values: Array, power: float) -> Array:
    """Return (x**power - 1) / power, or its limit at power 0, the logarithm [Box & Cox 1964]."""
    if power == 1:
        return values
    return np.log(values) if power == 0 else (values**power - 1) / power


def _unpowered(middle: Array, places: Array, power: float) -> tuple[Array, Array]:
    """Return the inverse of `_power` and its derivative; constant, with derivative 0, in the cut tail (`LEAST`)."""
    if power == 1:
        return places, np.ones_like(places)
    if power == 0:
        values = np.exp(np.clip(places, -300, 300))
        return values, values
    # the floor of 1e-9 is for locations where power * x + 1 <= 0, which Newton's steps may cross
    base, least = power * places + 1, LEAST * np.maximum(power * middle + 1, 1e-9)
    # derivative of base**(1 / power), base = power * x + 1: the value over its base
    values = np.maximum(base, least) ** (1 / power)
    return values, np.where(base > least, values / np.maximum(base, least), 0.0)

"""Points that stand for a law of one column inside a fit, placed by the block's own rows: JAX functions of one block.

On the line, and in logs or logits, x = c + w sinh(pi/2 sinh t) for t on a grid, c and w mean and spread of the block's
rows: whatever the tails, sums over the grid are exact to many digits (double-exponential rule).  Counts are summed one
by one, then in steps that double, where their law is smooth.  Where the probabilities do not add up to 1 the rows of
the block stand in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tacit.base.lazy_imports import jax
from tacit.models.block_moments import mean
from tacit.models.boxes import Array

if TYPE_CHECKING:
    from tacit.models.likelihood import Likelihood

GRID: Final = np.arange(-3.5, 3.501, 0.05)
SINGLE: Final = 128
WIDE: Final = 32
"""Counts summed one by one; from there on so many steps of 2, of 4, ..."""
DOUBLINGS: Final = 12
WRONG: Final = 1e-3
"""Largest distance from 1 of what the probabilities may add up to."""


def expectations(model: Likelihood, x: Any, w: Any, vector: Any) -> tuple[Any, Any]:
    """Points and weights for averages under the law at a vector; the block's own rows where there are none."""
    if model.support is None:
        return x, w
    lib, tools = jax().numpy, jax()
    points, slopes = _counts() if model.support == "count" else _placed(model, x, w)
    theta = model.bind(vector)
    # between counts, too, where a step is wide
    inside = lib.isfinite(points) if model.support == "count" else model.inside(points)
    points = lib.where(inside, points, model.anchor)

    def probability(row: Any) -> Any:
        return lib.exp(model.log_density(row, theta))

    weights = lib.where(inside, tools.vmap(probability)(points) * slopes, 0.0)
    weights = lib.where(lib.isfinite(weights), weights, 0.0)
    points = lib.where(weights > 0, points, model.anchor)  # no derivative of what is not counted
    sound = lib.abs(weights.sum() - 1) < WRONG
    return lib.concatenate([points, x]), lib.concatenate([lib.where(sound, weights, 0.0), lib.where(sound, 0.0, w)])


def _counts() -> tuple[Array, Array]:
    """Counts and how many of them each stands for, the middle of its step."""
    points, steps = [np.arange(float(SINGLE))], [np.ones(SINGLE)]
    start = float(SINGLE)
    for doubling in range(1, DOUBLINGS + 1):
        step = 2.0**doubling
        points.append(start + step * np.arange(WIDE) + (step - 1) / 2)
        steps.append(np.full(WIDE, step))
        start += WIDE * step
    return np.concatenate(points), np.concatenate(steps)


def _placed(model: Likelihood, x: Any, w: Any) -> tuple[Any, Any]:
    """Points of the support and their slopes times the step of the grid."""
    lib = jax().numpy
    support: Any = model.support
    ends: tuple[float, float] = (0.0, 1.0) if support == "unit" else (0.0, np.inf)
    low, high = cast(tuple[float, float], support) if isinstance(support, tuple) else ends
    if support == "real":
        place = x
    elif np.isinf(high):
        place = lib.log(x - low)
    else:
        place = lib.log(x - low) - lib.log(high - x)
    place = lib.where(lib.isfinite(place), place, 0.0)
    center = mean(place, w)
    wide = lib.sqrt(mean((place - center) ** 2, w)) + 1e-9
    inner = np.pi / 2 * np.sinh(GRID)
    s = center + wide * np.sinh(inner)
    slope = wide * np.cosh(inner) * np.pi / 2 * np.cosh(GRID) * (GRID[1] - GRID[0])
    if support == "real":
        return s, slope
    if np.isinf(high):
        return low + lib.exp(s), slope * lib.exp(s)
    share = jax().nn.sigmoid(s)
    return low + (high - low) * share, slope * (high - low) * share * jax().nn.sigmoid(-s)

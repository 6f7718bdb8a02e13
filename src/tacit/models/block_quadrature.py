"""Expectations under a law of one column inside a fit, by quadrature: JAX functions of one block.

Points are x = c + w sinh(pi/2 sinh t) for t on a grid, c and w being mean and standard deviation of the block's rows,
on the line or in logs or logits: sums over the grid are exact to many digits whatever the tails (double-exponential
rule).  Counts are summed one by one up to SINGLE, then in steps that double, where their law is smooth.  Where the
probabilities do not add up to 1, the rows of the block are averaged instead.
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
"""Counts below SINGLE are summed one by one; then WIDE steps of 2, WIDE steps of 4, ..."""
DOUBLINGS: Final = 12
WRONG: Final = 1e-3
"""Largest distance from 1 of what the probabilities may add up to."""


def expectations(model: Likelihood, x: Any, w: Any, vector: Any) -> tuple[Any, Any]:
    """Return points and weights for averages under the law at `vector`; the block's own rows where quadrature fails."""
    if model.support is None:
        return x, w
    lib, tools = jax().numpy, jax()
    points, slopes = _counts() if model.support == "count" else _placed(model, x, w)
    theta = model.bind(vector)
    # of counts, points may lie between whole numbers, in the middle of a wide step
    inside = lib.isfinite(points) if model.support == "count" else model.inside(points)
    points = lib.where(inside, points, model.anchor)

    def probability(row: Any) -> Any:
        return lib.exp(model.log_density(row, theta))

    weights = lib.where(inside, tools.vmap(probability)(points) * slopes, 0.0)
    # an overflow of sinh or exp far in the tail, where the density is 0, gives NaN
    weights = lib.where(lib.isfinite(weights), weights, 0.0)
    points = lib.where(weights > 0, points, model.anchor)  # derivatives at points of weight 0 could be NaN
    # both sets always take part, one of them with weight 0: compiled code has no data-dependent shapes
    sound = lib.abs(weights.sum() - 1) < WRONG
    return lib.concatenate([points, x]), lib.concatenate([lib.where(sound, weights, 0.0), lib.where(sound, 0.0, w)])


def _counts() -> tuple[Array, Array]:
    """Return counts, each in the middle of its step, and the widths of the steps."""
    points, steps = [np.arange(float(SINGLE))], [np.ones(SINGLE)]
    start = float(SINGLE)
    for doubling in range(1, DOUBLINGS + 1):
        step = 2.0**doubling
        # a step has the counts c, ..., c + step - 1: their mean stands for them
        points.append(start + step * np.arange(WIDE) + (step - 1) / 2)
        steps.append(np.full(WIDE, step))
        start += WIDE * step
    return np.concatenate(points), np.concatenate(steps)


def _placed(model: Likelihood, x: Any, w: Any) -> tuple[Any, Any]:
    """Return points of the support, and dx/dt times the step of the grid t at each."""
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
    # equal rows have spread 0, and all points would coincide
    wide = lib.sqrt(mean((place - center) ** 2, w)) + 1e-9
    inner = np.pi / 2 * np.sinh(GRID)
    s = center + wide * np.sinh(inner)
    # ds/dt = wide cosh(pi/2 sinh t) (pi/2) cosh t, times the step of t
    slope = wide * np.cosh(inner) * np.pi / 2 * np.cosh(GRID) * (GRID[1] - GRID[0])
    if support == "real":
        return s, slope
    if np.isinf(high):
        return low + lib.exp(s), slope * lib.exp(s)
    share = jax().nn.sigmoid(s)
    # d share / ds = share (1 - share); sigmoid(-s) is 1 - share without cancellation
    return low + (high - low) * share, slope * (high - low) * share * jax().nn.sigmoid(-s)

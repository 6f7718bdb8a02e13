"""Values and intervals of quantiles from the steps that were selected for them.  Pure array functions."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.total_errors.monotone import rising
from tacit.release.parts import Grid

SPANS: Final = 4.0
"""Distances between three steps out of order by which limits lie beyond the outer ones."""
UNEVEN: Final = 1.0
"""The same where they are in order, but the middle one is much nearer to one end than to the other."""


def of_selections(steps: Array, grid: Grid, ends_share: Array, slack: Array | None = None) -> tuple[Array, Array]:
    """Return values, shape (cells, probs), and limits, (cells, probs, 2), of steps (cells, probs, (below, at, above)).

    Steps of shape (cells, probs, 1) are values without limits: these are then the values themselves.
    ends_share: shape (cells, probs), the weight of the middle of both ends in a value.  A value moves at most that
    share of the way to the nearer end, since a nearby end says that rows are not evenly spaced; it is a grid step.
    slack: shape (cells, probs), for `out_of_order`, beyond which limits are further apart; None: never.

    >>> one = np.array([[[30.0, 20.0, 40.0]]]), Grid("real", 0.0, 100.0, 100)
    >>> values, limits = of_selections(*one, np.array([[0.5]]))
    >>> values.tolist(), limits.tolist()
    ([[30.0]], [[[29.5, 40.5]]])
    """
    h = (grid.upper - grid.lower) / grid.G
    # noise may select the lower end above the upper one: the order of the two is restored
    ends = np.sort(steps[..., [0, -1]], axis=-1)
    limits = ends if slack is None else beyond_gap(steps, slack, ends)
    limits = limits + np.array([-0.5, 0.5])  # a step stands for half a step on either side
    # rows are clamped to the bounds, and so are all quantiles
    limits = np.clip(grid.lower + h * limits, grid.lower, grid.upper)
    # a value selected beyond its own ends is moved to the nearer of them
    at = np.clip(steps[..., steps.shape[-1] // 2], ends[..., 0], ends[..., 1])
    below, above = at - ends[..., 0], ends[..., 1] - at
    nearer = np.minimum(below, above)
    at = np.rint(at + ends_share * np.clip((above - below) / 2, -nearer, nearer))
    return grid.lower + h * at, limits


def out_of_order(steps: Array, slack: Array) -> NDArray[np.bool_]:
    """Return whether steps (..., (below, at, above)) are so much out of order that rows may leave a gap there.

    slack: shape (...), the part of the distance between the ends by which `at` may lie beyond one of them
    (`rank_errors.slack`), or below 0, by which it must lie within them (`cube_errors.least_part`); where it is infinite
    nothing is told.  Three steps within a gap are in each order equally often.  A value on an end is not told: two
    equal steps are those of many equal rows, and in a gap of many steps rarely meet.

    >>> out_of_order(np.array([[3.0, 5.0, 9.0], [3.0, 9.6, 9.0], [3.0, 9.7, 9.0], [9.0, 5.0, 3.0]]), np.full(4, 0.1))
    array([False, False,  True,  True])
    """
    below, at, above = np.moveaxis(steps, -1, 0)
    known = np.isfinite(slack)
    allowed = np.where(known, slack, 0.0) * np.abs(above - below)
    outside = np.maximum(below - at, at - above)
    return known & (outside > allowed) & (outside != 0)


def beyond_gap(steps: Array, slack: Array, ends: Array) -> Array:
    """Return the ends, shape (..., 2), moved apart where steps (..., 3) are out of order.

    Of a gap's parts before, between and after three steps that are uniform in it, the first is longer than k times the
    second with probability 1 / (1 + k)**2: 4% with k = SPANS.  So is that before two steps in it, of which the other
    end is beyond: a quarter with k = UNEVEN, where steps are in order, and only some of them are two in a gap.
    """
    low, high = steps.min(axis=-1), steps.max(axis=-1)
    below, at, above = np.moveaxis(steps, -1, 0)
    spans = np.where((below <= at) & (at <= above), UNEVEN, SPANS) * (high - low)
    far = np.stack([low - spans, high + spans], axis=-1)
    return np.where(out_of_order(steps, slack)[..., None], far, ends)


def settled(values: Array, limits: Array, unsure: NDArray[np.bool_], grid: Grid) -> tuple[Array, Array]:
    """Return values and limits that rise with the probability, those of unsure terms between the bounds of the column.

    Shapes as in `of_selections`; unsure: of the shape of `values`.  What was selected for an unsure term moves no
    other: its value is moved between those of its sure neighbours.

    >>> limits = np.array([[[8.0, 9.0], [4.0, 6.0]]])
    >>> made = settled(np.array([[9.0, 5.0]]), limits, np.array([[True, False]]), Grid("real", 0.0, 10.0, 10))
    >>> made[0].tolist(), made[1].tolist()
    ([[5.0, 5.0]], [[[0.0, 10.0], [4.0, 6.0]]])
    """
    # an unsure term neither raises what follows it nor lowers what is before it
    least = np.where(unsure, -np.inf, values)
    kept = np.where(unsure[..., None], np.array([np.inf, -np.inf]), limits)
    above, kept = rising(least, kept)
    below = np.minimum.accumulate(np.where(unsure, np.inf, above)[:, ::-1], axis=1)[:, ::-1]
    held = np.maximum.accumulate(np.where(unsure, np.clip(values, above, below), above), axis=1)
    return held, np.where(unsure[..., None], np.array([grid.lower, grid.upper]), kept)

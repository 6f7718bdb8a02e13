"""Quantiles, intervals and bands from released cuts and the numbers of rows between them.  Public arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.monotone import rising
from tacit.estimates.terms import Target
from tacit.method.quantiles.cut_errors import CutCounts, pointwise, together, values
from tacit.method.quantiles.cut_tree import edges
from tacit.method.quantiles.query import Quantiles
from tacit.method.quantiles.stored import public_size
from tacit.release.document import Released
from tacit.release.parts import Grid

UNKNOWN: Final = "too few rows for this price to tell where it is"
"""Reason of a quantile whose interval is that of the column's bounds."""


def is_cut(release: Released) -> bool:
    """Return whether a release of quantiles is one of cuts and of the numbers of rows between them."""
    return release.parts[0].form == "cuts"


def read(release: Released, target: Target, *, simultaneous: bool) -> tuple[Array, Array, tuple[str | None, ...]]:
    """Return values, shape (probs,), limits, shape (probs, 2), and reasons.

    Limits are those of the level of the question, of each quantile or, simultaneous, of all of them at once.
    """
    cutting, between = release.parts
    grid, query = cast(Grid, cutting.grid), cast(Quantiles, release.query)
    last = np.array(edges(cutting.integers[0], grid.G), dtype=np.float64)
    p = np.array([float(one) for one in cast("tuple[Fraction, ...]", query.probs)])
    size = release.rows if public_size(release) else None
    found = CutCounts(np.array(between.integers[0], dtype=np.float64), size, between.law, target == "population")
    low, high = (together if simultaneous else pointwise)(found, p, float(query.level))
    # a quantile is beyond the step of its lower edge, and at most that of its upper one: steps reach half a step
    at = np.concatenate([last, [float(grid.G)]])
    h = (grid.upper - grid.lower) / grid.G
    first = np.where(low < 0, -0.5, at[np.maximum(low, 0)] + 0.5)
    steps = np.stack([first, at[high] + 0.5], axis=1)
    chosen = np.clip(values(found, last, p, grid.G), steps[:, 0] + 0.5, steps[:, 1] - 0.5)
    held, limits = rising(chosen[None], np.clip(grid.lower + h * steps, grid.lower, grid.upper)[None])
    reasons = tuple(UNKNOWN if a < 0 and b == len(last) else None for a, b in zip(low, high, strict=True))
    return grid.lower + h * held[0], limits[0], reasons

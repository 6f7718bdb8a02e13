"""Quantiles, intervals and bands from released cuts and the numbers of rows between them.  Public arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.terms import Target
from tacit.estimates.total_errors.monotone import rising
from tacit.method.quantiles.cut_errors import CutCounts, pointwise, together, values
from tacit.method.quantiles.cut_tree import CutPlan, edges, places, tells
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
    """Return values, shape (cells, probs), limits, shape (cells, probs, 2), and reasons, cell by cell.

    Limits are those of the level of the question, of each quantile or, simultaneous, of all of them at once: of several
    cells each has its part of what is left to 1 [Bonferroni].
    """
    level, cells = float(cast(Quantiles, release.query).level), len(release.parts[0].integers)
    level = 1 - (1 - level) / cells if simultaneous else level
    made = [_of_cell(release, cell, target, level, simultaneous=simultaneous) for cell in range(cells)]
    return (
        np.stack([values for values, _, _ in made]),
        np.stack([limits for _, limits, _ in made]),
        tuple(reason for _, _, reasons in made for reason in reasons),
    )


def _of_cell(
    release: Released, cell: int, target: Target, level: float, *, simultaneous: bool
) -> tuple[Array, Array, list[str | None]]:
    """Return values, shape (probs,), limits, shape (probs, 2), and reasons of a cell."""
    cutting, between = release.parts
    grid, query = cast(Grid, cutting.grid), cast(Quantiles, release.query)
    last = np.array(edges(cutting.integers[cell], grid.G), dtype=np.float64)
    p = np.array([float(one) for one in cast("tuple[Fraction, ...]", query.probs)])
    size = release.rows if public_size(release) else None
    found = CutCounts(np.array(between.integers[cell], dtype=np.float64), size, between.law, target == "population")
    low, high = (together if simultaneous else pointwise)(found, p, level)
    known = _told(release, found, p)
    low, high = np.where(known, low, -1), np.where(known, high, len(last))
    # a quantile is beyond the step of its lower edge, and at most that of its upper one: steps reach half a step
    at = np.concatenate([last, [float(grid.G)]])
    h = (grid.upper - grid.lower) / grid.G
    first = np.where(low < 0, -0.5, at[np.maximum(low, 0)] + 0.5)
    steps = np.stack([first, at[high] + 0.5], axis=1)
    chosen = np.clip(values(found, last, p, grid.G), steps[:, 0] + 0.5, steps[:, 1] - 0.5)
    held, limits = rising(chosen[None], np.clip(grid.lower + h * steps, grid.lower, grid.upper)[None])
    reasons = [UNKNOWN if a < 0 and b == len(last) else None for a, b in zip(low, high, strict=True)]
    return grid.lower + h * held[0], limits[0], reasons


def _told(release: Released, found: CutCounts, p: Array) -> Array:
    """Return of each quantile whether it has an interval, by the number of rows and public facts alone."""
    query, facts = cast(Quantiles, release.query), release.parts[0].parameters
    probs = cast("tuple[Fraction, ...]", query.probs)
    at = places(probs, CutPlan(facts["levels"], facts["even"], Fraction(0), facts["reach"]))
    sampling = found.size * p * (1 - p) * found.samples
    noise, sized = float(found.law.variance()), found.rows is not None
    return tells(at, p, found.size, sampling, noise, float(query.level), sized=sized)

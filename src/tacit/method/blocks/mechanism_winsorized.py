"""Winsorised sample and aggregate: noise as wide as the blocks' own spread, in a box of any width.  INSIDE the wall.

Definition
    Blocks and their estimates are those of `sample_and_aggregate`.  For each parameter its box is divided into STEPS
    points of a public map (`models.wide_grid`: logs of positive numbers, ever coarser away from the middle of the
    line), and two of these are selected by rank (`method.shared.mechanism_rank_selection`) near the quartiles of the k
    estimates, each to the point below it.  A window is a function of the two, `models.wide_grid.window`: as far again
    as they are apart, REACH times, on both sides, at least two steps wide, within the box.  Every estimate is put on a
    grid of G steps over the window, what is outside to its ends, and the sums of w and floor(w**2 / c) are released as
    there.
    Public: as there, and STEPS, REACH, the parts of the price.
Sensitivity
    Under both relations, and of persons, one of k estimates is replaced.  Selections: that of ranks' utilities under
    replace-one, 4 for p = 1/4 and 3/4.  Sums: form P or Z, whatever the window is.  [Smith 2011; theory §12]
Noise
    Selections exactly by `noise.select`; sums as for `sample_and_aggregate`, on the window's grid.
Cost
    Of a parameter's equal share one of QUARTILE for each selection, by public facts the first at which k tells the
    quartiles, and the rest for the sums, whose window is a function of the released points: adaptive composition.
    Pure: 2 epsilon_q + epsilon_n.  rho: a selection of epsilon_q has a bounded range, epsilon_q**2 / 8 each [Dong,
    Durfee & Rogers 2020], so epsilon_q**2 / 4 + rho_n in all.  (epsilon, delta): mu**2 of a range instead of rho.
Failures
    None depends on a row: blocks without an answer have the default, and count; equal estimates have a window of two
    steps; points that are selected in the wrong order are turned around.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.blocks import mechanism_labels as blocks
from tacit.method.blocks import mechanism_means as sample_and_aggregate
from tacit.method.blocks.design import BlockPlan
from tacit.method.blocks.mechanism_means import sums
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.blocks.winsorized_design import PROBS, Quartiles
from tacit.method.shared import mechanism_rank_selection as ranks
from tacit.method.shared import rank_utilities
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.mechanism_additive import protect
from tacit.models.wide_grid import STEPS, WideGrid, window
from tacit.release.parts import Grid, Part
from tacit.source import Source
from tacit.source.row_arrays import RowArrays

# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Selections, and in their windows the sums; only what is protected is kept."""
    return of_estimates(shape, sample_and_aggregate.of_blocks(shape, source), ranks.select, protect)


def released(shape: Measurement, rows: RowArrays, own: NDArray[np.uint64], draw: Any, noise: Any) -> tuple[Part, ...]:
    """READS ROWS.  The parts of rows at hand; `draw` and `noise` protect, or simulate."""
    plan, query = cast(BlockPlan, shape.blocks), cast(SampleAndAggregate, shape.query)
    found = blocks.packed(rows, own, plan.blocks, plan.room)
    return of_estimates(shape, sample_and_aggregate.estimates(plan.model, query.bias, found), draw, noise)


def of_estimates(shape: Measurement, values: NDArray[np.float64], draw: Any, noise: Any) -> tuple[Part, ...]:
    """READS ROWS.  The parts from estimates of blocks, shape (k, parameters)."""
    names = cast(BlockPlan, shape.blocks).model.names
    made: list[Part] = []
    for chosen, mean in zip(shape.columns[::2], shape.columns[1::2], strict=True):
        own = values[:, names.index(mean.label)]
        wide = cast(WideGrid, cast(Quartiles, chosen).wide)
        points = tuple(int(draw(runs, chosen.law)) for runs in utilities(wide, own))
        made.append(chosen.released((points,)))
        column = windowed(mean, wide, points)
        made.append(column.released(noise(sums(column, own), column.law)))
    return tuple(made)


def utilities(wide: WideGrid, values: NDArray[np.float64]) -> tuple[rank_utilities.Runs, ...]:
    """READS ROWS.  Those of the points near each quartile of the estimates."""
    counts: Counter[int] = Counter(wide.places(values).tolist())
    return tuple(rank_utilities.utilities(counts, STEPS + 1, p) for p in PROBS)


def windowed(column: PartSpec, wide: WideGrid, points: tuple[int, ...]) -> PartSpec:
    """The sums' column with the window of two released points for its grid; its form and its law stay."""
    lower, upper = window(wide, points)
    return replace(column, grid=replace(cast(Grid, column.grid), lower=lower, upper=upper))

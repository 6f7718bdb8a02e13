"""Winsorised sample and aggregate: noise as wide as the blocks' own spread, in a box of any width.  INSIDE the wall.

Definition
    Blocks and their estimates are those of `mechanism_means`.  For each parameter its box is divided into STEPS points
    of a public map (`models.wide_grid`: even in the logarithm of positive parameters; on the line, ever coarser away
    from the middle of the box).  Two of these points are selected by rank (`method.shared.mechanism_rank_selection`),
    near the quartiles of the k estimates, each of which stands at the last point that is not above it; here a block
    without an estimate stands at the public default, so that there are k whatever the rows are.  A window is a
    public function of the two selected points (`models.wide_grid.window`): it reaches REACH times their distance beyond
    them on both sides, spans at least two steps, and lies within the box.  Every estimate is then clamped to the window
    and rounded to a grid of G steps over it, and sums over the blocks that have one are released as in
    `mechanism_means`.
    Public: as there, and STEPS, REACH and the parts of the price.
Sensitivity
    Under both neighbouring relations, and for persons, one of k estimates is replaced (`mechanism_means`).
    Selections: the sensitivity of rank utilities under replace-one, which is 4 for the quartiles p = 1/4 and 3/4.
    Sums: the encoding of exclusions, whose sensitivity in grid steps does not depend on the window.  [Smith 2011;
    theory §12]
Noise
    Selections exactly by `noise.select`; sums as in `mechanism_means`, on the window's grid.
Cost
    Each selection has a part, one of QUARTILE, of the parameter's equal share of the price: from public facts, the
    first part at which k blocks suffice to find the quartiles.  The sums have the rest; their window is a function of
    the released points, so adaptive composition applies.  With epsilon_q for each selection and epsilon_n or rho_n for
    the sums: pure, 2 epsilon_q + epsilon_n.  rho: a selection of epsilon_q has bounded range and costs epsilon_q**2 / 8
    [Dong, Durfee & Rogers 2020], so epsilon_q**2 / 4 + rho_n in all.  (epsilon, delta): mu**2 of a bounded-range
    mechanism in place of rho.
Failures
    None depends on a row: blocks without an estimate have the default in the selections, and add nothing to the sums;
    equal estimates have a window of two steps; points that are selected in the wrong order are swapped.
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
from tacit.source.engine_sums.row_arrays import RowArrays

# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Return the selections and the noisy sums within their windows; nothing exact is kept."""
    return of_estimates(shape, sample_and_aggregate.of_blocks(shape, source), ranks.select, protect)


def released(shape: Measurement, rows: RowArrays, own: NDArray[np.uint64], draw: Any, noise: Any) -> tuple[Part, ...]:
    """READS ROWS.  Return the parts of rows in memory with labels `own`; `draw` and `noise` protect, or simulate."""
    plan, query = cast(BlockPlan, shape.blocks), cast(SampleAndAggregate, shape.query)
    found = blocks.packed(rows, own, plan.blocks, plan.capacity)
    return of_estimates(shape, sample_and_aggregate.estimates(plan.model, query.bias, found), draw, noise)


def of_estimates(shape: Measurement, values: NDArray[np.float64], draw: Any, noise: Any) -> tuple[Part, ...]:
    """READS ROWS.  Return the parts made from the blocks' estimates `values`, shape (k, parameters)."""
    model = cast(BlockPlan, shape.blocks).model
    ranked = np.where(np.isfinite(values), values, model.fallback)
    made: list[Part] = []
    # parts alternate: selections, then sums (`winsorized_design`)
    for chosen, mean in zip(shape.columns[::2], shape.columns[1::2], strict=True):
        place = model.names.index(mean.label)
        wide = cast(WideGrid, cast(Quartiles, chosen).wide)
        # drawn before the sums: their window depends on released points alone
        points = tuple(int(draw(runs, chosen.law)) for runs in utilities(wide, ranked[:, place]))
        made.append(chosen.released((points,)))
        column = windowed(mean, wide, points)
        made.append(column.released(noise(sums(column, values[:, place]), column.law)))
    return tuple(made)


def utilities(wide: WideGrid, values: NDArray[np.float64]) -> tuple[rank_utilities.Runs, ...]:
    """READS ROWS.  Return the rank utilities of the grid points for each quartile of the estimates."""
    counts: Counter[int] = Counter(wide.places(values).tolist())
    return tuple(rank_utilities.utilities(counts, STEPS + 1, p) for p in PROBS)


def windowed(column: PartSpec, wide: WideGrid, points: tuple[int, ...]) -> PartSpec:
    """Return the column of sums on the window of two released points; its encoding and its noise stay the same."""
    lower, upper = window(wide, points)
    return replace(column, grid=replace(cast(Grid, column.grid), lower=lower, upper=upper))

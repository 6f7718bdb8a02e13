"""Winsorised sample and aggregate: noise as wide as the blocks' own spread, in a box of any width.  INSIDE the wall.

Definition
    Blocks and their estimates are those of `sample_and_aggregate`.  For each parameter its box is divided into STEPS
    points of a public map (`models.wide_grid`: logs of positive numbers, ever coarser away from the middle of the
    line), and two of these are selected by rank (`mechanisms.ranks`) near the quartiles of the k estimates, each to
    the point below it.  A window is a function of the two, `models.wide_grid.window`: as far again as they are apart,
    REACH times, on both sides, at least two steps wide, within the box.  Every estimate is put on a grid of G steps
    over the window, what is outside to its ends, and the sums of w and floor(w**2 / c) are released as there.
    Public: as there, and STEPS, REACH, the parts of the price.
Sensitivity
    Under both relations, and of persons, one of k estimates is replaced.  Selections: that of ranks' utilities under
    replace-one, 4 for p = 1/4 and 3/4.  Sums: form P or Z, whatever the window is.  [Smith 2011; theory §12]
Noise
    Selections exactly by `noise.choose`; sums as for `sample_and_aggregate`, on the window's grid.
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
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.curator.source import Source
from tacit.curator.source.rows import Rows
from tacit.mechanisms import blocks, ranks, sample_and_aggregate
from tacit.mechanisms.additive import protect
from tacit.mechanisms.moment_forms import Form
from tacit.mechanisms.moments import Column, Design
from tacit.mechanisms.sample_and_aggregate import Plan, part_of, sums
from tacit.models.wide_grid import STEPS, WideGrid, window
from tacit.noise.selection import Selection
from tacit.privacy import Cost
from tacit.queries_blocks import SampleAndAggregate
from tacit.release import Grid, Part
from tacit.rowmap import ONE
from tacit.schema import Schema

QUARTILE: Final = tuple(Fraction(part, 20) for part in (2, 3, 4, 5))
"""Parts of a parameter's price for each of the two selections."""
ENOUGH: Final = 3.0
"""Half a quartile of blocks in scales of the selection, from which on it finds them among the empty points."""
USUAL: Final = 15.0
"""A box, in standard deviations of an estimate from one row, up to which that is enough."""
PROBS: Final = (Fraction(1, 4), Fraction(3, 4))


@dataclass(frozen=True)
class Quartiles(Column):
    """The selections of a parameter: on which grid, and for which part of its price."""

    wide: WideGrid | None = None
    cost_part: Fraction = Fraction(0)


# Definition ---------------------------------------------------------------------------------------------------------


def design(
    query: SampleAndAggregate,
    schema: Schema,
    *,
    neighbors: str,
    rows: int | None,
    cost: Cost,
    size_hint: int | None = None,
) -> Design:
    """As of `sample_and_aggregate`, with a column of selections before each of sums."""
    shape = sample_and_aggregate.design(query, schema, neighbors=neighbors, rows=rows, cost=cost, size_hint=size_hint)
    plan = cast(Plan, shape.blocks)
    made: list[Column] = []
    for column in shape.columns:
        one = plan.model.parameters[plan.model.names.index(column.label)]
        chosen = _quartiles(column, WideGrid.of(one), plan)
        mean = column.cost.share(1 - chosen.cost_part)
        made += [chosen, sample_and_aggregate.column_of(column.label, one.lower, one.upper, plan.blocks, mean)]
    return replace(shape, columns=tuple(made))


def told(column: Column, k: int) -> float:
    """Half a quartile of k blocks, in ranks, over the scale of the selection: public."""
    return k / 8 / (float(column.law.scale) / column.form.parameters["denominator"])


def enough(plan: Plan) -> float:
    """How well quartiles must be told: a window that misses them has noise of up to the square of the box, so that
    misses, of probability exp(-2 told) about, must be rarer by that where the box is wide; public.
    """
    return ENOUGH + log(max(1.0, sample_and_aggregate.width(plan.model) / USUAL))


def _quartiles(column: Column, wide: WideGrid, plan: Plan) -> Quartiles:
    """Two selections of a parameter, for as little of its price as tells its quartiles."""
    made, least = [_selections(column, wide, 2 * part) for part in QUARTILE], enough(plan)
    return next((one for one in made if told(one, plan.blocks) >= least), made[-1])


def _selections(column: Column, wide: WideGrid, part: Fraction) -> Quartiles:
    """For a part of the price; k is fixed, so that one estimate is replaced under both relations."""
    cost = column.cost.share(part)
    law = ranks.law_for(cost.share(Fraction(1, 2)), PROBS[0], "replace-one", grouped=False)
    most, squared = ranks.reached(PROBS[0], "replace-one", grouped=False)
    facts = {"G": STEPS, "numerator": 1, "denominator": 4}
    form = Form("quartiles", facts, (ONE,), ((1,), (1,)), most, squared)
    rate = cast(Any, Selection(law.rate))
    return Quartiles(column.label, form, None, column.grid, rate, cost, wide=wide, cost_part=part)


# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Design, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Selections, and in their windows the sums; only what is protected is kept."""
    return of_estimates(shape, sample_and_aggregate.of_blocks(shape, source), ranks.select, protect)


def released(shape: Design, rows: Rows, own: NDArray[np.uint64], draw: Any, noise: Any) -> tuple[Part, ...]:
    """READS ROWS.  The parts of rows at hand; `draw` and `noise` protect, or simulate."""
    plan, query = cast(Plan, shape.blocks), cast(SampleAndAggregate, shape.query)
    found = blocks.packed(rows, own, plan.blocks, plan.room)
    return of_estimates(shape, sample_and_aggregate.estimates(plan.model, query.bias, found), draw, noise)


def of_estimates(shape: Design, values: NDArray[np.float64], draw: Any, noise: Any) -> tuple[Part, ...]:
    """READS ROWS.  The parts from estimates of blocks, shape (k, parameters)."""
    names = cast(Plan, shape.blocks).model.names
    made: list[Part] = []
    for chosen, mean in zip(shape.columns[::2], shape.columns[1::2], strict=True):
        own = values[:, names.index(mean.label)]
        wide = cast(WideGrid, cast(Quartiles, chosen).wide)
        points = tuple(int(draw(runs, chosen.law)) for runs in utilities(wide, own))
        made.append(part_of(chosen, (points,)))
        column = windowed(mean, wide, points)
        made.append(part_of(column, noise(sums(column, own), column.law)))
    return tuple(made)


def utilities(wide: WideGrid, values: NDArray[np.float64]) -> tuple[ranks.Runs, ...]:
    """READS ROWS.  Those of the points near each quartile of the estimates."""
    counts: Counter[int] = Counter(wide.places(values).tolist())
    return tuple(ranks.utilities(counts, STEPS + 1, p) for p in PROBS)


def windowed(column: Column, wide: WideGrid, points: tuple[int, ...]) -> Column:
    """The sums' column with the window of two released points for its grid; its form and its law stay."""
    lower, upper = window(wide, points)
    return replace(column, grid=replace(cast(Grid, column.grid), lower=lower, upper=upper))

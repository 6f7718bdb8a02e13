"""Winsorised blocks: from the question, public facts and the price to selections and sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import log
from typing import Any, Final, cast

from tacit.method.blocks import design as sample_and_aggregate_design
from tacit.method.blocks.design import BlockPlan
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.shared import rank_utilities
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.models.wide_grid import STEPS, WideGrid
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost
from tacit.rows.row_map import ONE

QUARTILE: Final = tuple(Fraction(part, 20) for part in (2, 3, 4, 5))
"""Parts of a parameter's price for each of the two selections."""


ENOUGH: Final = 3.0
"""Half a quartile of blocks in scales of the selection, from which on it finds them among the empty points."""


USUAL: Final = 15.0
"""A box, in standard deviations of an estimate from one row, up to which that is enough."""


PROBS: Final = (Fraction(1, 4), Fraction(3, 4))


@dataclass(frozen=True)
class Quartiles(PartSpec):
    """The selections of a parameter: on which grid, and for which part of its price."""

    wide: WideGrid | None = None
    cost_part: Fraction = Fraction(0)


def design(query: SampleAndAggregate, public: Public, cost: Cost) -> Measurement:
    """As of `sample_and_aggregate`, with a column of selections before each of sums."""
    shape = sample_and_aggregate_design.design(query, public, cost)
    plan = cast(BlockPlan, shape.blocks)
    made: list[PartSpec] = []
    for column in shape.columns:
        one = plan.model.parameters[plan.model.names.index(column.label)]
        chosen = _quartiles(column, WideGrid.of(one), plan)
        mean = column.cost.share(1 - chosen.cost_part)
        made += [chosen, sample_and_aggregate_design.column_of(column.label, one.lower, one.upper, plan.blocks, mean)]
    return replace(shape, columns=tuple(made))


def told(column: PartSpec, k: int) -> float:
    """Half a quartile of k blocks, in ranks, over the scale of the selection: public."""
    return k / 8 / (float(column.law.scale) / column.form.parameters["denominator"])


def enough(plan: BlockPlan) -> float:
    """How well quartiles must be told: a window that misses them has noise of up to the square of the box, so that
    misses, of probability exp(-2 told) about, must be rarer by that where the box is wide; public.
    """
    return ENOUGH + log(max(1.0, sample_and_aggregate_design.width(plan.model) / USUAL))


def _quartiles(column: PartSpec, wide: WideGrid, plan: BlockPlan) -> Quartiles:
    """Two selections of a parameter, for as little of its price as tells its quartiles."""
    made, least = [_selections(column, wide, 2 * part) for part in QUARTILE], enough(plan)
    return next((one for one in made if told(one, plan.blocks) >= least), made[-1])


def _selections(column: PartSpec, wide: WideGrid, part: Fraction) -> Quartiles:
    """For a part of the price; k is fixed, so that one estimate is replaced under both relations."""
    cost = column.cost.share(part)
    law = rank_utilities.law_for(cost.share(Fraction(1, 2)), PROBS[0], "replace-one", grouped=False)
    most, squared = rank_utilities.reached(PROBS[0], "replace-one", grouped=False)
    facts = {"G": STEPS, "numerator": 1, "denominator": 4}
    form = Encoding("quartiles", facts, (ONE,), ((1,), (1,)), most, squared)
    rate = cast(Any, Selection(law.rate))
    return Quartiles(column.label, form, None, column.grid, rate, cost, wide=wide, cost_part=part)

"""Design of winsorised blocks: selections of quartiles and sums, from the query, public facts and the price."""

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
"""Candidate shares of a parameter's price for each of its two selections, in increasing order."""


ENOUGH: Final = 3.0
"""Least value of `quartile_in_noise_scales` for a box of usual width: enough to find the blocks among empty points."""


USUAL: Final = 15.0
"""Width of the box, in standard deviations of an estimate from one row, up to which ENOUGH suffices."""


PROBS: Final = (Fraction(1, 4), Fraction(3, 4))


@dataclass(frozen=True)
class Quartiles(PartSpec):
    """The two selections of a parameter.  wide: their grid.  cost_part: share of the parameter's price."""

    wide: WideGrid | None = None
    cost_part: Fraction = Fraction(0)


def design(query: SampleAndAggregate, public: Public, cost: Cost) -> Measurement:
    """Return the design of plain sample and aggregate, with a part of selections before each part of sums."""
    shape = sample_and_aggregate_design.design(query, public, cost)
    plan = cast(BlockPlan, shape.blocks)
    made: list[PartSpec] = []
    for column in shape.columns:
        one = plan.model.parameters[plan.model.names.index(column.label)]
        chosen = _quartiles(column, WideGrid.of(one), plan)
        mean = column.cost.share(1 - chosen.cost_part)
        made += [chosen, sample_and_aggregate_design.column_of(column.label, one.lower, one.upper, plan.blocks, mean)]
    return replace(shape, columns=tuple(made))


def quartile_in_noise_scales(column: PartSpec, k: int) -> float:
    """Return half a quartile of k blocks (k / 8 ranks) in scales of the selection's noise; a public number."""
    # utilities count in quarters of a rank (b = 4): the scale over the denominator is in ranks
    return k / 8 / (float(column.law.scale) / column.form.parameters["denominator"])


def least_quartile_in_noise_scales(plan: BlockPlan) -> float:
    """Return the least value of `quartile_in_noise_scales` that the selections of quartiles need; a public number.

    A window that misses the quartiles adds an error of up to the square of the box's width.  Misses have probability
    about exp(-2 x), x that value, so that x grows by
    the logarithm of the width to keep their part of the error constant.
    """
    return ENOUGH + log(max(1.0, sample_and_aggregate_design.width(plan.model) / USUAL))


def _quartiles(column: PartSpec, wide: WideGrid, plan: BlockPlan) -> Quartiles:
    """Return the two selections of a parameter, for the smallest share of its price that finds its quartiles."""
    # two selections of `part` each
    made, least = [_selections(column, wide, 2 * part) for part in QUARTILE], least_quartile_in_noise_scales(plan)
    return next((one for one in made if quartile_in_noise_scales(one, plan.blocks) >= least), made[-1])


def _selections(column: PartSpec, wide: WideGrid, part: Fraction) -> Quartiles:
    """Return the two selections for a share of the price.

    The number of blocks is fixed, so that a neighbouring table replaces one block's estimate under both relations.
    """
    cost = column.cost.share(part)
    # both quartiles have one sensitivity, b = 4 under replace-one: PROBS[0] stands for both
    law = rank_utilities.law_for(cost.share(Fraction(1, 2)), PROBS[0], "replace-one", grouped=False)
    most, squared = rank_utilities.reached(PROBS[0], "replace-one", grouped=False)
    facts = {"G": STEPS, "numerator": 1, "denominator": 4}
    form = Encoding("quartiles", facts, (ONE,), ((1,), (1,)), most, squared)
    rate = cast(Any, Selection(law.rate))
    return Quartiles(column.label, form, None, column.grid, rate, cost, wide=wide, cost_part=part)

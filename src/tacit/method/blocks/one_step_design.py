"""Design of one step: the pilot in blocks and the sums of clipped scores, from query, public facts and price."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Final, cast

from tacit.errors import QueryError
from tacit.method.blocks import design as blocks_design
from tacit.method.blocks import winsorized_design
from tacit.method.blocks.design import BlockPlan
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.shared.encoding_choice import choose
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.models import scores
from tacit.models.scores import CLIP
from tacit.privacy import Cost, noise_for
from tacit.release.parts import Grid
from tacit.rows.row_map import GRID, RowMap

PILOT: Final = Fraction(3, 10)
"""Share of the price for the pilot (theory §2), whose error changes the result of the step by second order only."""


PRODUCTS: Final = Fraction(3, 100)
"""Share of the price for the mean products of two scores, by which another law is seen (`estimate_step_fit`)."""


SCORE: Final = Grid("score", -CLIP, CLIP, GRID)


H: Final = GRID // 2


def design(query: SampleAndAggregate, public: Public, cost: Cost) -> Measurement:
    """Return the pilot's design with a part of scores for each parameter, and one for each product of two of them.

    QueryError Q102 where no step is possible.
    """
    make = winsorized_design if query.winsorize else blocks_design
    first = make.design(query, public, cost.share(PILOT))
    plan = cast(BlockPlan, first.blocks)
    why = scores.usable(plan.likelihood)
    if why is not None:
        text = f"one_step of SampleAndAggregate: {why}."
        known = plan.likelihood.support is not None or plan.likelihood.columns > 1
        hint = "leave one_step out" if known else 'tc.Model(…, support="positive"), where its rows lie; or no one_step'
        raise QueryError(text, code="Q102", hint=hint)
    names = plan.model.names
    # of persons, whose mean scores are not tested, and of one parameter there are no products
    pairs = tuple(combinations(names, 2)) if first.unit is None else ()
    products = PRODUCTS if pairs else Fraction(0)
    # of the whole price, so that with the pilot's PILOT all parts add up to it
    share = cost.share((1 - PILOT - products) / len(names))
    # under replace-one, rows that can be left out need the exclusion form, which counts those present (theory §12): a
    # row outside the support is left out, and only a support of all numbers is known to hold every row
    missing = first.where is not None or any(_can_be_missing(cell) for cell in plan.cells)
    leaves = missing or plan.likelihood.support != "real"
    columns = tuple(_score(f"score of {name}", share, public.neighbors, leaves) for name in names)
    if pairs:
        each = cost.share(products / len(pairs))
        columns += tuple(_score(product_of(a, b), each, public.neighbors, leaves) for a, b in pairs)
    return replace(first, columns=(*first.columns, *columns), cost=cost)


def _can_be_missing(cell: object) -> bool:
    """Return whether a cell can be missing, so that its row is left out."""
    key = getattr(cell, "key", None)
    return getattr(cell, "missing", None) is None and (key is None or key.missing is None)


def product_of(one: str, other: str) -> str:
    """Return the label of the part of a product."""
    return f"product of the scores of {one} and {other}"


def _score(label: str, share: Cost, neighbors: str, leaves: bool) -> PartSpec:
    at = RowMap("", "", "real", -CLIP, CLIP, GRID)
    form = choose(at, share.noise, neighbors=neighbors, grouped=False, leaves=leaves)
    return PartSpec(label, form, None, SCORE, noise_for(form.l1, form.l2_squared, share), share)


def split(shape: Measurement) -> tuple[Measurement, tuple[PartSpec, ...]]:
    """Return the pilot's design, and the parts of scores and of their products."""
    first = tuple(one for one in shape.columns if one.grid != SCORE)
    return replace(shape, columns=first), shape.columns[len(first) :]

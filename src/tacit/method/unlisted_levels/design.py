"""Design of levels that nobody listed: noise and threshold from the question, public facts and the price."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, cast

from tacit.errors import QueryError
from tacit.method.shared import encoding as forms
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.weighted_encoding import shared
from tacit.method.unlisted_levels.level_thresholds import least_threshold
from tacit.method.unlisted_levels.query import UnlistedLevels
from tacit.noise.laws import RoundedNormal
from tacit.privacy import Cost
from tacit.privacy.approximate_part import approximate_part
from tacit.privacy.calibration import root_up
from tacit.rows.row_map import PersonWeight
from tacit.rows.text_map import TextMap
from tacit.schema import Boolean, Category, Schema, Text
from tacit.schema.column_types import EXCLUDE
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_maps_of_columns import column_of

VERSION: Final = "unlisted-levels/1"


KIND: Final = "unlisted-levels"


FORM: Final = "unlisted"
"""Form of the first part: a noisy count for each level that is shown."""
PARTS: Final = 840
"""A: units of weight of a person, of which levels have whole ones.  Divisible by 1 to 8.  More would need a higher
threshold, as a person could put one into so many levels (`level_thresholds`); docs/reference/unlisted-levels.md has 60.
"""
SIZE: Final = Fraction(1, 20)
"""Share of the price, in mu squared, of each of the two sums."""
SUMS: Final = ("every level", "levels not shown")
"""Labels of the two sums."""


@dataclass(frozen=True)
class LevelsPart(PartSpec):
    """The part of the levels that are shown; text: the map from a cell to its level."""

    text: TextMap = field(kw_only=True)


def design(query: UnlistedLevels, public: Public, cost: Cost) -> Measurement:
    """Return the three parts; QueryError Q10, Q250, Q251.

    The measurement's cost is the approximate part (mu, delta) that the price buys, or the price itself where the ledger
    adds epsilon and adds delta.
    """
    at = text_map(public.schema, query.column)
    part = bought(cost)
    where = None if query.where is None else typed(query.where, public.schema)
    shape = Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, where=where)
    parts = None if shape.unit is None else PARTS
    charged = cost if public.accounting == "basic" and cost.kind == "approximate" else part
    law, share = _noise(_counts(public.neighbors, parts), part, charged, 1 - 2 * SIZE)
    form = _counts(public.neighbors, parts)
    assert part.delta is not None
    facts = {**form.parameters, "threshold": least_threshold(law, part.delta, parts or 1)}
    form, weight = replace(form, parameters=facts), None if parts is None else PersonWeight(parts)
    levels = LevelsPart(query.column, form, None, None, law, share, weight, text=at)
    total = _total(parts)
    sums = (PartSpec(name, total, None, None, *_noise(total, part, charged, SIZE), weight) for name in SUMS)
    return replace(shape, columns=(levels, *sums), cost=charged)


def text_map(schema: Schema, name: str) -> TextMap:
    """Return the map of a column's cells to levels; QueryError Q10, or Q251 where it is no `Text`."""
    column = column_of(schema, name)
    if not isinstance(column, Text):
        kind = type(column).__name__
        what = "its levels are listed" if isinstance(column, Category | Boolean) else "it has no texts"
        hint = f'Count(by="{name}")' if isinstance(column, Category | Boolean) else f'"{name}": Text(max_length=40)'
        text = f"column {name!r} of UnlistedLevels is of type {kind}: {what}."
        raise QueryError(text, code="Q251", hint=hint)
    missing = None if column.missing == EXCLUDE else column.missing
    return TextMap(name, schema.source(name), column.max_length, column.trim, column.casefold, missing)


def map_of(shape: Measurement) -> TextMap:
    """Return the map from a cell to its level."""
    return cast(LevelsPart, shape.columns[0]).text


def parts_of(shape: Measurement) -> int | None:
    """Return the units of weight of a person; None where rows are counted."""
    return None if shape.unit is None else PARTS


def bought(cost: Cost) -> Cost:
    """Return the approximate part that a price buys: a tenth of its delta is for levels that one unit makes appear.

    Raises QueryError Q250 for a price without a delta of its own.
    """
    if cost.delta is None:
        text = (
            f"the price of UnlistedLevels is {cost}: it has no delta of its own, and without one nothing may be shown."
        )
        raise QueryError(text, code="Q250", hint="epsilon=1, delta=1e-6")
    return approximate_part(cost)


def _counts(neighbors: str, parts: int | None) -> Encoding:
    """Return the encoding of counts of levels: a row leaves one and enters another, or a person with all weight."""
    made = replace(forms.count(2, neighbors, leaves=True), name=FORM)
    return made if parts is None else shared(made, parts)


def _total(parts: int | None) -> Encoding:
    """Return the encoding of a sum over levels, to which a unit adds from 0 to all of its weight: one cell."""
    made = replace(forms.count(1, "replace-one", leaves=True), name="present")
    return made if parts is None else shared(made, parts)


def _noise(form: Encoding, part: Cost, charged: Cost, share: Fraction) -> tuple[RoundedNormal, Cost]:
    """Return noise that is sqrt(share) mu-GDP, of the part's mu, and the share of the price that is charged."""
    # sd = l2 / (sqrt(share) mu), rounded up
    return RoundedNormal(root_up(Fraction(form.l2_squared) / (part.gdp * share))), charged.share(share)

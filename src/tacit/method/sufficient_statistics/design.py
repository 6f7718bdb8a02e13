"""Sufficient statistics: from the question, public facts and the price to computed columns and their sums."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, cast

from tacit.method.shared import encoding_choice
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.statistic_columns import mapped
from tacit.method.sufficient_statistics.query import SufficientStatistics, widened
from tacit.models.sufficient_statistics import SufficientStatistic
from tacit.privacy import Cost, noise_for
from tacit.release.parts import Grid
from tacit.rows.row_map import GRID
from tacit.schema import Schema
from tacit.schema.column_types import EXCLUDE
from tacit.schema.predicates.computed_columns import Computed
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_maps_of_columns import column_of

VERSION: Final = "sufficient-statistics/1"


KIND: Final = "sufficient-statistics"


def design(query: SufficientStatistics, public: Public, cost: Cost) -> Measurement:
    """Return statistics, grids and noise from public facts; QueryError Q10, Q11, Q60, Q115, Q116."""
    where = None if query.where is None else typed(query.where, public.schema)
    found = cast("tuple[SufficientStatistic, ...]", query.statistics)
    share = cost if len(found) == 1 else cost.share(Fraction(1, len(found)))
    shape = Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, where=where)
    made = [_column(shape, public.schema, one, share) for one in found]
    computed = tuple(one for _, one in made if one is not None)
    return replace(shape, columns=tuple(column for column, _ in made), computed=computed)


def _column(
    shape: Measurement, schema: Schema, given: SufficientStatistic, share: Cost
) -> tuple[PartSpec, Computed | None]:
    """Return one statistic as a column of numbers, and how it is computed where it is not a column of the table."""
    query = cast(SufficientStatistics, shape.query)
    at, statistic, computed = mapped(query, schema, given)
    if shape.unit is not None:
        # means of a person's rows lie between the steps of whole numbers and Booleans
        at = encoding_choice.resized(at, max(at.G, GRID), fine=True)
    leaves = at.missing is None or shape.where is not None
    form = encoding_choice.choose(at, share.noise, neighbors=shape.neighbors, grouped=False, leaves=leaves)
    for polynomial in form.polynomials:
        polynomial.check(at.G)
    law = noise_for(form.l1, form.l2_squared, share)
    wider = widened(query, shape.rows, share)
    # n / k >= 1: never less noise than the price asks for
    law = law if wider == 1 else cast(Any, type(law))(law.scale * wider)
    kept = getattr(column_of(schema, query.what), "missing", EXCLUDE)
    own = statistic.outer == "itself" and statistic.inner == "row"
    units = getattr(schema[query.what], "units", None) if own else None
    grid = Grid(at.kind, at.lower, at.upper, at.G, units, EXCLUDE if kept == EXCLUDE else str(kept))
    return PartSpec(statistic.spelled(query.what), form, at, grid, law, share), computed

"""Design of a data set: cells, size and rate of the selection, from the question, public facts and the price."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, cast

from tacit.errors import QueryError
from tacit.method.ks_dataset.data_set_cells import key, variable
from tacit.method.ks_dataset.query import MOST_SIZE, KSDataset
from tacit.method.shared import encoding as moment_forms
from tacit.method.shared import weighted_encoding as weighted_forms
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.rank_utilities import SIZE
from tacit.method.shared.weighted_encoding import SHARE
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost, noise_for
from tacit.privacy.bought import range_for
from tacit.rows.row_map import ONE, KeyMap, PersonWeight
from tacit.schema.predicates.typed_conditions import typed

KIND: Final = "ks-data-set"
VERSION: Final = "ks-data-set/1"
ROWS_A_POINT: Final = 25
"""Of the rule for sizes: rows for each point, at epsilon = 1."""


@dataclass(frozen=True)
class DataSetPart(PartSpec):
    """The part of a release that holds the points of each cell; cells: the map of table cells to them."""

    cells: KeyMap = field(kw_only=True)


def design(query: KSDataset, public: Public, cost: Cost) -> Measurement:
    """Return the measurement; QueryError Q10, Q12, Q13, Q263 (column), Q82 (no number of rows), Q262 (size)."""
    one = variable(public.schema, query.column)
    cells = key(public.schema, one, query.cells)
    where = None if query.where is None else typed(query.where, public.schema)
    # the number of present rows is public only where no row can be absent: no condition, and no value missing
    sized = public.rows is not None and cells.missing is not None and where is None
    paid = cost if sized else cost.share(1 - SIZE)
    k = size(query, public, paid)
    # the level of every data set changes by at most 1 (`mechanism`, Sensitivity)
    law = Selection(range_for(paid) / 2)
    form = Encoding("data-set", {"G": k, "cells": cells.size}, (ONE,), ((1,),), 1, 1)
    persons = None if public.schema.unit is None else PersonWeight(SHARE)
    parts: list[PartSpec] = [DataSetPart(query.column, form, None, None, cast(Any, law), paid, persons, cells=cells)]
    if not sized:
        parts.append(_number(query, public, cost.share(SIZE), persons))
    chosen: dict[str, Any] = {"where": where, "variables": (one,), "columns": tuple(parts)}
    return Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, **chosen)


def _number(query: KSDataset, public: Public, cost: Cost, persons: PersonWeight | None) -> PartSpec:
    """Return the part that releases the noisy number of rows, or persons, with a value."""
    form = replace(moment_forms.count(1, public.relation, leaves=True), name="present")
    form = form if persons is None else weighted_forms.shared(form, SHARE)
    return PartSpec(query.column, form, None, None, noise_for(form.l1, form.l2_squared, cost), cost, persons)


def size(query: KSDataset, public: Public, cost: Cost) -> int:
    """Return the number of points; QueryError Q82, Q262."""
    n, asked = public.size, query.points
    if asked is None:
        if n is None:
            text = "KSDataset: the size goes by the number of rows, which is private under add-remove."
            raise QueryError(text, code="Q82", hint="Curator(…, size_hint=10_000), or size=400")
        return rule(n, range_for(cost))
    if public.rows is not None and asked > public.rows:
        text = f"size of KSDataset is {asked:,}, and there are {public.rows:,} rows (persons)."
        raise QueryError(text, code="Q262", hint=f"size={public.rows}, or leave it out")
    return asked


def rule(n: int, epsilon: Fraction) -> int:
    """Return min(n**(2/3), n epsilon / 25), rounded down, from 1 to 5,000: beyond it all data sets are weighed alike.

    >>> rule(10_000, Fraction(1)), rule(10_000, Fraction(1, 10)), rule(1_000, Fraction(5))
    (400, 40, 100)
    """
    root = round(n ** (2 / 3))
    # the largest r with r**3 <= n**2
    while root**3 > n * n:
        root -= 1
    while (root + 1) ** 3 <= n * n:
        root += 1
    return max(1, min(root, int(n * epsilon / ROWS_A_POINT), MOST_SIZE))

"""Design of an orthogonal series: bins, number of terms and noise, from the question, public facts and the price."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tacit.errors import QueryError
from tacit.method.orthogonal_series.encoding import POINTS, SCALE, series
from tacit.method.orthogonal_series.query import MOST_TERMS, OrthogonalSeries
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.numeric_columns import inner_edges, map_to_bins, numeric, support
from tacit.method.shared.weighted_encoding import SHARE
from tacit.privacy import Cost, noise_for
from tacit.release.parts import Variable
from tacit.rows.row_map import KeyMap, PersonWeight
from tacit.schema.predicates.typed_conditions import typed

KIND: Final = "orthogonal-series"
VERSION: Final = "orthogonal-series/1"
ROUGH: Final = 1.5
"""Squared coefficients are taken to be ROUGH / j**3 where the number of terms is chosen."""


@dataclass(frozen=True)
class SeriesPart(PartSpec):
    """The part of a release that holds the coefficients; keys: of each column, the map of table cells to its bins."""

    keys: tuple[KeyMap, ...] = field(default=(), kw_only=True)


def design(query: OrthogonalSeries, public: Public, cost: Cost) -> Measurement:
    """Return the measurement; QueryError Q10, Q12, Q13 (columns), Q82 (a number of rows is needed)."""
    schema, names = public.schema, tuple(query.columns)
    variables = tuple(numeric(schema, name, "a density") for name in names)
    ends = tuple(edges(one, len(names)) for one in variables)
    keys = tuple(map_to_bins(schema, one, inner_edges(one, POINTS[len(names)])) for one in variables)
    where = None if query.where is None else typed(query.where, schema)
    leaves = where is not None or any(key.missing is None for key in keys)
    persons = schema.unit is not None
    terms = query.terms or _terms(query.basis, len(names), public, cost)
    form = series(query.basis, ends, terms, public.neighbors, leaves=leaves, persons=persons)
    law = noise_for(form.l1, form.l2_squared, cost, dimension=len(form.matrix))
    weight = PersonWeight(SHARE) if persons else None
    part = SeriesPart("", form, None, None, law, cost, weight, keys=keys)
    chosen: dict[str, Any] = {"where": where, "variables": variables, "columns": (part,)}
    return Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, **chosen)


def edges(one: Variable, columns: int) -> tuple[float, ...]:
    """Return the edges of a column's bins on [0, 1], by the number of columns of the density.

    >>> edges(Variable("x", "integer", 1, 4), 1)
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    low, high = support(one)
    inner = np.array(inner_edges(one, POINTS[columns]))
    if one.kind == "integer":
        # of whole numbers the first at or above an edge begins a bin, half a unit before it
        inner = np.ceil(inner) - 0.5
    ends = np.array([low, *inner, high])
    return tuple(float(x) for x in (ends - low) / (high - low))


def _terms(basis: str, columns: int, public: Public, cost: Cost) -> int:
    """Return the number of terms of least expected error for coefficients that fall as ROUGH / j**3 do.

    The noise is that of about the sensitivity: two rows differ by twice a squared norm of 2 m + 1 in each column.
    """
    n = public.size
    if n is None:
        message = "OrthogonalSeries: the number of terms goes by that of rows, which is private under add-remove."
        raise QueryError(message, code="Q82", hint="Curator(…, size_hint=10_000), or terms=6")
    least, best = math.inf, 1
    S = SCALE[columns]
    for m in range(1, MOST_TERMS[columns] + 1):
        number = (m + 1) ** columns - 1
        square = 2 * S ** (2 * columns) * (2 * m + 1) ** columns
        law = noise_for(math.isqrt(square * number) + 1, square, cost, dimension=number)
        noise = law.variance() / (S ** (2 * columns) * float(max(n, 1)) ** 2)
        left = columns * sum(ROUGH / j**3 for j in range(m + 1, 1_000))
        error = number * (noise + 1 / max(n, 1)) + left
        if error < least:
            least, best = error, m
    return best

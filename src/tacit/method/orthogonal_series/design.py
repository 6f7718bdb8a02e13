"""Design of an orthogonal series: bins, number of terms and noise, from the question, public facts and the price."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final

import numpy as np

from tacit.errors import QueryError
from tacit.method.orthogonal_series.encoding import POINTS, SCALE, series
from tacit.method.orthogonal_series.query import MOST_TERMS, OrthogonalSeries
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.weighted_encoding import SHARE
from tacit.privacy import Cost, noise_for
from tacit.release.parts import Variable
from tacit.rows.row_map import KeyMap, PersonWeight
from tacit.schema import Date, Integer, Real, Schema
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_maps_of_columns import binmap, column_of

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
    variables = tuple(variable(schema, name) for name in names)
    ends = tuple(edges(one, len(names)) for one in variables)
    keys = tuple(_key(schema, one, len(names)) for one in variables)
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


def variable(schema: Schema, name: str) -> Variable:
    """Return the public facts of a column; QueryError Q10, Q12 (no bounds), Q13 (no numbers)."""
    column = column_of(schema, name)
    units, missing = getattr(column, "units", None), str(getattr(column, "missing", "exclude"))
    if isinstance(column, Date):
        low, high = map(float, column.days)
        return Variable(name, "date", low, high, 1, (), units, missing)
    if not isinstance(column, Real | Integer):
        kind = type(column).__name__
        text = f"column {name!r} is of type {kind}: a density is of numbers or dates."
        raise QueryError(text, code="Q13", hint=f'Histogram("{name}")')
    # refuses a column without bounds
    binmap(schema, name, 2)
    low, high = float(column.lower or 0), float(column.upper or 0)
    return Variable(name, "real" if isinstance(column, Real) else "integer", low, high, 1, (), units, missing)


def inner_edges(one: Variable, columns: int) -> tuple[float, ...]:
    """Return the inner edges of a column's public bins: one bin for each whole number or day where there are few."""
    low, high, most = one.lower, one.upper, POINTS[columns]
    if one.kind == "integer" and high - low < most:
        return tuple(float(v) - 0.5 for v in range(int(low) + 1, int(high) + 1))
    if one.kind == "date" and high - low < most:
        # the last bin holds the last two days, as bins of dates do
        return tuple(float(day) for day in range(int(low) + 1, int(high)))
    found = [low + (high - low) * i / most for i in range(1, most)]
    return tuple(found) if one.kind != "date" else tuple(float(math.floor(x)) for x in found)


def edges(one: Variable, columns: int) -> tuple[float, ...]:
    """Return the edges of a column's bins on [0, 1], by the number of columns of the density.

    >>> edges(Variable("x", "integer", 1, 4), 1)
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    low, high = support(one)
    inner = np.array(inner_edges(one, columns))
    if one.kind == "integer":
        # of whole numbers the first at or above an edge begins a bin, half a unit before it
        inner = np.ceil(inner) - 0.5
    ends = np.array([low, *inner, high])
    return tuple(float(x) for x in (ends - low) / (high - low))


def support(one: Variable) -> tuple[float, float]:
    """Return the ends of a column's support: a whole number v is [v - 1/2, v + 1/2], a day d is [d, d + 1]."""
    beside = {"integer": (0.5, 0.5), "date": (0.0, 1.0)}.get(one.kind, (0.0, 0.0))
    return one.lower - beside[0], one.upper + beside[1]


def _key(schema: Schema, one: Variable, columns: int) -> KeyMap:
    """Return the map of a column's cells to its bins."""
    inner, most = inner_edges(one, columns), POINTS[columns]
    given: Any = most if one.kind == "real" else inner
    if one.kind == "date":
        given = tuple(date(1970, 1, 1) + timedelta(int(day)) for day in inner)
    return binmap(schema, one.name, given)


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

"""Design of an orthogonal series: bins, number of terms and noise, from the question, public facts and the price."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, cast

import numpy as np

from tacit.errors import QueryError
from tacit.method.orthogonal_series.encoding import POINTS, series
from tacit.method.orthogonal_series.number_of_terms import family_errors, number_of_terms
from tacit.method.orthogonal_series.query import OrthogonalSeries
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.numeric_columns import inner_edges, map_to_bins, numeric, support
from tacit.privacy import Cost, noise_for
from tacit.release.parts import Variable
from tacit.rows.row_map import KeyMap, PersonWeight
from tacit.schema.predicates.typed_conditions import typed

KIND: Final = "orthogonal-series"
VERSION: Final = "orthogonal-series/1"


@dataclass(frozen=True)
class SeriesPart(PartSpec):
    """The part of a release that holds the coefficients; keys: of each column, the map of table cells to its bins."""

    keys: tuple[KeyMap, ...] = field(default=(), kw_only=True)


def design(query: OrthogonalSeries, public: Public, cost: Cost) -> Measurement:
    """Return the measurement; QueryError Q10, Q12, Q13 (columns), Q82 (a number of rows is needed)."""
    schema, names = public.schema, tuple(query.columns)
    variables = tuple(numeric(schema, name, "a density", recorded=True) for name in names)
    ends = tuple(edges(one, len(names)) for one in variables)
    keys = tuple(map_to_bins(schema, one, inner_edges(one, POINTS[len(names)])) for one in variables)
    where = None if query.where is None else typed(query.where, schema)
    leaves = where is not None or any(key.missing is None for key in keys)
    persons = schema.unit is not None
    terms = query.terms or number_of_terms(query.basis, ends, _rows(public), cost, public.neighbors, leaves=leaves)
    form = series(query.basis, ends, terms, public.neighbors, leaves=leaves, persons=persons)
    law = noise_for(form.l1, form.l2_squared, cost, dimension=len(form.matrix))
    weight = PersonWeight(form.parameters["share"]) if persons else None
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


def error(shape: Measurement, rows: int | None) -> float:
    """Return the expected squared error, a geometric mean over the family of `number_of_terms`, by which laws of noise
    are compared; of a number of terms that was asked for, the variance of the noise.
    """
    query, (part,) = cast(OrthogonalSeries, shape.query), shape.columns
    if query.terms or rows is None:
        return part.law.variance()
    ends = tuple(edges(one, len(query.columns)) for one in shape.variables)
    leaves = shape.where is not None or any(one.missing == "exclude" for one in shape.variables)
    found = family_errors(query.basis, ends, rows, shape.cost, shape.neighbors, leaves=leaves)
    return float(np.exp(np.log(found[:, part.form.parameters["terms"] - 1]).mean()))


def _rows(public: Public) -> int:
    """Return the number of rows; QueryError Q82 where it is private."""
    if public.size is None:
        message = "OrthogonalSeries: the number of terms goes by that of rows, which is private under add-remove."
        raise QueryError(message, code="Q82", hint="Curator(…, size_hint=10_000), or terms=6")
    return public.size

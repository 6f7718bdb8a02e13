"""Neighbouring tables that attain the sensitivity of a series or a lattice: a row in one of the furthest cells."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, cast

import numpy as np

from tacit.method.bernstein.query import Bernstein
from tacit.method.orthogonal_series.design import SeriesPart
from tacit.method.orthogonal_series.encoding import POINTS, SeriesEncoding
from tacit.method.orthogonal_series.query import OrthogonalSeries
from tacit.method.shared.numeric_columns import inner_edges
from tacit.release.query import Query
from tacit.schema import Date, PrivacyUnit, Schema
from tacit.testing.findings import PRICES, ROWS, designed
from tacit.testing.neighbouring_tables import NEWCOMER, Pair, Relation, Row, cells


def neighbours(query: Query[Any], schema: Schema, relation: Relation) -> list[Pair]:
    """Return the pair of each price twice, once for each engine; none for other questions."""
    if isinstance(query, Bernstein):
        return _of_lattice(query, schema, relation)
    if not isinstance(query, OrthogonalSeries):
        return []
    found = list[Pair]()
    for price in PRICES:
        shape = designed(query, schema, relation, ROWS, price)
        assert shape is not None
        form = cast(SeriesEncoding, cast(SeriesPart, shape.columns[0]).form)
        middles = [_middles(one, len(shape.variables)) for one in shape.variables]
        first, second = (
            None
            if cell is None
            else {one.name: middle[b] for one, middle, b in zip(shape.variables, middles, cell, strict=True)}
            for cell in form.furthest
        )
        common = _row(schema, first, 0)
        one, other = _row(schema, first, NEWCOMER), _row(schema, second, NEWCOMER)
        pair = Pair((common, one), (common, other)) if relation == "replace-one" else Pair((common,), (common, one))
        found += [pair, pair]
    return found


def _of_lattice(query: Bernstein, schema: Schema, relation: Relation) -> list[Pair]:
    """Return a row at the lower end beside one at the upper end, or beside none, twice, once for each engine."""
    shape = designed(query, schema, relation, ROWS, PRICES[0])
    assert shape is not None
    (column,), presence = shape.variables, shape.columns[0].form.parameters["presence"]
    far = None if presence else {column.name: column.upper}
    common = _row(schema, {column.name: column.lower}, 0)
    one, other = _row(schema, {column.name: column.lower}, NEWCOMER), _row(schema, far, NEWCOMER)
    pair = Pair((common, one), (common, other)) if relation == "replace-one" else Pair((common,), (common, one))
    return [pair, pair]


def _middles(one: Any, columns: int) -> list[float]:
    """Return a value in each bin of a column."""
    ends = [one.lower, *inner_edges(one, POINTS[columns]), one.upper]
    if one.kind == "real":
        return [(a + b) / 2 for a, b in pairwise(ends)]
    # whole numbers and days: the last of the bin
    return [float(int(b) if b != int(b) or b == one.upper else int(b) - 1) for b in ends[1:]]


def _row(schema: Schema, values: dict[str, float] | None, who: int) -> Row:
    """Return a row with these values, or without any of a series; other columns are at their upper ends."""
    made = list[object]()
    for name in schema:
        column = schema[name]
        if isinstance(column, PrivacyUnit):
            made.append(who)
        elif values is None:
            made.append(None)
        elif name in values and isinstance(column, Date):
            made.append(np.datetime64(int(values[name]), "D").astype(object))
        else:
            made.append(values.get(name, cells(column, np.random.default_rng(0))[1]))
    return tuple(made)

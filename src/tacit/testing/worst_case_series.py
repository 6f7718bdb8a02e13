"""Neighbouring tables that attain the sensitivity of a series, a lattice or a risk: rows in the furthest cells."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, cast

import numpy as np

from tacit.method.bernstein.query import Bernstein
from tacit.method.orthogonal_series.design import SeriesPart
from tacit.method.orthogonal_series.encoding import POINTS, SeriesEncoding
from tacit.method.orthogonal_series.query import OrthogonalSeries
from tacit.method.risk_function.encoding import RiskEncoding
from tacit.method.risk_function.query import RiskFunction
from tacit.method.risk_function.risk_cells import most_bins, values
from tacit.method.shared.numeric_columns import inner_edges
from tacit.privacy import Cost
from tacit.release.query import Query
from tacit.schema import Boolean, Category, Date, PrivacyUnit, Schema
from tacit.testing.findings import PRICES, ROWS, designed
from tacit.testing.neighbouring_tables import NEWCOMER, Pair, Relation, Row, cells


def neighbours(query: Query[Any], schema: Schema, relation: Relation) -> list[Pair]:
    """Return the pair of each price twice, once for each engine; none for other questions."""
    if isinstance(query, Bernstein):
        return _of_lattice(query, schema, relation)
    if isinstance(query, RiskFunction):
        return [pair for price in PRICES for pair in _of_risk(query, schema, relation, price)]
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


def _of_risk(query: RiskFunction, schema: Schema, relation: Relation, price: Cost) -> list[Pair]:
    """Return rows of the two furthest cells, or of one beside none, twice, once for each engine."""
    shape = designed(query, schema, relation, ROWS, price)
    assert shape is not None
    each = [values(one, most_bins(shape.variables, place)) for place, one in enumerate(shape.variables)]
    first, second = (
        None if cell is None else _cell(schema, shape.variables, each, cell)
        for cell in cast(RiskEncoding, shape.columns[0].form).furthest
    )
    common, one, other = _row(schema, first, 0), _row(schema, first, NEWCOMER), _row(schema, second, NEWCOMER)
    pair = Pair((common, one), (common, other)) if relation == "replace-one" else Pair((common,), (common, one))
    return [pair, pair]


def _cell(schema: Schema, variables: Any, each: list[Any], cell: int) -> dict[str, Any]:
    """Return values of a row in a cell of a risk."""
    made = dict[str, Any]()
    for one, bins, place in zip(variables, each, np.unravel_index(cell, [len(bins) for bins in each]), strict=True):
        column = schema[one.name]
        if isinstance(column, Boolean):
            made[one.name] = bool(place)
        elif isinstance(column, Category):
            made[one.name] = column.codes[int(place)]
        else:
            value = one.lower + (float(bins[place]) + 1) / 2 * (one.upper - one.lower)
            made[one.name] = value if one.kind == "real" else float(round(value))
    return made


def _middles(one: Any, columns: int) -> list[float]:
    """Return a value in each bin of a column."""
    ends = [one.lower, *inner_edges(one, POINTS[columns]), one.upper]
    if one.kind == "real":
        return [(a + b) / 2 for a, b in pairwise(ends)]
    # whole numbers and days: the last of the bin
    return [float(int(b) if b != int(b) or b == one.upper else int(b) - 1) for b in ends[1:]]


def _row(schema: Schema, values: dict[str, Any] | None, who: int) -> Row:
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

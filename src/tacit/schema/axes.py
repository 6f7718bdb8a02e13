"""Axes of a histogram from a schema: bins or levels, and extra cells for missing values and values beyond bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, cast

from tacit.errors import QueryError
from tacit.rows.row_map import KeyMap
from tacit.schema.column_multiples import has_multiples, multiples
from tacit.schema.column_types import EXCLUDE, Column, Date, Integer, Real
from tacit.schema.logistic_bins import MOST_BINS, LogisticBins
from tacit.schema.row_maps_of_columns import between, binmap, column_of, keymap, valuemap
from tacit.schema.table_schema import Schema

MISSING: Final = "missing"
BEYOND: Final = ("below", "above")


def axismap(schema: Schema, name: str, bins: object | None, *, missing: bool = False, outside: bool = False) -> KeyMap:
    """Return column `name` as an axis of a histogram: bins, levels, or one bin for each of few values.

    Few values have a short Integer, and a Real of few multiples of what it declares.

    missing: add a cell, after the others, for missing values, whose rows would otherwise be left out.  outside: add two
    for numbers and dates beyond the column's bounds, infinite numbers included.  Logistic bins always have these two:
    they are the unbounded bins.
    Raises QueryError Q10, Q12, Q13, Q64 (numbers without bins), Q80 (a level has the label of an added cell).

    >>> axismap(Schema({"educ": Integer(1, 3)}), "educ", None, missing=True, outside=True).labels
    ('1', '2', '3', 'missing', 'below', 'above')
    """
    key, column = _regular(schema, name, bins), column_of(schema, name)
    logistic = bins if isinstance(bins, LogisticBins) else None
    declared = column.missing if logistic is not None and isinstance(column, Real) else EXCLUDE
    alone = missing and key.missing is None and declared == EXCLUDE
    beyond = _bounds(column) if outside and key.edges and logistic is None else None
    beyond = beyond if logistic is None else (logistic.edges[0], logistic.edges[-1])
    extra = (*((MISSING,) if alone else ()), *(BEYOND if beyond is not None else ()))
    if alone and MISSING in key.labels:
        text = f"missing: {MISSING!r} is already a level of column {name!r}."
        raise QueryError(text, code="Q80", hint=f'"{name}": Category(…, missing="unknown") in the schema')
    place = key.size if alone else key.missing
    made = replace(key, labels=(*key.labels, *extra), missing=place, extra=extra, beyond=beyond)
    # by the finished map, since the declared value may lie beyond the outer edges
    return made if declared == EXCLUDE else replace(made, missing=made.index(declared))


def _bounds(column: Column) -> tuple[float, float]:
    """Return the bounds of a numeric column, or of a date in days since 1970-01-01."""
    if isinstance(column, Date):
        low, high = column.days
        return float(low), float(high)
    numbers = cast("Real | Integer", column)
    return float(cast(float, numbers.lower)), float(cast(float, numbers.upper))


def _regular(schema: Schema, name: str, bins: object | None) -> KeyMap:
    """Return the axis without extra cells: bins or levels as they are declared."""
    if isinstance(bins, LogisticBins):
        return _logistic(schema, name, bins)
    if bins is not None:
        return binmap(schema, name, bins)
    column = column_of(schema, name)
    # a cell between two values counts as the nearest
    if has_multiples(column) and multiples(column).count <= MOST_BINS:
        return valuemap(schema, name, multiples(column).one_each())
    if isinstance(column, Real | Integer | Date):
        text = f"Histogram: column {name!r} needs bins."
        raise QueryError(text, code="Q64", hint=f'bins={{"{name}": 10}}')
    return keymap(schema, name)


def _logistic(schema: Schema, name: str, bins: LogisticBins) -> KeyMap:
    """Return the bins between the outer logistic edges; what is beyond them gets extra cells.  QueryError Q100."""
    column = column_of(schema, name)
    if not isinstance(column, Real):
        kind = type(column).__name__
        text = f"column {name!r} is of type {kind}: logistic bins are for a Real."
        raise QueryError(text, code="Q100", hint=f'bins={{"{name}": 10}}, or leave it out')
    labels = between(bins.edges)
    return KeyMap(
        name, schema.source(name), "bins", tuple(range(len(labels))), labels, None, True, tuple(bins.edges[1:-1])
    )

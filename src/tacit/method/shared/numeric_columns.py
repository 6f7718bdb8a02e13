"""A column of numbers or dates whose whole distribution is asked for: its public facts, support and bins.  No data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from tacit.errors import QueryError
from tacit.release.parts import Variable
from tacit.rows.multiples import Multiples, between
from tacit.rows.row_map import KeyMap
from tacit.schema import Date, Integer, Real, Schema
from tacit.schema.row_maps_of_columns import binmap, column_of, valuemap


def numeric(schema: Schema, name: str, what: str, *, recorded: bool = False) -> Variable:
    """Return the public facts of a column; QueryError Q10, Q12 (no bounds), Q13 (no numbers).

    what: is asked for, in the words of an error: a density.  recorded: whether the multiples and heaps that a Real
    declares count; else it is taken as continuous.
    """
    column = column_of(schema, name)
    units, missing = getattr(column, "units", None), str(getattr(column, "missing", "exclude"))
    if isinstance(column, Date):
        low, high = map(float, column.days)
        return Variable(name, "date", low, high, 1, (), units, missing)
    if not isinstance(column, Real | Integer):
        text = f"column {name!r} is of type {type(column).__name__}: {what} is of numbers or dates."
        raise QueryError(text, code="Q13", hint=f'Histogram("{name}")')
    # refuses a column without bounds
    binmap(schema, name, 2)
    low, high = float(column.lower or 0), float(column.upper or 0)
    facts = (name, "real" if isinstance(column, Real) else "integer", low, high, 1, (), units, missing)
    if not recorded or not isinstance(column, Real):
        return Variable(*facts)
    return Variable(*facts, column.multiple_of, column.heaped_at)


def multiples(one: Variable) -> Multiples | None:
    """Return the values of a column of real numbers that declares what these are multiples of; None of any other."""
    return None if one.multiple_of is None else between(one.lower, one.upper, one.multiple_of)


def support(one: Variable) -> tuple[float, float]:
    """Return the ends of a column's support: a whole number v is [v - 1/2, v + 1/2], a day d is [d, d + 1].

    Declared multiples have the unit around them.

    >>> support(Variable("x", "integer", 1, 4)), support(Variable("x", "real", 0, 4, multiple_of=0.5))
    ((0.5, 4.5), (-0.25, 4.25))
    """
    if (values := multiples(one)) is not None:
        return values.ends
    beside = {"integer": (0.5, 0.5), "date": (0.0, 1.0)}.get(one.kind, (0.0, 0.0))
    return one.lower - beside[0], one.upper + beside[1]


def inner_edges(one: Variable, most: int) -> tuple[float, ...]:
    """Return the inner edges of a column's bins: one bin for each whole number or day where there are few, else `most`.

    Of declared multiples: one bin for each, or as many in each as make at most `most` bins.

    >>> inner_edges(Variable("x", "integer", 1, 4), 100), inner_edges(Variable("x", "real", 0, 1), 4)
    ((1.5, 2.5, 3.5), (0.25, 0.5, 0.75))
    """
    if (values := multiples(one)) is not None:
        return values.one_each() if values.count <= most else values.even(most)
    low, high = one.lower, one.upper
    if one.kind == "integer" and high - low < most:
        return tuple(float(v) - 0.5 for v in range(int(low) + 1, int(high) + 1))
    if one.kind == "date" and high - low < most:
        # the last bin holds the last two days, as bins of dates do
        return tuple(float(day) for day in range(int(low) + 1, int(high)))
    # of real numbers bit for bit what bins of equal width are in a schema
    found = [low + (high - low) * i / most for i in range(1, most)]
    return tuple(found) if one.kind != "date" else tuple(float(math.floor(x)) for x in found)


def map_to_bins(schema: Schema, one: Variable, inner: Sequence[float]) -> KeyMap:
    """Return the map of a column's cells of the table to its bins, from their inner edges.

    Of real numbers they are as many bins of equal width, but for declared multiples.
    """
    if one.multiple_of is not None:
        return valuemap(schema, one.name, tuple(inner))
    given: Any = len(inner) + 1 if one.kind == "real" else tuple(inner)
    if one.kind == "date":
        given = tuple(date(1970, 1, 1) + timedelta(int(day)) for day in inner)
    # these bins are where they are, whatever the column declares its values to be multiples of
    return binmap(schema, one.name, given, moved=False)

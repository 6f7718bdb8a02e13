"""Row maps of a schema's columns: which integer each cell becomes (theory §12).  From public facts only."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise
from math import ceil, floor
from typing import Final, cast

import numpy as np

from tacit.base.arguments import described
from tacit.errors import QueryError, nearest
from tacit.rows.multiples import Multiples
from tacit.rows.row_map import GRID, KeyMap, Level, RowMap, Unit
from tacit.schema.bin_words import day_of, edges_shown, example_edges, iso_of, numbers_of, short
from tacit.schema.column_multiples import has_multiples, multiples
from tacit.schema.column_table import ColumnTable
from tacit.schema.column_types import EXCLUDE, Boolean, Category, Column, Date, Integer, PrivacyUnit, Real, Text

SHORT: Final = 64
"""Largest number of numeric codes, not consecutive, that an engine can number one by one."""
MOST_OF_A_COLUMN: Final = 2_000
"""Most bins of one column: as many comparisons a row, and as many points a column in fits to a histogram."""
WIDEST: Final = 2**20
"""Integer and Date ranges of up to this many steps are exact: G <= 2**24, so that v**2 stays below 2**52."""


def rowmap(schema: ColumnTable, name: str) -> RowMap:
    """Return the map of a column's cells to {0, ..., G}.

    Real: G = 2**20.  Integer and Date: G = steps * q, q the smallest multiple of 16 with G >= 2**20, so that nothing is
    rounded; with more than 2**20 steps, as Real.  Boolean: G = 1.  A declared missing value is a point of the grid.
    Raises QueryError Q10 (no such column), Q11 (a Category, a PrivacyUnit), Q12 (no bounds).  Source: theory §12.

    >>> from tacit.schema import Schema
    >>> rowmap(Schema({"educ": Integer(1, 16)}), "educ").factor
    69920
    """
    column = column_of(schema, name)
    source = schema.source(name)
    match column:
        case Real(lower=None):
            text = f"column {name!r} has no bounds, and this query needs them."
            raise QueryError(text, code="Q12", hint=f'"{name}": Real(0, 100) in the schema')
        case Real(lower=low, upper=high):
            made = RowMap(name, source, "real", cast(float, low), cast(float, high), GRID)
        case Integer(lower=low, upper=high):
            steps, factor = _steps(high - low)
            kind = "integer" if high - low <= WIDEST else "real"
            made = RowMap(name, source, kind, float(low), float(high), steps, factor)
        case Date():
            low, high = column.days
            steps, factor = _steps(high - low)
            made = RowMap(name, source, "date", float(low), float(high), steps, factor)
        case Boolean():
            made = RowMap(name, source, "boolean", 0.0, 1.0, 1, 1)
        case Category() | PrivacyUnit() | Text():
            kind = type(column).__name__
            other = "a Real, Integer, Boolean or Date column"
            other = f'by="{name}"' if kind == "Category" else f'UnlistedLevels("{name}")' if kind == "Text" else other
            raise QueryError(f"column {name!r} is a {kind}: it has no numbers to add up.", code="Q11", hint=other)
    return made if column.missing == EXCLUDE else replace(made, missing=_place(made, column.missing))


def keymap(schema: ColumnTable, name: str) -> KeyMap:
    """Return the map of a column's cells to the index of a public level.

    Category: its levels, and one more where missing cells are a level of their own.  Boolean: false, true.
    Raises QueryError Q10 (no such column), Q13 (no public levels), Q253 (a Text), Q90 (a constant category whose codes
    engines cannot number).

    >>> from tacit.schema import Schema
    >>> keymap(Schema({"sex": Category(["f", "m"], missing="unknown")}), "sex").labels
    ('f', 'm', 'unknown')
    """
    column = column_of(schema, name)
    source = schema.source(name)
    if isinstance(column, Boolean):
        place = None if column.missing == EXCLUDE else int(column.missing)
        return KeyMap(name, source, "boolean", (False, True), ("false", "true"), place)
    if isinstance(column, Category):
        place, labels = None, column.labels
        if column.missing != EXCLUDE:
            place, labels = len(column.codes), (*column.labels, column.missing)
        constant = column.constant and schema.unit is not None
        if constant and not _counted(column.codes):
            text = f"column {name!r} is constant, and its {len(column.codes)} codes are neither text nor consecutive."
            raise QueryError(text, code="Q90", hint="text, consecutive codes, or 64 levels at most")
        return KeyMap(name, source, "category", column.codes, labels, place, column.ordered, constant=constant)
    if isinstance(column, Text):
        text = f"column {name!r} is a Text: nobody has listed its levels, and this question needs a list."
        hint = f'UnlistedLevels("{name}") finds levels; then "{name}": Category([…]) of those that it showed'
        raise QueryError(text, code="Q253", hint=hint)
    kind = type(column).__name__
    hint = f'"{name}": Category([…]) in the schema, or another column'
    if isinstance(column, Real | Integer | Date):
        hint = f'bins={{"{name}": {example_edges(column)}}}, or {hint}'
    raise QueryError(
        f"column {name!r} is {_article(kind)} {kind}: it has no levels to group by.", code="Q13", hint=hint
    )


def _counted(codes: tuple[Level, ...]) -> bool:
    """Return whether every engine can find the first of these codes among a person's rows."""
    plain = [code for code in codes if not isinstance(code, str)]
    return len(plain) <= SHORT or all(int(b) == int(a) + 1 for a, b in pairwise(plain))


def binmap(schema: ColumnTable, name: str, bins: object, *, moved: bool = True) -> KeyMap:
    """Return the map of a numeric column's cells to the index of a bin: a number of equal bins, or edges.

    A value on an edge belongs to the bin above it, a value beyond the bounds to the first or last bin, a missing one to
    no bin or to that of its declared value.  Of a Real with `multiple_of` edges move to halfway below the first
    multiple at or above them: a cell counts as the nearest multiple.  moved=False leaves them where they are.
    Raises QueryError Q10, Q12 (no bounds), Q13 (not numeric), Q64 (bins that are malformed), Q340 (a bin without a
    multiple).

    >>> from tacit.schema import Schema
    >>> binmap(Schema({"age": Integer(18, 93)}), "age", (18, 30, 65, 93)).labels
    ('[18, 30)', '[30, 65)', '[65, 93]')
    >>> binmap(Schema({"fee": Real(0, 90, multiple_of=0.5)}), "fee", (0, 30, 60, 90)).labels
    ('0 to 29.5', '30 to 59.5', '60 to 90')
    """
    column = column_of(schema, name)
    if not isinstance(column, Real | Integer | Date):
        text = f"column {name!r} is {_article(type(column).__name__)} {type(column).__name__}: it takes no bins."
        raise QueryError(text, code="Q13", hint="leave it out of bins")
    if isinstance(column, Date):
        return _datebins(schema, name, column, bins)
    if column.lower is None or column.upper is None:
        text = f"column {name!r} has no bounds, and bins need them."
        raise QueryError(text, code="Q12", hint=f'"{name}": Real(0, 100) in the schema')
    low, high = float(column.lower), float(column.upper)
    edges = _edges(name, bins, low, high)
    if moved and isinstance(column, Real) and has_multiples(column):
        return valuemap(schema, name, _moved(name, edges, multiples(column), counted=isinstance(bins, int)))
    ends = [low, *edges, high]
    labels = between(ends)
    # edges halfway between whole numbers: bins are named by the numbers in them
    if isinstance(column, Integer) and all(edge % 1 == 0.5 for edge in edges):
        labels = tuple(numbers_of(float(ceil(a)), float(floor(b))) for a, b in pairwise(ends))
    missing = None
    if column.missing != EXCLUDE:
        missing = sum(float(cast(float, column.missing)) >= edge for edge in edges)
    even = even_ends(edges, low, high)
    return KeyMap(name, schema.source(name), "bins", tuple(range(len(labels))), labels, missing, True, edges, even=even)


def valuemap(schema: ColumnTable, name: str, edges: tuple[float, ...]) -> KeyMap:
    """Return the bins of a column that `has_multiples`, from inner edges halfway between two of them.

    >>> from tacit.schema import Schema
    >>> valuemap(Schema({"fee": Real(0, 1, multiple_of=0.5)}), "fee", (0.25, 0.75)).labels
    ('0', '0.5', '1')
    """
    column = column_of(schema, name)
    assert isinstance(column, Real | Integer)
    values = multiples(column)
    firsts = [values.first, *map(values.from_edge, edges), values.last + 1]
    labels = tuple(numbers_of(values.value(a), values.value(b - 1)) for a, b in pairwise(firsts))
    # values alone are levels: years without a comma
    if len(labels) == values.count:
        labels = tuple(f"{values.value(k):.15g}" for k in firsts[:-1])
    missing = None
    if column.missing != EXCLUDE:
        missing = sum(float(cast(float, column.missing)) >= edge for edge in edges)
    even = even_ends(edges, *values.ends)
    return KeyMap(name, schema.source(name), "bins", tuple(range(len(labels))), labels, missing, True, edges, even=even)


def _moved(name: str, edges: tuple[float, ...], values: Multiples, *, counted: bool) -> tuple[float, ...]:
    """Return inner edges halfway below the first multiple at or above each; QueryError Q340 for a bin without one.

    counted: edges come from a number of bins: where there are no more multiples, each has a bin.
    """
    if counted:
        return values.one_each() if values.count <= len(edges) + 1 else values.edges(map(values.from_edge, edges))
    made = values.edges(map(values.from_edge, edges))
    if len(made) < len(edges):
        unit = short(float(values.unit))
        text = (
            f"bins of {name!r}: one of {len(edges) + 1} bins holds no multiple of {unit}, as which values are declared."
        )
        raise QueryError(text, code="Q340", hint=f"edges that are multiples of {unit}")
    return made


def between(ends: Sequence[float]) -> tuple[str, ...]:
    """Return the labels of bins between increasing edges; the last bin includes its upper edge."""
    last = len(ends) - 2
    return tuple(f"[{short(a)}, {short(b)}{']' if i == last else ')'}" for i, (a, b) in enumerate(pairwise(ends)))


def even_ends(edges: tuple[float, ...], low: float, high: float) -> tuple[float, float] | None:
    """Return both ends of bins of equal width, which engines find faster; None for other or very narrow bins."""
    bins = len(edges) + 1
    # bit for bit the float64 operations of `_edges` and of the engines; a narrower bin could be missed by a quotient
    same = edges == tuple(low + (high - low) * i / bins for i in range(1, bins))
    return (low, high) if same and (high - low) / bins > 2.0**-30 * max(abs(low), abs(high)) else None


def _datebins(schema: ColumnTable, name: str, column: Date, bins: object) -> KeyMap:
    """Return the bins of a Date column: edges are dates or ISO text; bins of equal width begin at whole days."""
    low, high = map(float, column.days)
    given = bins
    if isinstance(bins, tuple):
        given = tuple(day_of(name, one) for one in cast("tuple[object, ...]", bins))
    # edges of short ranges may fall on one day: each is kept once
    days = dict.fromkeys(float(floor(edge)) for edge in _edges(name, given, low, high, lambda day: f'"{iso_of(day)}"'))
    inner = tuple(day for day in days if day > low)
    if not inner:
        text = f"bins of {name!r}: {column.lower} to {column.upper} is too short for two bins."
        raise QueryError(text, code="Q64", hint="leave it out")
    ends = [low, *inner, high]
    days = [iso_of(x) for x in ends]
    labels = tuple(f"[{a}, {b}{']' if i == len(inner) else ')'}" for i, (a, b) in enumerate(pairwise(days)))
    missing = None
    if column.missing != EXCLUDE:
        missing = sum(float(day_of(name, column.missing)) >= edge for edge in inner)
    return KeyMap(name, schema.source(name), "bins-date", tuple(range(len(labels))), labels, missing, True, inner)


def _edges(name: str, bins: object, low: float, high: float, show: Callable[[float], str] = short) -> tuple[float, ...]:
    """Return the inner edges of bins given as a number or as edges; QueryError Q64, which shows ends by `show`."""
    hint = f'bins={{"{name}": 10}}, or [{show(low)}, …, {show(high)}]'
    if isinstance(bins, int) and not isinstance(bins, bool) and 2 <= bins <= MOST_OF_A_COLUMN:
        edges = [low + (high - low) * i / bins for i in range(1, bins)]
        # so many bins that neighbouring edges are one float
        if all(a < b for a, b in pairwise([low, *edges, high])):
            return tuple(edges)
    if not isinstance(bins, tuple):
        text = f"bins of {name!r} is {described(bins)}: not from 2 to {MOST_OF_A_COLUMN:,}, nor edges."
        raise QueryError(text, code="Q64", hint=hint)
    given = cast("tuple[object, ...]", bins)
    edges = [float(x) for x in given if isinstance(x, int | float) and not isinstance(x, bool)]
    inner = tuple(x for x in edges if low < x < high)
    rising = all(a < b for a, b in pairwise(edges))
    within = all(low <= x <= high for x in edges)
    if len(edges) < len(given) or not rising or not within or not 1 <= len(inner) < MOST_OF_A_COLUMN:
        text = f"bins of {name!r}: {edges_shown(given)} are not increasing edges from {show(low)} to {show(high)}."
        raise QueryError(text, code="Q64", hint=hint)
    return inner


RANGE: Final = ("missing", "below", "above", "as declared")
LISTED: Final = ("missing", "unlisted", "as declared")


def qualitymap(schema: ColumnTable, name: str) -> KeyMap:
    """Return the map of a column's cells to a quality class: missing, outside bounds or levels, or as declared.

    Raises QueryError Q10 (no such column), Q11 (a PrivacyUnit).

    >>> from tacit.schema import Schema
    >>> qualitymap(Schema({"age": Real(0, 100)}), "age").labels
    ('missing', 'below', 'above', 'as declared')
    """
    column, source = column_of(schema, name), schema.source(name)
    match column:
        case Real() | Integer():
            low, high = column.lower, column.upper
            # without bounds no number is below or above
            edges = (-np.inf, np.inf) if low is None or high is None else (float(low), float(high))
            return KeyMap(name, source, "quality-number", (0, 1, 2, 3), RANGE, edges=edges)
        case Date():
            edges = tuple(map(float, column.days))
            return KeyMap(name, source, "quality-date", (0, 1, 2, 3), RANGE, edges=edges)
        case Boolean():
            return KeyMap(name, source, "quality-boolean", (0, 1, 2), LISTED, codes=(False, True))
        case Category():
            code = column.codes[0]
            kind = "quality-boolean" if isinstance(code, bool) else "quality-number"
            kind = "quality-text" if isinstance(code, str) else kind
            return KeyMap(name, source, kind, (0, 1, 2), LISTED, codes=column.codes)
        case PrivacyUnit():
            text = f"column {name!r} is a PrivacyUnit: it identifies the person of a row."
            raise QueryError(text, code="Q11", hint="the other columns")
        case Text():
            text = f"column {name!r} is a Text: it declares no levels or bounds that cells could be outside of."
            raise QueryError(text, code="Q11", hint="the other columns")


WIDE: Final = tuple(
    sorted(
        {
            0.0,
            *(sign * float(f"{digit}e{power}") for sign in (-1, 1) for digit in (1, 2, 5) for power in range(-6, 13)),
        }
    )
)
"""Bin edges for a column without bounds: 0, and 1, 2, 5 times the powers of ten from -6 to 12, of both signs."""


def widemap(schema: ColumnTable, name: str) -> KeyMap:
    """Return the map of a numeric column's cells to a bin between the WIDE edges, whatever the column's bounds.

    Missing cells are in no bin.  Raises QueryError Q10 (no such column), Q13 (not numeric).

    >>> from tacit.schema import Schema
    >>> widemap(Schema({"age": Real()}), "age").size
    116
    """
    column = column_of(schema, name)
    if not isinstance(column, Real | Integer):
        text = f"column {name!r} is {_article(type(column).__name__)} {type(column).__name__}: it has no range to find."
        raise QueryError(text, code="Q13", hint="a column of numbers")
    places = tuple(range(len(WIDE) + 1))
    return KeyMap(name, schema.source(name), "bins", places, tuple(map(str, places)), None, True, WIDE)


def unit_of(schema: ColumnTable) -> Unit | None:
    """Return the column that identifies persons, or None where the schema has no PrivacyUnit."""
    return None if schema.unit is None else Unit(schema.unit, schema.source(schema.unit))


def most_rows(schema: ColumnTable) -> int:
    """Return how many rows of a person count at most; 1 where the schema has no PrivacyUnit."""
    column = None if schema.unit is None else schema[schema.unit]
    return column.max_rows if isinstance(column, PrivacyUnit) else 1


def weightmap(schema: ColumnTable, name: str, steps: int) -> RowMap:
    """Return the map of a column of weights: from 0 to its upper bound, on `steps` steps, whatever its own grid.

    Raises QueryError Q10 (no such column), Q72 (no numbers, no bounds, or bounds below 0).

    >>> from tacit.schema import Schema
    >>> weightmap(Schema({"weight": Real(0, 50)}), "weight", 2**15).upper
    50.0
    """
    column = column_of(schema, name)
    if not isinstance(column, Real | Integer):
        text = f"column {name!r} is {_article(type(column).__name__)} {type(column).__name__}: not weights."
        raise QueryError(text, code="Q72", hint=f'"{name}": Real(0, 50) in the schema')
    low, high = column.lower, column.upper
    if low is None or high is None or low < 0 or high <= 0:
        text = f"column {name!r} has no bounds from 0 on, and weights need them."
        raise QueryError(text, code="Q72", hint=f'"{name}": Real(0, 50), 50 being the largest weight that counts')
    # from 0, whatever the lower bound: the proofs of `weighted_encoding` are for weights in {0, ..., A}
    made = RowMap(name, schema.source(name), "real", 0.0, float(high), steps)
    return made if column.missing == EXCLUDE else replace(made, missing=_place(made, column.missing))


def column_of(schema: ColumnTable, name: str) -> Column:
    """Return column `name` of a schema; QueryError Q10, with the nearest name, where there is none."""
    try:
        return schema[name]
    except KeyError:
        guess = nearest(str(name), list(schema))
        known = ", ".join(repr(column) for column in list(schema)[:12]) + (", …" if len(schema) > 12 else "")
        hint = f"{guess!r}" if guess else f"one of {known}"
        computed = _computed(str(name))
        hint = hint if computed is None else f"{computed} in the schema, and then its name"
    raise QueryError(f"column {name!r} is not in the schema.", code="Q10", hint=hint)


def _computed(text: str) -> str | None:
    """Return the computed column that an expression in place of a name would be; None for what is no expression."""
    quoted = f"'{text}'" if '"' in text else f'"{text}"'
    if re.search(r"[<>]|==|!=|\bin\b", text):
        return f'"flag": Boolean(computed={quoted})'
    return f'"new": Real(0, 100, computed={quoted})' if re.search(r"\w\(.*\)|\w\s*[*/+]\s*\w", text) else None


def _steps(span: int) -> tuple[int, int]:
    """Return (steps, factor) of the grid for whole numbers over a range (theory §12); that of Real for a wide range."""
    if span > WIDEST:
        return GRID, 1
    # G a multiple of 16, so H = G / 2 is one of 8, which form Z needs (theory §12)
    return span, 16 * max(1, -(-GRID // (16 * span)))


def _place(made: RowMap, missing: object) -> int:
    """Return the grid value v of the value declared for missing cells."""
    value = missing.toordinal() - date(1970, 1, 1).toordinal() if isinstance(missing, date) else missing
    # by the map itself, so that a missing cell counts exactly as a cell of that value
    v, _ = made.numpy(np.asarray([float(cast(float, value))]))
    return int(v[0])


def _article(kind: str) -> str:
    return "an" if kind[0] in "AEIOU" else "a"

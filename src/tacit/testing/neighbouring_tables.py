"""Neighbouring tables made from a schema alone, with extreme and invalid cells: test tables of the contract checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np

from tacit.base.lazy_imports import arrow
from tacit.schema import Boolean, Category, Date, Integer, PrivacyUnit, Real, Schema, Text

Row: TypeAlias = tuple[object, ...]
NEWCOMER: Final = 99
"""Identifier of the person whose rows differ between neighbours; nobody else has it."""
Relation: TypeAlias = Literal["replace-one", "add-remove"]


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables as tuples of rows, with columns in the schema's order."""

    one: tuple[Row, ...]
    other: tuple[Row, ...]


def cells(column: object, rng: np.random.Generator) -> list[object]:
    """Return cells that a column may hold: bounds first, then values inside, missing, not finite, outside, unlisted."""
    if isinstance(column, Real | Integer):
        bounded = column.lower is not None and column.upper is not None
        low, high = (float(cast(float, column.lower)), float(cast(float, column.upper))) if bounded else (-1e6, 1e6)
        inside = [float(x) for x in rng.uniform(low, high, 6)]
        # neighbours of the bounds among the floats are where a rounding to the grid could fail
        edges = [low, high, (low + high) / 2, np.nextafter(low, high), np.nextafter(high, low)]
        return [*edges, *inside, None, float("nan"), float("inf"), -float("inf"), low - 1e9, high + 1e9, 1e300, 0.5]
    if isinstance(column, Boolean):
        return [True, False, None]
    if isinstance(column, Category):
        unlisted: list[object] = ["?"] if isinstance(column.codes[0], str) else [987_654_321]
        return [*column.codes, None, *([] if isinstance(column.codes[0], bool) else unlisted)]
    if isinstance(column, Date):
        low, high = cast(date, column.lower), cast(date, column.upper)
        return [low, high, low + (high - low) // 2, None, low - timedelta(400), high + timedelta(400)]
    if isinstance(column, PrivacyUnit):
        return [*range(5), None]
    if isinstance(column, Text):
        long = "x" * (column.max_length + 1)
        return ["a", "b", "A", " a ", "a\n", long, long + "y", "\u00e9", "e\u0301", "\u202ea", "", "  ", None]
    raise TypeError(f"no cells for {type(column).__name__}")


def pairs(schema: Schema, relation: Relation, count: int, rng: np.random.Generator) -> Iterator[Pair]:
    """Yield `count` neighbouring pairs: first every pairing of extreme rows, then random rows.
    In the last pair a row changes its cell and stays at the upper bounds.

    The common rows are random, in every fourth pair copies of one row, and in another fourth sorted.  With a
    PrivacyUnit all rows of one person are replaced or added: one row, some, or more than `max_rows`.
    """
    menu = [_possible_cells(schema, name, rng) for name in schema]
    extremes = _extreme_rows(menu)
    for i in range(count):
        size = int(rng.integers(2, 9))
        common = [_row(menu, rng) for _ in range(size)]
        # equal rows make blocks without variation and cells with ties
        if i % 4 == 1:
            common = [common[0]] * size
        if i % 4 == 2:
            common = sorted(common, key=repr)
        # i counts pairs of extreme rows first, row by row
        first = extremes[(i // len(extremes)) % len(extremes)] if i < len(extremes) ** 2 else _row(menu, rng)
        second = extremes[i % len(extremes)] if i < len(extremes) ** 2 else _row(menu, rng)
        if i == count - 1:  # a row that changes its cell and stays at the upper bounds, as sums need
            first = extremes[1]
            second = tuple(options[1] if len(options) > 6 else options[0] for options in menu)
        # at most these rows differ, and they belong to one person
        ones, others = _person(schema, menu, first, rng), _person(schema, menu, second, rng)
        if relation == "replace-one":
            yield Pair((*common, *ones), (*common, *others))
        else:
            yield Pair(tuple(common), (*common, *ones))


def with_rows_before(schema: Schema, pair: Pair, rows: int, rng: np.random.Generator) -> Pair:
    """Return the pair with `rows` random rows, the same in both tables, put in front."""
    menu = [_possible_cells(schema, name, rng) for name in schema]
    common = tuple(_row(menu, rng) for _ in range(rows))
    return Pair((*common, *pair.one), (*common, *pair.other))


def _possible_cells(schema: Schema, name: str, rng: np.random.Generator) -> list[object]:
    """Return the cells that a column may hold; only a missing one where the column is computed."""
    return [None] if schema.is_computed(name) else cells(schema[name], rng)


def _person(schema: Schema, menu: list[list[object]], row: Row, rng: np.random.Generator) -> tuple[Row, ...]:
    """Return the row or, with a PrivacyUnit, rows of one new person: copies of the row, or it and random others."""
    if schema.unit is None:
        return (row,)
    place, unit = list(schema).index(schema.unit), cast(PrivacyUnit, schema[schema.unit])
    # more than max_rows: those beyond must not add to the change
    many = int(rng.choice([1, 2, unit.max_rows, unit.max_rows + 3]))
    mixed = rng.random() < 0.3  # copies reach the largest change; mixed rows test how a person's rows are reduced
    rows = [row, *(_row(menu, rng) if mixed else row for _ in range(many - 1))]
    return tuple((*one[:place], NEWCOMER, *one[place + 1 :]) for one in rows)


def persons(schema: Schema, rows: tuple[Row, ...]) -> int:
    """Return the number of rows, or of persons where there is a PrivacyUnit."""
    if schema.unit is None:
        return len(rows)
    place = list(schema).index(schema.unit)
    return len({row[place] for row in rows})


def columns(schema: Schema, rows: tuple[Row, ...]) -> dict[str, Any]:
    """Return the rows as a dict of typed arrays, named as in the table; NaN stays distinct from missing."""
    pa = arrow()

    types: dict[type, Any] = {Real: pa.float64(), Integer: pa.float64(), Boolean: pa.bool_(), Date: pa.date32()}
    made: dict[str, Any] = {}
    for i, (name, column) in enumerate(schema.items()):
        if schema.is_computed(name):
            continue
        kind = pa.string() if isinstance(column, Text) else types.get(type(column))
        if isinstance(column, Category):
            kind = pa.string() if isinstance(column.codes[0], str) else pa.int64()
            kind = pa.bool_() if isinstance(column.codes[0], bool) else kind
        made[schema.source(name)] = pa.array([row[i] for row in rows], type=kind or pa.int64(), from_pandas=False)
    return made


def arrow_table(schema: Schema, rows: tuple[Row, ...]) -> Any:
    """Return the rows as a PyArrow table with the schema's columns, also where there are no rows."""
    pa = arrow()

    return pa.table(columns(schema, rows))


def _row(menu: list[list[object]], rng: np.random.Generator) -> Row:
    """Return a row of random cells."""
    return tuple(options[int(rng.integers(len(options)))] for options in menu)


def _extreme_rows(menu: list[list[object]]) -> list[Row]:
    """Return rows at which sensitivities are reached: all columns at their first, second, ... cell, mixed, missing."""
    deepest = max(2, min(4, max(len(options) for options in menu)))
    rows = [tuple(options[min(k, len(options) - 1)] for options in menu) for k in range(deepest)]
    missing = tuple(None if None in options else options[0] for options in menu)
    mixed = tuple(options[(1 - j) % 2 if len(options) > 1 else 0] for j, options in enumerate(menu))
    lead = tuple(options[min(int(j == k), len(options) - 1)] for j, options in enumerate(menu) for k in [_first(menu)])
    return [*rows, mixed, missing, lead]


def _first(menu: list[list[object]]) -> int:
    """Return the index of the first column of numbers, which one extreme row has at its upper bound, alone."""
    return next((j for j, options in enumerate(menu) if len(options) > 6), 0)

"""Neighbouring tables that change the sums of a user's own statistic most: rows at the ends of its integers."""

from __future__ import annotations

from itertools import combinations, islice, product
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.additive.design import AdditivePart
from tacit.method.additive.query import Additive
from tacit.method.shared.measurement import Measurement
from tacit.release.query import Query
from tacit.rows.row_map import RowMap
from tacit.schema import Boolean, Category, PrivacyUnit, Schema
from tacit.testing.findings import PRICES, ROWS, designed
from tacit.testing.neighbouring_tables import NEWCOMER, Pair, Relation, Row, cells, columns
from tacit.testing.reference_table import cells_of, columns_of, holds, with_columns

TRIED: Final = 4_096
"""Most rows among which the ends are sought."""
KEPT: Final = 9
"""Most rows of which all pairs are made."""


def neighbours(query: Query[Any], schema: Schema, relation: Relation) -> list[Pair]:
    """Return pairs of tables whose rows are at the ends of each integer, of their sums and of their products."""
    if not isinstance(query, Additive):
        return []
    shape = designed(query, schema, relation, ROWS, PRICES[0])
    assert shape is not None
    rows = _rows(schema, np.random.default_rng(0))
    chosen = [rows[i] for i in _furthest(shape, schema, rows)]
    common = _person(schema, chosen[0], 0)
    made = list[Pair]()
    for one, other in combinations([*chosen, None], 2):
        first, second = (() if row is None else _person(schema, row, NEWCOMER) for row in (one, other))
        if relation == "replace-one" and first and second:
            made.append(Pair((*common, *first), (*common, *second)))
        elif relation == "add-remove" and not second:
            made.append(Pair(common, (*common, *first)))
    return made


def integers(shape: Measurement, schema: Schema, rows: list[Row]) -> NDArray[np.int64]:
    """Return what each row adds to the sums of the first part, one row a person, shape (rows, cells k).

    By the arithmetic of `Reference`; rows that do not count add zeros.
    """
    table = columns_of(_arrays(schema, rows), schema)
    table = with_columns(table, shape.computed)
    part = cast(AdditivePart, shape.columns[0])
    cell, inside = cells_of(shape.keys, table)
    inside = inside if shape.where is None else inside & holds(shape.where, table)
    k = len(part.sums)
    made = np.zeros((len(rows), shape.cells, k), dtype=np.int64)
    for j, term in enumerate(part.sums):
        at = cast(RowMap, term.rowmap)
        v, present = at.numpy(np.asarray(table[at.source], dtype=np.float64))
        made[np.arange(len(rows)), cell, j] = np.where(present & inside, term.polynomial.numpy(v), 0)
    return made.reshape(len(rows), -1)


def _arrays(schema: Schema, rows: list[Row]) -> dict[str, NDArray[Any]]:
    """Return rows as arrays, NaN or None where missing."""
    return {name: one.to_numpy(zero_copy_only=False) for name, one in columns(schema, tuple(rows)).items()}


def _rows(schema: Schema, rng: np.random.Generator) -> list[Row]:
    """Return rows of all combinations of cells, the ends first, as far as there are not too many; else random ones."""
    menus = [[None] if schema.is_computed(name) else _menu(schema, name, rng) for name in schema]
    size = int(np.prod([float(len(menu)) for menu in menus]))
    if size <= TRIED:
        return list(product(*menus))
    # corners of all columns, and random rows
    corners = list(islice(product(*(menu[:2] for menu in menus)), TRIED // 2))
    picked = rng.integers(0, 2**31, (TRIED // 2, len(menus)))
    return [*corners, *(tuple(menu[int(i) % len(menu)] for menu, i in zip(menus, row, strict=True)) for row in picked)]


def _menu(schema: Schema, name: str, rng: np.random.Generator) -> list[object]:
    column = schema[name]
    if isinstance(column, PrivacyUnit):
        return [0]
    found = cells(column, rng)
    # bounds, between, missing, beyond
    return found if isinstance(column, Boolean | Category) else [*found[:3], *found[5:8], *found[-8:]]


def _furthest(shape: Measurement, schema: Schema, rows: list[Row]) -> list[int]:
    """Return the places of rows at the ends of signed sums, of single integers and of products of two."""
    made = integers(shape, schema, rows).astype(np.float64)
    found = dict[int, None]()
    signs = [np.array(one) for one in islice(product((1.0, -1.0), repeat=made.shape[1]), 16)]
    scores = [made @ sign for sign in signs]
    scores += [made[:, j] * made[:, i] for j in range(made.shape[1]) for i in range(j + 1)][:16]
    scores += [made[:, j] for j in range(made.shape[1])]
    for score in scores:
        found[int(score.argmax())] = found[int(score.argmin())] = None
    return list(found)[:KEPT]


def _person(schema: Schema, row: Row, who: int) -> tuple[Row, ...]:
    """Return the row, or with a PrivacyUnit as many copies as count, all of one person."""
    if schema.unit is None:
        return (row,)
    place = list(schema).index(schema.unit)
    most = cast(PrivacyUnit, schema[schema.unit]).max_rows
    return ((*row[:place], who, *row[place + 1 :]),) * most

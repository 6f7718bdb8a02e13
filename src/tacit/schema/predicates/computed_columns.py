"""Computed columns of a schema: public functions of one row, with declared bounds or levels.  No data here.

In `Real(0, 13, computed="log(income)")` the value is clamped to the declared bounds like a cell of the table, so a
computed column is as private as any other.  A computed Boolean is a condition, missing where what it compares is
missing (three-valued logic, as in SQL; in `where=` such a comparison is false).  A computed Category is an expression
whose values are its codes, `cut(age, [30, 65])` with one level for each interval, or `recode(region, {"N": "north"})`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from tacit.errors import QueryError, SchemaError
from tacit.schema.column_table import ColumnTable
from tacit.schema.column_types import Boolean, Category, Column
from tacit.schema.predicates import syntax
from tacit.schema.predicates.numeric_expressions import ColumnCell, Number, cell_of, number, wrong
from tacit.schema.predicates.parser import expression, parse
from tacit.schema.predicates.typed_conditions import Node, level_index, node
from tacit.schema.row_maps_of_columns import column_of


@dataclass(frozen=True)
class Interval:
    """The index, from 0, of the interval between `edges` that contains a number."""

    value: Number
    edges: tuple[float, ...]


@dataclass(frozen=True)
class Recoded:
    """The map from level i of a category to level `places[i]` of another; missing where that is None."""

    cell: ColumnCell
    places: tuple[int | None, ...]


Rule: TypeAlias = Number | Node | Interval | Recoded


@dataclass(frozen=True)
class Computed:
    """A typed computed column.

    source: its name in a table of rows.  cells: the columns it reads.  values: for an Interval or Recoded, the value in
    the column for index 0, 1, ...
    """

    source: str
    rule: Rule
    cells: tuple[ColumnCell, ...]
    values: tuple[float, ...] = ()
    texts: bool = False
    """Whether its levels are text: values are then the positions of levels, from 1."""


def computed_columns(schema: ColumnTable) -> dict[str, Computed]:
    """Return the computed columns of a schema by their names in the table.

    Raises SchemaError S18 for one that cannot be computed from columns of the table, as the schema alone shows.

    >>> from tacit.schema import Real, Schema
    >>> list(computed_columns(Schema({"x": Real(1, 9), "log x": Real(0, 3, computed="log(x)")})))
    ['= log x']
    """
    found = {name: getattr(column, "computed", None) for name, column in schema.items()}
    return {schema.source(name): _checked(schema, name, text) for name, text in found.items() if text is not None}


def _checked(schema: ColumnTable, name: str, text: str) -> Computed:
    try:
        return _computed(schema, name, text)
    except QueryError as problem:
        message, hint = problem.message, problem.hint
    raise SchemaError(f"column {name!r} is computed = {text!r}: {message}", code="S18", hint=hint)


def _computed(schema: ColumnTable, name: str, text: str) -> Computed:
    column, source = schema[name], schema.source(name)
    said = parse(text) if isinstance(column, Boolean) else expression(text)
    cells = {one: _cell(schema, one) for one in syntax.columns(said)}
    everything = tuple(cells.values())
    match said:
        case syntax.Cut(value, edges):
            cut = tuple(_edge(edge) for edge in edges)
            if not cut or any(a >= b for a, b in pairwise(cut)):
                raise wrong("its edges are not in increasing order.", "cut(age, [30, 65])")
            return Computed(source, Interval(number(value, cells), cut), everything, *_levels(column, len(cut) + 1))
        case syntax.Recode(of, pairs):
            return _recoded(source, column, cells[of.name], pairs)
        case syntax.Name() | syntax.Constant() | syntax.Arithmetic() | syntax.Call() | syntax.Clip():
            if isinstance(column, Category) and not isinstance(column.codes[0], int):
                raise wrong(
                    "its levels are text, and a number is not.", "cut(age, [30, 65]), with a level for each interval"
                )
            return Computed(source, number(said, cells), everything)
        case _:
            return Computed(source, node(said, cells), everything)


def _cell(schema: ColumnTable, name: str) -> ColumnCell:
    if getattr(column_of(schema, name), "computed", None) is not None:
        raise wrong(f"column {name!r} is itself computed.", "columns of the table")
    return cell_of(schema, name)


def _edge(edge: syntax.Constant) -> float:
    if isinstance(edge.value, str | bool):
        raise wrong(f"edge {edge.value!r} is not a number.", "cut(age, [30, 65])")
    return float(edge.value)


def _levels(column: Column, intervals: int) -> tuple[tuple[float, ...], bool]:
    """Return the value in the column for each interval, and whether its levels are text."""
    if not isinstance(column, Category):
        raise wrong(f"intervals are levels, and {type(column).__name__} has none.", 'Category(["young", "old"], …)')
    if len(column.codes) != intervals:
        message = f"{intervals} intervals, and {len(column.codes)} levels."
        raise wrong(message, "one level more than edges")
    if isinstance(column.codes[0], str):
        return tuple(float(i + 1) for i in range(intervals)), True
    return tuple(float(code) for code in column.codes), False


def _recoded(
    source: str, column: Column, cell: ColumnCell, pairs: tuple[tuple[syntax.Constant, syntax.Constant], ...]
) -> Computed:
    if cell.kind != "category" or cell.key is None:
        raise wrong(f"column {cell.column!r} has no levels to recode.", "a Category, or cut(…)")
    if not isinstance(column, Category):
        raise wrong(f"levels are recoded to levels, and {type(column).__name__} has none.", "Category([…], computed=…)")
    places: list[int | None] = [None] * len(cell.key.labels)
    for old, new in pairs:
        if new.value not in column.labels:
            raise wrong(f"{new.value!r} is not one of its own levels.", f"one of {', '.join(column.labels)}")
        at = level_index(cell, old.value)
        if places[at] is not None:
            raise wrong(f"{old.value!r} is recoded twice.", "each level once")
        places[at] = column.labels.index(str(new.value))
    # as many intervals as levels, so that the check of numbers passes and index i is level i
    values, texts = _levels(column, len(column.codes))
    return Computed(source, Recoded(cell, tuple(places)), (cell,), values, texts)

"""Conditions, typed by a schema: the columns they read, and comparisons of their values.  No data here.

The rules are those of pandas where it has any:

- a missing cell makes a comparison or a membership false and `!=` true; `not` negates either;
- a category is compared with its labels; a cell that is not a declared level is missing; `<` needs an ordered category;
- numeric values are as `schema.predicates.numeric_expressions` defines them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tacit.errors import QueryError, nearest
from tacit.schema.column_table import ColumnTable
from tacit.schema.predicates import syntax
from tacit.schema.predicates.numeric_expressions import ColumnCell, Fixed, Number, cell_of, day_number, number, wrong
from tacit.schema.predicates.parser import parse
from tacit.schema.predicates.syntax import Condition, spelled


@dataclass(frozen=True)
class Compare:
    """The comparison left == != < <= > >= right of numbers."""

    op: str
    left: Number
    right: Number


@dataclass(frozen=True)
class LevelIsAmong:
    """Whether a category's level has one of these indices; `missing` is the answer for a missing cell."""

    cell: ColumnCell
    indices: tuple[int, ...]
    missing: bool


@dataclass(frozen=True)
class CellIsMissing:
    """Whether a cell is missing."""

    cell: ColumnCell


@dataclass(frozen=True)
class Every:
    """The conjunction of the parts, or with `some` their disjunction."""

    parts: tuple[Node, ...]
    some: bool


@dataclass(frozen=True)
class Negated:
    """The negation of a condition."""

    part: Node


Node: TypeAlias = Compare | LevelIsAmong | CellIsMissing | Every | Negated


@dataclass(frozen=True)
class Predicate:
    """A typed condition, its canonical text and the columns it reads; a query counts the rows for which it is true."""

    text: str
    node: Node
    cells: tuple[ColumnCell, ...]


def typed(text: str, schema: ColumnTable) -> Predicate:
    """Return the typed condition of a text and a schema.

    Raises QueryError Q60 for text that cannot be read, Q10 for an unknown column, Q61 or Q62 for a type that is wrong.

    >>> from tacit.schema import Category, Real, Schema
    >>> typed("age >= 18 and sex == 'f'", Schema({"age": Real(0, 100), "sex": Category(["f", "m"])})).text
    "age >= 18 and sex == 'f'"
    """
    condition = parse(text)
    cells = {name: cell_of(schema, name) for name in syntax.columns(condition)}
    return Predicate(spelled(condition), node(condition, cells), tuple(cells.values()))


# Typing -------------------------------------------------------------------------------------------------------------


def node(condition: Condition, cells: Mapping[str, ColumnCell]) -> Node:
    """Type the syntax of a condition; QueryError Q61 or Q62 where it does not fit the columns' types."""
    match condition:
        case syntax.AndOr(op, parts):
            return Every(tuple(node(part, cells) for part in parts), op == "or")
        case syntax.Not(part):
            return Negated(node(part, cells))
        case syntax.Missing(name):
            return CellIsMissing(cells[name.name])
        case syntax.Flag(name):
            cell = cells[name.name]
            if cell.kind != "boolean":
                raise wrong(f"column {cell.column!r} is not a Boolean.", f'where="{cell.column} == …"')
            return Compare("==", cell, Fixed(1.0))
        case syntax.Membership(name, among):
            return _membership(cells[name.name], among)
        case syntax.Comparison():
            return _comparison(condition, cells)


def _membership(cell: ColumnCell, among: tuple[syntax.Constant, ...]) -> Node:
    if cell.kind == "category":
        return LevelIsAmong(cell, tuple(sorted({level_index(cell, one.value) for one in among})), missing=False)
    return Every(tuple(Compare("==", cell, Fixed(_constant(one.value, cell))) for one in among), some=True)


MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def _comparison(found: syntax.Comparison, cells: Mapping[str, ColumnCell]) -> Node:
    left, op, right = found.left, found.op, found.right
    if isinstance(left, syntax.Constant):
        # a constant on the left: the comparison seen from the right
        left, op, right = right, MIRROR[op], left
    if isinstance(left, syntax.Name) and cells[left.name].kind == "category":
        return _level(cells[left.name], op, right)
    if isinstance(right, syntax.Name) and cells[right.name].kind == "category":
        return _level(cells[right.name], MIRROR[op], left)
    alone = cells[left.name] if isinstance(left, syntax.Name) else None
    if isinstance(right, syntax.Constant) and alone is not None:
        return Compare(op, alone, Fixed(_constant(right.value, alone)))
    a, b = number(left, cells), number(right, cells)
    kinds = {one.kind if isinstance(one, ColumnCell) else "number" for one in (a, b)}
    if len(kinds) > 1:
        raise wrong(f"{spelled(found)}: {' and '.join(sorted(kinds))} do not compare.", "columns of one kind")
    return Compare(op, a, b)


def _level(cell: ColumnCell, op: str, other: syntax.Value) -> Node:
    """Type the comparison of a category with a label; < <= > >= need ordered levels."""
    if not isinstance(other, syntax.Constant):
        raise wrong(
            f"category {cell.column!r} compares with its levels only.", f"{cell.column} == '{_labels(cell)[0]}'"
        )
    at, size = level_index(cell, other.value), len(_labels(cell))
    if op in ("==", "!="):
        among = (at,) if op == "==" else tuple(i for i in range(size) if i != at)
        # a missing cell differs from every level, as in pandas
        return LevelIsAmong(cell, among, missing=op == "!=")
    assert cell.key is not None
    if not cell.key.ordered:
        message = f"the levels of {cell.column!r} have no order, so {op} has no meaning."
        raise wrong(message, f"\"{cell.column}\": Category([…], ordered=True), or {cell.column} in ['…']")
    own = len(cell.key.levels)  # a level for missing cells comes last and is not part of the order
    chosen = {"<": range(at), "<=": range(at + 1), ">": range(at + 1, own), ">=": range(at, own)}[op]
    return LevelIsAmong(cell, tuple(i for i in chosen if i < own), missing=False)


def _labels(cell: ColumnCell) -> tuple[str, ...]:
    assert cell.key is not None
    return cell.key.labels


def level_index(cell: ColumnCell, value: object) -> int:
    """Return the index of a label among a category's levels; QueryError Q62 where it is not one of them."""
    labels = _labels(cell)
    if value in labels:
        return labels.index(str(value))
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # every number of a condition is a float, and was typed otherwise
    guess = nearest(str(value), list(labels))
    listed = ", ".join(labels[:8]) + (", …" if len(labels) > 8 else "")
    hint = f"{cell.column} == '{guess}'" if guess else f"its levels are {listed}"
    raise QueryError(f"{value!r} is not a level of {cell.column!r}.", code="Q62", hint=hint)


def _constant(value: float | str | bool, cell: ColumnCell) -> float:
    """Return a constant as the float that this column is compared with; QueryError Q61 for another type."""
    if cell.kind == "date" and isinstance(value, str):
        try:
            return float(day_number(value))
        except ValueError:
            raise wrong(f"{value!r} is not a date.", f"{cell.column} >= '2024-01-31'") from None
    if cell.kind == "boolean" and (isinstance(value, bool) or value in (0, 1)):
        return float(value)
    if cell.kind == "number" and not isinstance(value, str | bool):
        return float(value)
    kinds = {"date": "days in quotes", "boolean": "True or False", "number": "numbers"}
    raise wrong(f"column {cell.column!r} does not compare with {value!r}.", f"{kinds.get(cell.kind, 'levels')}")

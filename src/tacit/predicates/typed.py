"""A condition with a schema's meaning: which cells it reads, and its value on every row.  No data here.

The rules, those of pandas where it has any:

- a missing cell makes a comparison or a membership false, `!=` true; `not` turns either around;
- a missing value that the schema gives a place (a value, a level) has it before anything is compared;
- numbers and dates are clamped to their bounds first: the values that a release is about;
- a category is compared with its labels; what is not listed is missing; `<` needs an ordered category;
- arithmetic is that of 64-bit floats; what is not finite, a division by zero too, is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, TypeAlias

from tacit.errors import QueryError, nearest
from tacit.predicates import syntax
from tacit.predicates.syntax import Condition, spelled
from tacit.rowmap import KeyMap
from tacit.schema import Boolean, Category, Date, Integer, Real, Schema
from tacit.schema.columns import EXCLUDE
from tacit.schema.rowmaps import column_of, keymap

Kind: TypeAlias = Literal["number", "boolean", "date", "category"]


@dataclass(frozen=True)
class Cell:
    """A column that a condition reads: a number (days of a date, 0 or 1), or the index of a level."""

    column: str
    source: str
    kind: Kind
    lower: float | None = None
    upper: float | None = None
    missing: float | None = None
    """What a missing cell stands for; None where it stays missing.  Of a category: the key's business."""
    key: KeyMap | None = None


@dataclass(frozen=True)
class Fixed:
    """A number."""

    value: float


@dataclass(frozen=True)
class Operation:
    """left + - * / right, of numbers."""

    op: str
    left: Number
    right: Number


@dataclass(frozen=True)
class Compare:
    """left == != < <= > >= right, of numbers."""

    op: str
    left: Number
    right: Number


@dataclass(frozen=True)
class Among:
    """A category is at one of these indices of its levels; `missing`: what the answer is where it has none."""

    cell: Cell
    indices: tuple[int, ...]
    missing: bool


@dataclass(frozen=True)
class Absent:
    """A cell is missing."""

    cell: Cell


@dataclass(frozen=True)
class Every:
    """All parts (or, if `some`, one at least)."""

    parts: tuple[Node, ...]
    some: bool


@dataclass(frozen=True)
class Negated:
    """Not the part."""

    part: Node


Number: TypeAlias = Cell | Fixed | Operation
Node: TypeAlias = Compare | Among | Absent | Every | Negated


@dataclass(frozen=True)
class Predicate:
    """A typed condition: the rows for which it holds are asked about."""

    text: str
    node: Node
    cells: tuple[Cell, ...]


def typed(text: str, schema: Schema) -> Predicate:
    """A condition's text and a schema -> what is to be computed.  QueryError Q10, Q61 to Q63, from public facts.

    >>> typed("age >= 18 and sex == 'f'", Schema({"age": Real(0, 100), "sex": Category(["f", "m"])})).text
    "age >= 18 and sex == 'f'"
    """
    condition = syntax.parse(text)
    cells = {name: _cell(schema, name) for name in syntax.columns(condition)}
    return Predicate(spelled(condition), _node(condition, cells), tuple(cells.values()))


# Typing -------------------------------------------------------------------------------------------------------------


def _cell(schema: Schema, name: str) -> Cell:
    column, source = column_of(schema, name), schema.source(name)
    kept = None if getattr(column, "missing", EXCLUDE) == EXCLUDE else getattr(column, "missing", None)
    match column:
        case Category():
            return Cell(name, source, "category", key=keymap(schema, name))
        case Boolean():
            return Cell(name, source, "boolean", missing=None if kept is None else float(bool(kept)))
        case Date():
            low, high = column.days
            return Cell(name, source, "date", float(low), float(high), None if kept is None else float(_day(kept)))
        case Real() | Integer():
            low, high = column.lower, column.upper
            bounds = (None, None) if low is None or high is None else (float(low), float(high))
            return Cell(name, source, "number", *bounds, None if kept is None else float(kept))
        case _:
            raise _wrong(f"column {name!r} is a {type(column).__name__}: nothing to compare.", "another column")


def _day(value: Any) -> int:
    found = value if isinstance(value, date) else date.fromisoformat(str(value))
    return found.toordinal() - date(1970, 1, 1).toordinal()


def _node(condition: Condition, cells: Mapping[str, Cell]) -> Node:
    match condition:
        case syntax.Both(op, parts):
            return Every(tuple(_node(part, cells) for part in parts), op == "or")
        case syntax.Not(part):
            return Negated(_node(part, cells))
        case syntax.Missing(name):
            return Absent(cells[name.name])
        case syntax.Flag(name):
            cell = cells[name.name]
            if cell.kind != "boolean":
                raise _wrong(f"where: column {cell.column!r} is no Boolean.", f'where="{cell.column} == …"')
            return Compare("==", cell, Fixed(1.0))
        case syntax.Membership(name, among):
            return _membership(cells[name.name], among)
        case syntax.Comparison():
            return _comparison(condition, cells)


def _membership(cell: Cell, among: tuple[syntax.Constant, ...]) -> Node:
    if cell.kind == "category":
        return Among(cell, tuple(sorted({_index(cell, one.value) for one in among})), missing=False)
    return Every(tuple(Compare("==", cell, Fixed(_constant(one.value, cell))) for one in among), some=True)


MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def _comparison(found: syntax.Comparison, cells: Mapping[str, Cell]) -> Node:
    left, op, right = found.left, found.op, found.right
    if isinstance(left, syntax.Constant):
        left, op, right = right, MIRROR[op], left
    if isinstance(left, syntax.Name) and cells[left.name].kind == "category":
        return _level(cells[left.name], op, right)
    if isinstance(right, syntax.Name) and cells[right.name].kind == "category":
        return _level(cells[right.name], MIRROR[op], left)
    alone = cells[left.name] if isinstance(left, syntax.Name) else None
    if isinstance(right, syntax.Constant) and alone is not None:
        return Compare(op, alone, Fixed(_constant(right.value, alone)))
    a, b = _number(left, cells), _number(right, cells)
    kinds = {one.kind if isinstance(one, Cell) else "number" for one in (a, b)}
    if len(kinds) > 1:
        raise _wrong(f"where: {spelled(found)}: {' and '.join(sorted(kinds))} do not compare.", "columns of one kind")
    return Compare(op, a, b)


def _level(cell: Cell, op: str, other: syntax.Value) -> Node:
    """A category against a label; with < and so on where its levels are ordered."""
    if not isinstance(other, syntax.Constant):
        raise _wrong(
            f"where: category {cell.column!r} compares with its levels only.", f"{cell.column} == '{_labels(cell)[0]}'"
        )
    at, size = _index(cell, other.value), len(_labels(cell))
    if op in ("==", "!="):
        among = (at,) if op == "==" else tuple(i for i in range(size) if i != at)
        return Among(cell, among, missing=op == "!=")
    assert cell.key is not None
    if not cell.key.ordered:
        message = f"where: the levels of {cell.column!r} have no order, so {op} says nothing."
        raise _wrong(message, f"\"{cell.column}\": Category([…], ordered=True), or {cell.column} in ['…']")
    own = len(cell.key.levels)  # a level for missing cells is the last, and in no order
    chosen = {"<": range(at), "<=": range(at + 1), ">": range(at + 1, own), ">=": range(at, own)}[op]
    return Among(cell, tuple(i for i in chosen if i < own), missing=False)


def _labels(cell: Cell) -> tuple[str, ...]:
    assert cell.key is not None
    return cell.key.labels


def _index(cell: Cell, value: object) -> int:
    labels = _labels(cell)
    if value in labels:
        return labels.index(str(value))
    guess = nearest(str(value), list(labels))
    listed = ", ".join(labels[:8]) + (", …" if len(labels) > 8 else "")
    hint = f"{cell.column} == '{guess}'" if guess else f"its levels are {listed}"
    raise QueryError(f"where: {value!r} is no level of {cell.column!r}.", code="Q62", hint=hint)


def _constant(value: float | str | bool, cell: Cell) -> float:
    """A constant that compares with this column."""
    if cell.kind == "date" and isinstance(value, str):
        try:
            return float(_day(value))
        except ValueError:
            raise _wrong(f"where: {value!r} is no day.", f"{cell.column} >= '2024-01-31'") from None
    if cell.kind == "boolean" and (isinstance(value, bool) or value in (0, 1)):
        return float(value)
    if cell.kind == "number" and not isinstance(value, str | bool):
        return float(value)
    kinds = {"date": "days in quotes", "boolean": "True or False", "number": "numbers"}
    raise _wrong(f"where: column {cell.column!r} does not compare with {value!r}.", f"{kinds.get(cell.kind, 'levels')}")


def _number(value: syntax.Value, cells: Mapping[str, Cell]) -> Number:
    match value:
        case syntax.Constant(constant) if not isinstance(constant, str | bool):
            return Fixed(float(constant))
        case syntax.Name(name) if cells[name].kind != "category":
            return cells[name]
        case syntax.Arithmetic(op, left, right):
            a, b = _number(left, cells), _number(right, cells)
            for one in (a, b):
                if isinstance(one, Cell) and one.kind != "number":
                    raise _wrong(f"where: no arithmetic with {one.column!r}, a {one.kind}.", "columns of numbers")
            return Operation(op, a, b)
        case _:
            raise _wrong(f"where: {spelled(value)} is no number.", "a column of numbers, or a number")


def _wrong(message: str, hint: str) -> QueryError:
    return QueryError(message, code="Q61", hint=hint)

"""A condition with a schema's meaning: which cells it reads, and its value on every row.  No data here.

The rules, those of pandas where it has any:

- a missing cell makes a comparison or a membership false, `!=` true; `not` turns either around;
- a missing value that the schema gives a place (a value, a level) has it before anything is compared;
- numbers and dates are clamped to their bounds first: the values that a release is about;
- a category is compared with its labels; what is not listed is missing; `<` needs an ordered category;
- arithmetic is that of 64-bit floats; what is not finite, a division by zero too, is missing.

`evaluate` is written once, for NumPy (the reference) and for every engine: comparisons of finite floats and + - * / are
the same everywhere, and nothing else is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

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


class Backend(Protocol):
    """What NumPy and the engines have in common."""

    def choose(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """Elementwise: `then` where the condition is true, else `otherwise`."""
        ...

    def finite(self, x: Any) -> Any:
        """Elementwise: neither missing nor infinite; never missing itself."""
        ...

    def real(self, x: float) -> Any:
        """A 64-bit float."""
        ...

    def truth(self, x: bool) -> Any:
        """A truth value."""
        ...


def typed(text: str, schema: Schema) -> Predicate:
    """A condition's text and a schema -> what is to be computed.  QueryError Q10, Q61 to Q63, from public facts.

    >>> typed("age >= 18 and sex == 'f'", Schema({"age": Real(0, 100), "sex": Category(["f", "m"])})).text
    "age >= 18 and sex == 'f'"
    """
    condition = syntax.parse(text)
    cells = {name: _cell(schema, name) for name in syntax.columns(condition)}
    return Predicate(spelled(condition), _node(condition, cells), tuple(cells.values()))


def evaluate(predicate: Predicate, values: Mapping[Cell, Any], backend: Backend) -> Any:
    """Truth for every row.  values: a float column for each cell, NaN or null where missing; levels by their index."""
    read = {cell: _read(cell, column, backend) for cell, column in values.items()}
    return _truth(predicate.node, read, backend)


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


# Evaluation ---------------------------------------------------------------------------------------------------------


def _read(cell: Cell, column: Any, backend: Backend) -> tuple[Any, Any]:
    """(value, known): the value is 0 where it is not known."""
    known = backend.finite(column)
    x = backend.choose(known, column, backend.real(0.0))
    if cell.kind == "boolean":
        known = known & ((x == backend.real(0.0)) | (x == backend.real(1.0)))
    if cell.lower is not None and cell.upper is not None:
        low, high = backend.real(cell.lower), backend.real(cell.upper)
        x = backend.choose(x >= high, high, backend.choose(x <= low, low, x))
    if cell.missing is not None:
        x, known = backend.choose(known, x, backend.real(cell.missing)), backend.truth(True) | known
    return x, known


def _truth(node: Node, read: Mapping[Cell, tuple[Any, Any]], backend: Backend) -> Any:
    match node:
        case Every(parts, some):
            found = _truth(parts[0], read, backend)
            for part in parts[1:]:
                other = _truth(part, read, backend)
                found = found | other if some else found & other
            return found
        case Negated(part):
            return ~_truth(part, read, backend)
        case Absent(cell):
            return ~read[cell][1]
        case Among(cell, indices, missing):
            x, known = read[cell]
            found = backend.truth(False) & known
            for i in indices:
                found = found | (x == backend.real(float(i)))
            return backend.choose(known, found, backend.truth(missing))
        case Compare(op, left, right):
            (a, a_known), (b, b_known) = _value(left, read, backend), _value(right, read, backend)
            return backend.choose(a_known & b_known, _compared(op, a, b), backend.truth(op == "!="))


def _compared(op: str, a: Any, b: Any) -> Any:
    match op:
        case "==":
            return a == b
        case "!=":
            return ~(a == b)
        case "<":
            return a < b
        case "<=":
            return a <= b
        case ">":
            return a > b
        case _:
            return a >= b


def _value(number: Number, read: Mapping[Cell, tuple[Any, Any]], backend: Backend) -> tuple[Any, Any]:
    match number:
        case Cell():
            return read[number]
        case Fixed(value):
            return backend.real(value), backend.truth(True)
        case Operation(op, left, right):
            (a, a_known), (b, b_known) = _value(left, read, backend), _value(right, read, backend)
            known = a_known & b_known
            if op == "/":
                there = ~(b == backend.real(0.0))
                known, b = known & there, backend.choose(there, b, backend.real(1.0))
            x = a + b if op == "+" else a - b if op == "-" else a * b if op == "*" else a / b
            known = known & backend.finite(x)
            return backend.choose(known, x, backend.real(0.0)), known


class Reference:
    """`Backend` in NumPy: what every engine must equal, row by row."""

    def choose(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """See `Backend.choose`."""
        return np.asarray(np.where(np.asarray(condition, dtype=np.bool_), np.asarray(then), np.asarray(otherwise)))

    def finite(self, x: Any) -> Any:
        """See `Backend.finite`."""
        return np.isfinite(np.asarray(x, dtype=np.float64))

    def real(self, x: float) -> Any:
        """See `Backend.real`."""
        return np.float64(x)

    def truth(self, x: bool) -> Any:
        """See `Backend.truth`."""
        return np.bool_(x)

"""A condition with a schema's meaning: which cells it reads, and its value on every row.  No data here.

The rules, those of pandas where it has any:

- a missing cell makes a comparison or a membership false, `!=` true; `not` turns either around;
- a category is compared with its labels; what is not listed is missing; `<` needs an ordered category;
- numbers are those of `schema.predicates.numeric_expressions`.
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
    """left == != < <= > >= right, of numbers."""

    op: str
    left: Number
    right: Number


@dataclass(frozen=True)
class Among:
    """A category is at one of these indices of its levels; `missing`: what the answer is where it has none."""

    cell: ColumnCell
    indices: tuple[int, ...]
    missing: bool


@dataclass(frozen=True)
class Absent:
    """A cell is missing."""

    cell: ColumnCell


@dataclass(frozen=True)
class Every:
    """All parts (or, if `some`, one at least)."""

    parts: tuple[Node, ...]
    some: bool


@dataclass(frozen=True)
class Negated:
    """Not the part."""

    part: Node


Node: TypeAlias = Compare | Among | Absent | Every | Negated


@dataclass(frozen=True)
class Predicate:
    """A typed condition: the rows for which it holds are asked about."""

    text: str
    node: Node
    cells: tuple[ColumnCell, ...]


def typed(text: str, schema: ColumnTable) -> Predicate:
    """A condition's text and a schema -> what is to be computed.  QueryError Q10, Q61 to Q63, from public facts.

    >>> from tacit.schema import Category, Real, Schema
    >>> typed("age >= 18 and sex == 'f'", Schema({"age": Real(0, 100), "sex": Category(["f", "m"])})).text
    "age >= 18 and sex == 'f'"
    """
    condition = parse(text)
    cells = {name: cell_of(schema, name) for name in syntax.columns(condition)}
    return Predicate(spelled(condition), node(condition, cells), tuple(cells.values()))


# Typing -------------------------------------------------------------------------------------------------------------


def node(condition: Condition, cells: Mapping[str, ColumnCell]) -> Node:
    """A condition's syntax -> what is to be computed; QueryError Q61, Q62."""
    match condition:
        case syntax.Both(op, parts):
            return Every(tuple(node(part, cells) for part in parts), op == "or")
        case syntax.Not(part):
            return Negated(node(part, cells))
        case syntax.Missing(name):
            return Absent(cells[name.name])
        case syntax.Flag(name):
            cell = cells[name.name]
            if cell.kind != "boolean":
                raise wrong(f"column {cell.column!r} is no Boolean.", f'where="{cell.column} == …"')
            return Compare("==", cell, Fixed(1.0))
        case syntax.Membership(name, among):
            return _membership(cells[name.name], among)
        case syntax.Comparison():
            return _comparison(condition, cells)


def _membership(cell: ColumnCell, among: tuple[syntax.Constant, ...]) -> Node:
    if cell.kind == "category":
        return Among(cell, tuple(sorted({level_index(cell, one.value) for one in among})), missing=False)
    return Every(tuple(Compare("==", cell, Fixed(_constant(one.value, cell))) for one in among), some=True)


MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def _comparison(found: syntax.Comparison, cells: Mapping[str, ColumnCell]) -> Node:
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
    a, b = number(left, cells), number(right, cells)
    kinds = {one.kind if isinstance(one, ColumnCell) else "number" for one in (a, b)}
    if len(kinds) > 1:
        raise wrong(f"{spelled(found)}: {' and '.join(sorted(kinds))} do not compare.", "columns of one kind")
    return Compare(op, a, b)


def _level(cell: ColumnCell, op: str, other: syntax.Value) -> Node:
    """A category against a label; with < and so on where its levels are ordered."""
    if not isinstance(other, syntax.Constant):
        raise wrong(
            f"category {cell.column!r} compares with its levels only.", f"{cell.column} == '{_labels(cell)[0]}'"
        )
    at, size = level_index(cell, other.value), len(_labels(cell))
    if op in ("==", "!="):
        among = (at,) if op == "==" else tuple(i for i in range(size) if i != at)
        return Among(cell, among, missing=op == "!=")
    assert cell.key is not None
    if not cell.key.ordered:
        message = f"the levels of {cell.column!r} have no order, so {op} says nothing."
        raise wrong(message, f"\"{cell.column}\": Category([…], ordered=True), or {cell.column} in ['…']")
    own = len(cell.key.levels)  # a level for missing cells is the last, and in no order
    chosen = {"<": range(at), "<=": range(at + 1), ">": range(at + 1, own), ">=": range(at, own)}[op]
    return Among(cell, tuple(i for i in chosen if i < own), missing=False)


def _labels(cell: ColumnCell) -> tuple[str, ...]:
    assert cell.key is not None
    return cell.key.labels


def level_index(cell: ColumnCell, value: object) -> int:
    """Place of a label among a category's; QueryError Q62."""
    labels = _labels(cell)
    if value in labels:
        return labels.index(str(value))
    guess = nearest(str(value), list(labels))
    listed = ", ".join(labels[:8]) + (", …" if len(labels) > 8 else "")
    hint = f"{cell.column} == '{guess}'" if guess else f"its levels are {listed}"
    raise QueryError(f"{value!r} is no level of {cell.column!r}.", code="Q62", hint=hint)


def _constant(value: float | str | bool, cell: ColumnCell) -> float:
    """A constant that compares with this column."""
    if cell.kind == "date" and isinstance(value, str):
        try:
            return float(day_number(value))
        except ValueError:
            raise wrong(f"{value!r} is no day.", f"{cell.column} >= '2024-01-31'") from None
    if cell.kind == "boolean" and (isinstance(value, bool) or value in (0, 1)):
        return float(value)
    if cell.kind == "number" and not isinstance(value, str | bool):
        return float(value)
    kinds = {"date": "days in quotes", "boolean": "True or False", "number": "numbers"}
    raise wrong(f"column {cell.column!r} does not compare with {value!r}.", f"{kinds.get(cell.kind, 'levels')}")

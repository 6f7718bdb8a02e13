"""Numeric expressions, typed by a schema: the columns that are read, and arithmetic on them.  No data here.

- A missing cell for which the schema declares a value or level is replaced by it before anything is computed.
- Numbers and dates are clamped to their bounds first, as they are in every release.
- Arithmetic is that of 64-bit floats.  A result that is not finite, a division by zero, the log of a number that is not
  above 0 and the root of a negative number are missing.
- The difference of two dates is a number of days.  `log` clamps positive numbers to 2**-64 ... 2**64.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, Literal, TypeAlias

from tacit.errors import QueryError
from tacit.rows.row_map import KeyMap
from tacit.schema.column_table import ColumnTable
from tacit.schema.column_types import EXCLUDE, Boolean, Category, Date, Integer, Real
from tacit.schema.predicates import syntax
from tacit.schema.predicates.syntax import spelled
from tacit.schema.row_maps_of_columns import column_of, keymap

Kind: TypeAlias = Literal["number", "boolean", "date", "category"]
OF_DATES: Final = ("year", "quarter", "month", "day", "weekday")


@dataclass(frozen=True)
class ColumnCell:
    """A column that an expression reads: a number (days for a date, 0 or 1 for a Boolean), or the index of a level."""

    column: str
    source: str
    kind: Kind
    lower: float | None = None
    upper: float | None = None
    missing: float | None = None
    """The declared value of a missing cell; None where it stays missing, and for categories, whose `key` says it."""
    key: KeyMap | None = None


@dataclass(frozen=True)
class Fixed:
    """A constant number."""

    value: float


@dataclass(frozen=True)
class Operation:
    """The numeric operation left + - * / right, or left ** right with right 2, 3 or 4."""

    op: str
    left: Number
    right: Number


@dataclass(frozen=True)
class Applied:
    """A function of one argument: log, sqrt or abs of a number; year, quarter, month, day or weekday of a date."""

    function: str
    argument: Number


@dataclass(frozen=True)
class Clipped:
    """A number, moved to the nearer of two ends where it is not between them."""

    argument: Number
    lower: float
    upper: float


Number: TypeAlias = ColumnCell | Fixed | Operation | Applied | Clipped


def cell_of(schema: ColumnTable, name: str) -> ColumnCell:
    """Return column `name` as an expression reads it.

    Raises QueryError Q10 where there is no such column, Q61 for a PrivacyUnit.
    """
    column, source = column_of(schema, name), schema.source(name)
    kept = None if getattr(column, "missing", EXCLUDE) == EXCLUDE else getattr(column, "missing", None)
    match column:
        case Category():
            return ColumnCell(name, source, "category", key=keymap(schema, name))
        case Boolean():
            return ColumnCell(name, source, "boolean", missing=None if kept is None else float(bool(kept)))
        case Date():
            low, high = column.days
            return ColumnCell(
                name, source, "date", float(low), float(high), None if kept is None else float(day_number(kept))
            )
        case Real() | Integer():
            low, high = column.lower, column.upper
            bounds = (None, None) if low is None or high is None else (float(low), float(high))
            return ColumnCell(name, source, "number", *bounds, None if kept is None else float(kept))
        case _:
            raise wrong(f"column {name!r} is a {type(column).__name__}: nothing to compare.", "another column")


def day_number(value: Any) -> int:
    """Return days since 1970-01-01 of a date or of its ISO text."""
    found = value if isinstance(value, date) else date.fromisoformat(str(value))
    return found.toordinal() - date(1970, 1, 1).toordinal()


def number(value: syntax.Value, cells: Mapping[str, ColumnCell]) -> Number:
    """Type the syntax of a value as a number, or as a single date or Boolean column; QueryError Q61 for others."""
    match value:
        case syntax.Constant(constant) if not isinstance(constant, str | bool):
            return Fixed(float(constant))
        case syntax.Name(name) if cells[name].kind != "category":
            return cells[name]
        case syntax.Call(function, argument):
            return _applied(function, number(argument, cells))
        case syntax.Clip(argument, lower, upper):
            return _clipped(_plain(number(argument, cells)), lower.value, upper.value)
        case syntax.Arithmetic(op, left, right):
            a, b = number(left, cells), number(right, cells)
            # the only arithmetic of dates: a difference is a number of days, a sum has no meaning
            if op == "-" and _kind(a) == _kind(b) == "date":
                return Operation(op, a, b)
            return Operation(op, _plain(a), _plain(b))
        case _:
            raise wrong(f"{spelled(value)} is not a number.", "a column of numbers, or a number")


def _applied(function: str, argument: Number) -> Number:
    """Apply a function; QueryError Q61 for a function of dates unless its argument is a date column."""
    if function == "log1p":
        return Applied("log", Operation("+", Fixed(1.0), _plain(argument)))
    if function not in OF_DATES:
        return Applied(function, _plain(argument))
    if not isinstance(argument, ColumnCell) or argument.kind != "date":
        raise wrong(f"{function}(…) takes a Date column.", f"{function}(day), day being a Date of the schema")
    return Applied(function, argument)


def _clipped(argument: Number, lower: object, upper: object) -> Number:
    """Clip a number; QueryError Q61 unless both ends are numbers, in order."""
    plain = [x for x in (lower, upper) if isinstance(x, int | float) and not isinstance(x, bool)]
    if len(plain) < 2 or not plain[0] <= plain[1]:
        raise wrong(f"{lower!r} and {upper!r} are no two numbers to clip to, in order.", "clip(age, 0, 65)")
    return Clipped(argument, float(plain[0]), float(plain[1]))


def _plain(value: Number) -> Number:
    """Return a number as it is; QueryError Q61 for a date or Boolean column, with which there is no arithmetic."""
    if _kind(value) != "number":
        assert isinstance(value, ColumnCell)
        raise wrong(f"no arithmetic with {value.column!r}, a {value.kind}.", "columns of numbers")
    return value


def _kind(value: Number) -> Kind:
    return value.kind if isinstance(value, ColumnCell) else "number"


def wrong(message: str, hint: str) -> QueryError:
    """Return the QueryError Q61 for an expression that does not fit the columns' types."""
    return QueryError(message, code="Q61", hint=hint)

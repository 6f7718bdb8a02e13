"""Checks of the values that column types are made of.  All are public: nothing here sees a table."""

from __future__ import annotations

import math
import numbers
import operator
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from typing import Final, SupportsFloat, cast

from tacit.base.arguments import described, holds_rows, kind_of
from tacit.errors import QueryError, SchemaError

EXACT: Final = 2**53
"""Largest whole number up to which all are exact in float64, to which every engine casts a cell."""


def show(value: float) -> str:
    """Return a number as a person would type it.

    >>> show(300000.0), show(0.5)
    ('300000', '0.5')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def finite(value: object, what: str, hint: str) -> float:
    """Return `value` as a finite float (zero without a sign); SchemaError S06 otherwise."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        raise SchemaError(f"{what} {described(value)} is not a number.", code="S06", hint=hint)
    try:
        number = float(cast(SupportsFloat, value)) + 0.0
    except (OverflowError, ValueError):  # an integer beyond any float, a signalling NaN
        number = math.inf
    if not math.isfinite(number):
        try:
            text = str(value)
        except ValueError:  # Python does not print an integer of thousands of digits
            text = "of thousands of digits"
        shown = text if len(text) < 40 else f"{text[:20]}… ({len(text)} digits)"
        raise SchemaError(f"{what} {shown} is not a finite number.", code="S06", hint=hint)
    return number


def whole(value: object, what: str, hint: str, code: str = "S06") -> int:
    """Return `value` as an integer of at most 53 bits: 3, numpy's 3, 3.0; not True, 3.5, NaN or 10**30.

    Raises SchemaError with `code` for a value that is not a whole number, S08 for one beyond 2**53.
    """
    number: int | None = None
    if isinstance(value, bool):
        pass
    elif isinstance(value, float | Decimal):
        number = int(value) if Decimal(value).is_finite() and value == int(value) else None
    # NumPy integers, too; floats have no __index__
    elif hasattr(value, "__index__"):
        with suppress(TypeError):  # arrays
            number = operator.index(cast("int", value))
    if number is None:
        raise SchemaError(f"{what} {described(value)} is not a whole number.", code=code, hint=hint)
    if abs(number) > EXACT:
        shown = number if abs(number) < 10**30 else f"of more than {10**30:.0e}"
        raise SchemaError(f"{what} {shown} is beyond 2**53: no engine keeps it exact.", code="S08", hint=hint)
    return number


def day(value: object, what: str, hint: str) -> date:
    """Return a datetime.date, or ISO text, as a date; SchemaError S06 for a datetime or anything else."""
    if isinstance(value, str):
        try:
            if len(value) == 10:
                return date.fromisoformat(value)
        except ValueError:
            pass
        raise SchemaError(f"{what} {value!r} is not a date of the form 2024-12-31.", code="S06", hint=hint)
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    raise SchemaError(f"{what} {described(value)} is not a date.", code="S06", hint=hint)


def ordered(lower: float | date, upper: float | date, kind: str, text: tuple[str, str], hint: str) -> None:
    """Raise SchemaError S07 unless lower < upper; `text` is how the message shows them."""
    if lower == upper:
        same = f"both bounds of {kind} are {text[0]}: no value lies between them."
        raise SchemaError(same, code="S07", hint="the least and the largest value that there can be")
    if not lower < upper:  # pyright: ignore[reportOperatorIssue]
        raise SchemaError(f"lower bound {text[0]} of {kind} is not below upper bound {text[1]}.", code="S07", hint=hint)


def words(value: object, what: str, code: str, hint: str) -> str:
    """Return `value` if it is text that can be printed, written to TOML and read back; SchemaError `code` otherwise."""
    if not isinstance(value, str):
        raise SchemaError(f"{what} {described(value)} is not text.", code=code, hint=hint)
    if not value.strip() or not value.isprintable():
        raise SchemaError(f"{what} {value!r} is empty or has unprintable characters.", code=code, hint=hint)
    return value


def common(kind: str, units: object, column: object, computed: object = None, missing: object = None) -> str | None:
    """Check the keywords that column types share; SchemaError S15 unless each is text or None, S11 for a column.

    Returns the canonical text of `computed`; SchemaError S18 where it cannot be read, or `column` is given as well.
    """
    if holds_rows(missing):
        text = f"missing value of {kind} is {kind_of(missing)}: not one value."
        raise SchemaError(text, code="S11", hint='missing="exclude"')
    if units is not None:
        words(units, f"units of {kind}", "S15", 'units="years"')
    if column is not None:
        words(column, f"column of {kind}", "S15", 'column="latino", the name in the table')
    if computed is None:
        return None
    if column is not None:
        text = f"{kind} is read from column {column!r} and computed = {described(computed)}."
        raise SchemaError(text, code="S18", hint="one of the two")
    return _spelled(kind, computed)


def _spelled(kind: str, computed: object) -> str:
    from tacit.schema.predicates.parser import expression, parse
    from tacit.schema.predicates.syntax import spelled

    try:
        return spelled(parse(computed) if kind == "Boolean" else expression(computed))
    except QueryError:
        pass
    hint = 'computed="age >= 65"' if kind == "Boolean" else 'computed="log(income)"'
    if kind == "Category":
        hint = 'computed="cut(age, [65])", with levels=["young", "old"] in the order of the bins'
    raise SchemaError(f"computed of {kind}: {described(computed)} cannot be read.", code="S18", hint=hint)

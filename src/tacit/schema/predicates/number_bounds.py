"""Between which numbers an expression lies, from the bounds of the columns that it reads (interval arithmetic).

No data here.  An end may be further out than any value: `x - x` lies between -1 and 1 where x lies between 0 and 1.
"""

from __future__ import annotations

import math
from datetime import date, timedelta
from typing import Final, TypeAlias

from tacit.errors import QueryError
from tacit.schema.predicates.numeric_expressions import Applied, Clipped, ColumnCell, Fixed, Number, Operation

Bounds: TypeAlias = tuple[float, float]
CALENDAR: Final = {"month": (1, 12), "quarter": (1, 4), "day": (1, 31), "weekday": (0, 6)}
EPOCH: Final = date(1970, 1, 1)


def bounds(number: Number) -> Bounds:
    """Return the least and the largest value in a row where the value is not missing; QueryError Q12 without them.

    >>> bounds(Applied("sqrt", Operation("+", ColumnCell("x", "x", "number", -2.0, 3.0), Fixed(1.0))))
    (0.0, 2.0)
    """
    match number:
        case ColumnCell():
            if number.lower is None or number.upper is None:
                raise unbounded(
                    f"column {number.column!r} has no bounds.", f'"{number.column}": Real(0, 100) in the schema'
                )
            found = number.lower, number.upper
        case Fixed(constant):
            found = constant, constant
        case Operation("**", left, Fixed(power)):
            found = _power(bounds(left), int(power))
        case Operation(op, left, right):
            found = _operation(op, bounds(left), bounds(right))
        case Applied(function, argument):
            found = _applied(function, bounds(argument))
        case Clipped(argument, lower, upper):
            found = _clipped(bounds(argument), lower, upper)
    if not all(map(math.isfinite, found)):
        raise unbounded("its values have no finite bounds.", "narrower bounds of the columns")
    return found


def whole(number: Number) -> bool:
    """Return whether every value is a whole number: a part of a date, or a number of days between two."""
    match number:
        case Applied(function, argument):
            return function in (*CALENDAR, "year") or (function == "abs" and whole(argument))
        case Operation("-", ColumnCell(kind="date"), ColumnCell(kind="date")):
            return True
        case _:
            return False


def may_be_undefined(number: Number) -> bool:
    """Return whether a value may be missing where all columns have one: the root of what may be below 0.

    >>> may_be_undefined(Applied("sqrt", ColumnCell("x", "x", "number", -2.0, 3.0)))
    True
    """
    match number:
        case Applied(function, argument):
            return may_be_undefined(argument) or (function == "sqrt" and bounds(argument)[0] < 0)
        case Operation(_, left, right):
            return may_be_undefined(left) or may_be_undefined(right)
        case Clipped(argument):
            return may_be_undefined(argument)
        case _:
            return False


def unbounded(message: str, hint: str) -> QueryError:
    """Return the QueryError Q12 for an expression whose values nothing bounds."""
    return QueryError(message, code="Q12", hint=hint)


def _operation(op: str, a: Bounds, b: Bounds) -> Bounds:
    match op:
        case "+":
            return a[0] + b[0], a[1] + b[1]
        case "-":
            return a[0] - b[1], a[1] - b[0]
        case "*":
            return _ends([x * y for x in a for y in b])
        case _:
            if b[0] <= 0 <= b[1]:
                raise unbounded(
                    f"it divides by what may be 0 (from {b[0]:g} to {b[1]:g}).",
                    'a divisor whose bounds leave 0 out; or a computed column, "rate": Real(0, 5, computed="a / b")',
                )
            return _ends([x / y for x in a for y in b])


def _power(a: Bounds, power: int) -> Bounds:
    ends = _ends([_product(x, power) for x in a])
    # an even power is smallest at 0, which lies between the ends
    return (0.0, ends[1]) if power % 2 == 0 and a[0] < 0 < a[1] else ends


def _product(x: float, power: int) -> float:
    """Return x**power, infinite where a float power raises OverflowError."""
    return math.prod([x] * power)


def _clipped(a: Bounds, lower: float, upper: float) -> Bounds:
    """Return the bounds of a clipped number, both within its two ends."""
    return min(max(a[0], lower), upper), min(max(a[1], lower), upper)


def _applied(function: str, a: Bounds) -> Bounds:
    match function:
        case "log":
            if a[0] <= 0:
                raise unbounded(
                    f"it takes the logarithm of what may be 0 or less (from {a[0]:g} to {a[1]:g}).",
                    'log1p(…), a lower bound above 0, or a computed column, "log x": Real(0, 13, computed="log(x)")',
                )
            return math.log(a[0]), math.log(a[1])
        case "sqrt":
            if a[1] < 0:
                raise unbounded("it takes the root of what is always below 0.", "sqrt(abs(…))")
            # where the argument is below 0 the value is missing
            return math.sqrt(max(a[0], 0.0)), math.sqrt(a[1])
        case "abs":
            ends = _ends([abs(x) for x in a])
            return (0.0, ends[1]) if a[0] < 0 < a[1] else ends
        case _:
            return _of_dates(function, *(EPOCH + timedelta(days=int(day)) for day in a))


def _of_dates(function: str, first: date, last: date) -> Bounds:
    if function == "year":
        return float(first.year), float(last.year)
    low, high = CALENDAR[function]
    if first.year == last.year and function in ("month", "quarter"):
        months = 1 if function == "month" else 3
        low, high = (first.month - 1) // months + 1, (last.month - 1) // months + 1
    return float(low), float(high)


def _ends(values: list[float]) -> Bounds:
    # NaN, from 0 times infinity, would be lost in a minimum
    return (min(values), max(values)) if all(map(math.isfinite, values)) else (-math.inf, math.inf)

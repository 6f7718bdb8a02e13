"""Arithmetic on every row, written once for NumPy and for every engine.  No data here.

A value is a pair (x, known): x is a finite float, and 0 where the value is missing (not known).  The logarithm is
composed of + - * / and comparisons, because the built-in logarithms of engines differ in the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from tacit.schema.predicates.numeric_expressions import OF_DATES, Applied, Clipped, ColumnCell, Fixed, Number, Operation

Known: TypeAlias = tuple[Any, Any]


class Backend(Protocol):
    """The elementary operations that NumPy and every engine compute alike, on columns of rows."""

    def choose(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """Return, elementwise, `then` where the condition is true, else `otherwise`."""
        ...

    def finite(self, x: Any) -> Any:
        """Return, elementwise, whether x is neither missing nor infinite; the answer itself is never missing."""
        ...

    def real(self, x: float) -> Any:
        """Return a constant 64-bit float."""
        ...

    def truth(self, x: bool) -> Any:
        """Return a constant truth value."""
        ...

    def nothing(self) -> Any:
        """Return a missing 64-bit float."""
        ...

    def divide(self, x: Any, by: Any) -> Any:
        """Return x / by elementwise, rounded as IEEE 754 demands; `by` is never 0."""
        ...

    def floor(self, x: Any) -> Any:
        """Return, elementwise, the greatest whole number that is at most x, as a float."""
        ...

    def sqrt(self, x: Any) -> Any:
        """Return the square root of numbers from 0 on elementwise, rounded as IEEE 754 demands."""
        ...

    def keep(self, x: Any) -> Any:
        """Return the same values as a column that is computed once, however often it is used."""
        ...


def value(number: Number, read: Mapping[ColumnCell, Known], backend: Backend) -> Known:
    """Return (x, known) of a numeric expression on every row, given (x, known) of the columns it reads."""
    match number:
        case ColumnCell():
            return read[number]
        case Fixed(constant):
            return backend.real(constant), backend.truth(True)
        case Operation("**", left, right):
            assert isinstance(right, Fixed)
            x, known = value(left, read, backend)
            return _power(backend.keep(x), known, int(right.value), backend)
        case Operation(op, left, right):
            return _operation(op, value(left, read, backend), value(right, read, backend), backend)
        case Clipped(argument, lower, upper):
            x, known = value(argument, read, backend)
            x, low, high = backend.keep(x), backend.real(lower), backend.real(upper)
            # comparisons alone: the ends are met exactly, on every engine; missing stays 0
            x = backend.choose(x < low, low, backend.choose(x > high, high, x))
            return backend.choose(known, x, backend.real(0.0)), known
        case Applied(function, argument):
            x, known = value(argument, read, backend)
            x, known = backend.keep(x), backend.keep(known)
            if function in OF_DATES:
                return _of_date(function, x, backend), known
            if function == "abs":
                return backend.choose(x < backend.real(0.0), backend.real(0.0) - x, x), known
            # outside its domain the function is evaluated at 1, and the result marked as missing
            there = x > backend.real(0.0) if function == "log" else x >= backend.real(0.0)
            safe = backend.keep(backend.choose(there, x, backend.real(1.0)))
            made = log(safe, backend) if function == "log" else backend.sqrt(safe)
            known = backend.keep(known & there)
            return backend.choose(known, made, backend.real(0.0)), known


def _operation(op: str, left: Known, right: Known, backend: Backend) -> Known:
    """Return left + - * / right; missing where either is, where the divisor is 0, or where the result overflows."""
    (a, a_known), (b, b_known) = left, right
    known = a_known & b_known
    if op == "/":
        there = ~(b == backend.real(0.0))
        # 1 in place of a zero divisor: engines differ in x / 0, and the result is missing anyway
        known, b = known & there, backend.choose(there, b, backend.real(1.0))
    x = a + b if op == "+" else a - b if op == "-" else a * b if op == "*" else backend.divide(a, b)
    return _finite(x, known, backend)


def _power(x: Any, known: Any, power: int, backend: Backend) -> Known:
    """Return x**power by repeated multiplication, which rounds alike on every engine."""
    found = x
    for _ in range(power - 1):
        found = found * x
    return _finite(found, known, backend)


def _finite(x: Any, known: Any, backend: Backend) -> Known:
    """Mark values that are not finite as missing, and set missing ones to 0."""
    known = known & backend.finite(x)
    return backend.choose(known, x, backend.real(0.0)), known


# Logarithm ----------------------------------------------------------------------------------------------------------

LEAST: Final = -64
"""The argument of log is clamped to 2**LEAST from below and to 2**-LEAST from above."""
LN2_HIGH: Final = float.fromhex("0x1.62e42fee00000p-1")
LN2_LOW: Final = float.fromhex("0x1.a39ef35793c76p-33")
"""ln 2 in two parts: the product of a small whole number and the first part is exact."""
TERMS: Final = 11
"""Terms of 2 s (1 + s**2/3 + s**4/5 + ...): |s| <= 0.1716, so that the first term omitted is below 1e-18."""


def log(x: Any, backend: Backend) -> Any:
    """Return the natural logarithm of numbers above 0, with the same last digit on every engine.

    The error is at most 2e-16, relative to the logarithm, or absolute near x = 1.  With x = 2**k m, m in
    [sqrt(1/2), sqrt(2)) found by comparisons, log x = k ln 2 + 2 artanh((m - 1) / (m + 1)).
    """
    real, choose, keep = backend.real, backend.choose, backend.keep
    low, high = real(2.0**LEAST), real(2.0**-LEAST)
    x = keep(choose(x >= high, high, choose(x <= low, low, x)))
    k, m = real(float(LEAST)), keep(x * real(2.0**-LEAST))  # from 1 to 2**(-2 LEAST)
    # invariant: x = 2**k m; the steps add up to 127, so m ends in [1, 2], and at 2 only for the largest x
    for step in (64, 32, 16, 8, 4, 2, 1):
        there = m >= real(2.0**step)
        k = k + choose(there, real(float(step)), real(0.0))
        m = keep(choose(there, m * real(2.0**-step), m))
    k = keep(k)
    # m around 1 on both sides halves the largest |s|, and log 1 is exactly 0
    upper = m >= real(math.sqrt(2.0))
    k, m = keep(choose(upper, k + real(1.0), k)), keep(choose(upper, m * real(0.5), m))
    s = keep(backend.divide(m - real(1.0), m + real(1.0)))
    t = keep(s * s)
    # Horner's rule from the last term: a fixed order of operations rounds alike everywhere
    series = real(1.0 / (2 * TERMS + 1))
    for i in reversed(range(TERMS)):
        series = series * t + real(1.0 / (2 * i + 1))
    # small terms first; k LN2_HIGH is exact, as LN2_HIGH ends in 21 zero bits
    return k * real(LN2_HIGH) + (k * real(LN2_LOW) + real(2.0) * s * series)


# Calendar -----------------------------------------------------------------------------------------------------------


def _of_date(function: str, days: Any, backend: Backend) -> Any:
    """Return the year, quarter, month, day or weekday (Monday is 0) of days since 1970-01-01.

    All numbers are whole and below 2**52, so that floor(a / b) is exact.  Source: Hinnant's civil_from_days.
    """
    real, choose = backend.real, backend.choose

    def part(a: Any, b: int) -> Any:
        return backend.keep(backend.floor(backend.divide(a, real(float(b)))))

    if function == "weekday":
        # 1970-01-01 was a Thursday
        since = backend.keep(days + real(3.0))
        return since - part(since, 7) * real(7.0)
    # days since 0000-03-01: years that begin in March have the leap day last; 400 of them have 146097 days
    z = backend.keep(days + real(719468.0))
    era = part(z, 146097)
    of_era = backend.keep(z - era * real(146097.0))
    # leap days so far: day 1460 is the first, a century of 36524 days lacks one, day 146096 ends the era with one
    leap = part(of_era, 1460), part(of_era, 36524), part(of_era, 146096)
    year = part(of_era - leap[0] + leap[1] - leap[2], 365)
    of_year = backend.keep(of_era - (real(365.0) * year + part(year, 4) - part(year, 100)))
    # months from March on: 153 days in each five, 31 30 31 30 31
    march = part(real(5.0) * of_year + real(2.0), 153)
    month = backend.keep(choose(march < real(10.0), march + real(3.0), march - real(9.0)))
    match function:
        case "day":
            return of_year - part(real(153.0) * march + real(2.0), 5) + real(1.0)
        case "month":
            return month
        case "quarter":
            return part(month + real(2.0), 3)
        case _:
            # January and February belong to the next calendar year
            return year + era * real(400.0) + choose(month <= real(2.0), real(1.0), real(0.0))


def days_of(year: Any, month: Any, day: Any, backend: Backend) -> Known:
    """Return days since 1970-01-01 of a calendar date, missing where there is no such date.

    year, month, day: whole numbers.  Source: Hinnant's days_from_civil.
    """
    real, keep = backend.real, backend.keep

    def part(a: Any, b: int) -> Any:
        return keep(backend.floor(backend.divide(a, real(float(b)))))

    early = month <= real(2.0)
    y = keep(backend.choose(early, year - real(1.0), year))
    march = keep(backend.choose(early, month + real(9.0), month - real(3.0)))
    era = part(y, 400)
    of_era = keep(y - era * real(400.0))
    of_year = part(real(153.0) * march + real(2.0), 5) + day - real(1.0)
    days = of_era * real(365.0) + part(of_era, 4) - part(of_era, 100) + of_year
    days = keep(era * real(146097.0) + days - real(719468.0))
    # a date that does not exist, such as 31 February, comes back from the day number as another date
    same = (_of_date("month", days, backend) == month) & (_of_date("day", days, backend) == day)
    return days, keep(same & (_of_date("year", days, backend) == year))


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

    def nothing(self) -> Any:
        """See `Backend.nothing`."""
        return np.float64(np.nan)

    def divide(self, x: Any, by: Any) -> Any:
        """See `Backend.divide`."""
        return x / by

    def floor(self, x: Any) -> Any:
        """See `Backend.floor`."""
        return np.floor(x)

    def sqrt(self, x: Any) -> Any:
        """See `Backend.sqrt`."""
        return np.sqrt(x)

    def keep(self, x: Any) -> Any:
        """See `Backend.keep`."""
        return x

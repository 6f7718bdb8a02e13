"""Python's numbers of a plain list as Arrow columns; what a cell is depends on that cell alone.  INSIDE the wall.

A list may hold numbers of several types (a fraction among whole numbers, NaN where one is missing).  Were the column's
type found from its cells, one row could change all others: as floats, persons beyond 2**53 are merged.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, Final

import numpy as np

from tacit.base.lazy_imports import arrow

NUMBERS: Final[Any] = (int, float, Decimal, np.integer, np.floating, np.bool_)
"""Types of cells that are numbers, and those derived from them."""
WIDE: Final = 10**400
"""Whole numbers below this, of every type, are the same person where they are equal."""


_FRACTIONS: Final[Any] = (float, np.floating)
_WHOLE: Final[Any] = (int, np.integer)


def are_numbers(kinds: Iterable[type]) -> bool:
    """Whether all types of cells are numbers."""
    return all(issubclass(kind, NUMBERS) for kind in kinds)


def whole_numbers(values: Sequence[Any]) -> Any:
    """Return a list of integers and None as 64-bit integers, or as floats where some are wider.

    Both are the same number for arithmetic, which rounds 64-bit integers to floats as Python does.
    """
    return _integers(values, floats)


def whole_persons(values: Sequence[Any]) -> Any:
    """Return a list of integers and None as 64-bit integers, or as `persons` where some are wider."""
    return _integers(values, persons)


def _integers(values: Sequence[Any], wider: Callable[[Sequence[Any]], Any]) -> Any:
    """Return a list of integers and None as 64-bit integers, or by `wider` where some are no such ones."""
    pa = arrow()
    with suppress(pa.ArrowException, OverflowError, ValueError):
        return pa.array(values, type=pa.int64())
    return wider(values)


def floats(values: Sequence[Any]) -> Any:
    """Return numbers as floats, missing where they are no number."""
    return arrow().array(np.asarray([_float(x) for x in values], dtype=np.float64), from_pandas=True)


def persons(values: Sequence[Any]) -> Any:
    """Return numbers as texts: equal ones have the same text and different ones different texts, however large."""
    pa = arrow()
    return pa.array([_identifier(x) for x in values], type=pa.string())


def _float(x: Any) -> float:
    """Return a number as a float: beyond all floats the largest, which is beyond every bound; NaN where it is none."""
    if not isinstance(x, NUMBERS):
        return math.nan
    if isinstance(x, Decimal) and x.is_nan():
        return math.nan
    try:
        found = float(x)
    except OverflowError:
        found = math.inf if x > 0 else -math.inf
    if math.isinf(found) and _finite(x):
        return math.copysign(sys.float_info.max, found)
    return found


def _finite(x: Any) -> bool:
    return x.is_finite() if isinstance(x, Decimal) else isinstance(x, _WHOLE)


def _identifier(x: Any) -> str | None:
    """Return the text of a number that identifies a person; None for what is no number, or not finite."""
    if not isinstance(x, NUMBERS):
        return None
    if isinstance(x, Decimal):
        return _decimal(x)
    if isinstance(x, _FRACTIONS):
        number = float(x)
        if not math.isfinite(number):
            return None
        return hex(int(number)) if number.is_integer() else number.hex()
    # not as decimals, of which Python refuses the longest
    return hex(int(x))


def _decimal(x: Decimal) -> str | None:
    if not x.is_finite():
        return None
    if abs(x) < WIDE and x == x.to_integral_value():
        return hex(int(x))
    number = float(x)
    if math.isfinite(number) and Decimal(number) == x:
        return number.hex()
    sign, digits, exponent = x.as_tuple()
    assert isinstance(exponent, int)
    written = "".join(map(str, digits))
    kept = written.rstrip("0")
    return f"{'-' * sign}{kept.lstrip('0')}e{exponent + len(written) - len(kept)}"

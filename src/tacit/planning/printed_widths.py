"""How plans print widths: two digits at least, and ranges rounded outwards, so that they hold what they are of.

A width printed beside its range lies in it: the lower end is rounded down, the upper one up, and the width itself to as
many decimals as its own size needs, never fewer.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Final

from tacit.base.table import format_number

DIGITS: Final = 2
"""Significant digits of a width, at least."""
MOST: Final = 8
"""Most decimals."""
SMALL: Final = 5
"""Decimals of the first two digits from which on a number is printed with a power of ten."""
LARGE: Final = 1e15
"""Numbers from which on it is the same: beyond, floats have no units."""
NONE: Final = "too noisy"


def printed(x: float, decimals: int = 0, *, none: str = NONE, up: bool = False) -> str:
    """Return a width in words: to so many decimals, and to two significant digits of its own at least.

    up: rounded up, beside a smaller one to the same decimals.

    >>> printed(1234.5), printed(0.03456), printed(0.03456, 4), printed(3.2e-11), printed(math.inf), printed(0.0, 2)
    ('1,234', '0.035', '0.0346', '3.2e-11', 'too noisy', '0.00')
    """
    return _text(x, max(decimals, _own(x)), ROUND_CEILING if up else ROUND_HALF_EVEN, none)


def printed_range(least: float, largest: float, *, none: str = NONE) -> tuple[str, str]:
    """Return both ends of a range in words, to two significant digits each, rounded outwards.

    >>> printed_range(0.1049, 12.31), printed_range(1041.0, 1049.0), printed_range(0.5, math.inf)
    (('0.10', '13'), ('1,041', '1,049'), ('0.50', 'too noisy'))
    """
    return (
        _text(least, _own(least), ROUND_FLOOR, none),
        _text(largest, _own(largest), ROUND_CEILING, none),
    )


def percent_of(share: float) -> str:
    """Return a share in percent; what is not nothing, and not all, is not printed as if it were.

    >>> percent_of(0.0), percent_of(0.002), percent_of(0.347), percent_of(0.9991), percent_of(1.0)
    ('0 %', '< 1 %', '35 %', '> 99 %', '100 %')
    """
    if 0 < share < 0.005:
        return "< 1 %"
    return "> 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def to_three(x: float, *, up: bool = False) -> str:
    """Return a number to three significant digits, thousands separated.

    >>> to_three(1234.5), to_three(0.12341), to_three(0.12341, up=True), to_three(0.0)
    ('1,234', '0.123', '0.124', '0')
    """
    return printed(x, decimals_of(x, 3), up=up)


def decimals_of(x: float, digits: int) -> int:
    """Return how many decimals so many significant digits of a number take; 0 of large ones, and of 0.

    >>> decimals_of(0.0345, 2), decimals_of(34.5, 2), decimals_of(34.5, 3)
    (3, 0, 1)
    """
    return max(0, digits - 1 - math.floor(math.log10(x))) if 0 < x < math.inf else 0


def _own(x: float) -> int:
    return decimals_of(x, DIGITS)


def _text(x: float, decimals: int, rounding: str, none: str) -> str:
    if not math.isfinite(x):
        return none
    # of the shortest decimal of a float: 0.1 is a tenth, and not a little more, which would be rounded up to 0.11
    value = Decimal(repr(float(x)))
    if x and (_own(x) > SMALL or abs(x) >= LARGE):
        return f"{Context(prec=DIGITS, rounding=rounding).create_decimal(value):.{DIGITS - 1}e}"
    shown = min(decimals, MOST)
    return format_number(float(value.quantize(Decimal(1).scaleb(-shown), rounding=rounding)), decimals=shown)

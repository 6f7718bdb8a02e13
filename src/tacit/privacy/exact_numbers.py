"""Exact numbers: parse what a person types into a rational, and print rationals.  No data here.

Prices and budgets are `Fraction`s throughout, so that ten times 0.1 is 1 and no float enters a privacy argument.  A
float is taken for the decimal that it prints as.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import gcd
from typing import Any, Final, TypeAlias, cast

import numpy as np

from tacit.base.arguments import described
from tacit.errors import BudgetError

Number: TypeAlias = int | float | str | Decimal | Fraction
"""The types in which a price may be given; NumPy scalars are accepted as well."""

MOST_BITS: Final = 1660
"""Largest number of bits of a numerator or denominator: arithmetic on longer ones would stall a ledger.  So many bits
have at most 500 digits: whatever `rational` accepts it accepts as text too, and what is recorded can be read."""
LONGEST: Final = 1024
"""Most characters of a number."""
FAR: Final = 512
"""Most digits of a decimal before its point, or zeros after it."""
LONGEST_SUM: Final = 4096
"""Most characters of a sum of costs: below what Python's integers are read from."""
SHORT: Final = 10**345
"""Numbers of 40 digits are multiples of 1 / SHORT, down to the least price (`cost.LEAST`)."""
SMALL: Final = 1_000
WRITTEN: Final = re.compile("[0-9]+(/[0-9]*[1-9][0-9]*)?")
"""A fraction as it is recorded."""


def rational(value: object, name: str) -> Fraction:
    """Return the exact rational that `value` stands for; BudgetError B01, naming `name`, unless it is a finite number.

    >>> rational(0.1, "epsilon"), rational("1/3", "rho"), rational("1e-6", "delta")
    (Fraction(1, 10), Fraction(1, 3), Fraction(1, 1000000))
    """
    exact = _parse(value)
    if exact is None:
        raise BudgetError(f"{name} is {described(value)}: not a finite number.", code="B01", hint=f"{name}=0.1")
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > MOST_BITS:
        raise BudgetError(f"{name} has more digits than any price needs.", code="B01", hint=f"{name}=0.1")
    return exact


def exact_sum(value: object, name: str) -> Fraction:
    """Return a recorded sum of costs, which may be longer than a price; BudgetError B01 as `rational`.

    >>> exact_sum("37/100", "rho")
    Fraction(37, 100)
    """
    if isinstance(value, str) and len(value) <= LONGEST_SUM and WRITTEN.fullmatch(value):
        above, _, below = value.partition("/")
        return Fraction(int(above), int(below or 1))
    return rational(value, name)


def _parse(value: object) -> Fraction | None:
    # a bool is an integer in Python, but as a price a mistake
    if isinstance(value, bool | np.bool_):
        return None
    # int(): numerators of NumPy integers would overflow in later arithmetic
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, float):  # np.float64 is a float whose own repr is longer
        return _of_text(float.__repr__(value))
    if isinstance(value, np.floating):
        return _of_text(str(cast(object, value)))
    if isinstance(value, Decimal):
        return _of_decimal(value)
    return _of_text(value) if isinstance(value, str) else None


def _of_text(text: str) -> Fraction | None:
    # before it becomes an integer, which takes quadratic time on long text
    if len(text) > LONGEST:
        return None
    above, slash, below = text.partition("/")
    try:
        numerator = _of_decimal(Decimal(above))
        denominator = _of_decimal(Decimal(below)) if slash else Fraction(1)
    except InvalidOperation:
        return None
    return numerator / denominator if numerator is not None and denominator else None


def _of_decimal(value: Decimal) -> Fraction | None:
    if not value.is_finite() or (value and abs(value.adjusted()) > FAR):
        return None  # 1e999999999 must not become an integer of a billion digits
    return Fraction(value)


def plain(x: Fraction, digits: int = 4, *, up: bool = True) -> str:
    """Format a number for display: exact where `digits` + 2 significant digits suffice, else rounded to `digits`.

    The rounding is upward, or downward where `up` is False.

    >>> plain(Fraction(1, 100)), plain(Fraction(1, 3)), plain(Fraction(1, 10**6)), plain(Fraction(20))
    ('0.01', '0.3334', '1e-06', '20')
    """
    if x == 0:
        return "0"
    # a number that has few digits is shown as it is, whichever way others are rounded
    short = significant(x, digits + 2, up=True)
    return _text(short if short == x else significant(x, digits, up=up))


def call(name: str, made: object, defaults: Mapping[str, object]) -> str:
    """Return the call that makes a frozen dataclass of exact numbers and words, without None and without defaults.

    >>> from tacit.privacy import Budget
    >>> call("Budget", Budget(epsilon="1/3", delta="1e-6"), {"neighbors": "replace-one"})
    'Budget(epsilon="1/3", delta=1e-06)'
    """
    given = [(one.name, getattr(made, one.name)) for one in fields(cast(Any, made)) if one.repr]
    words: list[str] = []
    for key, value in given:
        if value is not None and defaults.get(key) != value:
            exact = isinstance(value, Fraction) and Fraction(plain(value)) == value
            words.append(f"{key}={plain(value)}" if exact else f'{key}="{value}"')
    return f"{name}({', '.join(words)})"


def significant(x: Fraction, digits: int, *, up: bool) -> Fraction:
    """Round `x` >= 0 to `digits` significant decimal digits, upward or downward, in exact arithmetic.

    >>> significant(Fraction(2, 3), 3, up=False), significant(Fraction(2, 3), 3, up=True)
    (Fraction(333, 500), Fraction(667, 1000))
    """
    if x == 0:
        return Fraction(0)
    return decimals(x, digits - 1 - magnitude(x), up=up)


def chargeable(x: Fraction, own: int = 1) -> Fraction:
    """Return `x`, or where its denominator is long the next number above it of 40 significant digits.

    A denominator may divide 10**345 times `own` times any number up to 1,000: of whatever such numbers, a sum has a
    denominator that divides 10**345 times `own` times the least common multiple of 1 to 1,000, of 1,440 bits.

    >>> chargeable(Fraction(37, 300)), chargeable(Fraction(1, 3001)) - Fraction(1, 3001) < Fraction(1, 10**43)
    (Fraction(37, 300), True)
    """
    shared = gcd(x.denominator, SHORT * own)
    return x if x.denominator <= SMALL * shared else significant(x, 40, up=True)


def magnitude(x: Fraction) -> int:
    """Return the integer k with 10**k <= x < 10**(k+1), for x > 0."""
    k = int((x.numerator.bit_length() - x.denominator.bit_length()) * 0.30103)  # a first guess; exact from here on
    while x < Fraction(10) ** k:
        k -= 1
    while x >= Fraction(10) ** (k + 1):
        k += 1
    return k


def decimals(x: Fraction, places: int, *, up: bool) -> Fraction:
    """Round `x` to a multiple of 10**-places, upward or downward."""
    # places may be negative: then the unit is a power of ten above 1
    unit = Fraction(10) ** -places
    ratio = x / unit
    return (-(-ratio.numerator // ratio.denominator) if up else ratio.numerator // ratio.denominator) * unit


def places_needed(x: Fraction, most: int) -> int:
    """Return how many decimal places print `x` exactly, or `most` where more would be needed."""
    return next((k for k in range(most) if (x * 10**k).denominator == 1), most)


def fixed(x: Fraction, places: int) -> str:
    """Format a multiple of 10**-places with all its decimal places: 0.50."""
    digits = f"{int(x * 10**places):0{places + 1}d}"
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits


def aligned(values: list[Fraction], places: int = 2) -> list[str]:
    """Format numbers >= 0 with a common number of decimal places, enough to show the smallest; rounded down.

    >>> aligned([Fraction(49, 100), Fraction(1, 2)]), aligned([Fraction(1, 3000), Fraction(1)])
    (['0.49', '0.50'], ['0.000333', '1.000000'])
    """
    enough = [places_needed(x, max(4, 2 - magnitude(x))) for x in values if x > 0]
    places = max([places, *enough])
    return [fixed(decimals(x, places, up=False), places) for x in values]


def _text(x: Fraction) -> str:
    """Format a number of at most 12 significant digits the way Python prints floats."""
    return f"{float(x):.12g}"

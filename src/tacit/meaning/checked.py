"""Arguments of an explanation, checked: probabilities and whole numbers within limits."""

from __future__ import annotations

import math
from fractions import Fraction

from tacit.base.arguments import described, plain
from tacit.errors import BudgetError


def probability(value: object, name: str, *, ends: bool = True) -> float:
    """Return a probability, from 0 to 1, the ends included if `ends`; BudgetError B20."""
    found = plain(value)
    # Fractions are numbers as well; True is a bool before it is an int
    number = float(found) if isinstance(found, int | float | Fraction) and found is not True else math.nan
    if not (0 <= number <= 1) or (not ends and number in (0.0, 1.0)):
        between = "from 0 to 1" if ends else "above 0 and below 1"
        raise BudgetError(f"{name} is {described(value)}: not a number {between}.", code="B20", hint=f"{name}=0.5")
    return number


def whole(value: object, name: str, least: int, most: int, example: int) -> int:
    """Return a whole number from `least` to `most`; BudgetError B20."""
    found = plain(value)
    if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= most:
        text = f"{name} is {described(value)}: not a whole number from {least:,} to {most:,}."
        raise BudgetError(text, code="B20", hint=f"{name}={example}")
    return found


def percent(share: float, *, up: bool = True) -> str:
    """Return a share as a percentage, rounded up (or down), with as many digits as its distance from 0 or 1 asks for.

    >>> percent(0.7310586), percent(0.0266, up=False), percent(0.00012), percent(0.999997)
    ('73.2 %', '2.6 %', '0.012 %', '99.99970 %')
    """
    near = min(share, 1 - share) * 100
    decimals = 1 if near >= 1 else min(8, 1 - math.floor(math.log10(near))) if near > 0 else 0
    unit = 10.0**decimals
    # a float's own error moves no digit: 26.9000000001 is 26.9
    moved = share * 100 * unit
    rounded = (math.ceil(moved - 1e-9 * max(1.0, moved)) if up else math.floor(moved + 1e-9 * max(1.0, moved))) / unit
    return f"{rounded:.{decimals}f} %"

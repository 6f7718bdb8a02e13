"""The privacy guarantee of a price in one sentence, which names the unit of privacy."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Final

from tacit.privacy import Cost, zcdp_to_epsilon

DELTA: Final = "1e-6"
"""The δ at which a guarantee in ρ is said."""


def guarantee(cost: Cost, *, public: bool, persons: bool, most: int) -> str:
    """Return the guarantee; public: whether the number of rows (persons) is, most: rows of a person that count."""
    if public:
        values = "rows of any one person" if persons else "values in any one row"
        change = f"Whatever the {values} are, the probability of any outcome changes"
    else:
        one = f"person with all rows, of which at most {most:,} count," if persons else "row"
        change = f"Whether any one {one} is in the table changes the probability of any outcome"
    if cost.kind == "pure":
        return f"{change} by at most a factor {factor(cost.epsilon)}."
    if cost.kind == "approximate":
        part = f", up to a probability of {float(cost.delta or 0):.0e}"
        return f"{change} by at most a factor {factor(cost.epsilon)}{part}."
    # ρ has no single ε: the sentence fixes δ and states what follows
    exact = zcdp_to_epsilon(cost.zcdp, DELTA)
    implied = f"zero-concentrated privacy with {cost} implies ε = {float(exact):.3g} at that δ"
    return f"{change} by at most a factor {factor(exact)}, up to a probability of {DELTA} ({implied})."


def factor(epsilon: Fraction | None) -> str:
    """Return e**epsilon in three digits, rounded up, so that the printed guarantee is never too strong.

    >>> factor(Fraction(1)), factor(Fraction(1, 5)), factor(Fraction(800))
    ('2.72', '1.23', '2.73e+347')
    """
    exact = Fraction(0) if epsilon is None else epsilon
    context = Context(prec=30, rounding=ROUND_CEILING)
    # Context.exp rounds to the nearest whatever its rounding: the next number up is an upper bound
    value = context.exp(context.divide(Decimal(exact.numerator), Decimal(exact.denominator))).next_plus()
    short = Context(prec=3, rounding=ROUND_CEILING).plus(value)
    return f"{short:f}" if short.adjusted() < 3 else f"{short:e}"

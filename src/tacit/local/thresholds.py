"""Probabilities of a randomised answer as whole numbers of 2^-48, rounded in favour of privacy.  Public arithmetic.

A likelihood ratio of two such probabilities is a rational number, so that a design is audited exactly: no ratio exceeds
e^ε.  48 bits are six bytes, which a browser's doubles hold exactly, too.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from tacit.privacy.gaussian_bounds import precision, to_decimal, widened

GRID: Final = 1 << 48
"""Probabilities are whole numbers of 1 / GRID."""
DIGITS: Final = 60


def growth(epsilon: Fraction) -> Fraction:
    """Return a lower bound on e^ε, below it by less than a relative 10^-50.

    >>> float(growth(Fraction(1)))
    2.718281828459045
    """
    with precision(DIGITS):
        # the quotient and the exponential are rounded to nearest: each loses less than a unit of the last digit
        return Fraction(widened(to_decimal(epsilon).exp(), DIGITS - 10)[0])


def most_of(weight: Fraction, others: Fraction) -> int:
    """Return the largest t, t / GRID at most weight / (weight + others): a probability rounded down.

    >>> most_of(Fraction(3), Fraction(1)) == 3 * GRID // 4
    True
    """
    share = GRID * weight / (weight + others)
    return share.numerator // share.denominator


def least_of(weight: Fraction, others: Fraction) -> int:
    """Return the smallest t, t / GRID at least weight / (weight + others): a probability rounded up."""
    return GRID - most_of(others, weight)

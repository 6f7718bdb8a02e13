"""Laws of selections of one quantile each that err as those by halving ranges do.  Public arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

from tacit.method.quantiles.many_steps import rank_errors
from tacit.noise.permute_and_flip import PermuteAndFlip


def equal_laws(probs: tuple[Fraction, ...], rate: Fraction, *, replaces: bool) -> list[PermuteAndFlip]:
    """Return the laws of selections of one quantile each whose errors in ranks have the same variances.

    >>> halves = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
    >>> [round(float(law.scale), 2) for law in equal_laws(halves, Fraction(1, 2), replaces=True)]
    [8.94, 4.0, 8.94]
    """
    # a Laplace error has variance 2 scale**2, and a rank is `denominator` units of utility
    errors = rank_errors(probs, rate, replaces=replaces)
    return [
        PermuteAndFlip(Fraction(sqrt(2) / (float(error) * p.denominator)))
        for p, error in zip(probs, errors, strict=True)
    ]

"""The threshold of levels that nobody listed, from an exact bound on how probably one unit makes a level appear.

Public arithmetic in enclosures of rationals: no float decides.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final

from tacit.noise.laws import RoundedNormal
from tacit.noise.tail_bounds import normal_tail

EXTRA: Final = 64
"""Bits of a bound beyond those of delta."""


def appearing(law: RoundedNormal, threshold: int, parts: int, bits: int = 256) -> Fraction:
    """Return an upper bound on D = max(g(A), A g(1)), g(k) = P(Z >= T - k); threshold: T, above A = parts.

    Proof that it bounds what one unit makes appear: `unlisted_levels.mechanism`, Sensitivity (3).

    >>> from fractions import Fraction
    >>> float(appearing(RoundedNormal(Fraction(6)), 32, 1)).__round__(10)
    1.854e-07
    """
    if threshold <= parts:
        raise ArithmeticError(f"a threshold of {threshold} is not above the weight of one unit, {parts}")
    return max(_tail_up(law, threshold - parts, bits), parts * _tail_up(law, threshold - 1, bits))


@lru_cache(maxsize=256)
def least_threshold(law: RoundedNormal, delta: Fraction, parts: int) -> int:
    """Return the least T for which `appearing` is certainly at most delta.

    >>> from fractions import Fraction
    >>> least_threshold(RoundedNormal(Fraction(6)), Fraction(1, 10**7), 1)
    33
    """
    bits = EXTRA + delta.denominator.bit_length() - delta.numerator.bit_length() + parts.bit_length()
    low, high = parts, parts + 1
    # invariant: too many levels appear at `low` (or it is no threshold), few enough at `high`
    while appearing(law, high, parts, bits) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if appearing(law, middle, parts, bits) > delta else (low, middle)
    return high


def _tail_up(law: RoundedNormal, k: int, bits: int) -> Fraction:
    """Return an upper bound on P(Z >= k), k >= 1: half the two-sided tail of a standard normal beyond (k - 1/2) / σ."""
    return Fraction(normal_tail((k - Fraction(1, 2)) / law.scale, bits)[1], 1 << (bits + 1))

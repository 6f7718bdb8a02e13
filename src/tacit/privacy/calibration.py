"""Calibration: the scale of the noise that a price buys, rounded up.  No data here.

Sensitivities are integers (design, law 2); scales are rationals, so that a law is stated, stored and drawn exactly.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Final

from tacit.errors import BudgetError
from tacit.privacy.cost import Cost

if TYPE_CHECKING:
    from tacit.noise.laws import Law

FINENESS: Final = 61
"""A scale that must be rounded exceeds its real value by at most a factor 1 + 2**-60."""


def laplace_scale(l1: int, cost: Cost) -> Fraction:
    """Scale b = l1 / ε, exact: discrete Laplace of scale b on every coordinate is ε-DP where the ℓ1 norm moves by l1.

    [log-ratio of the pmf exp(-|k|/b): at most ∑|Δ|/b <= l1/b; theory §1.1]  Raises BudgetError B08 for a price that is
    not pure.

    >>> laplace_scale(3, Cost.of(epsilon=0.1))
    Fraction(30, 1)
    """
    _at_least_0(l1)
    if cost.epsilon is None or cost.kind != "pure":
        raise BudgetError(f"the price {cost} buys no Laplace noise.", code="B08", hint="epsilon=1, without delta")
    return l1 / cost.epsilon


def gaussian_scale(l2_squared: int, cost: Cost) -> Fraction:
    """σ >= √(l2² / (2ρ)), above it by at most a factor 1 + 2**-60: the simplest such rational, exact where one is.

    A normal with this sd on every coordinate is ρ-zCDP where the squared ℓ2 norm moves by at most l2².  [Bun & Steinke
    2016, Proposition 1.6]  For an (ε, δ) price ρ = `cost.zcdp`, from the analytic Gaussian rounded down: (ε, δ)-DP too.
    Rounding the draw to integers changes neither.  Raises BudgetError B08 for a pure price.

    >>> gaussian_scale(4, Cost.of(rho=0.5))
    Fraction(2, 1)
    """
    _at_least_0(l2_squared)
    if cost.noise != "gaussian":
        raise BudgetError(f"the price {cost} buys no Gaussian noise.", code="B08", hint="rho=0.1")
    return root_up(l2_squared / (2 * cost.zcdp))


def noise_for(l1: int, l2_squared: int, cost: Cost) -> Law:
    """The law of the noise to add to every coordinate, from both sensitivities (ℓ1, squared ℓ2) and the price.

    Raises BudgetError B08 where nothing is to be protected (a sensitivity of 0): then no noise is asked for.
    """
    from tacit.noise.laws import DiscreteLaplace, RoundedNormal

    if l1 <= 0 or l2_squared <= 0:
        raise BudgetError("nothing to protect: the answer is public.", code="B08", hint="release it without a price")
    if cost.noise == "laplace":
        return DiscreteLaplace(laplace_scale(l1, cost))
    return RoundedNormal(gaussian_scale(l2_squared, cost))


def root_up(square: Fraction) -> Fraction:
    """The simplest rational in [√square, √square (1 + 2**-60)]; √square itself where that is rational."""
    if square == 0:
        return Fraction(0)
    top, bottom = isqrt(square.numerator), isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    # k places make square * 4**k an integer of more than 150 bits: its root, rounded up, is within 2**-74
    k = max(0, 76 + (square.denominator.bit_length() - square.numerator.bit_length()) // 2)
    whole = -(-(square.numerator << 2 * k) // square.denominator)
    root = Fraction(isqrt(whole - 1) + 1, 1 << k)
    return simplest(root, root * (1 + Fraction(1, 1 << FINENESS)))


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The rational in [low, high], 0 < low <= high, with the smallest denominator, by continued fractions.

    >>> simplest(Fraction(314, 100), Fraction(315, 100))
    Fraction(22, 7)
    """
    whole = -(-low.numerator // low.denominator)
    if whole <= high:
        return Fraction(whole)
    below = whole - 1
    return below + 1 / simplest(1 / (high - below), 1 / (low - below))


def _at_least_0(sensitivity: int) -> None:
    if sensitivity < 0:
        raise BudgetError(f"a sensitivity is {sensitivity}: below 0.", code="B08", hint="norms are not negative")

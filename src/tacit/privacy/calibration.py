"""Calibration: from sensitivity and price to the scale of the noise, rounded up.  No data here.

Sensitivities are integers (design, law 2) and scales are rationals, so that the law of the noise is stated, stored and
sampled exactly.
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
"""Irrational scales are rounded up by at most a factor 1 + 2**-60."""


def laplace_scale(l1: int, cost: Cost) -> Fraction:
    """Return the scale b = l1 / ε, exactly, where `l1` is the ℓ1 sensitivity.

    Discrete Laplace noise of scale b on every coordinate is ε-DP: the log-ratio of the probabilities exp(-|k|/b) is at
    most Σ|Δ|/b <= l1/b [theory §1.1].  Raises BudgetError B08 for a price that is not pure.

    >>> laplace_scale(3, Cost.of(epsilon=0.1))
    Fraction(30, 1)
    """
    _at_least_0(l1)
    if cost.epsilon is None or cost.kind != "pure":
        raise BudgetError(f"the price {cost} buys no Laplace noise.", code="B08", hint="epsilon=1, without delta")
    return l1 / cost.epsilon


def gaussian_scale(l2_squared: int, cost: Cost) -> Fraction:
    """Return a rational σ from √(l2² / (2ρ)) to (1 + 2**-60) times that, where l2² is the squared ℓ2 sensitivity.

    Normal noise of sd σ on every coordinate is ρ-zCDP [Bun & Steinke 2016, Proposition 1.6].  For an (ε, δ) price,
    ρ = `cost.zcdp` comes from the analytic Gaussian mechanism, rounded down, so the noise is (ε, δ)-DP as well.
    Rounding the draw to integers is post-processing.  Of all such σ it is the one with the smallest denominator, and
    exact where the root is rational.  Raises BudgetError B08 for a pure price.

    >>> gaussian_scale(4, Cost.of(rho=0.5))
    Fraction(2, 1)
    """
    _at_least_0(l2_squared)
    # `noise`, not `kind`: pairs, ρ and shares of a pair all buy Gaussian noise
    if cost.noise != "gaussian":
        raise BudgetError(f"the price {cost} buys no Gaussian noise.", code="B08", hint="rho=0.1")
    return root_up(l2_squared / (2 * cost.zcdp))


def spherical_scale(l2_squared: int, cost: Cost) -> Fraction:
    """Return a rational s from l2 / ε to (1 + 2**-60) times that, where l2² is the squared ℓ2 sensitivity.

    Noise of density proportional to exp(-|x|₂ / s) on the whole vector is ε-DP: the log-ratio of the densities is at
    most |Δ|₂ / s <= ε [Hardt & Talwar 2010, Theorem 4.1].  Rounding to integers is post-processing.  Raises BudgetError
    B08 for a price that is not pure.
    """
    _at_least_0(l2_squared)
    if cost.epsilon is None or cost.kind != "pure":
        raise BudgetError(f"the price {cost} buys no spherical Laplace noise.", code="B08", hint="epsilon=1")
    return root_up(l2_squared / cost.epsilon**2)


def noise_for(l1: int, l2_squared: int, cost: Cost, *, dimension: int | None = None) -> Law:
    """Return the law of the noise for every coordinate, from the ℓ1 and the squared ℓ2 sensitivity and the price.

    dimension: number of integers, where they are protected as one vector: at a pure price they then have spherical
    Laplace noise if its variance, (dimension + 1) l2² / ε², is below that of independent noises, 2 l1² / ε².  Raises
    BudgetError B08 for a sensitivity of 0: such an answer depends on no row and is public.
    """
    from tacit.noise.laws import DiscreteLaplace, RoundedNormal
    from tacit.noise.spherical import MOST_DIMENSIONS, SphericalLaplace

    if l1 <= 0 or l2_squared <= 0:
        raise BudgetError("nothing to protect: the answer is public.", code="B08", hint="release it without a price")
    if cost.noise == "laplace":
        if dimension is not None and dimension <= MOST_DIMENSIONS and (dimension + 1) * l2_squared < 2 * l1**2:
            return SphericalLaplace(spherical_scale(l2_squared, cost), dimension)
        return DiscreteLaplace(laplace_scale(l1, cost))
    return RoundedNormal(gaussian_scale(l2_squared, cost))


def root_up(square: Fraction) -> Fraction:
    """Return √square where it is rational, else the simplest rational in [√square, √square (1 + 2**-60)]."""
    if square == 0:
        return Fraction(0)
    # a reduced fraction has a rational root exactly if numerator and denominator are squares
    top, bottom = isqrt(square.numerator), isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    # square * 4**k has more than 150 bits, so its integer root, rounded up, is relatively within 2**-74
    k = max(0, 76 + (square.denominator.bit_length() - square.numerator.bit_length()) // 2)
    # rounded up twice, before and at the root: isqrt(n - 1) + 1 is the ceiling of the root of n
    whole = -(-(square.numerator << 2 * k) // square.denominator)
    root = Fraction(isqrt(whole - 1) + 1, 1 << k)
    # 2**-74 and 2**-61 together stay within the promised 2**-60
    return simplest(root, root * (1 + Fraction(1, 1 << FINENESS)))


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the rational with the smallest denominator in [low, high], 0 < low <= high, by continued fractions.

    >>> simplest(Fraction(314, 100), Fraction(315, 100))
    Fraction(22, 7)
    """
    # the interval [a / b, c / d]
    a, b, c, d = low.numerator, low.denominator, high.numerator, high.denominator
    parts = list[int]()
    # an integer in the interval has denominator 1; without one, both ends share their integer part, which is split off
    while (whole := -(-a // b)) * d > c:
        parts.append(whole - 1)
        # one over what is left, which turns the ends around
        a, b, c, d = d, c - parts[-1] * d, b, a - parts[-1] * b
    top, bottom = whole, 1
    for part in reversed(parts):
        top, bottom = part * top + bottom, top
    return Fraction(top, bottom)


def _at_least_0(sensitivity: int) -> None:
    if sensitivity < 0:
        raise BudgetError(f"a sensitivity is {sensitivity}: below 0.", code="B08", hint="norms are not negative")

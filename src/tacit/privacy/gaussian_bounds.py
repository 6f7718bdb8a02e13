"""Rigorous bounds on Φ and on the Gaussian mechanism's δ, in decimals of any precision.  No data here, no floats.

The `decimal` module rounds +, -, *, /, sqrt, exp and ln correctly at any precision and gives the same digits on every
machine, so a calibration that a ledger records never depends on the last bit of a mathematical library.  Every bound is
widened by far more than the rounding errors, which are counted in comments.
"""

from __future__ import annotations

import decimal
from collections.abc import Generator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import Final

from tacit.privacy.exact_numbers import magnitude

Bounds = tuple[Decimal, Decimal]
DIGITS: Final = 20
"""The bounds returned differ relatively by at most 10**-DIGITS."""
FAR: Final = 10**6
"""Beyond this |x|, Φ(x) is bounded by TINY instead of being computed."""
TINY: Final = Decimal("1e-200000000000")
DEEPEST: Final = 2500
"""Digits beyond which a difference of two nearly equal numbers is not refined further; its bounds remain valid."""


@contextmanager
def precision(digits: int) -> Generator[decimal.Context]:
    """Activate decimal arithmetic with `digits` digits, and exponents so wide that no price in range overflows."""
    # an overflow must raise, not become infinite
    traps = [decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow]
    context = decimal.Context(
        prec=digits, rounding=decimal.ROUND_HALF_EVEN, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=traps
    )
    with decimal.localcontext(context) as active:
        yield active


def to_decimal(x: Fraction) -> Decimal:
    """Return `x` in the active precision; at most three roundings."""
    return Decimal(x.numerator) / Decimal(x.denominator)


def widened(value: Decimal, digits: int) -> Bounds:
    """Return the bounds `value` * (1 -+ 10**-digits), for value >= 0."""
    margin = value.scaleb(-digits)
    return value - margin, value + margin


@lru_cache(maxsize=16)
def pi(digits: int) -> Decimal:
    """Return π to a relative 10**-digits: 16 arctan(1/5) - 4 arctan(1/239) [Machin]."""
    # ten guard digits
    unit = 10 ** (digits + 10)

    def arctan_inverse(m: int) -> int:  # each of < 2 * digits terms is floored: error < 10**4 units of 10**-(digits+10)
        total, power = 0, unit // m
        for k in count():
            if power == 0:
                return total
            total += (-1) ** k * (power // (2 * k + 1))
            power //= m * m
        raise AssertionError

    with precision(digits + 12):
        return Decimal(16 * arctan_inverse(5) - 4 * arctan_inverse(239)) / unit


def normal_cdf(x: Fraction, digits: int = DIGITS) -> Bounds:
    """Return bounds lo <= Φ(x) <= hi with hi / lo - 1 <= 10**-digits, for any rational x, in far tails as well.

    >>> lo, hi = normal_cdf(Fraction(-40))
    >>> f"{lo:.12E}", hi / lo - 1 < Decimal("1e-20")
    ('3.655893540915E-350', True)
    """
    size = abs(x)
    if size > FAR:  # Q(FAR) < exp(-FAR**2 / 2) < TINY, and no exponent can underflow below
        with precision(digits + 2):
            return (Decimal(0), TINY) if x < 0 else (Decimal(1).next_minus(), Decimal(1))
    tens = max(0, magnitude(size) + 1) if size else 0
    # |d ln Q / d ln x| <= x (x + 1) for the upper tail Q, and the exponent x**2 / 2 is rounded: 2 * tens digits
    # are lost; fewer than 10**5 positive terms or convergents lose five more, a subtraction from 1/2 two.
    work = digits + 12 + 2 * tens
    with precision(work):
        z = to_decimal(size)
        density = (-z * z / 2).exp() / (2 * pi(work)).sqrt()
        # for large z the series, subtracted from 1/2, cancels; for small z the continued fraction converges slowly
        if z < 2:
            middle = density * _series(z, work)
            lo, hi = widened(Decimal("0.5") - middle, digits + 2)
        else:
            below, above = _mills(z, digits + 3)
            lo, hi = widened(density * below, digits + 3)[0], widened(density * above, digits + 3)[1]
        if x < 0:
            return lo, hi
        return widened(1 - hi, digits + 2)[0], min(Decimal(1), widened(1 - lo, digits + 2)[1])


def _series(z: Decimal, work: int) -> Decimal:
    """Return (Φ(z) - 1/2) / φ(z) = Σ z**(2k+1) / (2k+1)!!, 0 <= z < 2, positive terms [Abramowitz & Stegun 26.2.11]."""
    term = total = z
    for k in count(1):
        term = term * z * z / (2 * k + 1)
        total += term
        if term <= total.scaleb(-work) and k > 4:
            break  # z < 2: each later term is at most half the one before, so the remainder is below this term
    return total


def _mills(z: Decimal, digits: int) -> Bounds:
    """Return bounds on the Mills ratio Q(z) / φ(z), z >= 2, Q the upper tail, from a continued fraction.

    The convergents of 1/(z + 1/(z + 2/(z + 3/(z + ...)))) lie alternately below and above it, since its partial
    numerators and denominators are positive [Abramowitz & Stegun 26.2.14].
    """
    a_old, b_old, a, b = Decimal(0), Decimal(1), Decimal(1), z  # convergents 0/1 and 1/z
    for k in count(1):
        a_old, b_old, a, b = a, b, z * a + k * a_old, z * b + k * b_old
        first, second = a_old / b_old, a / b
        if abs(first - second) <= first.scaleb(-digits):
            return min(first, second), max(first, second)
    raise AssertionError


@lru_cache(maxsize=4096)
def gaussian_delta_bounds(multiplier: Fraction, epsilon: Fraction, digits: int = DIGITS) -> Bounds:
    """Return bounds on the smallest δ at ε of normal noise with sd = multiplier * ℓ2 sensitivity.

    With s the multiplier, δ = Φ(1/2s - εs) - e^ε Φ(-1/2s - εs) [Balle & Wang 2018, Theorem 8], necessary and sufficient
    in any dimension.  The relative width is 10**-digits unless that needs more than 2,500 digits.  The terms are
    decimals with their own exponents, so that e^ε cannot overflow.
    """
    half, shift = 1 / (2 * multiplier), epsilon * multiplier
    # wide noise makes both terms nearly equal: about as many digits cancel as the multiplier has
    work = digits + 10 + max(0, magnitude(multiplier))
    extra = max(0, magnitude(epsilon)) if epsilon else 0
    while True:
        plus, minus = normal_cdf(half - shift, work), normal_cdf(-half - shift, work)
        with precision(work + 12 + extra):  # rounding ε before exp loses as many digits as ε has before the point
            growth = widened(to_decimal(epsilon).exp(), work)
            # least first term less largest second term; for `hi` the other way round
            lo = widened(plus[0], work)[0] - widened(growth[1] * minus[1], work)[1]
            hi = widened(plus[1], work)[1] - widened(growth[0] * minus[0], work)[0]
            # compared with the lower bound, so that a bound of 0 or below asks for more digits
            if hi - lo <= lo.scaleb(-digits) or work > DEEPEST or plus[0] == 0:
                return max(lo, Decimal(0)), min(hi, Decimal(1))
        work *= 2

"""Conversions between ρ, (ε, δ) and the noise multiplier, rounded conservatively.  No data here.

A result has 12 significant digits and is certain: a privacy loss is never below the true value, an allowance never
above it.  Searches choose only *where* a bound is evaluated (at which Rényi order α, or multiplier); the bound itself
is evaluated rigorously, so a poor search costs tightness, never privacy.

How tight: the best bound from a single Rényi order, which has no closed form [Asoodeh et al. 2021, Theorem 3], would
allow a ρ larger by 0.01% at (0.1, 1e-5), 0.08% at (1, 1e-3), and 8% at (0.1, 1e-2), a δ too large to protect much.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

from tacit.errors import BudgetError
from tacit.privacy.exact_numbers import Number, magnitude, rational, significant
from tacit.privacy.gaussian_bounds import gaussian_delta_bounds, precision, to_decimal

ROUNDED: Final = 12
"""Significant digits of every result."""
WORK: Final = 60
"""Decimal digits with which a search computes."""
LEAST: Final = Decimal("1e-300")
"""Smallest δ that is told: anything below is rounded up to it."""
MARGIN: Final = 45
"""A sum of terms is widened by 10**-MARGIN times the sum of their absolute values; each has WORK correct digits."""


def zcdp_to_delta(rho: Number, epsilon: Number) -> Fraction:
    """Return the δ at `epsilon` that ρ-zCDP implies, rounded up.

    It is the minimum over orders α > 1 of exp((α-1)(αρ-ε)) (1-1/α)^(α-1) / α [Canonne, Kamath & Steinke 2020,
    Proposition 12], and at most √(ρ/2) [Pinsker's inequality for the total variation, from the order α = 1].

    >>> float(zcdp_to_delta("0.0243", 1)) < 1e-6 < float(zcdp_to_delta("0.0244", 1))
    True
    """
    r, e = _at_least_0(rho, "rho"), _at_least_0(epsilon, "epsilon")
    return _zcdp_to_delta(r, e)


def zcdp_to_epsilon(rho: Number, delta: Number) -> Fraction:
    """Return the ε at `delta` that ρ-zCDP implies, rounded up.  Source: as `zcdp_to_delta`, solved for ε at each order.

    >>> float(zcdp_to_epsilon(0.5, 1e-6))
    5.22153444454
    """
    r, d = _at_least_0(rho, "rho"), _delta(delta)
    return _zcdp_to_epsilon(r, d)


def epsilon_delta_to_zcdp(epsilon: Number, delta: Number) -> Fraction:
    """Return the largest ρ for which ρ-zCDP implies (ε, δ), rounded down.

    Source: as `zcdp_to_delta`, solved for ρ at each order.

    >>> float(epsilon_delta_to_zcdp(1, 1e-6))
    0.0243559703595
    """
    return _epsilon_delta_to_zcdp(_above_0(epsilon, "epsilon"), _delta(delta))


def gaussian_delta(multiplier: Number, epsilon: Number) -> Fraction:
    """Return the δ at `epsilon` of normal noise with sd = `multiplier` * ℓ2 sensitivity, rounded up.

    The formula is exact, and valid for a normal rounded to integers, which is post-processing.  [Balle & Wang 2018,
    Theorem 8; theory §1.2]

    >>> float(gaussian_delta("4.22467888933", 1)) <= 1e-6 < float(gaussian_delta("4.22467888932", 1))
    True
    """
    bounds = gaussian_delta_bounds(_above_0(multiplier, "multiplier"), _at_least_0(epsilon, "epsilon"))
    return _up(bounds[1])


def analytic_multiplier(epsilon: Number, delta: Number) -> Fraction:
    """Return the smallest s, rounded up, for which normal noise with sd = s * ℓ2 sensitivity is (ε, δ)-DP.

    >>> float(analytic_multiplier(1, 1e-6))
    4.22467888933
    """
    return _analytic_multiplier(_above_0(epsilon, "epsilon"), _delta(delta))


def approximate_to_zcdp(epsilon: Number, delta: Number) -> Fraction:
    """Return ρ = 1/(2s²) of the normal noise that (ε, δ) buys, rounded down: noise of this ρ is (ε, δ)-DP as well."""
    s = analytic_multiplier(epsilon, delta)
    return significant(1 / (2 * s * s), ROUNDED, up=False)


@lru_cache(maxsize=1024)
def _zcdp_to_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    """Evaluate the bound of `zcdp_to_delta` at a nearly optimal order 1 + u, widened for rounding."""
    if rho == 0:
        return Fraction(0)
    with precision(WORK):
        r, e = to_decimal(rho), to_decimal(epsilon)
        # the logarithm of the bound is convex in α = 1 + u and stationary where ρ(2u + 1) - ε = ln(1 + 1/u)
        u = _search(lambda u: r * (2 * u + 1) - e - _log1p(1 / u), (e / r + 1) / 2)
    u = _order(u)
    with precision(_digits_for(u)):
        r, e = to_decimal(rho), to_decimal(epsilon)
        terms = [u * (1 + u) * r, -u * e, -u * _log1p(1 / u), -_log1p(u)]
        # exp and sqrt are rounded themselves: each bound is widened once more below
        order = _upper(terms).exp()
        total_variation = (r / 2).sqrt()
        bound = min(Decimal(1), order + order.scaleb(-MARGIN), total_variation + total_variation.scaleb(-MARGIN))
    return _up(bound)


@lru_cache(maxsize=1024)
def _zcdp_to_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """Evaluate the ε of the bound, ρα + ln(1 - 1/α) - (ln δ + ln α) / (α - 1), at a nearly optimal order α = 1 + u."""
    if rho <= 2 * delta * delta:  # Pinsker: the total variation is at most δ
        return Fraction(0)
    with precision(WORK):
        r, log_delta = to_decimal(rho), to_decimal(delta).ln()
        # ε(u) is stationary where ρu² = -ln δ - ln(1 + u)
        # it starts at the root without the term ln(1 + u)
        u = _search(lambda u: r * u * u + _log1p(u) + log_delta, (-log_delta / r).sqrt())
    u = _order(u)
    with precision(_digits_for(u)):
        r, log_delta = to_decimal(rho), to_decimal(delta).ln()
        bound = _upper([(1 + u) * r, -_log1p(1 / u), -log_delta / u, -_log1p(u) / u])
    return significant(Fraction(bound), ROUNDED, up=True) if bound > 0 else Fraction(0)


@lru_cache(maxsize=1024)
def _epsilon_delta_to_zcdp(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Solve the ε of the bound for ρ at a nearly optimal order 1 + u; at least 2δ², by Pinsker's inequality."""
    with precision(WORK):
        e, log_delta = to_decimal(epsilon), to_decimal(delta).ln()

        # ρ u² = -ln δ - ln(1 + u), the condition of `_zcdp_to_epsilon`, put into ε = ρ(1 + u) + ρ u - ln(1 + 1/u)
        def falling(u: Decimal) -> Decimal:  # ε at the ρ for which the order 1 + u is the best one, minus the ε wanted
            return (1 + 2 * u) * (-log_delta - _log1p(u)) / (u * u) - _log1p(1 / u) - e

        # it starts where the leading term for large u, -2 ln δ / u, is ε
        u = _search(lambda u: -falling(u), -2 * log_delta / e)
    u = _order(u)
    with precision(_digits_for(u)):
        e, log_delta = to_decimal(epsilon), to_decimal(delta).ln()
        # minus an upper bound on the negative sum is a lower bound on the sum; the division rounds too
        bound = -_upper([-e, -_log1p(1 / u), -log_delta / u, -_log1p(u) / u]) / (1 + u)
        bound -= bound.scaleb(-MARGIN)
    by_order = significant(Fraction(bound), ROUNDED, up=False) if bound > 0 else Fraction(0)
    return max(by_order, significant(2 * delta * delta, ROUNDED, up=False))


@lru_cache(maxsize=1024)
def _analytic_multiplier(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the smallest s of 12 digits whose δ has an upper bound of at most `delta`."""
    guess = _rough_multiplier(epsilon, delta)
    # δ falls as s grows [Balle & Wang 2018], so the condition is monotone
    return smallest_rounded(lambda s: Fraction(gaussian_delta_bounds(s, epsilon)[1]) <= delta, guess)


def smallest_rounded(holds: Callable[[Fraction], bool], guess: Fraction) -> Fraction:
    """Return the smallest number of 12 significant digits for which a monotone condition holds.

    holds: true for all numbers above one for which it is true.  The guess affects how long the search takes, never its
    result, which is the same on every machine.
    """
    while True:
        # the grid of 12 digits depends on the magnitude of the result: repeat if the guess had another one
        unit = Fraction(10) ** (magnitude(guess) + 1 - ROUNDED)
        found = unit * smallest(lambda k, unit=unit: k > 0 and holds(k * unit), max(1, round(guess / unit)))
        if magnitude(found) == magnitude(guess):
            return found
        guess = found


def _rough_multiplier(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return about the s with δ(s) = δ, by bisection in floats: where the exact search starts, never what it finds."""
    e = float(epsilon)
    wanted = math.log(delta.numerator) - math.log(delta.denominator)
    # from ε = ρ + 2 sqrt(ρ ln(1/δ)) [Bun & Steinke 2016], solved for sqrt(ρ); then s = 1 / sqrt(2 ρ)
    root_rho = math.sqrt(e - wanted) - math.sqrt(-wanted)  # for small ε, e / (2 sqrt(-wanted)) avoids cancellation
    rough = 1 / (math.sqrt(2) * (root_rho if e > 1e-6 else e / (2 * math.sqrt(-wanted))))
    low, high = math.log(rough) - 40, math.log(rough) + 40
    while high - low > 1e-15 * max(1.0, abs(high)):
        middle = (low + high) / 2
        # neighbouring floats: no number lies between them
        if middle in (low, high):
            break
        low, high = (middle, high) if log_gaussian_delta(math.exp(middle), e) > wanted else (low, middle)
    return Fraction(math.exp(high))


def log_gaussian_delta(multiplier: float, epsilon: float) -> float:
    """Return ln δ at ε of normal noise, in floats: a starting point for searches, never a bound."""
    first = _log_normal_cdf(1 / (2 * multiplier) - epsilon * multiplier)
    second = epsilon + _log_normal_cdf(-1 / (2 * multiplier) - epsilon * multiplier)
    # ln(e^first - e^second); the floor keeps the logarithm finite where the two are equal in floats
    return first + math.log(max(-math.expm1(min(second - first, 0.0)), 1e-300))


def _log_normal_cdf(x: float) -> float:
    """Return ln Φ(x) in floats; by the asymptotic series below -30."""
    if x > -30:
        return math.log(math.erfc(-x / math.sqrt(2)) / 2)
    return -x * x / 2 - math.log(-x * math.sqrt(2 * math.pi)) + math.log1p(-1 / x**2 + 3 / x**4)


def smallest(holds: Callable[[int], bool], start: int) -> int:
    """Return the smallest integer for which a monotone condition holds, by a galloping search from `start`."""
    stride = 1
    if holds(start):
        while holds(start - stride):
            start, stride = start - stride, 2 * stride
        fails, good = start - stride, start
    else:
        while not holds(start + stride):
            start, stride = start + stride, 2 * stride
        fails, good = start, start + stride
    # invariant: holds(good) and not holds(fails)
    while good - fails > 1:
        middle = (good + fails) // 2
        fails, good = (fails, middle) if holds(middle) else (middle, good)
    return good


def _search(rising: Callable[[Decimal], Decimal], start: Decimal, places: int = 20) -> Decimal:
    """Return approximately where an increasing function of u > 0 crosses 0: regula falsi in ln u, with bisections.

    The result affects only the tightness of a bound.  It is deterministic: the same decimals on every machine.
    """
    # the search is in ln u
    u = max(start, Decimal("1e-400"))
    lo = hi = u.ln()
    below = above = rising(u)
    width = Decimal(1)
    # widen the bracket until the function changes its sign in it
    while below > 0:
        hi, above, lo = lo, below, lo - width
        below, width = rising(lo.exp()), 2 * width
    while above < 0:
        lo, below, hi = hi, above, hi + width
        above, width = rising(hi.exp()), 2 * width
    tolerance = Decimal(1).scaleb(-places)
    for turn in range(400):
        if hi - lo <= tolerance or above == below:
            break
        # every third step is a bisection, so that the bracket certainly shrinks
        middle = (lo + hi) / 2 if turn % 3 == 2 else (lo * above - hi * below) / (above - below)
        value = rising(middle.exp())
        if value == 0:
            return middle.exp()
        if value < 0:
            lo, below, above = middle, value, above / 2  # halving the other end's value avoids stagnation
        else:
            hi, above, below = middle, value, below / 2
    return ((lo + hi) / 2).exp()


def _order(u: Decimal) -> Decimal:
    """Clamp u to where logarithms of 1 + u need a bearable precision; every order 1 + u gives a valid bound."""
    return min(max(u, Decimal("1e-100")), Decimal("1e100"))


def _log1p(x: Decimal) -> Decimal:
    return (1 + x).ln()


def _up(delta: Decimal) -> Fraction:
    """Round a δ up, to at least LEAST, so that rationals stay short, and at most 1."""
    # upward throughout: the floor, too, only makes a δ larger
    return min(Fraction(1), significant(Fraction(max(delta, LEAST)), ROUNDED, up=True))


def _digits_for(u: Decimal) -> int:
    """Return the precision at which ln(1 + u) and ln(1 + 1/u) have WORK correct digits."""
    return WORK + 5 + 2 * abs(u.adjusted())


def _upper(terms: list[Decimal]) -> Decimal:
    """Return an upper bound on the exact sum of `terms`, of which each was rounded."""
    return sum(terms, Decimal(0)) + sum((abs(t) for t in terms), Decimal(0)).scaleb(-MARGIN)


def _at_least_0(value: object, name: str) -> Fraction:
    exact = rational(value, name)
    if exact < 0:
        raise BudgetError(f"{name} is {value}: below 0.", code="B01", hint=f"{name}=0.1")
    return exact


def _above_0(value: object, name: str) -> Fraction:
    exact = _at_least_0(value, name)
    if exact == 0:
        raise BudgetError(f"{name} is {value}: not above 0.", code="B01", hint=f"{name}=0.1")
    return exact


def _delta(value: object) -> Fraction:
    exact = _above_0(value, "delta")
    if exact >= 1:
        raise BudgetError(f"delta is {value}: not below 1, which would promise nothing.", code="B01", hint="delta=1e-6")
    return exact

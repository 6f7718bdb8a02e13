"""Conversions between ρ, (ε, δ) and the noise multiplier, rounded against ourselves.  No data here.

A result is the best number of 12 significant digits that is certain: never below the truth where it is a loss, never
above it where it is an allowance.  Searches choose only *where* a bound is evaluated (an order α, a multiplier); the
bound itself is evaluated with enclosures, so that a poor search costs tightness, never privacy.

How tight: the best bound of a single Rényi order, which has no closed form [Asoodeh et al. 2021, Theorem 3], would hold
a ρ larger by 0.01% at (0.1, 1e-5), 0.08% at (1, 1e-3), and 8% at (0.1, 1e-2), where δ is hardly a promise.
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
"""Digits of a search."""
MARGIN: Final = 45
"""A sum of terms T is widened by 10**-MARGIN * (sum of abs(T)); terms are computed with at least WORK good digits."""


def zcdp_to_delta(rho: Number, epsilon: Number) -> Fraction:
    """δ at `epsilon` that ρ-zCDP implies, rounded up.

    Smallest over orders α > 1 of exp((α-1)(αρ-ε)) (1-1/α)^(α-1) / α  [Canonne, Kamath & Steinke 2020, Proposition 12];
    never more than √(ρ/2)  [Pinsker: total variation, from the order α = 1].

    >>> float(zcdp_to_delta("0.0243", 1)) < 1e-6 < float(zcdp_to_delta("0.0244", 1))
    True
    """
    r, e = _at_least_0(rho, "rho"), _at_least_0(epsilon, "epsilon")
    return _zcdp_to_delta(r, e)


def zcdp_to_epsilon(rho: Number, delta: Number) -> Fraction:
    """ε at `delta` that ρ-zCDP implies, rounded up.  Source: as `zcdp_to_delta`, solved for ε at every order.

    >>> float(zcdp_to_epsilon(0.5, 1e-6))
    5.22153444454
    """
    r, d = _at_least_0(rho, "rho"), _delta(delta)
    return _zcdp_to_epsilon(r, d)


def epsilon_delta_to_zcdp(epsilon: Number, delta: Number) -> Fraction:
    """The largest ρ whose zCDP implies (ε, δ), rounded down.  Source: as `zcdp_to_delta`, solved for ρ at every order.

    >>> float(epsilon_delta_to_zcdp(1, 1e-6))
    0.0243559703595
    """
    return _epsilon_delta_to_zcdp(_above_0(epsilon, "epsilon"), _delta(delta))


def gaussian_delta(multiplier: Number, epsilon: Number) -> Fraction:
    """δ at `epsilon` of a normal with sd = `multiplier` * ℓ2 sensitivity, rounded up.

    Exact, and valid for a normal rounded to integers (post-processing).  [Balle & Wang 2018, Theorem 8; theory §1.2]

    >>> float(gaussian_delta("4.22467888933", 1)) <= 1e-6 < float(gaussian_delta("4.22467888932", 1))
    True
    """
    bounds = gaussian_delta_bounds(_above_0(multiplier, "multiplier"), _at_least_0(epsilon, "epsilon"))
    return _up(bounds[1])


def analytic_multiplier(epsilon: Number, delta: Number) -> Fraction:
    """The smallest s, rounded up, for which a normal with sd = s * ℓ2 sensitivity is (ε, δ)-DP; δ(s) <= δ is certain.

    >>> float(analytic_multiplier(1, 1e-6))
    4.22467888933
    """
    return _analytic_multiplier(_above_0(epsilon, "epsilon"), _delta(delta))


def approximate_to_zcdp(epsilon: Number, delta: Number) -> Fraction:
    """ρ = 1/(2s²) of the normal that (ε, δ) buys, rounded down: noise of this ρ is (ε, δ)-DP too."""
    s = analytic_multiplier(epsilon, delta)
    return significant(1 / (2 * s * s), ROUNDED, up=False)


@lru_cache(maxsize=1024)
def _zcdp_to_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
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
        order = _upper(terms).exp()
        total_variation = (r / 2).sqrt()
        bound = min(Decimal(1), order + order.scaleb(-MARGIN), total_variation + total_variation.scaleb(-MARGIN))
    return _up(bound)


@lru_cache(maxsize=1024)
def _zcdp_to_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    if rho <= 2 * delta * delta:  # Pinsker: total variation at most δ
        return Fraction(0)
    with precision(WORK):
        r, log_delta = to_decimal(rho), to_decimal(delta).ln()
        # ε(u) is stationary where ρu² = -ln δ - ln(1 + u)
        u = _search(lambda u: r * u * u + _log1p(u) + log_delta, (-log_delta / r).sqrt())
    u = _order(u)
    with precision(_digits_for(u)):
        r, log_delta = to_decimal(rho), to_decimal(delta).ln()
        bound = _upper([(1 + u) * r, -_log1p(1 / u), -log_delta / u, -_log1p(u) / u])
    return significant(Fraction(bound), ROUNDED, up=True) if bound > 0 else Fraction(0)


@lru_cache(maxsize=1024)
def _epsilon_delta_to_zcdp(epsilon: Fraction, delta: Fraction) -> Fraction:
    with precision(WORK):
        e, log_delta = to_decimal(epsilon), to_decimal(delta).ln()

        def falling(u: Decimal) -> Decimal:  # ε at the ρ for which the order 1 + u is the best one, minus the ε wanted
            return (1 + 2 * u) * (-log_delta - _log1p(u)) / (u * u) - _log1p(1 / u) - e

        u = _search(lambda u: -falling(u), -2 * log_delta / e)
    u = _order(u)
    with precision(_digits_for(u)):
        e, log_delta = to_decimal(epsilon), to_decimal(delta).ln()
        bound = -_upper([-e, -_log1p(1 / u), -log_delta / u, -_log1p(u) / u]) / (1 + u)
        bound -= bound.scaleb(-MARGIN)
    by_order = significant(Fraction(bound), ROUNDED, up=False) if bound > 0 else Fraction(0)
    return max(by_order, significant(2 * delta * delta, ROUNDED, up=False))


@lru_cache(maxsize=1024)
def _analytic_multiplier(epsilon: Fraction, delta: Fraction) -> Fraction:
    return least(lambda s: Fraction(gaussian_delta_bounds(s, epsilon)[1]) <= delta, _near(epsilon, delta))


def least(holds: Callable[[Fraction], bool], guess: Fraction) -> Fraction:
    """The smallest number of 12 digits for which a condition holds that holds for all larger ones.

    The guess decides how long the search takes, never what is found: that is the same on every machine.
    """
    while True:
        unit = Fraction(10) ** (magnitude(guess) + 1 - ROUNDED)
        found = unit * smallest(lambda k, unit=unit: k > 0 and holds(k * unit), max(1, round(guess / unit)))
        if magnitude(found) == magnitude(guess):
            return found
        guess = found


def _near(epsilon: Fraction, delta: Fraction) -> Fraction:
    """About the s with δ(s) = δ, by halving in floats; only how long the last search takes hangs on it."""
    e = float(epsilon)
    wanted = math.log(delta.numerator) - math.log(delta.denominator)
    root_rho = math.sqrt(e - wanted) - math.sqrt(-wanted)  # small ε: e / 2 sqrt(-wanted), without the cancellation
    rough = 1 / (math.sqrt(2) * (root_rho if e > 1e-6 else e / (2 * math.sqrt(-wanted))))
    low, high = math.log(rough) - 40, math.log(rough) + 40
    while high - low > 1e-15 * max(1.0, abs(high)):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if log_gaussian_delta(math.exp(middle), e) > wanted else (low, middle)
    return Fraction(math.exp(high))


def log_gaussian_delta(multiplier: float, epsilon: float) -> float:
    """Log of δ at ε of a normal, in floats: for where a search begins, never for a bound."""
    first = _log_normal_cdf(1 / (2 * multiplier) - epsilon * multiplier)
    second = epsilon + _log_normal_cdf(-1 / (2 * multiplier) - epsilon * multiplier)
    return first + math.log(max(-math.expm1(min(second - first, 0.0)), 1e-300))


def _log_normal_cdf(x: float) -> float:
    if x > -30:
        return math.log(math.erfc(-x / math.sqrt(2)) / 2)
    return -x * x / 2 - math.log(-x * math.sqrt(2 * math.pi)) + math.log1p(-1 / x**2 + 3 / x**4)


def smallest(holds: Callable[[int], bool], start: int) -> int:
    """The smallest integer for which a condition holds that holds for all larger ones, looked for from `start`."""
    stride = 1
    if holds(start):
        while holds(start - stride):
            start, stride = start - stride, 2 * stride
        fails, good = start - stride, start
    else:
        while not holds(start + stride):
            start, stride = start + stride, 2 * stride
        fails, good = start, start + stride
    while good - fails > 1:
        middle = (good + fails) // 2
        fails, good = (fails, middle) if holds(middle) else (middle, good)
    return good


def _search(rising: Callable[[Decimal], Decimal], start: Decimal, places: int = 20) -> Decimal:
    """About where an increasing function of u > 0 crosses 0: regula falsi in ln u, halving where that is slow.

    Only tightness hangs on the answer.  Deterministic: the same decimals on every machine.
    """
    u = max(start, Decimal("1e-400"))
    lo = hi = u.ln()
    below = above = rising(u)
    width = Decimal(1)
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
        middle = (lo + hi) / 2 if turn % 3 == 2 else (lo * above - hi * below) / (above - below)
        value = rising(middle.exp())
        if value == 0:
            return middle.exp()
        if value < 0:
            lo, below, above = middle, value, above / 2
        else:
            hi, above, below = middle, value, below / 2
    return ((lo + hi) / 2).exp()


def _order(u: Decimal) -> Decimal:
    """An order 1 + u is a number that logarithms can be taken of at a bearable precision; any one gives a bound."""
    return min(max(u, Decimal("1e-100")), Decimal("1e100"))


def _log1p(x: Decimal) -> Decimal:
    return (1 + x).ln()


def _up(delta: Decimal) -> Fraction:
    """A δ rounded up, at least 1e-300 (a rational of 10,000 digits helps nobody) and at most 1."""
    return min(Fraction(1), significant(Fraction(max(delta, Decimal("1e-300"))), ROUNDED, up=True))


def _digits_for(u: Decimal) -> int:
    """Precision at which ln(1 + u) and ln(1 + 1/u) have WORK good digits."""
    return WORK + 5 + 2 * abs(u.adjusted())


def _upper(terms: list[Decimal]) -> Decimal:
    """At least the sum of `terms`, whatever their rounding."""
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

"""Gaussian differential privacy: (ε, δ), pure ε and selections as μ², rounded conservatively.  No data here.

A mechanism is μ-GDP if telling two neighbours apart is at least as hard as telling N(0, 1) from N(μ, 1): its trade-off
function T(P, Q) (the least type II error at each type I error of a test of P against Q, the output distributions of the
neighbours) lies nowhere below G_μ(a) = Φ(Φ⁻¹(1 - a) - μ) [Dong, Roth & Su 2022, Definition 2.6].  That holds if and
only if it is (ε, δ_μ(ε))-DP for every ε >= 0 [Corollary 2.13], where

    δ_μ(ε) = Φ(-ε/μ + μ/2) - e^ε Φ(-ε/μ - μ/2)

Composition: μ² adds up [Corollary 3.3], also where the next mechanism and its μ are chosen after earlier answers, as
long as the sum stays within what was fixed [Smith & Thakurta 2022; Koskela, Tobaben & Honkela 2023].

Normal noise
    of sd σ on integers whose ℓ2 norm moves by at most Δ has μ = Δ/σ, in any dimension [Dong, Roth & Su 2022,
    Theorem 2.7]; rounding the draw is post-processing.
Pure ε
    T(P, Q) is nowhere below the two lines that join (0, 1), (a, a) and (1, 0), a = 1/(1 + e^ε) [Wasserman & Zhou 2010].
    G_μ is convex and joins (0, 1) and (1, 0), so it is nowhere above those lines as soon as G_μ(a) <= a, that is
    μ >= 2 Φ⁻¹(1 - a).  With x = μ/2 and L(x) = ln Φ(x) - ln Φ(-x), the log-odds of Φ(x): L(x) >= ε.
Bounded range
    A selection of range ε (exponential mechanism: log-ratios lie in [t - ε, t], t fixed by the neighbours, 0 <= t <= ε)
    costs the x with L(x) >= ε/2, that is, as much as a pure ε/2.
    Proof.  Let q = (1 - e^(t-ε)) / (e^t - e^(t-ε)) and p = e^t q.
    (1) Any P, Q whose ratio r lies in [e^(t-ε), e^t] are made from two outcomes, of probabilities (p, 1 - p) and
    (q, 1 - q), by a kernel that knows neither: from the first go to y with density Q(y) (r(y) - e^(t-ε)) /
    (e^t - e^(t-ε)) / q, from the second with Q(y) (e^t - r(y)) / (e^t - e^(t-ε)) / (1 - q); both are densities, and
    mix to P(y) and Q(y).  So T(P, Q) is nowhere below the lines that join (0, 1), (q, 1 - p), (1, 0), and as before G_μ
    is nowhere above them as soon as μ >= Φ⁻¹(p) - Φ⁻¹(q).
    (2) Write p = Φ(z + μ/2) and q = Φ(z - μ/2) for that μ.  Since ln(p/q) = t and ln((1 - q)/(1 - p)) = ε - t,
    L(z + μ/2) - L(z - μ/2) = ε: the integral of L' over an interval of length μ about z.  L' is even, and increasing on
    z > 0 by (3), so that among intervals of one length the integral is least about z = 0, where it is 2 L(μ/2); hence
    2 L(μ/2) <= ε whatever t is, with equality at t = ε/2.
    (3) 1/L' = Φ(z) Φ(-z) / φ(z) =: k decreases on z > 0.  φ k' = z Φ(z) Φ(-z) - φ (2 Φ(z) - 1) =: w, which is 0 at 0
    and at infinity; w' = Φ(z) Φ(-z) - 2 φ² has the sign of v - 2, v = Φ(z) Φ(-z) / φ², and v increases: v' has the sign
    of 2 z - (h(z) - h(-z)), h = φ(z) / Φ(-z) the hazard, which is the integral of 1 - h' from -z to z, positive because
    1 - h' is the variance of a normal that is known to be above z.  v(0) = π/2 < 2, so w falls, then rises to 0: w < 0.
Two cells
    The function c(ε) = μ² of a range ε is convex, and c(0) = 0.  Proof.  ε = 2 L(√c / 2), and its derivative in c is
    L'(y) / (4 y) at y = √c / 2, which decreases: y k increases, since (y k)' = k (1 + y²) - y (2 Φ(y) - 1) > 0 by
    k >= Φ(y) y / (1 + y²) [Gordon 1941: the Mills ratio is at least y / (1 + y²)].  So a sum of c of convex functions
    is largest at corners.
Of ρ
    c(ε) <= π ε² / 8, since L(x) >= L'(0) x = 4 φ(0) x.  A price ρ buys normals of μ² = 2 ρ and selections of
    ε = √(8 ρ), so it costs at most μ² = π ρ whatever it buys.  Conversely a normal of μ has ρ = μ²/2, and every μ-GDP
    mechanism is μ²/2-zCDP: its output is made from a draw of N(0, 1) or N(μ, 1) by a kernel that does not depend on
    which of the two it was [Blackwell 1953].
Approximate parts
    An approximate part has P = (1 - δᵢ) P₀ + δᵢ P₁ and Q = (1 - δᵢ) Q₀ + δᵢ Q₁ with P₀, Q₀ μᵢ-GDP.  While Σ δᵢ <= D
    and Σ μᵢ² <= M surely, for D and M fixed before any outcome, all parts together are (ε, δ_√M(ε) + D)-DP, with
    adaptive prices.  (For pairs D, M that outcomes choose, it is D + δ_√M(ε) of the largest of each: `Budget.late`.)
    Proof.  Regard each part as a coin that selects P₁ with probability δᵢ, tossed when the part is asked.  No coin
    selects P₁ with probability at least 1 - D, as conditional probabilities add up to at most D.  On that event the
    outcomes have the measures g P₀ and g Q₀ with one function g = Π (1 - δᵢ) <= 1 of the outcomes, and P₀, Q₀ there are
    a composition of μᵢ-GDP parts, so that ∫ g (dP₀ - e^ε dQ₀) over any event is at most δ_√M(ε).  The complement adds
    at most D.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Final

from tacit.errors import BudgetError
from tacit.privacy.conversions import LEAST, ROUNDED, approximate_to_zcdp, log_gaussian_delta, smallest_rounded
from tacit.privacy.exact_numbers import Number, magnitude, rational, significant
from tacit.privacy.gaussian_bounds import gaussian_delta_bounds, normal_cdf, precision, to_decimal

BITS: Final = 128
"""A range is rounded down by less than 2**-128."""
ROOT_BITS: Final = 240
"""Bits to which square roots are rounded."""
PI_UP: Final = Fraction(355, 113)
"""At least π: 3.14159292."""


def epsilon_delta_to_mu_squared(epsilon: Number, delta: Number) -> Fraction:
    """Return the largest μ² that implies (ε, δ), rounded down once to 12 digits.

    Budgets, prices, noise and selections stated as a pair all derive from this one number.

    >>> float(epsilon_delta_to_mu_squared(1, 1e-6))
    0.056028963825
    """
    # μ = 1 / s for a multiplier s, so that μ² = 1 / s² is twice ρ = 1 / (2 s²): one rounding, in ρ
    return 2 * approximate_to_zcdp(epsilon, delta)


NEGLIGIBLE: Final = 691
"""exp(-691) < LEAST."""


def mu_squared_to_delta(mu_squared: Number, epsilon: Number) -> Fraction:
    """Return the δ at `epsilon` that μ-GDP implies, rounded up.

    >>> float(mu_squared_to_delta("0.056028963825", 1)) <= 1e-6 < float(mu_squared_to_delta("0.056028963826", 1))
    True
    """
    m, e = _checked(mu_squared, "mu_squared"), _checked(epsilon, "epsilon")
    if m == 0:
        return Fraction(0)
    # δ <= Φ(-t) <= exp(-t²/2) for t = ε/μ - μ/2 >= 0: below LEAST an enclosure would take millions of digits
    if e >= m / 2 and (e - m / 2) ** 2 >= 2 * m * NEGLIGIBLE:
        return Fraction(LEAST)
    return min(Fraction(1), significant(_delta(m, e), ROUNDED, up=True))


def mu_squared_to_epsilon(mu_squared: Number, delta: Number) -> Fraction:
    """Return the smallest ε at `delta` that μ-GDP implies, rounded up to 12 digits.

    >>> float(mu_squared_to_epsilon(epsilon_delta_to_mu_squared(2, 1e-6), 1e-6))
    2.0
    """
    m, d = _checked(mu_squared, "mu_squared"), _checked(delta, "delta")
    if not 0 < d < 1:
        raise BudgetError(f"delta is {delta}: not between 0 and 1.", code="B01", hint="delta=1e-6")
    return _epsilon(m, d)


def pure_to_mu_squared(epsilon: Number) -> Fraction:
    """Return the μ² that ε-DP implies, rounded up: see Pure ε in the module's text.

    >>> round(float(pure_to_mu_squared(1)) / 2, 4)  # rho would be 0.5
    0.759
    """
    return _pure(_checked(epsilon, "epsilon"))


def range_to_mu_squared(epsilon: Number) -> Fraction:
    """Return the μ² of a selection of range ε, rounded up: see Bounded range in the module's text.

    >>> round(float(range_to_mu_squared(1)) / 2, 4)  # rho would be 0.125
    0.1946
    """
    return _pure(_checked(epsilon, "epsilon") / 2)


@lru_cache(maxsize=4096)
def mu_squared_to_range(mu_squared: Fraction) -> Fraction:
    """Return the largest range ε of a selection that costs at most μ²: 2 L(μ/2), rounded down to units of 2**-128.

    >>> round(float(mu_squared_to_range(Fraction(1, 50))), 6)
    0.225727
    """
    if mu_squared == 0:
        return Fraction(0)
    # both the root and L are bounded from below, and L increases: the range is never too large
    found = 2 * _log_odds(root_down(mu_squared) / 2, 50)
    return Fraction(found.numerator * 2**BITS // found.denominator, 2**BITS)


def root_down(square: Fraction) -> Fraction:
    """Return √square, rounded down by a relative 2**-100 at most."""
    # the integer under the root has at least 2 ROOT_BITS - 1 bits, however small the square is
    shift = ROOT_BITS + max(0, square.denominator.bit_length() - square.numerator.bit_length())
    return Fraction(isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift)


def _delta(mu_squared: Fraction, epsilon: Fraction) -> Fraction:
    """Return an upper bound on δ_μ(ε): that of a normal whose multiplier 1/μ is rounded down."""
    # a smaller multiplier is less noise, so more δ
    return Fraction(gaussian_delta_bounds(root_down(1 / mu_squared), epsilon)[1])


@lru_cache(maxsize=4096)
def _epsilon(mu_squared: Fraction, delta: Fraction) -> Fraction:
    """Return the smallest ε of 12 digits with δ_μ(ε) <= δ certain; 0 where already δ_μ(0) is."""
    if mu_squared == 0 or _delta(mu_squared, Fraction(0)) <= delta:
        return Fraction(0)
    return smallest_rounded(lambda epsilon: _delta(mu_squared, epsilon) <= delta, _rough_epsilon(mu_squared, delta))


def _rough_epsilon(mu_squared: Fraction, delta: Fraction) -> Fraction:
    """Return about the ε with δ_μ(ε) = δ, in floats: where the exact search starts, never what it finds."""
    mu, wanted = math.sqrt(float(mu_squared)), math.log(delta.numerator) - math.log(delta.denominator)
    # δ_μ(ε) falls in ε: double until it is below the one wanted, then bisect
    low, high = 0.0, mu
    while log_gaussian_delta(1 / mu, high) > wanted:
        low, high = high, 2 * high
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if log_gaussian_delta(1 / mu, middle) > wanted else (low, middle)
    return Fraction(high)


@lru_cache(maxsize=4096)
def _pure(epsilon: Fraction) -> Fraction:
    """Return the smallest μ² of 12 digits with L(μ/2) >= ε certain."""
    if epsilon == 0:
        return Fraction(0)
    # x = μ/2
    guess = 4 * _inverse_log_odds(epsilon) ** 2
    return smallest_rounded(lambda square: _log_odds(root_down(square) / 2, 20) >= epsilon, guess)


def _inverse_log_odds(epsilon: Fraction) -> Fraction:
    """Return about the x with L(x) = ε, by Newton's method from above; L is convex and L' >= 4 φ(0) > 1.59."""
    # Newton's steps on a convex increasing function come down to the solution from above, without oscillation
    x = epsilon / Fraction(159, 100)  # L(x) >= 1.59 x, so this is not below the solution
    for _ in range(60):
        excess = _log_odds(x, 25) - epsilon
        step = excess / _slope(x)
        if abs(step) <= x / 10**16:
            break
        # 24 digits keep the fractions short; rounded up, to stay above the solution
        x = significant(max(x - step, x / 4), 24, up=True)
    return x


def _slope(x: Fraction) -> Fraction:
    """Return L'(x) = φ(x) / (Φ(x) Φ(-x)), approximately: used for Newton's steps only."""
    above, below = normal_cdf(x, 20)[0], normal_cdf(-x, 20)[0]
    with precision(60):
        z = to_decimal(x)
        return Fraction((-z * z / 2).exp() / Decimal("2.50662827463100050241576528481") / (above * below))


def _log_odds(x: Fraction, digits: int) -> Fraction:
    """Return a lower bound on L(x) = ln Φ(x) - ln Φ(-x), x > 0, below it by a relative 10**-digits or so."""
    lost = max(0, -magnitude(x)) if x < 1 else 0  # digits that the subtraction cancels: Φ(x) - Φ(-x) is about 0.8 x
    # lower end of Φ(x), upper end of Φ(-x): each moves L down
    above, below = normal_cdf(x, digits + lost + 4)[0], normal_cdf(-x, digits + lost + 4)[1]
    # -ln Φ(-x) is about x²/2: so many more digits before the point
    with precision(digits + lost + 12 + max(0, 2 * magnitude(x) if x > 1 else 0)):
        first, second = above.ln(), below.ln()
        return Fraction(first - second - (abs(first) + abs(second)).scaleb(-(digits + lost + 6)))


def _checked(value: object, name: str) -> Fraction:
    """Return `value` as an exact rational; BudgetError B01 unless it is a finite number from 0 on."""
    exact = rational(value, name)
    if exact < 0:
        raise BudgetError(f"{name} is {value}: below 0.", code="B01", hint=f"{name}=0.1")
    return exact

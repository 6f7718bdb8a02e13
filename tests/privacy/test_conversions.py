"""Conversions against mpmath at 60 digits, dp-accounting, theory §1.2, and each other: never below the truth."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.errors import BudgetError
from tacit.privacy import analytic_multiplier, epsilon_delta_to_zcdp, gaussian_delta, zcdp_to_delta, zcdp_to_epsilon
from tacit.privacy.conversions import approximate_to_zcdp
from tacit.privacy.gaussian_bounds import gaussian_delta_bounds, normal_cdf, pi, precision

mp.mp.dps = 60

LOOSE = Fraction(1, 10**10)
"""Results have 12 significant digits: within 1e-10 of the truth, always on the safe side of it."""


def log_uniform(low: float, high: float) -> st.SearchStrategy[Fraction]:
    span = st.floats(math.log10(low), math.log10(high))
    return span.map(lambda t: Fraction(f"{10**t:.6g}"))


def number(x: Fraction) -> mp.mpf:
    return mp.mpf(x.numerator) / x.denominator


def true_gaussian_delta(s: Fraction, epsilon: Fraction) -> mp.mpf:
    with mp.workdps(120):
        s_, e = number(s), number(epsilon)
        tail = lambda x: mp.erfc(-x / mp.sqrt(2)) / 2  # noqa: E731
        return tail(1 / (2 * s_) - e * s_) - mp.exp(e) * tail(-1 / (2 * s_) - e * s_)


def smallest(f, low: float, high: float) -> mp.mpf:
    """Minimum over t = ln(α - 1) of a function with one, by golden sections: an independent search."""
    a, b = mp.mpf(low), mp.mpf(high)
    g = (mp.sqrt(5) - 1) / 2
    c, d = b - g * (b - a), a + g * (b - a)
    for _ in range(170):
        if f(c) < f(d):
            b, d = d, c
            c = b - g * (b - a)
        else:
            a, c = c, d
            d = a + g * (b - a)
    return f((a + b) / 2)


def true_log_delta(rho: Fraction, epsilon: Fraction) -> mp.mpf:
    r, e = number(rho), number(epsilon)

    def bound(t):  # Canonne, Kamath & Steinke 2020, Proposition 12, α = 1 + exp(t)
        u = mp.exp(t)
        return u * ((1 + u) * r - e) + u * mp.log1p(-1 / (1 + u)) - mp.log1p(u)

    return min(smallest(bound, -40, 40), mp.log(mp.sqrt(r / 2)), mp.mpf(0))


def true_epsilon(rho: Fraction, delta: Fraction) -> mp.mpf:
    r, log_delta = number(rho), mp.log(number(delta))

    def bound(t):
        u = mp.exp(t)
        return (1 + u) * r + mp.log1p(-1 / (1 + u)) - (log_delta + mp.log1p(u)) / u

    return mp.mpf(0) if rho <= 2 * delta * delta else max(mp.mpf(0), smallest(bound, -40, 40))


@pytest.mark.parametrize(
    ("epsilon", "delta", "s"),
    [(1, 1e-6, 4.224679), (1, 1e-5, 3.730632), (0.5, 1e-6, 8.057618), (0.1, 1e-5, 30.749566), (2, 1e-6, 2.230476)],
)
def test_multipliers_of_theory_1_2(epsilon, delta, s):
    assert float(analytic_multiplier(epsilon, delta)) == pytest.approx(s, abs=5.1e-7)


@given(st.fractions(min_value=-60, max_value=60, max_denominator=10**6))
@example(Fraction(0))
@example(Fraction(2))
@example(Fraction(-2))
@example(Fraction(-1999, 1000))
@example(Fraction(-3000))
@settings(max_examples=60, deadline=None)
def test_normal_cdf_is_enclosed(x):
    low, high = normal_cdf(x, 30)
    with mp.workdps(80):
        truth = mp.erfc(-number(x) / mp.sqrt(2)) / 2
        assert mp.mpf(str(low)) <= truth <= mp.mpf(str(high))
    with precision(60):
        assert high - low <= low * Decimal("1e-30")


def test_normal_cdf_far_beyond_any_exponent():
    low, high = normal_cdf(Fraction(-(10**9)))
    assert low == 0 < high < Decimal("1e-1000000")
    low, high = normal_cdf(Fraction(10**9))
    assert 1 - Decimal("1e-20") < low < high == 1


def test_pi():
    with mp.workdps(110):
        assert abs(mp.mpf(str(pi(100))) - mp.pi) < mp.mpf(10) ** -99


@given(log_uniform(1e-3, 1e6), log_uniform(1e-6, 300))
@example(Fraction(1), Fraction(0))
@example(Fraction(10**6), Fraction(300))
@example(Fraction(1, 10**5), Fraction(10**9))
@settings(max_examples=60, deadline=None)
def test_gaussian_delta_is_enclosed(s, epsilon):
    low, high = gaussian_delta_bounds(s, epsilon)
    with precision(60):
        assert high - low <= low * Decimal("1e-19") or high < Decimal("1e-1000000")
    assert gaussian_delta(s, epsilon) >= Fraction(max(high, Decimal("1e-300")))
    truth = true_gaussian_delta(s, epsilon) if high > Decimal("1e-60") else mp.mpf(0)
    if truth:
        assert mp.mpf(str(low)) <= truth <= mp.mpf(str(high))


@given(log_uniform(1e-4, 500), log_uniform(1e-40, 0.9))
@settings(max_examples=40, deadline=None)
def test_multiplier_is_enough_and_just_enough(epsilon, delta):
    s = analytic_multiplier(epsilon, delta)
    assert true_gaussian_delta(s, epsilon) <= number(delta)
    assert true_gaussian_delta(s * (1 - LOOSE), epsilon) > number(delta)
    assert approximate_to_zcdp(epsilon, delta) <= 1 / (2 * s * s)


@given(log_uniform(1e-8, 200), log_uniform(1e-4, 200))
@example(Fraction(1, 50), Fraction(1, 1000))
@settings(max_examples=40, deadline=None)
def test_delta_of_zcdp_is_never_below_the_truth(rho, epsilon):
    found, truth = zcdp_to_delta(rho, epsilon), mp.exp(true_log_delta(rho, epsilon))
    assert number(found) >= truth * (1 - mp.mpf(10) ** -40)
    assert number(found) <= max(truth * (1 + mp.mpf(10) ** -10), mp.mpf(10) ** -300)
    s = Fraction(math.sqrt(1 / (2 * rho))) * (1 + Fraction(1, 10**14))  # a little more noise than ρ needs
    assert gaussian_delta(s, epsilon) <= found * (1 + LOOSE)  # the Gaussian is one ρ-zCDP mechanism


@given(log_uniform(1e-8, 200), log_uniform(1e-60, 0.5))
@settings(max_examples=40, deadline=None)
def test_epsilon_of_zcdp_is_never_below_the_truth(rho, delta):
    found, truth = zcdp_to_epsilon(rho, delta), true_epsilon(rho, delta)
    assert number(found) >= truth * (1 - mp.mpf(10) ** -40)
    assert number(found) <= truth * (1 + mp.mpf(10) ** -10)


@given(log_uniform(1e-6, 500), log_uniform(1e-60, 0.5))
@example(Fraction(1, 10), Fraction(79057, 250000))  # rho = 2 delta**2 exactly: a tie
@settings(max_examples=20, deadline=None)
def test_the_held_rho_implies_the_pair_and_hardly_less(epsilon, delta):
    rho = epsilon_delta_to_zcdp(epsilon, delta)
    reference = mp.mpf(10) ** -50  # the rounding of 60 digits in the reference, no slack of ours
    assert true_epsilon(rho, delta) <= number(epsilon) * (1 + reference)
    assert true_epsilon(rho * (1 + LOOSE), delta) > number(epsilon) * (1 - mp.mpf(10) ** -9)
    assert true_log_delta(rho, epsilon) <= mp.log(number(delta)) + reference
    assert rho <= approximate_to_zcdp(epsilon, delta)  # the Gaussian at this (ε, δ) is within its ρ


@pytest.mark.long
@given(log_uniform(1e-4, 50), log_uniform(1e-4, 50), log_uniform(1e-12, 0.1), log_uniform(1e-12, 0.1))
@settings(max_examples=40, deadline=None)
def test_more_of_one_is_never_less_of_the_other(a, b, c, d):
    (low, high), (rare, often) = sorted((a, b)), sorted((c, d))
    assert zcdp_to_epsilon(low, rare) <= zcdp_to_epsilon(high, rare)
    assert zcdp_to_epsilon(low, often) <= zcdp_to_epsilon(low, rare)
    assert zcdp_to_delta(low, high) <= zcdp_to_delta(high, high)
    assert zcdp_to_delta(low, high) <= zcdp_to_delta(low, low)
    assert epsilon_delta_to_zcdp(low, rare) <= epsilon_delta_to_zcdp(high, often)
    assert analytic_multiplier(high, often) <= analytic_multiplier(low, rare)
    assert gaussian_delta(high, low) <= gaussian_delta(low, low)


@pytest.mark.parametrize("rho", [0.001, 0.05, 0.5, 5.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-6, 1e-3])
def test_against_dp_accounting_renyi(rho, delta):
    rdp = pytest.importorskip("dp_accounting.rdp.rdp_privacy_accountant")
    orders = [1 + 1.02**k / 50 for k in range(700)]
    theirs, _ = rdp.compute_epsilon(orders, [a * rho for a in orders], delta)
    ours = float(zcdp_to_epsilon(rho, delta))
    assert theirs * (1 - 2e-4) <= ours <= theirs * (1 + 1e-12)  # they try orders 2% apart, so are never better


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1, 1e-6), (3, 1e-9), (0.5, 0.01)])
def test_against_dp_accounting_gaussian(epsilon, delta):
    dp = pytest.importorskip("dp_accounting")
    theirs = dp.get_sigma_gaussian(epsilon, delta)
    assert float(analytic_multiplier(epsilon, delta)) == pytest.approx(theirs, rel=1e-6)  # their solver's tolerance
    ours = float(gaussian_delta(repr(float(theirs)), epsilon))
    assert dp.get_epsilon_gaussian(theirs, ours) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1e-30", "1e-300"), (1000, "1e-300"), (1000, 0.999), ("1e-6", 0.999999), ("1e-30", 0.5)]
)
def test_corners_stay_on_the_safe_side(epsilon, delta):
    s, rho = analytic_multiplier(epsilon, delta), epsilon_delta_to_zcdp(epsilon, delta)
    assert gaussian_delta_bounds(s, Fraction(epsilon))[1] <= Decimal(delta if isinstance(delta, str) else repr(delta))
    assert zcdp_to_epsilon(rho, delta) <= Fraction(epsilon) * (1 + LOOSE)
    assert 0 < rho <= approximate_to_zcdp(epsilon, delta) * (1 + LOOSE)


def test_nothing_spent_is_nothing_lost():
    assert zcdp_to_epsilon(0, 1e-6) == 0
    assert zcdp_to_delta(0, 1) == 0
    assert zcdp_to_delta(1e6, 0.001) == 1


@pytest.mark.parametrize(
    ("convert", "given_"),
    [
        (zcdp_to_delta, (-1, 1)),
        (zcdp_to_epsilon, (1, 0)),
        (zcdp_to_epsilon, (1, 1)),
        (epsilon_delta_to_zcdp, (0, 1e-6)),
        (analytic_multiplier, (1, float("nan"))),
        (gaussian_delta, (0, 1)),
    ],
)
def test_bad_numbers(convert, given_):
    with pytest.raises(BudgetError) as caught:
        convert(*given_)
    assert caught.value.code == "B01"

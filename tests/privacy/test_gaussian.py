"""Gaussian differential privacy: conversions against mpmath and dp-accounting; each step of the proofs, in numbers."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from tacit.errors import BudgetError
from tacit.privacy import (
    Cost,
    analytic_multiplier,
    epsilon_delta_to_mu_squared,
    gaussian_delta,
    mu_squared_to_delta,
    mu_squared_to_epsilon,
    pure_to_mu_squared,
    range_to_mu_squared,
)
from tacit.privacy.bought import Bought, mu_squared_of, range_for, rho_of
from tacit.privacy.gaussian import PI_UP, mu_squared_to_range, root_down

NEAR = Fraction(1, 10**11)
"""Relative: results have 12 digits."""
PAIRS = [(1, "1e-6"), ("0.02", "0.001"), (5, "1e-12"), ("0.001", "1e-9"), (40, "1e-5"), (1, "1e-200")]


def true_delta(mu: mpmath.mpf, epsilon: mpmath.mpf) -> mpmath.mpf:
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def real(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


@pytest.mark.parametrize(("epsilon", "delta"), PAIRS)
def test_a_pair_is_one_number_rounded_down(epsilon, delta):
    with mpmath.workdps(400):
        found = epsilon_delta_to_mu_squared(epsilon, delta)
        wanted, e = mpmath.mpf(delta), mpmath.mpf(str(epsilon))
        assert true_delta(mpmath.sqrt(real(found)), e) <= wanted
        assert true_delta(mpmath.sqrt(real(found * (1 + 4 * NEAR))), e) > wanted  # s² and ρ are rounded on the way
        assert found <= 1 / analytic_multiplier(epsilon, delta) ** 2
        assert mu_squared_to_delta(found, epsilon) <= Fraction(delta)


@given(st.fractions(Fraction(1, 10**4), 200), st.fractions(Fraction(0), 30))
@settings(max_examples=60)
def test_delta_is_never_below_the_truth(mu_squared, epsilon):
    with mpmath.workdps(80):
        truth = true_delta(mpmath.sqrt(real(mu_squared)), real(epsilon))
        found = real(mu_squared_to_delta(mu_squared, epsilon))
        assert truth <= found <= truth * (1 + mpmath.mpf("1e-10")) + mpmath.mpf("1e-299")


@given(st.fractions(Fraction(1, 10**4), 200), st.sampled_from(["1e-2", "1e-6", "1e-30"]))
@settings(max_examples=60)
def test_epsilon_is_never_below_the_truth(mu_squared, delta):
    found = mu_squared_to_epsilon(mu_squared, delta)
    with mpmath.workdps(80):
        mu = mpmath.sqrt(real(mu_squared))
        assert true_delta(mu, real(found)) <= mpmath.mpf(delta)
        if found > 0:
            assert true_delta(mu, real(found * (1 - NEAR))) > mpmath.mpf(delta) * (1 - mpmath.mpf("1e-8"))
    assert found == 0 or gaussian_delta(root_down(1 / mu_squared), found) <= Fraction(delta)


def test_as_dp_accounting_has_it():
    library = pytest.importorskip("dp_accounting")
    for mu in (0.1, 0.5, 2.0):
        theirs = library.get_epsilon_gaussian(1 / mu, 1e-6)
        assert float(mu_squared_to_epsilon(Fraction(str(mu)) ** 2, "1e-6")) == pytest.approx(theirs, rel=1e-7)


@pytest.mark.parametrize("epsilon", ["1e-20", "0.001", "0.3", "1", "8", "60", "700"])
def test_pure_and_range_are_the_points_of_their_curves(epsilon):
    """G_μ meets the vertex (1/(1 + e^ε), 1/(1 + e^ε)): from above, and within rounding."""
    e = Fraction(epsilon)
    with mpmath.workdps(400):
        odds = 1 / (1 + mpmath.exp(-real(e)))
        for found in (pure_to_mu_squared(e), range_to_mu_squared(2 * e)):
            half = mpmath.sqrt(real(found)) / 2
            assert mpmath.ncdf(half) >= odds
            assert mpmath.ncdf(mpmath.sqrt(real(found * (1 - NEAR))) / 2) < odds
    most = mu_squared_to_range(pure_to_mu_squared(e))
    assert 2 * e <= most <= 2 * e * (1 + Fraction(1, 10**9))
    assert range_to_mu_squared(mu_squared_to_range(Fraction(1, 50))) <= Fraction(1, 50) * (1 + NEAR)


@given(st.fractions(Fraction(1, 10**6), 10**3))
@settings(max_examples=60)
def test_a_range_is_rounded_down(mu_squared):
    with mpmath.workdps(300):
        x = mpmath.sqrt(real(mu_squared)) / 2
        truth = 2 * (mpmath.log(mpmath.ncdf(x)) - mpmath.log(mpmath.ncdf(-x)))
        assert truth * (1 - mpmath.mpf("1e-30")) <= real(mu_squared_to_range(mu_squared)) <= truth


# The proof of bounded range, step by step -----------------------------------------------------------------------------


def vertex(epsilon: float, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    q = (1 - np.exp(t - epsilon)) / (np.exp(t) - np.exp(t - epsilon))
    return q * np.exp(t), q


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 3.0, 8.0])
def test_the_most_telling_pair_of_a_range_is_the_even_one(epsilon):
    t = np.linspace(0, epsilon, 2001)[1:-1]
    p, q = vertex(epsilon, t)
    cost = (ndtri(p) - ndtri(q)) ** 2
    # L(z + μ/2) - L(z - μ/2) = ε at every t, which step (2) of the proof integrates
    mu, z = ndtri(p) - ndtri(q), (ndtri(p) + ndtri(q)) / 2
    log_odds = lambda x: norm.logcdf(x) - norm.logcdf(-x)  # noqa: E731
    assert np.allclose(log_odds(z + mu / 2) - log_odds(z - mu / 2), epsilon, rtol=1e-6)
    most = float(range_to_mu_squared(str(epsilon)))
    assert cost.max() <= most * (1 + 1e-9)
    assert cost[1000 - 1] == pytest.approx(most, rel=1e-9)
    assert abs(int(cost.argmax()) - 999) <= 1


def test_the_slope_of_log_odds_grows_away_from_0():
    """Step (3): k = ΦΦ̄/φ falls, v = ΦΦ̄/φ² rises from π/2, y k rises; and L(x) >= 4 φ(0) x."""
    z = np.linspace(0, 8, 4001)
    both, density = ndtr(z) * ndtr(-z), norm.pdf(z)
    assert (np.diff(both / density) < 0).all()
    v = both / density**2
    assert v[0] == pytest.approx(np.pi / 2)
    assert (np.diff(v) > 0).all()
    assert (np.diff(z * both / density) > 0).all()
    assert (norm.logcdf(z) - norm.logcdf(-z) >= 4 * norm.pdf(0) * z - 1e-12).all()


def test_two_cells_cost_most_at_a_corner():
    """c(ε) = μ² of a range is convex, so that a sum over cells is largest where one cell has all."""
    ranges = [Fraction(k, 10) for k in range(1, 120)]
    cost = [Fraction(0), *(range_to_mu_squared(one) for one in ranges)]
    slopes = np.diff([float(one) for one in cost])
    assert (np.diff(slopes) > 0).all()
    assert float(PI_UP) >= np.pi
    for one, known in zip(ranges, cost[1:], strict=True):
        assert known <= PI_UP * one**2 / 8
        assert one > 8 or known >= one**2 / 4  # a selection costs more than a normal of its ρ, but where ε is large


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
def test_trade_off_curves_lie_above_the_gaussian_one(epsilon):
    """Of a pure ε and of every pair within a range, at every type I error, both ways round."""
    a = np.linspace(0, 1, 5001)
    t = np.linspace(0, epsilon, 41)[1:-1]

    def gaussian(mu_squared: Fraction) -> np.ndarray:
        return ndtr(ndtri(1 - a) - float(mu_squared) ** 0.5)

    least = 1 / (1 + np.exp(epsilon))
    curve = np.interp(a, [0, least, 1], [1, least, 0])
    assert (gaussian(pure_to_mu_squared(str(epsilon))) <= curve + 1e-12).all()
    bound = gaussian(range_to_mu_squared(str(epsilon)))
    for p, q in zip(*vertex(epsilon, t), strict=True):
        assert (bound <= np.interp(a, [0, q, 1], [1, 1 - p, 0]) + 1e-12).all()
        assert (bound <= np.interp(a, [0, 1 - p, 1], [1, q, 0]) + 1e-12).all()


# What was bought ----------------------------------------------------------------------------------------------------


@given(st.fractions(Fraction(1, 1000), 2), st.integers(1, 9), st.integers(1, 2))
@settings(max_examples=40)
def test_parts_in_both_ways(rho, picks, cells):
    """Selections of a ρ price cost at most π ρ in μ², those of μ² at most μ²/2 in ρ; each at least what noise does."""
    part = Bought(Cost.of(rho=rho), picks, cells)
    assert 2 * rho <= mu_squared_of([part]) * (1 + NEAR)
    assert mu_squared_of([part]) <= part.cost.gdp
    other = Bought(Cost(mu_squared=rho), picks, cells)
    assert rho / PI_UP <= rho_of([other])
    assert rho_of([other]) <= rho / 2
    assert mu_squared_of([other]) == rho
    assert rho_of([part]) == rho


def test_a_selection_of_a_pair_keeps_its_part():
    share = Cost.of(epsilon=1, delta=1e-6).share(Fraction(1, 7))
    assert range_to_mu_squared(range_for(share)) <= share.gdp * (1 + NEAR)
    assert range_for(Cost.of(epsilon="0.3")) == Fraction(3, 10)


@pytest.mark.parametrize("wrong", [(-1, "1e-6"), (1, 0), (1, 1), ("x", "1e-6")])
def test_what_is_no_number_is_refused(wrong):
    with pytest.raises(BudgetError) as caught:
        mu_squared_to_epsilon(*wrong)
    assert caught.value.code == "B01"

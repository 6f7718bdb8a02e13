"""Scales: never too small, hardly too large, simple where they can be."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import BudgetError
from tacit.privacy import Cost, gaussian_delta, gaussian_scale, laplace_scale, noise_for
from tacit.privacy.calibration import root_up, simplest

prices = st.fractions(min_value=Fraction(1, 10**9), max_value=1000, max_denominator=10**9).filter(bool)


@given(st.integers(0, 10**13), prices)
def test_laplace_is_exact(l1, epsilon):
    assert laplace_scale(l1, Cost.of(epsilon=epsilon)) * epsilon == l1


@given(st.integers(1, 10**26), prices)
def test_gaussian_is_rounded_up_and_hardly(l2_squared, rho):
    scale = gaussian_scale(l2_squared, Cost.of(rho=rho))
    square = l2_squared / (2 * rho)
    assert square <= scale**2 <= square * (1 + Fraction(1, 2**60)) ** 2
    assert scale.denominator <= max(2**62, square.denominator)


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=10**12).filter(bool))
def test_a_rational_root_is_itself(root):
    assert root_up(root**2) == root


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9).filter(bool), st.integers(1, 10**12))
def test_simplest_is_inside_and_simplest(low, width):
    high = low + Fraction(1, width)
    found = simplest(low, high)
    assert low <= found <= high
    if found.denominator > 1:  # the fraction before it with any smaller denominator misses the interval
        for d in range(max(1, found.denominator - 50), found.denominator):
            assert -(-low.numerator * d // low.denominator) > high * d


def test_known_scales():
    assert gaussian_scale(4, Cost.of(rho=0.5)) == 2
    assert gaussian_scale(2, Cost.of(rho=1)) == 1
    assert laplace_scale(2, Cost.of(epsilon=0.5)) == 4
    assert laplace_scale(0, Cost.of(epsilon=0.5)) == 0
    assert gaussian_scale(0, Cost.of(rho=1)) == 0


@given(st.integers(1, 10**9), st.fractions(min_value=Fraction(1, 10), max_value=10), st.integers(3, 12))
def test_an_approximate_price_gets_its_delta_and_its_rho(l2, epsilon, nines):
    cost = Cost.of(epsilon=epsilon, delta=Fraction(1, 10**nines))
    scale = gaussian_scale(l2 * l2, cost)
    assert gaussian_delta(scale / l2, epsilon) <= cost.delta
    assert Fraction(l2 * l2) / (2 * scale**2) <= cost.zcdp


@given(st.integers(1, 10**6), prices, prices)
def test_a_lower_price_buys_no_less_noise(sensitivity, a, b):
    low, high = sorted((a, b))
    assert laplace_scale(sensitivity, Cost.of(epsilon=low)) >= laplace_scale(sensitivity, Cost.of(epsilon=high))
    assert gaussian_scale(sensitivity, Cost.of(rho=low)) >= gaussian_scale(sensitivity, Cost.of(rho=high))


def test_a_price_buys_its_own_law_only():
    for wrong in (lambda: laplace_scale(1, Cost.of(rho=1)), lambda: gaussian_scale(1, Cost.of(epsilon=1))):
        with pytest.raises(BudgetError) as caught:
            wrong()
        assert caught.value.code == "B08"
    with pytest.raises(BudgetError):
        laplace_scale(1, Cost.of(epsilon=1, delta=1e-6))
    with pytest.raises(BudgetError):
        laplace_scale(-1, Cost.of(epsilon=1))


def test_the_law_follows_from_the_price():
    laws = pytest.importorskip("tacit.noise.laws")
    assert noise_for(2, 4, Cost.of(epsilon=0.5)) == laws.DiscreteLaplace(Fraction(4))
    assert noise_for(2, 4, Cost.of(rho=0.5)) == laws.RoundedNormal(Fraction(2))
    assert isinstance(noise_for(2, 4, Cost.of(epsilon=1, delta=1e-6)), laws.RoundedNormal)
    with pytest.raises(BudgetError):
        noise_for(0, 0, Cost.of(epsilon=1))

"""Bounds on the best attacker against closed forms, and against mechanisms whose attacker is known exactly."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tacit.meaning import attacker
from tacit.meaning.promise import Promise, of_budget, of_cost, of_spend
from tacit.privacy import Budget, Cost, Spend

ALPHAS = np.array([0.0, 0.001, 0.01, 0.05, 0.2, 0.5, 0.9, 1.0])
epsilons = st.fractions(Fraction(1, 100), 8, max_denominator=100)


def pure(epsilon: Fraction | float) -> Promise:
    return Promise(pure=Fraction(epsilon))


@given(epsilons)
@settings(max_examples=30, deadline=None)
def test_a_pure_promise_has_the_closed_forms(exact):
    e, one = float(exact), pure(exact)
    known = np.maximum(0, np.maximum(1 - np.exp(e) * ALPHAS, np.exp(-e) * (1 - ALPHAS)))
    assert attacker.least_misses(one, ALPHAS) == pytest.approx(known, abs=1e-12)
    assert attacker.advantage(one) == pytest.approx(math.tanh(e / 2))
    assert attacker.right(one) == pytest.approx(1 / (1 + math.exp(-e)))
    assert attacker.found_among(one, 37) == pytest.approx(math.exp(e) / (36 + math.exp(e)))
    assert attacker.odds_factor(one) == pytest.approx(e)
    for k in (2, 5):
        assert attacker.right(one.of_people(k)) == pytest.approx(1 / (1 + math.exp(-k * e)))


@given(epsilons, st.integers(2, 12))
@settings(max_examples=30, deadline=None)
def test_randomised_response_over_many_values_attains_the_bound(exact, m):
    # the truth with e^ε / (m - 1 + e^ε): to name the answer is the best guess
    e = float(exact)
    assert attacker.found_among(pure(exact), m) == pytest.approx(math.exp(e) / (m - 1 + math.exp(e)))


@given(epsilons, st.floats(0, 0.3), st.floats(0.001, 0.999))
@settings(max_examples=60, deadline=None)
def test_the_least_private_mechanism_of_a_pair_attains_every_bound(exact, delta, prior):
    # its four outcomes by table: revealed 0, kept e^ε : 1, 1 : e^ε, revealed 1 [Kairouz, Oh & Viswanath 2015]
    e, one = float(exact), Promise(pair=(exact, Fraction(delta)))
    truth = (1 - delta) / (1 + math.exp(-e))
    first = np.array([delta, truth, 1 - delta - truth, 0.0])
    second = first[::-1]
    assert one.delta(0.0) == pytest.approx(0.5 * np.abs(first - second).sum(), abs=1e-12)
    assert attacker.right(one, prior) == pytest.approx(np.maximum(prior * first, (1 - prior) * second).sum(), abs=1e-9)
    for rejected in itertools.product((0, 1), repeat=4):
        alarms = np.array(rejected)
        misses = attacker.least_misses(one, np.array([float(second @ alarms)]))[0]
        assert first @ (1 - alarms) >= misses - 1e-9


@pytest.mark.parametrize("mu", [0.05, 0.5, 2.0, 6.0])
def test_a_normal_promise_is_that_of_two_normals(mu):
    one = Promise(mu_squared=Fraction(mu) ** 2)
    exact = stats.norm.cdf(stats.norm.ppf(1 - ALPHAS) - mu)
    found = attacker.least_misses(one, ALPHAS)
    assert (found <= exact + 1e-9).all()  # a lower bound,
    assert found == pytest.approx(exact, abs=0.01)  # and near it on the grid of ε
    assert attacker.advantage(one) == pytest.approx(2 * stats.norm.cdf(mu / 2) - 1)
    for prior in (0.5, 0.2, 0.01):
        cut = math.log((1 - prior) / prior) / mu
        best = prior * stats.norm.cdf(mu / 2 - cut) + (1 - prior) * stats.norm.cdf(mu / 2 + cut)
        assert attacker.right(one, prior) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("mu", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("apart", [1e-3, 1e-6])
def test_a_suspicion_moves_further_as_rarely_as_told(mu, apart):
    factor = attacker.odds_factor(Promise(mu_squared=Fraction(mu) ** 2), apart)
    # the loss of two normals is normal, of mean μ²/2 and variance μ²
    beyond = stats.norm.sf(factor, mu**2 / 2, mu)
    assert apart / 30 < beyond <= apart


@pytest.mark.parametrize("rho", [0.001, 0.1, 1.0])
def test_normal_noise_and_a_selection_stay_within_their_rho(rho):
    one = of_cost(Cost.of(rho=Fraction(rho)))
    mu = math.sqrt(2 * rho)
    normal = stats.norm.cdf(stats.norm.ppf(1 - ALPHAS) - mu)
    assert (attacker.least_misses(one, ALPHAS) <= normal + 1e-12).all()
    assert attacker.advantage(one) >= 2 * stats.norm.cdf(mu / 2) - 1
    # a selection of range √(8 ρ): the binary pair with log-ratios ±range/2
    half = math.sqrt(8 * rho) / 2
    assert attacker.right(one) >= 1 / (1 + math.exp(-half)) - 1e-12


def test_repeated_randomised_response_stays_within_the_repeated_promise():
    e, k = 0.3, 6
    flips = stats.binom(k, 1 / (1 + math.exp(-e))).pmf(np.arange(k + 1))
    exact = 0.5 * np.abs(flips - flips[::-1]).sum()
    bound = attacker.advantage(of_cost(Cost.of(epsilon="0.3")).repeated(k))
    assert exact <= bound <= math.tanh(k * e / 2)
    # μ of each adds in squares: below the sum of ε for many releases
    assert attacker.advantage(of_cost(Cost.of(epsilon="0.01")).repeated(1_000)) < 0.2


def test_groups_under_approximate_parts_go_step_by_step():
    whole = Promise(mu_squared=Fraction(1, 4), slack=Fraction(1, 1000))
    # with no part the group of three has three times μ; with a part it has at least that, and k δ at ε = 0
    clean = Promise(mu_squared=Fraction(1, 4)).of_people(3)
    for epsilon in (0.0, 0.5, 2.0):
        assert whole.of_people(3).delta(epsilon) >= clean.delta(epsilon)
    assert Promise(mu_squared=Fraction(0), slack=Fraction(1, 1000)).of_people(3).delta(0.0) == pytest.approx(0.003)


def test_a_ledger_of_a_pair_promises_the_pair_whatever_its_parts():
    budget = Budget(epsilon=1, delta="1e-6")
    assert of_budget(budget).delta(1.0) == pytest.approx(1e-6)
    spent = Spend(mu_squared=Fraction(1, 100), delta=Fraction(1, 10**7))
    assert of_spend(budget, spent).delta(1.0) < 1e-6
    for other in (Budget(epsilon=1), Budget(rho="0.1"), Budget(epsilon=1, delta="1e-6", accounting="basic")):
        assert 0 < of_budget(other).delta(0.0) < 1


@given(st.sampled_from(["pure", "pair", "rho", "mu"]), st.fractions(Fraction(1, 50), 3, max_denominator=50))
@settings(max_examples=40, deadline=None)
def test_bounds_grow_with_the_price_and_hold_at_the_ends(kind, x):
    made = {
        "pure": lambda v: Promise(pure=v),
        "pair": lambda v: Promise(pair=(v, Fraction(1, 10**6))),
        "rho": lambda v: Promise(rho=v),
        "mu": lambda v: Promise(mu_squared=v),
    }[kind]
    less, more = made(x), made(2 * x)
    assert 0 <= attacker.advantage(less) <= attacker.advantage(more) <= 1
    power = attacker.largest_power(less, ALPHAS)
    assert (power >= ALPHAS - 1e-12).all()
    assert (np.diff(power) >= -1e-12).all()
    assert attacker.found_among(less, 2) == pytest.approx(attacker.right(less), abs=0.02)
    low, high = attacker.posterior(less, 0.3, 1e-3)
    assert 0 <= low <= 0.3 <= high <= 1

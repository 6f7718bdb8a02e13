"""The audit: right laws are never refuted, half the noise always is."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.noise.laws import DiscreteLaplace, RoundedNormal
from tacit.noise.spherical import SphericalLaplace
from tacit.privacy import analytic_multiplier
from tacit.testing.audit import clopper_pearson, epsilon_lower_bound, proven_by_scale

DRAWS = 200_000


def discrete_laplace(rng: np.random.Generator, scale: float) -> np.ndarray:
    stop = 1 - np.exp(-1 / scale)
    return rng.geometric(stop, DRAWS) - rng.geometric(stop, DRAWS)


# A right law is refuted with chance at most 1e-6 in each of these calls (confidence 1 - 1e-6), 8 in all: below 1e-5.
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
def test_pure(epsilon):
    rng, apart = np.random.default_rng(7), 10
    right = [discrete_laplace(rng, apart / epsilon) + shift for shift in (0, apart)]
    assert 0.5 * epsilon < epsilon_lower_bound(*right, delta=0.0) <= epsilon
    half = [discrete_laplace(rng, apart / epsilon / 2) + shift for shift in (0, apart)]
    assert epsilon_lower_bound(*half, delta=0.0) > epsilon


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_ten_percent_less_noise_is_found_where_draws_suffice(epsilon):
    rng, apart = np.random.default_rng(8), 10
    less = [discrete_laplace(rng, 0.9 * apart / epsilon) + shift for shift in (0, apart)]
    assert epsilon_lower_bound(*less, delta=0.0) > epsilon


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_approximate(epsilon, order):
    rng, delta, apart = np.random.default_rng(9), 1e-3, 100
    scale = float(analytic_multiplier(epsilon, delta)) * apart
    right = [np.rint(scale * rng.standard_normal(DRAWS)) + shift for shift in (0, apart)][::order]
    assert 0.3 * epsilon < epsilon_lower_bound(*right, delta=delta) <= epsilon
    half = [np.rint(scale / 2 * rng.standard_normal(DRAWS)) + shift for shift in (0, apart)][::order]
    assert epsilon_lower_bound(*half, delta=delta) > epsilon


def test_equal_laws_prove_nothing():
    rng = np.random.default_rng(10)
    assert epsilon_lower_bound(rng.integers(0, 5, DRAWS), rng.integers(0, 5, DRAWS), delta=0.0) < 0.01


def test_a_forbidden_output_proves_much():
    """One value that only one table can produce: more than e^5 after 10,000 draws."""
    rng = np.random.default_rng(11)
    assert epsilon_lower_bound(rng.integers(0, 2, 10_000), np.zeros(10_000), delta=1e-6) > 5


def test_clopper_pearson_covers():
    """Bounds at error 0.01 for binomial(50, 0.1): exact tail probabilities, no simulation."""
    from scipy.stats import binom

    k = np.arange(51, dtype=np.float64)
    low, high = clopper_pearson(k, 50, 0.01)
    mass = binom.pmf(k, 50, 0.1)
    assert mass[low > 0.1].sum() <= 0.01
    assert mass[high < 0.1].sum() <= 0.01
    assert low[0] == 0
    assert high[-1] == 1


def test_bad_samples():
    with pytest.raises(ValueError, match="shape"):
        epsilon_lower_bound(np.zeros((2, 2)), np.zeros(2), 0.0)
    with pytest.raises(ValueError, match="delta"):
        epsilon_lower_bound(np.zeros(2), np.zeros(2), 1.0)


LAWS_OF_SCALE = (
    (DiscreteLaplace(Fraction(3, 10)), 10.0),
    (DiscreteLaplace(Fraction(5)), 0.6),
    (RoundedNormal(Fraction(1, 2)), 2 * 5**0.5),
    (RoundedNormal(Fraction(40)), 5**0.5 / 40),
    (SphericalLaplace(Fraction(30), 3), 5**0.5 / 30),
)


@pytest.mark.parametrize(("law", "costs"), LAWS_OF_SCALE, ids=str)
def test_what_a_scale_proves_is_seldom_too_much(law: Any, costs: float) -> None:
    """At an error of 5% in 400 samples: more than 45 times has probability below 1e-6.  And it is no idle bound."""
    rng = np.random.default_rng(3)
    samples = [law.sample(300, rng).reshape(100, 3).astype(np.int64) for _ in range(400)]
    found = np.array([proven_by_scale(one, (2, 1, 0), law, 0.05) for one in samples]) / costs
    assert (found > 1).sum() <= 45
    assert found.mean() > 0.75

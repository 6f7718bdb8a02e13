"""Answers that are given where a noisy size is large enough: what their intervals hold, given that they are given."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.estimates.total_errors.selection import GAMMA, GivenAnswer, chance_of_answer
from tacit.noise.laws import DiscreteLaplace, RoundedNormal
from tacit.testing import simulate

GROUPS = 1_000
MEAN = tc.Mean("x", by="g")


def test_the_chance_of_an_answer_is_that_of_the_lower_limit_of_the_size() -> None:
    """With one normal noise all of it is in closed form: n = N0 + quantile(GAMMA alpha P(answer at N0))."""
    noise, law, load, alpha = stats.norm(scale=5.0), RoundedNormal(Fraction(10**5)), np.array([5e-5]), 0.05
    q = noise.isf(0.025)
    for least in (0.0, 2.0):
        size = np.linspace(least, q + 20, 23)
        chance = noise.sf(q + least - size)
        seen = size + noise.isf(GAMMA * alpha * chance)
        assert GivenAnswer(seen, q + least, least, law, load).chance(alpha) == pytest.approx(chance, rel=2e-3)
    # at the threshold nothing is known but that there is an answer; far from it an answer was certain
    ends = GivenAnswer(np.array([q, q + 1_000]), q, 0.0, law, load).chance(alpha)
    assert ends == pytest.approx([0.025, 1.0], rel=2e-3)


def test_the_chance_of_an_answer_by_bisection_is_the_same() -> None:
    """Of a normal noise, and of a Laplace one, against the table of `GivenAnswer`; with a public size it is 1."""
    for law, load in ((RoundedNormal(Fraction(10**5)), 5e-5), (DiscreteLaplace(Fraction(10**5)), 5e-5)):
        normal = isinstance(law, RoundedNormal)
        scale = 5.0
        noise = stats.norm(scale=scale) if normal else stats.laplace(scale=scale)
        q = float(noise.isf(0.025))
        seen = q + np.array([0.5, 3.0, 9.0, 20.0, 40.0, 1_000.0])
        s, b = (np.full(6, scale), np.zeros((6, 1))) if normal else (np.zeros(6), np.full((6, 1), scale))
        found = chance_of_answer(seen, np.full(6, q), s, b, 0.05)
        table = GivenAnswer(seen, q, 0.0, law, np.array([load])).chance(0.05)
        # the tail of one Laplace noise has no memory: below its jump nothing is known of the size
        assert found == pytest.approx(np.where(table > 0.99, 1.0, table), abs=0.01)
    assert chance_of_answer(np.array([5.0]), np.zeros(1), np.zeros(1), np.zeros((1, 1)), 0.05).tolist() == [1.0]


def test_a_size_with_one_laplace_noise_says_nothing_near_its_threshold() -> None:
    """The noise above a threshold has the same law wherever the threshold is."""
    noise, law, load = stats.laplace(scale=5.0), DiscreteLaplace(Fraction(10**5)), np.array([5e-5])
    q = noise.isf(0.025)
    seen = q + 5 * np.log(1 / (GAMMA * 0.05)) + np.array([-10, -0.1, 0.1, 3])
    found = GivenAnswer(seen, q, 0.0, law, load).chance(0.05)
    assert found[:2] == pytest.approx([0.025, 0.025], rel=2e-3)
    assert (found[2:] > 0.49).all()


def test_a_public_size_is_no_choice() -> None:
    law = RoundedNormal(Fraction(10**5))
    assert GivenAnswer(np.array([3.0, 9.0]), 0.0, 0.0, law, np.zeros(2)).chance(0.05).tolist() == [1.0, 1.0]


def held(x: np.ndarray, truth: float, repeats: int, query: Any = MEAN, **price: float) -> tuple[int, int]:
    """Answers, and how many of their intervals hold the truth, in releases of numbers of as many groups as rows."""
    names = [f"g{i}" for i in range(len(x))]
    schema = tc.Schema({"x": tc.Real(0, 1), "g": tc.Category(names)})
    table = {"x": x.reshape(-1), "g": np.repeat(names, x.shape[1])}
    made = simulate(query, table, schema, repeats=repeats, rng=1, **price)
    found = [release.estimate() for release in made.releases]
    said = np.concatenate([[reason is None for reason in one.reasons] for one in found])
    ends = np.concatenate([one.intervals() for one in found])[said]
    return int(said.sum()), int(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).sum())


def test_few_rows_are_covered_given_an_answer() -> None:
    """Of 2 rows near a bound most have no answer; with 95% of the others right, one run in 1e6 is below the limit."""
    answers, inside = held(np.full((GROUPS, 2), 0.02), 0.02, 3, epsilon=1.0)
    assert answers > 60
    assert inside >= stats.binom.ppf(1e-6, answers, 0.95)


def test_few_rows_of_a_skewed_law() -> None:
    """Lognormal values, at a price with next to no noise: 90% without the rows that were not seen."""
    law = stats.lognorm(0.8, scale=np.exp(-2))
    x = np.clip(law.rvs((GROUPS * 3, 16), random_state=np.random.default_rng(5)), 0, 1)
    answers, inside = held(x, float(np.trapezoid(law.sf(np.linspace(0, 1, 10_001)), dx=1e-4)), 1, epsilon=50.0)
    assert answers == 3 * GROUPS
    assert inside >= stats.binom.ppf(1e-6, answers, 0.94)


def test_variances_of_few_rows_near_a_bound() -> None:
    """The noise in squares about a mean that the noise moved inwards is larger than it looks there: 85% without."""
    law = stats.beta(40, 2)
    x = law.rvs((GROUPS, 4), random_state=np.random.default_rng(7))
    answers, inside = held(x, law.var(), 3, tc.Variance("x", by="g"), rho=0.5)
    assert answers > 400
    assert inside >= stats.binom.ppf(1e-6, answers, 0.95)

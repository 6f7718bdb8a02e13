"""Coverage and precision of combined estimates: quick, seeded versions of `benchmarks/combine_coverage.py`.

Tolerances: 5 standard errors of a share of R repetitions (beyond with probability < 1e-6) on both sides of what
`docs/reference/combining.md` states: 94 to 96.5% with common effects, 93 to 97% with random ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.pooling.common_value import pooled
from tacit.pooling.evidence import Evidence, merge_same_people
from tacit.pooling.random_effects import random_effects
from tacit.pooling.released_evidence import evidence
from tacit.testing.simulated_parties import answers

SCHEMA = tc.Schema({"x": tc.Real(0, 1), "whole": tc.Real(0, 1, missing=0), "yes": tc.Boolean()})
R = 600


def within(hit: Any, low: float, high: float) -> bool:
    share, slack = float(np.mean(hit)), 5 * math.sqrt(0.05 * 0.95 / len(hit))
    return low - slack <= share <= high + slack


def found(query: Any, sizes: Sequence[int], epsilon: float, neighbors: str, shift: Any = None) -> Evidence:
    """Evidence of R repetitions, as cells."""
    own = np.zeros((len(sizes), R)) if shift is None else shift
    share = query.columns == ("yes",)

    def values(rng: np.random.Generator, party: int, repeats: int, rows: int) -> Any:
        if share:
            return (rng.random((repeats, rows)) < 0.3 + own[party][:, None]).astype(float)
        return np.clip(rng.beta(4, 6, (repeats, rows)) + own[party][:, None], 0, 1)

    price: list[dict[str, Any]] = [{"epsilon": str(epsilon)}] * len(sizes)
    return evidence(answers(query, SCHEMA, values, sizes, price, neighbors=neighbors, repeats=R, rng=11), 0)


@pytest.mark.sample(12)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize(
    ("query", "truth"), [(tc.Mean("x"), 0.4), (tc.Mean("yes"), 0.3), (tc.Variance("x"), 0.24 / 11)], ids=repr
)
@pytest.mark.parametrize(("sizes", "epsilon"), [((300,) * 12, 0.5), ((100, 300, 1_000, 3_000), 0.5)], ids=str)
def test_common_effects_cover(query: Any, truth: float, neighbors: str, sizes: Sequence[int], epsilon: float) -> None:
    made = pooled(found(query, sizes, epsilon, neighbors))
    low, high = made.interval(0.95)
    assert within((low <= truth) & (truth <= high), 0.94, 0.965)
    assert abs(made.value.mean() - truth) < 5 * made.value.std() / math.sqrt(R) + 0.05 * made.value.std()


def test_few_rows_are_covered_given_an_answer() -> None:
    """Of two parties of 4 rows near a bound few have an answer: with 95% of them right, one run in 1e6 is below."""
    price: list[dict[str, Any]] = [{"epsilon": "0.5"}] * 2

    def values(rng: np.random.Generator, party: int, repeats: int, rows: int) -> Any:
        return rng.beta(40, 2, (repeats, rows))

    some = answers(tc.Mean("x"), SCHEMA, values, (4, 4), price, neighbors="add-remove", repeats=3_000, rng=3)
    made = pooled(evidence(some, 0))
    low, high = made.interval(0.95)
    held, said = (low <= 40 / 42) & (high >= 40 / 42), ~made.unclear
    assert 200 < said.sum() < 1_500
    assert held[said].sum() >= stats.binom.ppf(1e-6, said.sum(), 0.95)


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_variances_at_different_prices_cover(neighbors: str) -> None:
    """What corrects for noise on the mean is each party's own."""
    price: list[dict[str, Any]] = [{"epsilon": str(e)} for e in (0.3, 0.5, 1, 1, 2)]
    made = answers(tc.Variance("x"), SCHEMA, lambda g, j, r, n: g.beta(4, 6, (r, n)), (300,) * 5, price,
                   neighbors=neighbors, repeats=R, rng=3)  # fmt: skip
    low, high = pooled(evidence(made, 0)).interval(0.95)
    assert within((low <= 0.24 / 11) & (high >= 0.24 / 11), 0.94, 0.975)


def test_hopeless_parties_together_are_not() -> None:
    """40 parties of 50 rows at ε = 0.2, sizes private: noise is larger than most sizes; the pool covers, unbiased."""
    made = pooled(found(tc.Mean("x"), (50,) * 40, 0.2, "add-remove"))
    low, high = made.interval(0.95)
    assert not made.unclear.any()
    assert within((low <= 0.4) & (high >= 0.4), 0.94, 0.965)
    assert pooled(found(tc.Variance("x"), (50,) * 40, 0.2, "add-remove")).unclear.mean() > 0.99


@pytest.mark.long
@pytest.mark.sample(8)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize(("query", "truth"), [(tc.Mean("x"), 0.4), (tc.Mean("yes"), 0.3)], ids=repr)
@pytest.mark.parametrize("tau", [0.0, 0.05])
def test_random_effects_cover(query: Any, truth: float, neighbors: str, tau: float) -> None:
    sizes = (150, 150, 300, 300, 300, 300, 300, 500, 500, 1_000)
    rng = np.random.default_rng(5)
    shift = rng.normal(0, 1, (len(sizes), R)) * tau
    made = random_effects(found(query, sizes, 1, neighbors, shift))
    low, high = made.interval(0.95)
    assert within((low <= truth) & (truth <= high), 0.93, 0.97)
    ahead = np.array([one.prediction(0.95) for one in made.effects if one is not None])
    new = truth + tau * rng.normal(0, 1, R)
    inside = (ahead[:, 0] <= new) & (new <= ahead[:, 1])
    assert within(inside, 0.93, 1.0)


def test_random_effects_of_variances_count_only_parties_that_say_something() -> None:
    """Nine parties whose sizes are unclear are left out: they are no observations without error."""
    evidence = found(tc.Variance("x"), (2_000,) * 3 + (20,) * 9, 0.5, "add-remove")
    says = evidence.informative
    assert says[:3].all()
    assert says[3:].mean() < 0.05
    made = random_effects(evidence)
    assert [one.df for one in made.effects if one is not None] == (says.sum(axis=0) - 1).tolist()
    low, high = made.interval(0.95)
    assert within((low <= 0.24 / 11) & (high >= 0.24 / 11), 0.93, 1.0)


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_random_effects_cover_near_a_bound_where_noise_is_larger_than_the_mean(neighbors: str) -> None:
    """40 parties of 56, means around 0.1, ε = 0.25: ratios of noisy numbers, kept to [0, 1], would all err upwards, and
    0 to 19 % cover.  No bias beyond 5 of its Monte-Carlo errors, and coverage as elsewhere.
    """
    rng = np.random.default_rng(5)
    means = np.clip(0.1 + 0.03 * rng.normal(0, 1, (40, 300)), 0.01, 0.99)

    def values(rng: np.random.Generator, party: int, repeats: int, rows: int) -> Any:
        a = 10 * means[party][:, None]
        return rng.beta(a, 10 - a, (repeats, rows))

    price: list[dict[str, Any]] = [{"epsilon": "0.25"}] * 40
    drawn = answers(tc.Mean("x"), SCHEMA, values, (56,) * 40, price, neighbors=neighbors, repeats=300, rng=3)
    made = random_effects(evidence(drawn, 0))
    low, high = made.interval(0.95)
    assert within((low <= 0.1) & (high >= 0.1), 0.93, 0.975)
    mu = np.array([one.mu for one in made.effects if one is not None])  # before it is kept to the bounds
    assert abs(mu.mean() - 0.1) < 5 * mu.std() / math.sqrt(300)


def test_a_common_effect_of_parties_that_differ_does_not_cover() -> None:
    """The tolerance can tell: with τ four standard errors of a party, the common interval misses most of the time."""
    shift = np.random.default_rng(5).normal(0, 0.05, (10, R))
    made = pooled(found(tc.Mean("x"), (300,) * 10, 1, "replace-one", shift))
    low, high = made.interval(0.95)
    assert not within((low <= 0.4) & (high >= 0.4), 0.94, 0.965)


@pytest.mark.long
def test_unequal_parties_lose_little_to_the_pooled_rows() -> None:
    """100 to 30,000 rows, ε = 0.2: at most 1.08 times the bound, and 5 errors of a mean square, sqrt(2 / R), on top."""
    sizes = (100, 300, 1_000, 3_000, 10_000, 30_000)
    query = tc.Mean("whole")
    price: list[dict[str, Any]] = [{"epsilon": "0.2"}] * 6
    made = evidence(answers(query, SCHEMA, lambda g, j, r, n: g.random((r, n)), sizes, price, repeats=R, rng=3), 0)
    best = 1 / 12 / sum(sizes)
    error = float(((pooled(made).value - 0.5) ** 2).mean()) / best
    assert error < 1.08 * (1 + 5 * math.sqrt(2 / R))
    equal = float(((made.shift + made.scale * (made.total / made.size).mean(axis=0) - 0.5) ** 2).mean()) / best
    assert equal > 50  # theory §6: about 90


def test_the_same_people_cover_too() -> None:
    """Two releases of one table of each of 6 parties: noise is averaged, sampling error counts once."""
    rng = np.random.default_rng(2)
    rows = rng.beta(4, 6, (6, R, 300))
    price: list[dict[str, Any]] = [{"epsilon": "0.5"}] * 12
    both = answers(tc.Mean("x"), SCHEMA, lambda g, j, r, n: rows[j // 2], (300,) * 12, price, repeats=R, rng=4)
    made = pooled(merge_same_people(evidence(both, 0), [j // 2 for j in range(12)]))
    low, high = made.interval(0.95)
    assert within((low <= 0.4) & (high >= 0.4), 0.94, 0.965)
    apart = pooled(evidence(both, 0))
    assert (apart.variance < 0.7 * made.variance).all()  # taken as different people, it would promise too much

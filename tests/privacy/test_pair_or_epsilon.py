"""A pair (ε, δ) buys what ε alone buys where that errs less and the ledger adds ε and adds δ; elsewhere never."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.curator.mechanisms import design, mechanism_of
from tacit.method.shared.measurement import Public
from tacit.noise.laws import DiscreteLaplace, RoundedNormal
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost, noise_for
from tacit.privacy.gaussian import epsilon_delta_to_mu_squared, pure_to_mu_squared
from tacit.release.document import release_from_dict
from tacit.testing.contract import pairs_kept
from tacit.testing.pair_check import PAIRS, pair_violation

SCHEMA = tc.Schema({"x": tc.Real(0, 1, missing=0.0), "y": tc.Boolean(missing=False)})
PAIR, ALONE = Cost.of(epsilon=1, delta="1e-6"), Cost.of(epsilon=1)
QUERIES: dict[str, Any] = {
    "histogram": tc.Histogram("x", bins={"x": 64}),
    "auto bins": tc.Histogram("x", bins="auto"),
    "sparse": tc.Histogram(["x", "y"], bins={"x": 512}, sparse=True),
    "kernel": tc.KernelDensity("x"),
    "cosine": tc.OrthogonalSeries("x"),
    "legendre": tc.OrthogonalSeries("x", "legendre", terms=3),
    "Bernstein": tc.Bernstein("x"),
    "low degree": tc.Bernstein("x", degree=4),
    "risk": tc.RiskFunction("y", on="x"),
    "data set": tc.KSDataset("x", size=10, cells=20),
    "candidates": tc.ExponentialMechanism("y"),
}
BY_EPSILON = {"histogram", "auto bins", "sparse", "kernel", "legendre", "low degree", "data set", "candidates"}
"""Those whose answer at ε = 1 errs less than at (1, 1e-6), 2,000 rows."""


def shape_of(query: Any, accounting: str | None, cost: Cost = PAIR, relation: str = "replace-one") -> Any:
    rows = 2_000 if relation == "replace-one" else None
    return design(query, Public(SCHEMA, relation, rows, 2_000, accounting), cost)


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_the_smaller_error_is_bought(name, relation):
    query = QUERIES[name]
    made = shape_of(query, "basic", relation=relation)
    normal, laplace = (shape_of(query, None, cost, relation) for cost in (PAIR, ALONE))
    error: Any = mechanism_of(query).error
    least = min((normal, laplace), key=lambda one: error(one, 2_000))
    assert (made.cost, made.columns) == (least.cost, least.columns)
    if relation == "replace-one":
        assert (made.cost == ALONE) == (name in BY_EPSILON)


@pytest.mark.parametrize("name", QUERIES)
def test_ledgers_of_one_number_and_shares_of_a_pair_buy_what_the_pair_does(name):
    """At the charge of a pair, Laplace noise would be sold at a fraction of its cost there."""
    for accounting in (None, "gdp", "zcdp"):
        assert all(
            isinstance(one.law, RoundedNormal | Selection) for one in shape_of(QUERIES[name], accounting).columns
        )
        assert shape_of(QUERIES[name], accounting).cost == PAIR
    half = PAIR.share(Fraction(1, 2))
    assert shape_of(QUERIES[name], "basic", half).cost == half
    assert shape_of(QUERIES[name], "basic", ALONE).cost == ALONE


def test_the_cost_of_epsilon_alone_in_mu_squared():
    """The factor that the module states, and that at an equal charge in μ² normal noise has the smaller variance."""
    assert round(float(pure_to_mu_squared(1) / epsilon_delta_to_mu_squared(1, "1e-6"))) == 27
    for epsilon in ("0.01", "0.1", 1, 3, 10, "12.5"):
        square = pure_to_mu_squared(epsilon)
        assert square < 81
        for l1, l2_squared in ((2**20, 2**40), (2**20, 2**38)):
            laplace = noise_for(l1, l2_squared, Cost.of(epsilon=epsilon)).variance()
            assert noise_for(l1, l2_squared, Cost(mu_squared=square)).variance() < laplace


@pytest.mark.parametrize("name", ["histogram", "low degree", "risk", "data set", "candidates"])
def test_what_is_bought_keeps_the_pair(name):
    assert pairs_kept({"": QUERIES[name]}, SCHEMA) == []
    # and a price that promised more than what is sold would be found out
    made = shape_of(QUERIES[name], "basic", ALONE)
    assert pair_violation([made], PAIR) == []
    assert pair_violation([made], Cost.of(epsilon="0.6", delta="1e-6")) != []
    assert pair_violation([made, made], PAIR) != []


def test_two_answers_of_epsilon_alone_exceed_what_a_ledger_of_mu_squared_would_take_them_for():
    """Charged as shares of a pair, they would break it: why such a ledger is not sold them."""
    cell = shape_of(QUERIES["histogram"], "basic", Cost.of(epsilon="0.5"))
    for price in PAIRS[2:3]:
        charged = replace(price, epsilon=Fraction(1))
        assert 4 * epsilon_delta_to_mu_squared("0.5", "1e-6") > epsilon_delta_to_mu_squared(1, "1e-6")
        assert 3 * epsilon_delta_to_mu_squared("0.5", "1e-6") < epsilon_delta_to_mu_squared(1, "1e-6")
        assert pair_violation([cell] * 3, charged) != []


def test_a_curator_charges_epsilon_and_no_delta():
    rows = {"x": np.linspace(0, 1, 400), "y": np.arange(400) % 3 == 0}
    budget = tc.Budget(epsilon=2, delta="1e-6", accounting="basic")
    curator = tc.Curator(rows, SCHEMA, budget=budget)
    query = QUERIES["histogram"]
    plan = curator.plan(query, epsilon=1, delta=1e-6)
    assert (plan.cost, plan.fits) == (ALONE, True)
    assert any("ε is charged, and no δ" in one for one in plan.cautions())
    made = curator.release(query, epsilon=1, delta=1e-6)
    assert made.cost == ALONE
    assert isinstance(made.parts[0].law, DiscreteLaplace)
    assert curator.remaining == "left ε = 1, δ = 1e-06 of ε = 2, δ = 1e-06"
    # the same question, asked for with the pair or with ε alone, is answered without a charge
    assert curator.release(query, epsilon=1, delta=1e-6).parts == made.parts == curator.release(query, epsilon=1).parts
    assert curator.remaining == "left ε = 1, δ = 1e-06 of ε = 2, δ = 1e-06"
    assert release_from_dict(json.loads(made.to_json())).to_json() == made.to_json()
    # a risk has less noise by the pair, which is charged
    assert curator.release(QUERIES["risk"], epsilon=1, delta=1e-6).cost == PAIR
    assert curator.remaining == "left nothing of ε = 2, δ = 1e-06"


def test_a_plan_without_such_a_ledger_says_what_epsilon_alone_would_buy():
    for budget in (None, tc.Budget(epsilon=1, delta="1e-6")):
        plan = tc.plan(QUERIES["kernel"], SCHEMA, rows=2_000, epsilon=1, delta="1e-6", budget=budget)
        said = [one for one in plan.cautions() if 'accounting="basic"' in one]
        # Laplace noise of scale 2 and normal noise of variance 2 / μ²
        ratio = math.sqrt(8 * float(epsilon_delta_to_mu_squared(1, "1e-6")) / 2)
        assert plan.cost == PAIR
        assert len(said) == 1
        assert f"err {ratio:.2f} times" in said[0]
    assert not any("accounting" in one for one in tc.plan(QUERIES["kernel"], SCHEMA, rows=2_000, rho=0.1).cautions())


@pytest.mark.parametrize(
    ("query", "rows"), [(tc.Quantiles("x", [0.5]), 2_000), (tc.Mean("x"), 60), (tc.Count(by="y"), 30)]
)
def test_a_plan_says_where_epsilon_alone_is_narrower_and_not_chosen(query: Any, rows: int) -> None:
    """Of questions whose measurement is not chosen: in a ledger that is charged ε for it, where it matters."""
    budget = tc.Budget(epsilon=1, delta="1e-6", accounting="basic")
    pair, alone = (
        tc.plan(query, SCHEMA, rows=rows, epsilon=1, budget=budget, **more) for more in ({"delta": "1e-6"}, {})
    )
    widths = [[one.width for one in plan.parts[0].terms] for plan in (alone, pair)]
    ratio = math.exp(np.mean(np.log(np.divide(*widths))))
    assert ratio < 0.9
    (said,) = [one for one in pair.cautions() if "alone" in one]
    assert f"at ε = 1 alone, without δ, intervals would be {ratio:.2f} times as wide" in said
    assert pair.cost == PAIR
    for other in (tc.plan(query, SCHEMA, rows=rows, epsilon=1, delta="1e-6"), alone):
        assert not any("intervals would be" in one and "alone" in one for one in other.cautions())


@pytest.mark.parametrize(
    ("query", "rows", "epsilon"), [(tc.Mean("x", by="y"), 130, "0.2"), (tc.Variance("x", by="y"), 36, "1")]
)
def test_a_plan_counts_the_intervals_that_are_finite_at_epsilon_alone_only(query: Any, rows: int, epsilon: str) -> None:
    """A ratio of widths cannot tell it: such plans failed."""
    schema = tc.Schema({"x": tc.Real(0, 1), "y": tc.Boolean()})
    budget = tc.Budget(epsilon=epsilon, delta="1e-6", accounting="basic")
    pair, alone = (
        tc.plan(query, schema, rows=rows, epsilon=epsilon, budget=budget, **more) for more in ({"delta": "1e-6"}, {})
    )
    before, after = ([one.width for one in plan.parts[0].terms] for plan in (pair, alone))
    assert not np.isfinite(before).any()
    assert np.isfinite(after).all()
    (said,) = [one for one in pair.cautions() if "alone" in one]
    words = f"at ε = {epsilon} alone, without δ, all of {len(after)} intervals would be finite, at the pair none"
    assert words in said


def test_a_plan_is_silent_where_epsilon_alone_gains_little_or_cannot_be_asked() -> None:
    budget = tc.Budget(epsilon=1, delta="1e-6", accounting="basic")
    for query in (tc.Mean("x"), tc.Bootstrap(tc.Mean("x"))):
        plan = tc.plan(query, SCHEMA, rows=100_000, epsilon=1, delta="1e-6", budget=budget)
        assert not any("alone, without" in one for one in plan.cautions())


def test_a_plan_of_several_questions_compares_no_share_of_a_pair_with_the_whole_epsilon() -> None:
    """A tenth of the pair was held against ε as a whole: noise "would err 0.10 times as much"."""
    schema = tc.Schema({"g": tc.Category([f"level {i}" for i in range(20)]), "x": tc.Real(0, 100)})
    cells, pair = tc.Histogram(["g"]), {"epsilon": 1, "delta": 1e-6}
    assert any("at ε alone would err" in one for one in tc.plan(cells, schema, rows=10_000, **pair).cautions())
    asks = {"cells": cells, **{f"mean {i}": tc.Mean("x", where=f"x > {i}") for i in range(9)}}
    assert not any("ε alone" in one for one in tc.plan(asks, schema, rows=10_000, **pair).cautions())

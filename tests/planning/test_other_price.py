"""What a plan says of another price is what releases at both prices have: charges exactly, widths as they are told."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from seeded_noise import seed_noise

import tacit as tc
from tacit.privacy import Cost

SCHEMA = tc.Schema({"x": tc.Real(0, 100), "g": tc.Category(["a", "b", "c", "d"])})
EVEN: dict[str, Any] = {"x": {"mean": 50, "sd": 100 / math.sqrt(12)}, "g": dict.fromkeys("abcd", 0.25)}
N = 1_000
BUDGETS = {
    "rho": tc.Budget(rho=20),
    "pair": tc.Budget(epsilon=30, delta="1e-6"),
    "pair in rho": tc.Budget(epsilon=30, delta="1e-6", accounting="zcdp"),
    "basic": tc.Budget(epsilon=30, delta="1e-6", accounting="basic"),
}


def curator(budget: tc.Budget) -> tc.Curator:
    rng = np.random.default_rng(3)
    rows = {"x": rng.permutation(np.linspace(0, 100, N)), "g": np.array(list("abcd"))[np.arange(N) % 4]}
    return tc.Curator(rows, SCHEMA, budget=budget)


def widths(release: Any) -> np.ndarray:
    return np.diff(np.asarray(release.estimate().conf_int(0.95), dtype=float).reshape(-1, 2))[:, 0]


def keywords(cost: Cost) -> dict[str, Any]:
    names = ("epsilon", "delta", "rho")
    return {name: getattr(cost, name) for name in names if getattr(cost, name) is not None}


PURE: dict[str, Any] = {"epsilon": "0.1"}
PAIR: dict[str, Any] = {"epsilon": "0.1", "delta": "1e-7"}
NAMED = (
    ("rho", tc.Quantiles("x", [0.25, 0.5, 0.75]), PURE),
    ("rho", tc.Count(by="g"), PURE),
    ("pair", tc.Quantiles("x", [0.5]), PURE),
    ("pair", tc.Mean("x", by="g"), PURE),
    ("pair in rho", tc.Count(by="g"), PURE),
    ("basic", tc.Quantiles("x", [0.5]), PAIR),
    ("basic", tc.Count(by="g"), PAIR),
)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("budget", "query", "first"), NAMED, ids=str)
def test_releases_at_both_prices_are_charged_and_as_wide_as_said(
    budget: str, query: tc.Query, first: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Widths of counts follow from the noise law; those of means vary with noise, those of quantiles are selected.

    Medians of 25.  The ratio of quantiles is known to about 7% then, and is held to 60%: over five standard errors, a
    false alarm in 10**6 at most.  That of means of few rows is known to 14%: their noise is seeded.  A ledger of sums
    has no room for 25 releases: of its few selected widths nothing is compared.
    """
    seed_noise(monkeypatch)
    source = curator(BUDGETS[budget])
    plan = tc.plan(query, SCHEMA, rows=N, budget=BUDGETS[budget], expect=EVEN, **first)
    other = plan.other
    assert other is not None
    assert other.ratio < 0.9
    spent, found = [source.spent], list[list[np.ndarray]]()
    selected = isinstance(query, tc.Quantiles)
    many = 25 if budget != "basic" else 5
    for price in (first, keywords(other.cost)):
        found.append([widths(source.release(query, fresh=True, **price)) for _ in range(many)])
        spent.append(source.spent)
    for before, after, said in zip(spent, spent[1:], (other.now, other.charged), strict=False):
        assert [getattr(after, k) - getattr(before, k) for k in vars(said)] == [
            many * one for one in vars(said).values()
        ]
    medians = [np.median(np.array(one), axis=0) for one in found]
    ratio = math.exp(float(np.log(medians[1] / medians[0]).mean()))
    assert (selected and many < 25) or other.ratio / 1.6 < ratio < other.ratio * 1.6


def test_which_prices_a_plan_names() -> None:
    quantiles = tc.Quantiles("x", [0.25, 0.5, 0.75])
    found = {
        name: tc.plan(quantiles, SCHEMA, rows=N, epsilon="0.1", budget=budget).other for name, budget in BUDGETS.items()
    }
    assert all(found[name] is not None for name in ("rho", "pair", "pair in rho"))
    assert [found[name].cost.kind for name in ("rho", "pair", "pair in rho")] == ["zcdp", "approximate", "zcdp"]
    # at an equal charge normal noise is never wider, so that a pair or a ρ has no better price there
    for name in ("rho", "pair", "pair in rho"):
        plan = tc.plan(quantiles, SCHEMA, rows=N, budget=BUDGETS[name], **PAIR)
        assert plan.to_dict()["other price"] is None
    # where nothing but ε is added, or no ledger is known, a pure price has no equivalent
    for budget in (tc.Budget(epsilon=1), None):
        assert tc.plan(quantiles, SCHEMA, rows=N, epsilon="0.1", budget=budget).other is None


def test_the_line_names_charges_and_promises() -> None:
    asks = {"mean": tc.Mean("x"), "middle": tc.Quantiles("x", [0.5])}
    plan = tc.plan(asks, SCHEMA, rows=N, epsilon="0.1", budget=BUDGETS["rho"])
    other = plan.other
    assert other is not None
    (line,) = [one for one in plan.cautions() if "its own promise stays" in one]
    assert line.startswith(f"at {other.cost} intervals are expected to be {other.ratio:.2f} times as wide")
    assert f"mean: {other.ratios['mean']:.2f}, middle: {other.ratios['middle']:.2f}" in line
    told = plan.to_dict()["other price"]
    assert told["cost"] == other.cost.to_dict()
    assert told["charged"] == told["charged now"]
    assert told["ratio of widths"] == other.ratio
    # a pair whose ε alone is narrower, in a ledger that adds ε and adds δ: said once, by the question
    pair = tc.plan(tc.Count(by="g"), SCHEMA, rows=60, epsilon="0.5", delta="1e-6", budget=BUDGETS["basic"])
    assert pair.other is not None
    assert pair.other.cost == Cost.of(epsilon="0.5")
    assert sum("alone, without δ" in one for one in pair.cautions()) == 1
    assert not any("its own promise stays" in one for one in pair.cautions())

"""Several questions at a pair, of which some have a δ of their own: levels that nobody listed, and bootstraps."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.curator.request import split
from tacit.errors import BudgetError, QueryError
from tacit.privacy import Budget, Cost, Spend
from tacit.privacy.approximate_part import approximate_part
from tacit.release.document import release_from_dict

SCHEMA = tc.Schema({"x": tc.Real(0, 10), "word": tc.Text(max_length=8)})
PAIR: dict[str, Any] = {"epsilon": 1, "delta": 1e-6}
PRICE = Cost.of(**PAIR)
ASKS: dict[str, Any] = {"mean": tc.Mean("x"), "levels": tc.Count(by="word"), "again": tc.Bootstrap(tc.Mean("x"))}


def rows(n: int = 2_000) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {"x": rng.uniform(0, 10, n), "word": rng.choice(["yes", "no"], n)}


def test_the_shares_are_those_of_the_approximate_part() -> None:
    whole = approximate_part(PRICE)
    shares = {"mean": 2, "levels": 1, "again": 3}
    found = {name: cost for name, _, cost in split(ASKS, PRICE, shares, SCHEMA)}
    assert sum((one.mu_squared or 0 for one in found.values()), Fraction(0)) == whole.mu_squared
    assert sum((one.delta or 0 for one in found.values()), Fraction(0)) == whole.delta
    assert found["mean"] == Cost(mu_squared=(whole.mu_squared or 0) / 3)
    assert found["again"].delta == Fraction(3, 4) * (whole.delta or 0)
    # without such a question shares are of the pair's own μ², and a question alone has the pair
    without = split({"a": tc.Mean("x"), "b": tc.Count()}, PRICE, None, SCHEMA)
    assert [cost for _, _, cost in without] == [PRICE.share(Fraction(1, 2))] * 2
    assert split({"levels": ASKS["levels"]}, PRICE, None, SCHEMA)[0][2] == PRICE


@pytest.mark.parametrize("accounting", ["gdp", "basic"])
def test_what_is_charged_is_what_the_pair_buys(accounting: Any) -> None:
    budget = tc.Budget(**PAIR, accounting=accounting, neighbors="add-remove")
    curator = tc.Curator(rows(), SCHEMA, budget=budget, size_hint=2_000)
    plan = curator.plan(ASKS, **PAIR)
    assert plan.fits
    found = curator.release(ASKS, **PAIR)
    part = approximate_part(PRICE)
    wanted = (
        Spend(mu_squared=part.gdp, delta=part.delta or 0)
        if accounting == "gdp"
        else Spend(epsilon=1, delta=Fraction(1, 10**6))
    )
    assert curator.spent == wanted
    # all of the promise is used, and all of it was there
    assert budget.holds(curator.spent)
    with pytest.raises(BudgetError):
        curator.release(tc.Count(), epsilon=0.01, delta=1e-9)
    for name in ASKS:
        again = release_from_dict(found[name].to_dict())
        assert again == found[name]
        assert again.cost.kind == "gdp"
    assert set(found["levels"].estimate().terms) == {"yes", "no"}


def test_a_plan_counts_the_delta_of_a_part() -> None:
    """Of a pair as large as the promise the part fits exactly; after another charge no part does; the plan says so."""
    curator = tc.Curator(rows(), SCHEMA, budget=tc.Budget(epsilon=2, delta=1e-6, neighbors="add-remove"))
    too_much = {"epsilon": 2.001, "delta": 1e-6}
    assert not curator.plan(tc.Count(by="word"), **too_much).fits
    with pytest.raises(BudgetError, match="B02") as refused:
        curator.release(tc.Count(by="word"), **too_much)
    hint = re.search(r"epsilon=(\S+), delta=1e-06 fits", str(refused.value))
    assert hint is not None
    fits = {"epsilon": float(hint[1]), "delta": 1e-6}
    assert curator.plan(tc.Count(by="word"), **fits).fits
    curator.release(tc.Count(), epsilon=0.01, delta=1e-6)
    late = {"epsilon": 0.1, "delta": 1e-6}
    assert not curator.plan(tc.Count(by="word"), **late).fits
    with pytest.raises(BudgetError, match=r"1 release came before it.*ask it first"):
        curator.release(tc.Count(by="word"), **late)
    assert curator.plan(tc.Count(where="x > 5"), **late).fits


def test_a_ledger_of_rho_refuses_before_anything_is_spent() -> None:
    curator = tc.Curator(rows(), SCHEMA, budget=Budget(rho=1))
    with pytest.raises(BudgetError, match="approximate parts"):
        curator.release(ASKS, **PAIR)
    with pytest.raises(BudgetError, match="approximate parts"):
        curator.plan(ASKS, **PAIR)
    with pytest.raises(QueryError, match="no delta of its own"):
        curator.release({"a": tc.Mean("x"), "b": tc.Count(by="word")}, rho=0.1)
    assert curator.spent == Spend(rho=0)

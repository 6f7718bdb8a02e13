"""A curator's plan says what its ledger knows of the questions: that they are answered, or that a name is taken."""

from __future__ import annotations

from typing import Any

import pytest

import tacit as tc

SCHEMA = tc.Schema({"age": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})
AGES: dict[str, Any] = {"age": [20.0, 40.0, 60.0] * 200, "sex": ["f", "m", "f"] * 200}


def curator(budget: tc.Budget, **words: Any) -> tc.Curator:
    return tc.Curator(AGES, SCHEMA, budget=budget, **words)


BUDGETS = {
    "rho": (tc.Budget(rho=1), {"rho": 0.1}),
    "a pair": (tc.Budget(epsilon=2, delta=1e-6), {"epsilon": 0.5, "delta": 1e-7}),
    "a pair, in rho": (tc.Budget(epsilon=2, delta=1e-6), {"rho": 0.01}),
    "pure": (tc.Budget(epsilon=2), {"epsilon": 0.5}),
    "one by one": (tc.Budget(epsilon=2, delta=1e-6, accounting="basic"), {"epsilon": 0.5, "delta": 1e-7}),
    "private": (tc.Budget(rho=1, neighbors="add-remove"), {"rho": 0.1}),
}


@pytest.mark.parametrize("name", BUDGETS)
def test_an_answered_question_is_planned_at_no_cost(name: str) -> None:
    budget, price = BUDGETS[name]
    table = curator(budget, size_hint=600)
    for asked in (tc.Mean("age"), {"age": tc.Mean("age", by="sex"), "median": tc.Quantiles("age", [0.5])}):
        before = table.plan(asked, **price)
        assert not before.free
        assert "the same again is free" not in str(before)
        table.release(asked, **price)
        after = table.plan(asked, **price)
        assert after.free
        assert after.cautions()[0].startswith("these questions are answered (charge ")
        assert "the same again is free" in after.to_text()
    spent = table.spent
    table.release(tc.Mean("age"), **price)
    assert table.spent == spent


def test_what_is_paid_for_needs_no_budget() -> None:
    table = curator(tc.Budget(rho=0.1))
    table.release(tc.Mean("age"), rho=0.1)
    assert not any("would be refused" in one for one in table.plan(tc.Mean("age"), rho=0.1).cautions())
    assert any("would be refused" in one for one in table.plan(tc.Mean("age"), rho=0.05).cautions())


def test_a_taken_name_is_said_before_the_release_refuses() -> None:
    table = curator(tc.Budget(rho=1))
    table.release({"age": tc.Mean("age"), "n": tc.Count(by="sex")}, rho=0.1)
    asked = {"age": tc.Mean("age"), "n": tc.Count(by="sex", where="age > 30")}
    made = table.plan(asked, rho=0.1)
    assert not made.free
    assert "already named 'age' (charge 1)" in made.known
    with pytest.raises(tc.TacitError) as caught:
        table.release(asked, rho=0.1)
    assert caught.value.message in made.known
    # without names nothing is taken
    assert table.plan(tc.Count(by="sex", where="age > 30"), rho=0.1).known == ""


def test_plans_for_a_width_know_it_too() -> None:
    table = curator(tc.Budget(rho=100))
    made = table.plan(tc.Mean("age"), width=20)
    table.release(tc.Mean("age"), rho=made.cost.rho)
    assert table.plan(tc.Mean("age"), width=20).free


def test_a_study_is_known_by_its_party() -> None:
    words = """
tacit = 1
[table]
name = "ages"
[budget]
rho = 0.5
[schema]
age = { type = "Real", lower = 0, upper = 100 }
[spend]
rho = 0.1
[ask.age]
query = "Mean"
columns = "age"
[parties.a]
"""
    study = tc.Study.from_toml(words)
    party = tc.Curator({"age": AGES["age"]}, study, name="a")
    assert party.plan(study).known == ""
    party.release(study)
    assert party.plan(study).free
    other = tc.Study.from_toml(words.replace('"age"\n[parties', '"age"\nwhere = "age > 30"\n[parties'))
    assert "another edition of the study" in party.plan(other).known

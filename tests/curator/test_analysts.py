"""Raises and limits at the door: who is bound by what, and that a name is no part of a question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tacit as tc
from tacit.errors import BudgetError, LedgerError

SCHEMA = tc.Schema({"age": tc.Real(0, 100)})


@pytest.fixture
def opened(tmp_path: Path) -> Any:
    """A curator of one table and ledger, by an analyst."""
    people = {"age": [float(age) for age in range(100)]}
    where = tmp_path / "people.ledger"
    tc.Curator(people, SCHEMA, name="people", budget=tc.Budget(rho=0.5), ledger=where)
    return lambda analyst=None, **words: tc.Curator(
        people, SCHEMA, name="people", ledger=where, analyst=analyst, **words
    )


def test_a_limit_binds_its_analyst_and_nobody_else(opened: Any) -> None:
    opened().limit("alice", rho=0.1, note="board 31")
    alice = opened("alice")
    assert alice.remaining == "left 0.50 of 0.50 · alice: left 0.10 of 0.10"
    alice.release(tc.Mean("age"), rho=0.06, name="age")
    assert not alice.plan(tc.Mean("age"), rho=0.05).fits
    assert opened("bob").plan(tc.Mean("age"), rho=0.05).fits
    with pytest.raises(BudgetError) as refused:
        alice.release(tc.Mean("age"), rho=0.05)
    assert refused.value.code == "B12"
    page = alice.plan(tc.Mean("age"), rho=0.05).to_text()
    assert "alice, before: left 0.04 of 0.10" in page
    assert "the limit of analyst 'alice' does not admit this price" in page
    opened("bob").release(tc.Mean("age"), rho=0.2)
    opened().release(tc.Mean("age"), rho=0.1)
    assert "left 0.14 of 0.50" in repr(alice)


def test_what_anybody_bought_is_free_to_all(opened: Any) -> None:
    bought = opened("alice").release(tc.Mean("age"), rho=0.2, name="age")
    opened().limit("bob", rho=0.01, note="board 31")
    bob = opened("bob")
    assert bob.release(tc.Mean("age"), rho=0.2, name="age") == bought
    assert bob.releases["age"] == bought
    assert "alice" not in bought.to_json()
    assert bob.remaining == "left 0.30 of 0.50 · bob: left 0.01 of 0.01"


def test_a_raise_at_the_door(opened: Any) -> None:
    curator, other = opened(), opened("alice")
    curator.release(tc.Mean("age"), rho=0.5)
    made = curator.raise_budget(rho=0.8, note="board 31")
    assert made is not None
    assert made.after == 1
    assert other.budget == tc.Budget(rho=0.8)  # open since before
    assert other.remaining == "left 0.30 of 0.80"
    other.release(tc.Mean("age"), rho=0.3)
    with pytest.raises(LedgerError) as refused:
        opened(budget=tc.Budget(rho=0.5))
    assert refused.value.code == "L01"
    assert opened(budget=tc.Budget(rho=0.8)).raise_budget(rho=0.8, note="again") is None


def test_limits_and_raises_take_the_words_of_the_budget(tmp_path: Path) -> None:
    people = {"age": [float(age) for age in range(100)]}
    budget = tc.Budget(epsilon=1, delta=1e-6, neighbors="add-remove", accounting="basic")
    curator = tc.Curator(people, SCHEMA, budget=budget, name="people", ledger=tmp_path / "a.ledger")
    curator.limit("alice", epsilon=0.5, delta=1e-7, note="board 31")
    curator.raise_budget(epsilon=1, delta=1e-5, note="board 32")
    assert curator.budget == tc.Budget(epsilon=1, delta=1e-5, neighbors="add-remove", accounting="basic")
    with pytest.raises(BudgetError) as refused:
        curator.raise_budget(rho=3, note="board 33")
    assert refused.value.code == "B13"


@pytest.mark.parametrize("name", ["", " alice", "a\tb", 3])
def test_an_analyst_who_is_none(opened: Any, name: Any) -> None:
    with pytest.raises(LedgerError) as refused:
        opened(name)
    assert refused.value.code == "L22"

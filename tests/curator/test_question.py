"""Which question is the same one (law 3): whatever is part of it makes another, and nothing else does."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import LedgerError, QueryError
from tacit.ledger import open_ledger

BUDGET = tc.Budget(rho=1)
AGE = {"age": tc.Real(0, 100)}


def people(**more: Any) -> dict[str, Any]:
    return {"age": np.linspace(0, 100, 40), "sex": np.tile(["f", "m"], 20), "id": np.arange(40), **more}


def opened(place: Path, schema: dict[str, Any], name: str = "p", **words: Any) -> tc.Curator:
    return tc.Curator(people(), tc.Schema(schema), name=name, budget=BUDGET, ledger=place / "p.ledger", **words)


def test_another_schema_is_another_question(tmp_path: Path) -> None:
    """The same words about the same table, on another scale: the old answer would be read on the new one."""
    first = opened(tmp_path, AGE).release(tc.Mean("age"), rho=0.1)
    other = opened(tmp_path, {"age": tc.Real(0, 200)}).release(tc.Mean("age"), rho=0.1)
    assert (first.charge, other.charge) == (1, 2)
    assert first.schema != other.schema
    grid = other.parts[0].grid
    assert grid is not None
    assert grid.upper == 200
    again = opened(tmp_path, AGE)
    assert again.release(tc.Mean("age"), rho=0.1) == first
    assert str(again.spent.rho) == "1/5"


def test_another_table_is_another_question(tmp_path: Path) -> None:
    assert [opened(tmp_path, AGE, name).release(tc.Mean("age"), rho=0.1).charge for name in "pq"] == [1, 2]


def test_who_asks_and_what_is_noted_are_no_part_of_it(tmp_path: Path) -> None:
    first = opened(tmp_path, AGE).release(tc.Mean("age"), rho=0.1, note="board 31")
    other = opened(tmp_path, AGE, analyst="alice").release(tc.Mean("age"), rho=0.1, note="board 32")
    assert (other.charge, other) == (1, first)


def test_one_question_is_not_the_answer_to_several_of_the_same_price(tmp_path: Path) -> None:
    curator = opened(tmp_path, {**AGE, "sex": tc.Category(["f", "m"])})
    both = curator.release({"mean": tc.Mean("age"), "count": tc.Count(by="sex")}, rho=0.2)
    assert curator.release(tc.Mean("age"), rho=0.1).charge == 2
    assert both["mean"].charge == 1


@pytest.mark.parametrize("share", [1e-320, "1e400", 10**499])
def test_a_share_that_leaves_no_price_is_refused_in_its_own_words(tmp_path: Path, share: Any) -> None:
    """Not as a rho, or a mu_squared, that nobody typed."""
    curator = opened(tmp_path, AGE)
    with pytest.raises(QueryError, match=r"Q23\] the part of '.' in the price ρ = 1 is too small"):
        curator.release({"a": tc.Mean("age"), "b": tc.Sum("age")}, rho=1, shares={"a": share})
    assert curator.spent.rho == 0


@pytest.mark.parametrize("before", [None, "mean"])
def test_one_question_of_a_mapping_is_found_under_its_own_name(tmp_path: Path, before: str | None) -> None:
    """Bought before under no name or another one: its file could not be read, and `answers["age"]` was not there."""
    curator = opened(tmp_path, AGE)
    first = curator.release(tc.Mean("age"), rho=0.1, name=before)
    found = curator.release({"age": tc.Mean("age")}, rho=0.1)
    assert found["age"].parts == first.parts
    assert found["age"].name == "age"
    found.save(tmp_path / "a.json")
    held = tc.Releases.stored(tmp_path / "a.json")
    assert held["age"] == found["age"]
    ledger = open_ledger(str(tmp_path / "p.ledger"), budget=BUDGET, unit=None)
    ledger.hold([("a.json", held["age"])])
    # the name alone is free: other fields are held against what was stored
    with pytest.raises(LedgerError, match=r"L23.*query"):
        ledger.hold([("a.json", replace(held["age"], query=tc.Mean("age", where="age > 3")))])


@pytest.mark.parametrize(("neighbors", "rows"), [("replace-one", 40), ("add-remove", None)])
def test_what_is_recorded_of_a_question(tmp_path: Path, neighbors: Any, rows: int | None) -> None:
    """Everything by which two may differ, the promise and the mechanism's version too; nothing of any row."""
    schema = tc.Schema({**AGE, "id": tc.PrivacyUnit(max_rows=3)})
    budget = tc.Budget(rho=1, neighbors=neighbors)
    curator = tc.Curator(people(), schema, name="p", budget=budget, ledger=tmp_path / "p.ledger")
    release = curator.release(tc.Mean("age"), rho=0.1)
    (charge,) = curator._ledger.charges()
    assert json.loads(charge.question) == {
        "table": "p",
        "schema": schema.digest(),
        "neighbors": neighbors,
        "unit": 3,
        "mechanism": "moments/1",
        "cost": {"rho": "1/10"},
        "ask": [[None, {"query": "Mean", "columns": ["age"]}, {"rho": "1/10"}]],
    }
    assert release.rows == rows


def test_answers_are_listed_by_table(tmp_path: Path) -> None:
    """One ledger, two editions: each lists its own, and a name is one of its table."""
    for name, rho in (("p", 0.1), ("q", 0.2)):
        opened(tmp_path, AGE, name).release(tc.Mean("age"), rho=rho, name="age")
    opened(tmp_path, AGE, "q").release(tc.Sum("age"), rho=0.1, name="sum")
    assert list(opened(tmp_path, AGE, "p").releases) == ["age"]
    assert list(opened(tmp_path, AGE, "q").releases) == ["age", "sum"]
    assert opened(tmp_path, AGE, "p").releases["age"].table == "p"

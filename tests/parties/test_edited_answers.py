"""Edited, copied and exchanged answers: refused by name, or said in a note; never another number in silence."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit as tc
from tacit.errors import TacitError
from tacit.pooling.possible_integers import FAR, NOT_NEGATIVE, impossible
from tacit.pooling.tree_totals import Tree, largest_gap
from tacit.release.digests import sealed
from tacit.release.document import Release, Releases, release_from_dict, releases_from_dict

SCHEMA = tc.Schema({"age": tc.Real(0, 100, units="years"), "sex": tc.Category(["f", "m"])})
COUNT = tc.Count()


def curator(name: str, rows: int, *, schema: tc.Schema = SCHEMA, neighbors: Any = "add-remove", **more: Any) -> Any:
    age = np.random.default_rng([rows]).uniform(20, 80, rows)
    table = {"age": age, "sex": np.where(np.arange(rows) % 2, "f", "m")}
    return tc.Curator(table, schema, name=name, budget=tc.Budget(epsilon=100, neighbors=neighbors), **more)


def edited(release: Release, **changes: Any) -> Any:
    return release_from_dict(sealed({**release.to_dict(), **changes}))


def refused(code: str, words: str, make: Any) -> None:
    with pytest.raises(TacitError, match=words) as found:
        make()
    assert found.value.code == code


def test_a_copy_under_another_table_is_the_same_release() -> None:
    one, other = (curator(name, rows).release(COUNT, epsilon=1) for name, rows in (("a", 300), ("b", 500)))
    for change in ({"table": "c"}, {"table": "c", "charge": 7}):
        refused("C13", "same release as a", lambda change=change: tc.combine([one, other, edited(one, **change)]))
        refused("C13", "given twice", lambda change=change: tc.average([one, edited(one, **{**change, "table": "a"})]))
    assert tc.combine([one, other]).parties == ("a", "b")


def test_arguments_that_are_none() -> None:
    one, other = (curator(name, rows).release(COUNT, epsilon=1) for name, rows in (("a", 300), ("b", 500)))
    anything: Any = tc.combine
    refused("C10", "None is no release", lambda: anything(None))
    refused("C13", "two releases have the name '1'", lambda: anything({1: one, "1": other}))
    refused("C17", "overlap is 'no'", lambda: anything([one, other], overlap="no"))
    refused("C17", "linear is 'no'", lambda: anything([one, other], linear="no"))
    for parents in (None, [("a", "b")], {"a": 3}, {1: "a"}, {"a": ["b"]}):
        refused("C19", "parents", lambda parents=parents: tc.hierarchy({"a": one, "b": other}, parents))


def test_other_schemas_are_said() -> None:
    """A condition's column in months: no release says so, and its parts are alike."""
    months = tc.Schema({"age": tc.Real(0, 1_200, units="months"), "sex": tc.Category(["f", "m"])})
    for query, price in (
        (tc.Count(where="age >= 50"), {"epsilon": 1}),
        (tc.Histogram("sex", where="age >= 50"), {"epsilon": 1}),
        (tc.Bootstrap(tc.Count(by="sex", where="age >= 50"), replicates=4), {"epsilon": 4, "delta": "1e-6"}),
    ):
        if "delta" in price:
            budget = tc.Budget(epsilon=9, delta="1e-5", neighbors="add-remove")
            table = {"age": np.arange(20.0, 80.0), "sex": ["f", "m"] * 30}
            made = [tc.Curator(table, s, name=n, budget=budget) for n, s in (("a", SCHEMA), ("b", months))]
        else:
            made = [curator("a", 300), curator("b", 500, schema=months)]
        answers = [one.release(query, **price) for one in made]
        assert "another schema in b" in str(tc.combine(answers).estimate().summary())
        alike: Any = [made[0].release(query, **price), edited(answers[1], schema=answers[0].schema)]
        assert "another schema" not in str(tc.combine(alike).estimate().summary())


TREE = {"north": "nation", "south": "nation"}


def levels(**sizes: int) -> dict[str, Any]:
    return {name: curator(name, rows).release(COUNT, epsilon=5) for name, rows in sizes.items()}


def test_nodes_that_hold_other_rows_than_those_below() -> None:
    right = levels(nation=500, north=300, south=200)
    assert tc.hierarchy(right, TREE).to_frame()["estimate"]["nation"]["rows"] == pytest.approx(500, abs=8)
    swapped = {**right, "nation": right["north"], "north": right["nation"]}
    refused("C19", "'nation' has a release of the table 'north'", lambda: tc.hierarchy(swapped, TREE))
    wrong = {**levels(nation=500, north=300), "south": curator("x", 300).release(COUNT, epsilon=5)}
    refused("C19", "'nation' differs from the nodes below it by", lambda: tc.hierarchy(wrong, TREE))
    means = {
        name: curator(table, rows, neighbors="replace-one").release(tc.Mean("age"), epsilon=50)
        for name, table, rows in (("nation", "x", 500), ("north", "y", 300), ("south", "z", 200))
    }  # sizes add up; the sums do not, by more than noise
    refused("C19", "standard errors of the noise", lambda: tc.hierarchy(means, TREE))


def test_one_table_at_two_nodes(tmp_path: Path) -> None:
    one = curator("people", 300, ledger=tmp_path / "people.ledger")
    first, second = one.release(COUNT, epsilon=1), one.release(COUNT, epsilon=2)
    refused("C19", "one table, 'people'", lambda: tc.hierarchy({"north": first, "south": second}, TREE))
    refused("C19", "one table", lambda: tc.hierarchy({"nation": first, "north": second}, TREE))
    # an only child has the rows of its parent
    assert len(tc.hierarchy({"nation": first, "north": second}, {"north": "nation"}).nodes) == 2


def test_the_gap_is_in_standard_errors_of_both_sides() -> None:
    tree, noise = Tree((-1, 0, 0, 1)), np.array([1.0, np.inf, 3.0, 4.0])
    assert largest_gap(tree, np.array([[30.0], [np.nan], [11.0], [13.0]]), noise) == (0, pytest.approx(6 / 8**0.5))
    assert largest_gap(tree, np.zeros((4, 1)), np.array([1.0, np.inf, np.inf, 1.0])) == (-1, 0.0)
    assert largest_gap(Tree((-1, 0)), np.array([[1.0], [2.0]]), np.zeros(2))[1] == np.inf


@pytest.mark.parametrize(
    ("query", "neighbors"),
    [
        (tc.Count(by="sex"), "add-remove"),
        (tc.Histogram("sex"), "replace-one"),
        (tc.Mean("age"), "add-remove"),
        (tc.Mean("age"), "replace-one"),
        (tc.DataQuality("age"), "replace-one"),
    ],
    ids=repr,
)
def test_integers_that_no_table_gives(query: Any, neighbors: str) -> None:
    good = curator("a", 300, neighbors=neighbors).release(query, epsilon=1)
    other = curator("b", 500, neighbors=neighbors).release(query, epsilon=1)
    assert impossible(good) is None
    part = good.to_dict()["parts"][0]
    noise = int(FAR * good.parts[0].law.variance() ** 0.5)
    changes = [-noise - 2] if good.parts[0].form in NOT_NEGATIVE else []
    changes += [300 * max(1, good.parts[0].l1) + noise + 2] if neighbors == "replace-one" else []
    for value in changes:
        parts = [
            {**part, "integers": [[value, *part["integers"][0][1:]], *part["integers"][1:]]},
            *good.to_dict()["parts"][1:],
        ]
        wrong = edited(good, parts=parts)
        refused("C10", "no release that a curator made", lambda wrong=wrong: tc.combine([other, wrong]))


STUDY = """
tacit = 1
title = "Ages"
[table]
name = "people"
[budget]
epsilon = 1
neighbors = "add-remove"
[schema]
age = { type = "Real", lower = 0, upper = 100 }
[spend]
epsilon = 1
[ask.number]
query = "Mean"
columns = "age"
[combine]
minimum = 2
[parties.a]
[parties.b]
[parties.c]
[parties.d]
"""


def returned(study: tc.Study, name: str, ledger: Path) -> Releases:
    table = {"age": np.random.default_rng([len(name), ord(name)]).uniform(20, 60, 400)}
    found: Releases = tc.Curator(table, study, name=name, ledger=ledger).release(study)
    return found


def renamed(answers: Releases, table: str) -> Releases:
    words = copy.deepcopy(answers.to_dict())
    for _, one in words["releases"]:
        one["table"] = table
    found: Releases = releases_from_dict(sealed(json.loads(json.dumps(words))))
    return found


def test_an_answer_under_another_partys_name_leaves_out_both_and_not_the_rest(tmp_path: Path) -> None:
    study = tc.Study.from_toml(STUDY)
    answers = {name: returned(study, name, tmp_path / f"{name}.ledger") for name in "acd"}
    found = study.combine({**answers, "b": renamed(answers["a"], "b")})
    assert found.parties == ("c", "d")
    assert "that of b under another name" in found.refused["a"]
    assert "that of a under another name" in found.refused["b"]
    negative = copy.deepcopy(answers["a"].to_dict())
    negative["releases"][0][1]["parts"][0]["integers"] = [[-(10**12), 5, 5]]
    made = study.combine({**answers, "a": releases_from_dict(sealed(negative))})
    assert made.parties == ("c", "d")
    assert "further below 0 than noise goes" in made.refused["a"]


def test_the_party_whose_key_is_listed_keeps_its_answer(tmp_path: Path) -> None:
    from tacit.release.signing import new_key

    key = new_key(tmp_path / "a.private")
    study = tc.Study.from_toml(STUDY.replace("[parties.a]", f'[parties.a]\nkey = "{key}"'))
    answers = {name: returned(study, name, tmp_path / f"{name}.ledger") for name in "cd"}
    pd.DataFrame({"age": np.linspace(20, 60, 400)}).to_csv(tmp_path / "a.csv", index=False)
    words = 'name = "a"\n[data]\npath = "a.csv"\nledger = "a.ledger"\nkey = "a.private"\n'
    (tmp_path / "a.toml").write_text(words, encoding="utf-8")
    site = tc.Site.load(tmp_path / "a.toml", study)
    own = tc.Curator(tmp_path / "a.csv", study, site=site).release(study)
    found = study.combine({**answers, "a": own, "b": renamed(own, "b")})
    assert found.parties == ("a", "c", "d")
    assert "that of a under another name" in found.refused["b"]


def test_parties_of_one_ledger_are_said(tmp_path: Path) -> None:
    study = tc.Study.from_toml(STUDY.replace("epsilon = 1\nneighbors", "epsilon = 2\nneighbors"))
    answers = {name: returned(study, name, tmp_path / "one.ledger") for name in "ab"}
    assert "the same people, by their ledger: a, b" in str(study.combine(answers, effects="common").summary())

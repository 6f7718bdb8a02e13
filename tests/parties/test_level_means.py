"""Means over levels: exact without noise, coverage of every node, narrower than its own release, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from seeded_noise import seed_noise

import tacit as tc
from tacit.errors import TacitError

PARENTS = {"a": "north", "b": "north", "c": "south", "d": "south", "north": "nation", "south": "nation"}
LEAVES = {"a": 300, "b": 120, "c": 500, "d": 80}
TRUTH = {"a": 30.0, "b": 55.0, "c": 40.0, "d": 60.0}
SCHEMA = tc.Schema({"score": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})


def tables(rng: np.random.Generator) -> dict[str, dict[str, Any]]:
    """Scores of a fresh sample of every leaf, and of the nodes above."""
    found = {k: rng.normal(TRUTH[k], 15, n).clip(0, 100) for k, n in LEAVES.items()}
    found["north"] = np.concatenate([found["a"], found["b"]])
    found["south"] = np.concatenate([found["c"], found["d"]])
    found["nation"] = np.concatenate([found["north"], found["south"]])
    return {k: {"score": v, "sex": ["f", "m"] * (len(v) // 2)} for k, v in found.items()}


def released(made: dict[str, Any], nodes: Any, neighbors: str, query: Any, **price: Any) -> dict[str, Any]:
    budget = tc.Budget(**price, neighbors=neighbors)
    return {k: tc.Curator(made[k], SCHEMA, name=k, budget=budget).release(query, **price) for k in nodes}


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_with_little_noise_every_node_has_the_mean_of_its_rows(neighbors: str) -> None:
    made = tables(np.random.default_rng(0))
    given = released(made, ("a", "b", "south", "nation"), neighbors, tc.Mean("score"), epsilon=900)
    found = tc.hierarchy(given, PARENTS)
    assert found.nodes[0] == "nation"
    for node in ("a", "b", "north", "south", "nation"):
        own = made[node]["score"]
        one = found.estimate(node)
        assert one.value == pytest.approx(own.mean(), abs=0.1)
        assert one.std_error == pytest.approx(own.std() / np.sqrt(len(own)), rel=0.05)
        assert found.estimate(node, target="table").std_error < 0.1 * one.std_error
    # c and d are known together only
    assert "no release" in found.estimate("c").reason
    assert found.to_frame().loc[("d", "score")].isna().all()
    assert found.estimate("c").conf_int() == (0.0, 100.0)
    by = tc.hierarchy(released(made, LEAVES, neighbors, tc.Mean("score", by="sex"), epsilon=900), PARENTS)
    assert by.terms == ("f", "m")
    some = made["north"]
    women = some["score"][np.array(some["sex"]) == "f"]
    assert by.estimate("north").value["f"] == pytest.approx(women.mean(), abs=0.2)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("neighbors", "price"),
    [("replace-one", {"epsilon": 0.2}), ("add-remove", {"epsilon": 0.5}), ("replace-one", {"rho": 0.02})],
)
def test_intervals_of_every_node_cover_and_gain_by_the_other_levels(
    neighbors: str, price: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    seed_noise(monkeypatch)
    rng = np.random.default_rng(3)
    nodes = (*LEAVES, "north", "south", "nation")
    weight = {"north": ("a", "b"), "south": ("c", "d"), "nation": tuple(LEAVES)}
    leaves = {k: weight.get(k, (k,)) for k in nodes}
    truth = {k: np.average([TRUTH[i] for i in own], weights=[LEAVES[i] for i in own]) for k, own in leaves.items()}
    repeats, covered, narrower, z = 60, [], [], []
    for _ in range(repeats):
        given = released(tables(rng), nodes, neighbors, tc.Mean("score"), **price)
        found = tc.hierarchy(given, PARENTS)
        for k in nodes:
            one, own = found.estimate(k), given[k].estimate()
            low, high = one.conf_int()
            covered.append(low <= truth[k] <= high)
            if one.reason is None and own.reason is None:
                narrower.append(one.std_error / own.std_error)
                z.append((one.value - truth[k]) / one.std_error)
    # 420 intervals, 5 standard deviations of as many independent ones below 95%; those of one draw vary together, and
    # 60 draws of other seeds leave these limits once in 1,000.  Clipping moves a mean by less than a tenth of an error
    assert np.mean(covered) > 0.95 - 5 * np.sqrt(0.05 * 0.95 / len(covered))
    assert np.median(narrower) < 0.97
    assert np.std(z) == pytest.approx(1, abs=5 * np.sqrt(0.5 / len(z)) + 0.05)


def test_what_is_refused() -> None:
    made = tables(np.random.default_rng(1))
    given = released(made, ("a", "b", "north"), "replace-one", tc.Mean("score"), epsilon=1)
    found = tc.hierarchy(given, PARENTS)
    with pytest.raises(TacitError, match="C15"):
        found.estimate("nort")
    with pytest.raises(TacitError, match="I09"):
        found.estimate("a", target="everybody")  # pyright: ignore
    wrong = {**made, "north": {"score": made["a"]["score"], "sex": made["a"]["sex"]}}
    given = released(wrong, ("a", "b", "north"), "replace-one", tc.Mean("score"), epsilon=1)
    with pytest.raises(TacitError, match=r"C19.*420"):
        tc.hierarchy(given, PARENTS)
    assert found.cost == tc.Cost.of(epsilon=2)
    assert "nation" in str(found)

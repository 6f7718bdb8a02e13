"""Laws over levels: a node alone is its release, mixtures, coverage of every node, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from seeded_noise import seed_noise

import tacit as tc
from tacit.errors import TacitError
from tacit.method.sufficient_statistics.estimate import map_of

PARENTS = {"a": "north", "b": "north", "north": "nation", "south": "nation"}
SCHEMA = tc.Schema({"wait": tc.Real(0, 40), "calls": tc.Integer(0, 20)})
GAMMA = tc.SufficientStatistics(
    "wait", tc.families.Gamma(shape=(0.3, 10), rate=(0.02, 4)), bounds={"log(wait)": (-4, 4), "wait": (0.02, 40)}
)
POISSON = tc.SufficientStatistics("calls", tc.families.Poisson(mean=(0.05, 15)))
LAWS = {"a": (2.0, 0.4), "b": (1.0, 0.2), "south": (5.0, 0.7)}
SHARES = {"a": 0.3, "b": 0.2, "south": 0.5}
PARTS = {"a": ("a",), "b": ("b",), "north": ("a", "b"), "south": ("south",), "nation": ("a", "b", "south")}


def tables(rng: np.random.Generator, rows: int) -> dict[str, dict[str, Any]]:
    """A sample of the mixture at every node: numbers of rows are drawn."""
    sizes = dict(zip(SHARES, rng.multinomial(rows, list(SHARES.values())).tolist(), strict=True))
    waits = {k: rng.gamma(shape, 1 / rate, sizes[k]) for k, (shape, rate) in LAWS.items()}
    calls = {k: rng.poisson(shape, sizes[k]) for k, (shape, _) in LAWS.items()}
    return {
        k: {"wait": np.concatenate([waits[i] for i in own]), "calls": np.concatenate([calls[i] for i in own])}
        for k, own in PARTS.items()
    }


def released(made: dict[str, Any], nodes: Any, query: Any, neighbors: Any = "replace-one", **price: Any) -> Any:
    budget = tc.Budget(**price, neighbors=neighbors)
    return {k: tc.Curator(pl.DataFrame(made[k]), SCHEMA, name=k, budget=budget).release(query, **price) for k in nodes}


def truths(some: Any, laws: dict[str, Any]) -> dict[str, Any]:
    """The parameters whose mean statistics are those of each node's mixture."""
    found, own = map_of(some), {}
    means = {k: found.at(np.array(law)).mean for k, law in laws.items()}
    for node, parts in PARTS.items():
        mixed = np.average([means[k] for k in parts], axis=0, weights=[SHARES[k] for k in parts])
        own[node] = found.solve(mixed, np.full(len(mixed), 1e-6)).theta
    return own


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("query", [GAMMA, POISSON], ids=["gamma", "poisson"])
def test_a_node_alone_is_its_own_release(neighbors: str, query: Any) -> None:
    given = released(tables(np.random.default_rng(0), 4_000), ("a",), query, neighbors, epsilon=1)
    for target in ("population", "table"):
        whole: Any = tc.hierarchy(given, {})
        alone, own = whole.estimate("a", target), given["a"].estimate(target)
        assert alone.values == pytest.approx(own.values, rel=1e-6)
        # released variances are corrected a little differently for one row in 1,200, and for noise in a private size
        assert alone.std_errors == pytest.approx(own.std_errors, rel=0.01)


def test_with_little_noise_every_node_has_the_parameters_of_its_rows() -> None:
    made = tables(np.random.default_rng(1), 6_000)
    every = released(made, PARTS, GAMMA, epsilon=400)
    found: Any = tc.hierarchy({k: every[k] for k in ("a", "b", "nation")}, PARENTS)
    assert found.nodes[0] == "nation"
    assert found.terms == ("shape", "rate")
    for node in PARTS:  # neither north nor south was released
        one = found.estimate(node)
        assert one.values == pytest.approx(every[node].estimate().values, rel=0.02)
        assert (found.estimate(node, "table").std_errors < 0.2 * one.std_errors).all()
    assert found.cost == tc.Cost.of(epsilon=800)
    assert "6,000" in str(found)
    assert found.to_frame().notna().all(axis=None)
    assert "mean statistics of all their rows" in str(found)
    # without the nation, south is not known
    lost: Any = tc.hierarchy({k: every[k] for k in ("a", "b")}, PARENTS)
    assert "no release" in lost.estimate("south").reasons[0]
    assert lost.to_frame().loc["south"].isna().all(axis=None)
    assert lost.estimate("north").reasons == (None, None)


def test_the_covariance_of_a_mixture_is_that_of_its_rows() -> None:
    """Two laws far apart: the law fitted to both together has another correlation of its statistics than the rows."""
    rng, n = np.random.default_rng(2), 200_000
    laws = {"a": (8.0, 0.5), "b": (1.0, 2.0)}
    made: dict[str, Any] = {
        k: {"wait": rng.gamma(s, 1 / r, n), "calls": np.zeros(n, int)} for k, (s, r) in laws.items()
    }
    made["north"] = {k: np.concatenate([made["a"][k], made["b"][k]]) for k in ("wait", "calls")}
    found = tc.hierarchy(released(made, ("a", "b"), GAMMA, rho=1), {"a": "north", "b": "north"})
    rows = made["north"]["wait"].clip(0.02, 40)
    ordered = [np.log(rows).clip(-4, 4) if part.label.startswith("log") else rows for part in found.releases["a"].parts]
    # influence of a row on the parameters, from the rows themselves
    at = map_of(found.releases["a"]).solve(np.array([one.mean() for one in ordered]), np.ones(2) * 1e-6)
    assert at.inverse is not None
    wanted = np.sqrt(np.diag(at.inverse @ np.cov(ordered) @ at.inverse.T) / (2 * n))
    one = found.estimate("north")
    assert np.sqrt(one.blocks[0].variance) == pytest.approx(wanted, rel=0.02)
    plain = np.sqrt(np.diag(at.inverse @ at.cov @ at.inverse.T) / (2 * n))
    assert plain != pytest.approx(wanted, rel=0.1)


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("neighbors", "price"), [("replace-one", {"epsilon": 1}), ("add-remove", {"epsilon": 1})], ids=["fixed", "private"]
)
@pytest.mark.parametrize("query", [GAMMA, POISSON], ids=["gamma", "poisson"])
def test_intervals_of_every_node_cover_and_gain(
    neighbors: str, price: dict[str, float], query: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed_noise(monkeypatch)
    rng = np.random.default_rng(3)
    laws = LAWS if query is GAMMA else {k: law[:1] for k, law in LAWS.items()}
    truth: dict[str, Any] = {}
    covered, narrower = [], []
    for _ in range(15):
        given = released(tables(rng, 6_000), PARTS, query, neighbors, **price)
        found = tc.hierarchy(given, PARENTS)
        truth = truth or truths(given["a"], laws)
        for node, value in truth.items():
            one = found.estimate(node)
            ends = np.asarray(one.conf_int()).reshape(-1, 2)
            covered.append(((ends[:, 0] <= value) & (value <= ends[:, 1])).mean())
            narrower.append((one.std_errors / given[node].estimate().std_errors).mean())
    # 75 nodes: 95% less 5 standard deviations of as many independent ones; noise is seeded, since those of one draw
    # vary together
    assert np.mean(covered) > 0.95 - 5 * np.sqrt(0.05 * 0.95 / len(covered))
    assert np.median(narrower) < 1


def test_what_is_refused() -> None:
    made = tables(np.random.default_rng(4), 1_000)
    given = released(made, ("a", "b", "north"), POISSON, epsilon=1)
    found: Any = tc.hierarchy(given, PARENTS)
    with pytest.raises(TacitError, match="C15"):
        found.estimate("nort")
    with pytest.raises(TacitError, match="I09"):
        found.estimate("a", target="everybody")
    wrong = released({**made, "north": made["a"]}, ("a", "b", "north"), POISSON, epsilon=1)
    with pytest.raises(TacitError, match="C19"):
        tc.hierarchy(wrong, PARENTS)
    # also through a level without releases, and where one of two parts is more than the whole
    small = released({**made, "nation": made["b"]}, ("nation",), POISSON, epsilon=1)
    for nodes in (("a", "b"), ("a",)):
        with pytest.raises(TacitError, match="C19"):
            tc.hierarchy({**{k: given[k] for k in nodes}, **small}, PARENTS)
    with pytest.raises(TacitError, match="C12"):
        tc.hierarchy({**given, "b": released(made, ("b",), GAMMA, epsilon=1)["b"]}, PARENTS)
    each: tuple[dict[str, Any], ...] = ({"blocks": 20}, {})
    for words in each:  # an answer in two steps is not said to need another method
        blocks = tc.SampleAndAggregate("wait", tc.families.Exponential(rate=(0.05, 2)), **words)
        with pytest.raises(TacitError, match=r"C60.*SufficientStatistics"):
            tc.hierarchy(released(made, ("a", "b"), blocks, epsilon=1), PARENTS)

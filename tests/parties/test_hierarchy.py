"""Totals over levels: least squares against a dense solution, theory §6's figures, integers that add up exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import TacitError
from tacit.pooling.tree_totals import Tree, integer_totals, reconcile

NATION = Tree((-1, *[0] * 50, *[1 + i // 20 for i in range(1_000)]))
"""1,000 schools in 50 states."""


@pytest.mark.parametrize(
    ("levels", "excess"), [((2,), 0.320), ((1,), 0.0160), ((0,), 0.00032), ((0, 1, 2), 0.0028)], ids=str
)
def test_what_each_placement_of_the_noise_costs(levels: tuple[int, ...], excess: float) -> None:
    """Excess federal variance: 1,000 schools of 300 pupils, values uniform on [0, 1], ε = 0.5 split over the levels."""
    level = np.array([0, *[1] * 50, *[2] * 1_000])
    noise = np.where(np.isin(level, levels), 2 * (len(levels) / 0.5) ** 2, np.inf)
    found = reconcile(NATION, np.zeros((1_051, 1)), noise)
    assert found.variance[0] / (300_000 / 12) == pytest.approx(excess, rel=0.01)


def dense(tree: Tree, value: Any, noise: Any) -> tuple[Any, Any, Any]:
    """Least squares with matrices: totals of all nodes, their covariance, and which of them are determined."""
    leaves = [node for node, below in enumerate(tree.children) if not below]
    sums = np.zeros((len(tree.parents), len(leaves)))
    for j, leaf in enumerate(leaves):
        sums[tree.path(leaf), j] = 1
    known = np.isfinite(noise)
    x, w = sums[known], np.diag(1 / noise[known])
    inverse = np.linalg.pinv(x.T @ w @ x)
    inside = np.linalg.pinv(x) @ x
    told = [bool(np.allclose(row @ inside, row, atol=1e-8)) for row in sums]
    return sums @ (inverse @ x.T @ w @ value[known]), sums @ inverse @ sums.T, told


def test_two_passes_are_least_squares_whatever_is_released() -> None:
    rng = np.random.default_rng(0)
    for _ in range(150):
        n = int(rng.integers(1, 15))
        tree = Tree((-1, *[int(rng.integers(0, i)) for i in range(1, n)]))
        noise = rng.uniform(0.5, 3, n)
        noise[rng.random(n) < 0.4] = np.inf
        value = rng.normal(size=(n, 2)) * 5
        found = reconcile(tree, value, noise)
        expected, cov, told = dense(tree, value, noise)
        assert np.isfinite(found.variance).tolist() == told
        some = np.flatnonzero(told)
        assert found.value[some] == pytest.approx(expected[some])
        assert found.variance[some] == pytest.approx(np.diag(cov)[some])
        assert found.covariance(list(some)) == pytest.approx(cov[np.ix_(some, some)])
        assert np.isnan(found.value[~np.array(told)]).all()


def test_whole_totals_add_up_exactly_and_stay_near() -> None:
    rng = np.random.default_rng(1)
    noise = np.full(1_051, 8.0)
    found = reconcile(NATION, rng.normal(0, 50, (1_051, 3)), noise)
    made = integer_totals(NATION, found.value)
    for node, below in enumerate(NATION.children):
        if below:
            assert (made[list(below)].sum(axis=0) == made[node]).all()
    assert np.abs(made - found.value).max() < 3  # one a level


def test_exact_totals_stay_as_they_are() -> None:
    """A level without noise is not moved, and those below are made to fit it."""
    found = reconcile(Tree((-1, 0, 0)), np.array([[10.0], [3.0], [4.0]]), np.array([0.0, 1.0, 2.0]))
    assert found.value[:, 0] == pytest.approx([10, 4, 6])
    assert found.variance == pytest.approx([0, 2 / 3, 2 / 3])


def test_what_is_no_tree() -> None:
    for parents in ((), (1, 0), (-1, 5), (0,)):
        with pytest.raises(TacitError, match="C19"):
            Tree(parents)


SCHEMA = tc.Schema({"score": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})
SCHOOLS = {"a": ("north", 90), "b": ("north", 150), "c": ("south", 60), "d": ("south", 200)}
PARENTS = {name: state for name, (state, _) in SCHOOLS.items()} | {"north": "nation", "south": "nation"}


def rows(*names: str) -> dict[str, Any]:
    parts = [np.random.default_rng(SCHOOLS[name][1]) for name in names]
    score = np.concatenate([g.uniform(0, 100, SCHOOLS[n][1]) for g, n in zip(parts, names, strict=True)])
    return {"score": score, "sex": np.where(np.arange(len(score)) % 3 == 0, "f", "m")}


def releases(query: Any, epsilon: Any = 5) -> dict[str, Any]:
    """At every school, at trusted states and at the top."""
    tables = {name: rows(name) for name in SCHOOLS} | {"north": rows("a", "b"), "south": rows("c", "d")}
    tables["nation"] = rows(*SCHOOLS)
    budget = tc.Budget(epsilon=100, neighbors="add-remove")
    return {name: tc.Curator(table, SCHEMA, name=name, budget=budget).release(query, epsilon=epsilon)
            for name, table in tables.items()}  # fmt: skip


@pytest.mark.parametrize("query", [tc.Count(), tc.Sum("score", by="sex"), tc.Histogram("sex")], ids=repr)
def test_releases_of_three_levels(query: Any) -> None:
    """The reconciled totals are within 7 standard errors and one of the truth (probability < 1e-6 beyond), and add up.

    Of a count at this price noise is mostly 0: 7 standard errors are 0.6, beyond once in 1,600; 1.6 takes
    a noise of three at the top (6e-7) or more.
    """
    given = releases(query)
    found = tc.hierarchy(given, PARENTS)
    assert found.nodes[0] == "nation"
    assert str(found.cost) == "ε = 15"  # a pupil is in three tables
    frame = found.to_frame()["estimate"].unstack("term")
    assert (frame.loc[["a", "b"]].sum() - frame.loc["north"]).abs().max() < 1e-6
    totals = found.totals()
    for state in ("north", "south"):
        own = [name for name, above in PARENTS.items() if above == state]
        assert (totals.loc[own].sum() == totals.loc[state]).all()
    assert (totals.loc[["north", "south"]].sum() == totals.loc["nation"]).all()
    table = rows(*SCHOOLS)
    truth = {"f": (table["sex"] == "f").sum(), "m": (table["sex"] == "m").sum(), "rows": 500}
    top = found.estimate("nation")
    if isinstance(query, tc.Sum):
        # each school's own pupils: sex restarts with every table, so only the total over both is the nation's
        assert abs(top.values.sum() - table["score"].sum()) < 7 * np.sqrt((top.std_errors**2).sum()) + 1
    elif isinstance(query, tc.Count):
        assert abs(top.value - truth["rows"]) < 7 * top.std_error + 1
    own = given["nation"].estimate("table")
    assert (top.std_errors <= own.std_errors + 1e-9).all()
    assert (top.intervals()[:, 0] < top.values).all()
    assert "children add up" in str(top)


def test_only_leaves_or_only_the_middle() -> None:
    given = releases(tc.Count())
    leaves = tc.hierarchy({name: given[name] for name in SCHOOLS}, PARENTS)
    noise = given["a"].parts[0].law.variance()
    assert leaves.estimate("nation").privacy_variances == pytest.approx([4 * noise])
    total = sum(given[name].parts[0].integers[0][0] for name in SCHOOLS)
    assert leaves.totals()["rows"]["nation"] == total  # integers from the start: added up exactly
    middle = tc.hierarchy({name: given[name] for name in ("north", "south")}, PARENTS)
    assert middle.estimate("a").reason is not None
    assert middle.to_frame()["std_error"]["a"].isna().all()
    with pytest.raises(TacitError, match=r"C16.*a, b, c, d"):
        middle.totals()
    assert leaves.covariance("a", "nation")[0, 1] == pytest.approx(noise)


def test_what_is_refused() -> None:
    given = releases(tc.Variance("score"))
    with pytest.raises(TacitError, match=r"C11.*Mean, SufficientStatistics, Sum and Count"):
        tc.hierarchy(given, PARENTS)
    count = releases(tc.Count())
    with pytest.raises(TacitError, match="C19"):
        tc.hierarchy(count, {**PARENTS, "nation": "a"})
    with pytest.raises(TacitError, match="C12"):
        tc.hierarchy({**count, "a": given["a"]}, PARENTS)
    with pytest.raises(TacitError, match=r"C15.*north"):
        tc.hierarchy(count, PARENTS).estimate("nort")

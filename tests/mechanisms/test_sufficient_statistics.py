"""Sufficient statistics: bounded integers on every engine, the contract, bounds, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacit as tc
from tacit import families
from tacit.curator.mechanisms import design, integers
from tacit.errors import QueryError
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.release.query import query_from_dict
from tacit.source import open_source
from tacit.testing.reference_table import columns_of
from tacit.testing.simulate import exact_integers

GAMMA = families.Gamma(shape=(0.5, 8), rate=(0.2, 8))
WAIT = tc.SufficientStatistics("wait", GAMMA, bounds={"log(wait)": (-3, 1.2)})
SCHEMA = tc.Schema(
    {
        "wait": tc.Real(0, 3),
        "share": tc.Real(0, 1, missing=0.5),
        "age": tc.Integer(0, 100),
        "yes": tc.Boolean(),
        "far": tc.Real(-5, 5),
    }
)
QUERIES = [
    WAIT,
    tc.SufficientStatistics("share", families.Beta(), bounds={"log(share)": (-3, 0), "log(1 - share)": (-2, 0)}),
    tc.SufficientStatistics("age", families.Normal(mean=(0, 100), sd=(1, 50)), where="yes"),
    tc.SufficientStatistics("far", families.Laplace(location=0.25, scale=(0.1, 5))),
    tc.SufficientStatistics("wait", families.Weibull(shape=3, scale=(0.1, 5))),
]


def table(rows: int = 400) -> dict[str, Any]:
    """Values within and beyond their bounds, on them, missing, infinite."""
    rng = np.random.default_rng(0)
    wait = rng.gamma(2, 0.7, rows)
    wait[:8] = [0.0, -1.0, 3.0, 1e300, np.nan, np.exp(-3), np.inf, 5e-324]
    share = rng.beta(2, 5, rows)
    share[:5] = [0.0, 1.0, np.nan, -1e9, 2.0]
    far = rng.standard_cauchy(rows)
    return {"wait": wait, "share": share, "age": rng.integers(-5, 110, rows), "yes": rng.random(rows) < 0.5, "far": far}


@pytest.mark.sample(6)
@pytest.mark.parametrize("query", QUERIES, ids=lambda one: type(one.family.law).__name__)
def test_integers_are_those_of_numpy_on_every_engine(query: tc.SufficientStatistics, tmp_path: Any) -> None:
    """Logs, squares, distances and powers, to the last integer; sums are what rows add, each within the grid."""
    given = table()
    frame = pd.DataFrame(given)
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    for relation in ("replace-one", "add-remove"):
        rows = len(frame) if relation == "replace-one" else None
        shape = design(query, Public(SCHEMA, relation, rows), Cost.of(epsilon=1))
        expected = [np.asarray(one).tolist() for one in exact_integers(shape, columns_of(given, SCHEMA))]
        for source in (given, frame, pl.DataFrame(given), path):
            found = integers(shape, open_source(source, SCHEMA))
            assert [[list(cell) for cell in cells] for cells in found] == expected


def test_the_contract_holds() -> None:
    """Sensitivities reached, law of the noise, cost, JSON: of two statistics, and of a person's mean."""
    assert tc.testing.contract(WAIT, tc.Schema({"wait": tc.Real(0, 3)}), tables=36, draws=20_000).passed
    persons = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), "k": tc.Integer(0, 8)})
    counts = tc.SufficientStatistics("k", families.Poisson(mean=(0.1, 20)))
    assert tc.testing.contract(counts, persons, tables=36, draws=20_000).passed


@pytest.mark.parametrize("cost", [Cost.of(epsilon=1), Cost.of(rho=1)], ids=["pure", "normal"])
@pytest.mark.parametrize("where", [None, "far > 0"])
def test_rows_that_a_condition_leaves_out_are_absent_whatever_stands_for_missing(cost: Cost, where: str | None) -> None:
    """With a declared place a row is always there; with a condition it can leave: another form, of more than w."""
    query = tc.SufficientStatistics("share", families.Exponential(rate=(1, 9)), where=where)
    (column,) = design(query, Public(SCHEMA, "replace-one", 9), cost).columns
    assert column.form.name == ("plain" if where is None else "exclusion-2")
    declared, power = (column.form.l1, 1) if cost.kind == "pure" else (column.form.l2_squared, 2)
    rows = np.array([column.form.row(v) for v in np.linspace(0, column.form.parameters["G"], 101, dtype=int).tolist()])
    rows = rows if where is None else np.vstack([rows, 0 * rows[:1]])
    reached = max(int((np.abs(rows - one).astype(object) ** power).sum(axis=1).max()) for one in rows)
    assert reached == declared


def test_a_statistic_is_clamped_where_it_is_said_to_be() -> None:
    shape = design(WAIT, Public(SCHEMA, "replace-one", 9), Cost.of(epsilon=1))
    assert [column.label for column in shape.columns] == ["wait", "log(wait)"]
    assert [(one.grid.lower, one.grid.upper) for one in shape.columns if one.grid] == [(0, 3), (-3, 1.2)]
    assert sum(column.form.l1 / column.law.scale for column in shape.columns) <= 1
    normal = design(QUERIES[2], Public(SCHEMA, "replace-one", 9), Cost.of(rho=1))
    assert [column.label for column in normal.columns] == ["age", "(age - 50) ** 2"]
    grid = normal.columns[1].grid
    assert grid is not None
    assert (grid.lower, grid.upper) == (0, 2500)  # about the middle: a square of at most half the range


def test_noise_as_printed_is_wider_by_rows_over_blocks() -> None:
    """Errata E15: private, and the rows of a block times too wide."""
    over = tc.SufficientStatistics("yes", families.Bernoulli(), method="chen-sung", blocks=20)
    plain = tc.SufficientStatistics("yes", families.Bernoulli())
    cost = Cost.of(epsilon=1)
    wide, direct = (design(one, Public(SCHEMA, "replace-one", 1_000), cost).columns[0].law for one in (over, plain))
    assert wide.scale == 50 * direct.scale
    assert query_from_dict(over.to_dict()) == over
    with pytest.raises(QueryError, match="Q116"):
        design(over, Public(SCHEMA, "add-remove", None), cost)


def test_what_has_no_statistics_is_refused_with_what_serves() -> None:
    hints = {
        families.StudentT(): "SampleAndAggregate",
        families.LogisticRegression(regressors=1): "Histogram and its fits",
        families.LinearRegression(regressors=1): "tc.Regression",
        families.Laplace(): "location=0",
        families.Weibull(): "shape=2",
        families.Weibull(shape=1.5): "SampleAndAggregate",
    }
    for family, hint in hints.items():
        assert family.sufficient_statistics() is None
        with pytest.raises(QueryError, match="Q114") as caught:
            tc.SufficientStatistics("wait", family)
        assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"bounds": {"x": (0, 1)}}, "Q115"),
        ({"bounds": {"wait": (1, 0)}}, "Q115"),
        ({"bounds": {"wait": (0, np.inf)}}, "Q115"),
        ({"bounds": {"wait": (0, 1, 2)}}, "Q115"),
        ({"bounds": 3}, "Q115"),
        ({"method": "exact"}, "Q116"),
        ({"blocks": 3}, "Q116"),
        ({"method": "chen-sung", "blocks": 0}, "Q116"),
        ({"where": "wait >"}, "Q60"),
    ],
)
def test_wrong_words_are_refused_when_they_are_typed(words: dict[str, Any], code: str) -> None:
    with pytest.raises(QueryError, match=code):
        tc.SufficientStatistics("wait", GAMMA, **words)


@pytest.mark.parametrize(
    ("what", "family", "bounds", "code"),
    [
        ("wait", GAMMA, {}, "Q115"),  # log(0)
        ("free", families.Exponential(), {}, "Q115"),
        ("wait", GAMMA, {"log(wait)": (-50, 1)}, "Q115"),
        ("far", families.Weibull(shape=2), {}, "Q115"),
        ("sex", families.Poisson(), {}, "Q11"),
        ("nobody", families.Poisson(), {}, "Q10"),
    ],
)
def test_bounds_that_are_not_public_are_asked_for(what: str, family: Any, bounds: Any, code: str) -> None:
    """Before anything is read or spent."""
    schema = tc.Schema({**dict(SCHEMA.items()), "free": tc.Real(), "sex": tc.Category(["f", "m"])})
    with pytest.raises(QueryError, match=rf"\[{code}\]"):
        tc.plan(tc.SufficientStatistics(what, family, bounds=bounds), schema, rows=100, epsilon=1)


def test_words_of_a_file_are_those_of_python() -> None:
    words = WAIT.to_dict()
    assert words["family"] == {"family": "Gamma", "shape": [0.5, 8.0], "rate": [0.2, 8.0]}
    assert query_from_dict(words) == WAIT
    with pytest.raises(QueryError, match="Q03"):
        query_from_dict({"query": "SufficientStatistics", "what": "wait"})


def test_bad_cells_and_an_empty_table_are_answered() -> None:
    said: list[str | None] = []
    for rows in (table(), *[{name: column[:0] for name, column in table().items()}] * 6):
        curator = tc.Curator(rows, SCHEMA, budget=tc.Budget(epsilon=10, neighbors="add-remove"))
        found = curator.release(WAIT, epsilon=1).estimate()
        assert np.isfinite(found.values).all()
        assert np.isfinite(found.intervals()).all()
        said.append(found.reasons[0])
    # a noisy size of none is above its 97.5% quantile in one release of 40: in all six below 1e-9
    assert any(reason is not None and "not clearly above 0" in reason for reason in said[1:])


def test_an_estimate_at_an_end_of_the_box_has_a_reason() -> None:
    """Rows of a shape of 4 in a box that ends at 2.5: the noise would have to be 15 standard deviations off."""
    rows = np.random.default_rng(2).gamma(4, 0.5, 5_000)
    curator = tc.Curator({"wait": rows}, tc.Schema({"wait": tc.Real(0, 20)}), budget=tc.Budget(rho=20))
    narrow = families.Gamma(shape=(0.5, 2.5), rate=(0.2, 8.0))
    found = curator.release(tc.SufficientStatistics("wait", narrow, bounds={"log(wait)": (-5, 3)}), rho=5).estimate()
    assert all("the search for shape stops at an end of the box" in (one or "") for one in found.reasons)
    assert np.isnan(found.to_frame()["std_error"]).all()
    # the end of a parameter's domain is none beyond which it may lie
    nothing = tc.Curator({"at": np.zeros(5_000)}, tc.Schema({"at": tc.Boolean()}), budget=tc.Budget(rho=20))
    share = nothing.release(tc.SufficientStatistics("at", families.Bernoulli(p=(0, 1))), rho=5).estimate()
    assert share.reasons == (None,)

"""Quantiles end to end: what is charged, what is selected, what is said, on every engine; coverage in short."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit as tc
from tacit.errors import InferenceError, QueryError
from tacit.method.quantiles import design as quantiles_design
from tacit.method.shared import rank_utilities
from tacit.method.shared.measurement import Public
from tacit.noise.select import choose
from tacit.privacy import Cost, range_to_mu_squared
from tacit.release.document import release_from_dict
from tacit.release.query import query_from_dict
from tacit.source import open_source
from tacit.testing.simulated_quantiles import simulate_quantiles

SCHEMA = tc.Schema(
    {"x": tc.Real(-5, 15, units="kg"), "k": tc.Integer(0, 20, missing=3), "d": tc.Date("2020-01-01", "2020-12-31")}
)
PRICES = [Cost.of(epsilon=1), Cost.of(rho="0.1"), Cost.of(epsilon=1, delta="1e-6")]


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("column", ["x", "k"])
def test_the_parts_cost_at_most_the_price(column: str, price: Cost, neighbors: Any) -> None:
    """Selections at epsilon, epsilon**2 / 8 or (of a pair) their mu**2 / 2, N at its own: almost all of the price."""
    rows = 10_000 if neighbors == "replace-one" else None  # of fewer they are read from cuts (test_quantile_cuts)
    shape = quantiles_design.design(tc.Quantiles(column, [0.1, 0.5]), Public(SCHEMA, neighbors, rows), price)
    chosen, sizes = quantiles_design.split(shape)
    total = Fraction(0)
    for one, p in zip(chosen, (Fraction(1, 10), Fraction(1, 2)), strict=True):
        epsilon = one.law.scale**-1 * 2 * rank_utilities.sensitivity(p, neighbors)
        rho = range_to_mu_squared(epsilon) / 2 if price.kind == "approximate" else epsilon**2 / 8
        total += len(one.form.matrix) * (epsilon if price.kind == "pure" else rho)
    if sizes is not None:
        scale = sizes.law.scale
        total += 1 / scale if price.kind == "pure" else 1 / (2 * scale**2)
    offered = price.epsilon if price.kind == "pure" else price.zcdp
    assert offered is not None
    rounded = Fraction(1, 10**10) if price.kind == "approximate" else 0  # mu**2 is rounded up to 12 digits
    assert Fraction(999, 1000) * offered <= total <= offered * (1 + rounded)
    assert (sizes is None) == (column == "k" and neighbors == "replace-one")  # N is public where nothing is left out


def test_the_offset_is_a_function_of_what_was_released() -> None:
    """Two neighbours with the same released N have the same offsets: c uses nothing else."""
    shape = quantiles_design.design(tc.Quantiles("x", [0.5]), Public(SCHEMA, "add-remove", None), PRICES[0])
    chosen, sizes = quantiles_design.split(shape)
    assert sizes is not None
    assert quantiles_design.reach(chosen[0], 1_000.0, 0.95) < quantiles_design.reach(chosen[0], 10_000.0, 0.95)
    assert quantiles_design.reach(chosen[0], 0.0, 0.95) > 0


def test_every_engine_counts_the_same_steps(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x = np.where(rng.random(500) < 0.1, np.nan, rng.normal(5, 10, 500))
    data = pa.table({"x": pa.array(x, mask=rng.random(500) < 0.1)})
    pq.write_table(data, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text(
        "x\n" + "\n".join("" if v is None else repr(v) for v in data["x"].to_pylist()) + "\n"
    )
    shape = quantiles_design.design(tc.Quantiles("x", [0.5]), Public(SCHEMA, "add-remove", None), PRICES[0])
    at = shape.columns[0].rowmap
    assert at is not None
    v, known = at.numpy(np.array([np.nan if c is None else c for c in data["x"].to_pylist()]))
    steps, many = np.unique(v[known], return_counts=True)
    expected = dict(zip(steps.tolist(), many.tolist(), strict=True))
    relation = duckdb.connect().from_arrow(data)
    for source in (tmp_path / "t.parquet", data, pl.from_arrow(data), relation, {"x": data["x"].combine_chunks()}):
        found = open_source(source).ranked(at)
        assert (found.rows, found.cells) == (500, (expected,))
    text = open_source(tmp_path / "t.csv").ranked(at)
    assert text.rows <= 500  # an empty line is no row
    assert text.cells == (expected,)


def test_spark_counts_the_same_steps(spark: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    data = pa.table({"k": pa.array([None if u < 0.1 else int(25 * u) for u in rng.random(200)], pa.int32())})
    pq.write_table(data, tmp_path / "t.parquet")
    shape = quantiles_design.design(tc.Quantiles("k", [0.5]), Public(SCHEMA, "replace-one", 200), PRICES[0])
    at = shape.columns[0].rowmap
    assert at is not None
    frame = open_source(spark.read.parquet(str(tmp_path / "t.parquet")))
    assert frame.ranked(at) == open_source(tmp_path / "t.parquet").ranked(at)


def test_selections_of_a_release_have_their_law() -> None:
    """Chi-square over runs: the right rate passes at 1e-6, 10% off fails."""
    from scipy import stats

    counts = {10: 3, 20: 5, 30: 2}
    runs = rank_utilities.utilities(counts, 41, Fraction(1, 2))
    law = rank_utilities.law_for(Cost.of(epsilon=3), Fraction(1, 2), "replace-one", grouped=False)
    drawn = np.bincount([choose(law, runs.utility, runs.points)[0] for _ in range(40_000)], minlength=len(runs.points))
    for factor, passes in ((Fraction(1), True), (Fraction(11, 10), False)):
        p = type(law)(law.rate * factor).pmf(runs.utility, runs.points)
        chi2 = ((drawn - 40_000 * p) ** 2 / (40_000 * p)).sum()
        assert bool(stats.chi2.sf(chi2, len(p) - 1) > 1e-6) == passes


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("rho", "neighbors", "most"),
    [
        (0.5, "replace-one", 1.1),
        (0.5, "add-remove", 1.05),
        (0.1, "replace-one", 1.32),
        (0.1, "add-remove", 1.07),
        (0.01, "replace-one", 3.75),  # 2.5 before ends were as far out as gaps need: form joint-3
        (0.01, "add-remove", 2.5),
    ],
)
def test_intervals_cover_and_are_as_narrow_as_they_were(rho: float, neighbors: Any, most: float) -> None:
    """Lognormal on [-5, 15], n = 1,000; 150 tables: coverage below 0.83 has probability < 1e-6 where it is 0.95."""
    rng = np.random.default_rng(3)
    held, width, bare = 0, [], []
    for _ in range(150):
        x = np.sort(rng.lognormal(0, 1, 1_000))
        found = simulate_quantiles(tc.Quantiles("x", [0.5]), {"x": x}, SCHEMA, rng=rng, rho=rho, neighbors=neighbors)
        low, high = found.conf_int()
        held += low <= 1 <= high
        width.append(high - low)
        bare.append(x[531] - x[469])
        assert found.reasons == (None,)
    assert held / 150 > 0.83
    assert np.mean(width) / np.mean(bare) < most * 1.05  # 5% for 150 tables


def test_from_question_to_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    data = {
        "x": rng.normal(5, 2, 3_000),
        "k": rng.binomial(20, 0.4, 3_000),
        "d": np.full(3_000, "2020-05-05", "datetime64[D]"),
    }
    curator = tc.Curator(data, SCHEMA, budget=tc.Budget(rho=3))
    query = tc.Quantiles("x", [0.75, "1/4", 0.5])
    release = curator.release(query, rho=1, name="quartiles")
    found = release.estimate()
    assert found.terms == ("0.25", "0.5", "0.75")
    assert np.abs(found.values - np.quantile(data["x"], [0.25, 0.5, 0.75])).max() < 0.5
    assert (np.diff(found.values) >= 0).all()
    assert (found.limits[:, 0] <= found.values).all()
    assert (found.values <= found.limits[:, 1]).all()
    words = str(release)
    assert "Quantiles of x" in words
    assert "bounds -5 to 15 kg" in words
    assert "exponential mechanism" in words
    again = release_from_dict(json.loads(release.to_json()))
    assert again.to_json() == release.to_json()
    assert (again.estimate().limits == found.limits).all()
    assert curator.release(tc.Quantiles("x", (0.5, 0.25, 0.75)), rho=1, name="quartiles").charge == release.charge
    assert query_from_dict(query.to_dict()) == query
    day = curator.release(tc.Quantiles("d", 0.5), rho=0.5).estimate()
    assert day.conf_int()[0] <= 18387.0 <= day.conf_int()[1]  # 2020-05-05 in days since 1970
    both = curator.release({"mean": tc.Mean("x"), "median": tc.Quantiles("k", [0.5])}, rho=0.5)
    assert abs(both["median"].estimate().value - 8) <= 1
    plan = curator.plan(query, rho=0.5)
    assert plan.width > 0
    assert "Quantiles of x" in str(plan)


def test_levels_and_probabilities_that_are_none() -> None:
    for probs in (
        [],
        [0],
        [1],
        [0.5, 0.5],
        [1.5],
        ["half"],
        [True],
        [1 / 3],
        list(np.linspace(0.01, 0.99, 40).round(3)),
    ):
        with pytest.raises(QueryError) as refused:
            tc.Quantiles("x", probs)
        assert refused.value.code == "Q74", probs
    for level in (0.3, 1, True, "high"):
        with pytest.raises(QueryError):
            tc.Quantiles("x", [0.5], level=level)  # pyright: ignore
    found = simulate_quantiles(tc.Quantiles("x", [0.5], level=0.9), {"x": np.arange(100.0) / 10}, SCHEMA, rho=1)
    with pytest.raises(InferenceError) as high:
        found.conf_int(0.95)
    assert high.value.code == "I14"
    assert found.conf_int(0.9) == found.conf_int()


def test_empty_tables_and_few_rows_are_answered_with_a_reason() -> None:
    for rows in ([], [None], [1.0], [2.0] * 5):
        data = {"x": pa.array(rows, pa.float64())}
        curator = tc.Curator(
            data, SCHEMA.__class__({"x": SCHEMA["x"]}), budget=tc.Budget(rho=1, neighbors="add-remove")
        )
        found = curator.release(tc.Quantiles("x", [0.5]), rho=0.1).estimate()
        assert found.reasons[0] is not None
        assert -5 <= found.limits[0, 0] <= found.limits[0, 1] <= 15

"""Sparse histograms: the law of dense noise and a threshold, occupied cells on every engine, intervals, words."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from scipy import stats

import tacit as tc
from tacit.cli.show_commands import estimates
from tacit.curator.mechanisms import design
from tacit.errors import InferenceError, QueryError
from tacit.fits.cells.released_cells import cells_of
from tacit.method.histogram import mechanism as histogram
from tacit.method.histogram import mechanism_sparse as sparse_histogram
from tacit.method.histogram import sparse_design
from tacit.method.histogram.estimate_sparse import absent, conditional
from tacit.method.shared.measurement import Public
from tacit.method.shared.weighted_encoding import FINE
from tacit.noise.laws import DiscreteLaplace, Law, RoundedNormal
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.release.query import query_from_dict
from tacit.rows.row_map import Occupied
from tacit.source import open_source
from tacit.testing import contract, simulate

SCHEMA = tc.Schema(
    {
        "age": tc.Real(18, 93),
        "county": tc.Category({code: f"c{code}" for code in range(1001, 1101)}),
        "odd": tc.Category({code: f"o{code}" for code in range(1, 300, 3)}, missing="other"),
        "region": tc.Category(["north", "south"]),
        "ok": tc.Boolean(),
    }
)
QUERIES = [
    tc.Histogram(["age", "county", "region"], bins={"age": 50}, sparse=True, missing=True, outside=True),
    tc.Histogram(["odd", "ok"], sparse=True, threshold=9),
    tc.Histogram(["county", "ok"], sparse=True, where="age > 40 or ok"),
]


def table(rows: int = 500, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)

    def some(cells: list[Any], kind: Any) -> pa.Array:
        return pa.array([cells[i] for i in rng.integers(0, len(cells), rows)], kind)

    return pa.table(
        {
            "age": some([None, np.nan, np.inf, -5.0, 18.0, 33.3, 93.0, 120.0], pa.float64()),
            "county": some([None, 1000, *range(1001, 1110)], pa.int64()),
            "odd": some([None, *range(1, 310)], pa.int64()),
            "region": some([None, "north", "south", "east"], pa.string()),
            "ok": some([None, True, False], pa.bool_()),
        }
    )


def shape_of(query: Any, schema: tc.Schema = SCHEMA, **price: Any) -> Any:
    return design(query, Public(schema, "add-remove", None), Cost.of(**(price or {"epsilon": 1})))


def twin(query: Any) -> Any:
    """The same question, dense."""
    words = {key: value for key, value in query.to_dict().items() if key not in ("sparse", "threshold")}
    return query_from_dict(words)


@pytest.mark.sample(3)
@pytest.mark.parametrize("persons", [False, True])
@pytest.mark.parametrize("query", QUERIES, ids=lambda q: "-".join(q.columns))
def test_every_engine_finds_the_same_occupied_cells(query: Any, persons: bool, tmp_path: Path) -> None:
    data, schema = table(), SCHEMA
    if persons:
        data = data.append_column("who", pa.array(np.random.default_rng(1).integers(0, 100, data.num_rows)))
        schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=4), **SCHEMA})
    pq.write_table(data, tmp_path / "t.parquet")
    pa.csv.write_csv(data, tmp_path / "t.csv")
    shape = shape_of(query, schema)
    expected = histogram.counts(shape_of(twin(query), schema), open_source(tmp_path / "t.parquet", schema))
    assert expected.size == shape.cells
    relation = duckdb.connect().from_arrow(data)
    for source in (tmp_path / "t.parquet", tmp_path / "t.csv", data, pl.from_arrow(data), relation):
        opened = open_source(source, schema)
        found = sparse_histogram.occupied(shape, opened)
        assert found.cells.tolist() == np.flatnonzero(expected).tolist(), source
        assert found.counts.tolist() == expected[expected > 0].tolist(), source
        assert persons or found.rows == data.num_rows
        assert (sparse_histogram.dense(shape, opened) == expected).all()


def test_spark_finds_the_same_occupied_cells(spark: Any, tmp_path: Path) -> None:
    pq.write_table(table(200), tmp_path / "t.parquet")
    frame = spark.read.parquet(str(tmp_path / "t.parquet"))
    for query in QUERIES[:2]:
        shape = shape_of(query)
        found = sparse_histogram.occupied(shape, open_source(frame, SCHEMA))
        files = sparse_histogram.occupied(shape, open_source(tmp_path / "t.parquet", SCHEMA))
        assert (found.cells.tolist(), found.counts.tolist()) == (files.cells.tolist(), files.counts.tolist())


@pytest.mark.sample(2)
@pytest.mark.parametrize("persons", [False, True])
def test_the_contract_of_a_sparse_histogram(persons: bool) -> None:
    columns: dict[str, Any] = {"age": SCHEMA["age"], "region": SCHEMA["region"]}
    schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), **columns} if persons else columns)
    query = tc.Histogram(["age", "region"], bins={"age": 3}, sparse=True, threshold=4, outside=not persons)
    contract(query, schema, tables=40, draws=40_000)


def outcomes(law: Law, counts: tuple[int, ...], threshold: int, top: int) -> np.ndarray:
    """Probabilities of every outcome of dense noise and a threshold; a cell: absent, T, T+1, ..., top or more."""
    each: list[np.ndarray] = []
    for n in counts:
        inner = law.pmf(np.arange(threshold, top) - n)
        each.append(np.array([float(law.cdf(threshold - 1 - n)), *inner, float(law.sf(top - 1 - n))]))
    return np.array([np.prod(combination) for combination in itertools.product(*each)])


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "law", [DiscreteLaplace(Fraction(3, 2)), RoundedNormal(Fraction(2))], ids=["laplace", "normal"]
)
@pytest.mark.parametrize("counts", [(0, 0, 0), (3, 0, 0), (1, 5, 0)])
def test_the_law_is_that_of_dense_noise_and_a_threshold(law: Law, counts: tuple[int, ...]) -> None:
    """All joint outcomes of three cells, 2,500 releases: chi-square, false-alarm rate 1e-6.

    How many empty cells pass is 7,500 trials: a chance 25% off is noticed.  (`noise/test_passing` notices 10%.)
    """
    threshold, top, calls = 2, 6, 2_500
    column = shape_of(tc.Histogram("region", sparse=True, threshold=threshold)).columns[0]
    column = replace(column, law=law)
    cells = np.flatnonzero(counts)
    found = Occupied(sum(counts), cells.astype(np.int64), np.array(counts, dtype=np.int64)[cells])
    seen = np.zeros((top - threshold + 2,) * len(counts))
    passed = 0
    for _ in range(calls):
        at = [0] * len(counts)
        for place, value in zip(
            *(x.tolist() for x in sparse_histogram.released(column, found, len(counts))), strict=True
        ):
            at[place] = min(value, top) - threshold + 1
            passed += 1
        seen[tuple(at)] += 1

    def fits(candidate: Law) -> float:
        expected = outcomes(candidate, counts, threshold, top) * calls
        assert expected.sum() == pytest.approx(calls)
        rare = expected < 5
        a, b = (np.append(x[~rare], x[rare].sum()) for x in (seen.reshape(-1), expected))
        return float(stats.chisquare(a, b).pvalue)

    assert fits(law) > 1e-6
    if counts == (0, 0, 0):
        p = float(law.sf(threshold - 1))
        assert stats.binomtest(passed, 3 * calls, p).pvalue > 1e-6
        assert max(stats.binomtest(passed, 3 * calls, factor * p).pvalue for factor in (0.75, 1.25)) < 1e-6


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(7)), RoundedNormal(Fraction(7))], ids=["laplace", "normal"])
@pytest.mark.parametrize("truth", [0, 20, 45, 60, 90])
def test_intervals_cover_among_cells_that_are_kept(law: Law, truth: int) -> None:
    """Exactly, by summing over all kept counts: each end fails with probability .025 at most, and a dull end nearly."""
    threshold = 50
    y = np.arange(threshold, truth + 400, dtype=float)
    mass = law.pmf(y - truth) / float(law.sf(threshold - 1 - truth))
    low, high = conditional(law, threshold, y, 0.95)
    assert (low <= y).all()
    assert (y <= high).all()
    missed_above, missed_below = mass[high < truth].sum(), mass[low > truth].sum()
    assert missed_below <= 0.025 + 1e-12
    assert missed_above <= 0.025 + 1e-12
    if truth == 90:
        assert missed_below > 0.015
        assert missed_above > 0.015
    below = float(law.cdf(threshold - 1 - absent(law, threshold, 0.95)))
    assert below > 0.05 >= float(law.cdf(threshold - 2 - absent(law, threshold, 0.95)))


def test_a_sparse_release_of_very_many_cells(tmp_path: Path) -> None:
    """4e10 cells: county by job by age by day; the common cells are found, and hardly any empty one."""
    rng = np.random.default_rng(3)
    schema = tc.Schema(
        {
            "county": tc.Category(range(3_000)),
            "job": tc.Category({code: f"job {code}" for code in range(0, 5_000, 5)}),
            "age": tc.Integer(0, 119),
            "day": tc.Date("2024-01-01", "2024-04-30"),
        }
    )
    n = 20_000
    data = pa.table(
        {
            "county": np.where(rng.random(n) < 0.5, 17, rng.integers(0, 3_000, n)),
            "job": np.where(rng.random(n) < 0.9, 45, rng.integers(0, 5_000, n)),
            "age": rng.choice([40, 41], n),
            "day": pa.array(np.datetime64("2024-02-01") + rng.integers(0, 3, n)),
        }
    )
    for price in ({"epsilon": 1}, {"rho": "1/4"}):
        kind: Any = dict.fromkeys(price, 9)
        curator = tc.Curator(data, schema, budget=tc.Budget(**kind))
        query = tc.Histogram(["county", "job", "age", "day"], bins={"day": 120}, sparse=True)
        release = curator.release(query, **price)
        assert release.size == 3_000 * 1_000 * 120 * 120
        assert release.expected_empty <= 200
        frame = release.to_frame()
        big = frame[frame["county"] == "17"]
        assert len(big[(big["job"] == "job 45") & (big["age"].isin(["40", "41"]))]) == 6
        truth = float(((data["county"].to_numpy() == 17) & (data["job"].to_numpy() == 45)).sum())
        assert big["count"].sum() == pytest.approx(truth, abs=600)
        assert len(frame) < 6 + 200 + 6 * 200**0.5  # passes but for 1e-9
        assert (frame["count"] >= release.threshold).all()
        assert ((frame["lower"] <= frame["count"]) & (frame["count"] <= frame["upper"])).all()
        row = big.iloc[0]
        kept = release.cell(county=row["county"], job=row["job"], age=row["age"], day=row["day"])
        assert (kept.count, kept.lower, kept.upper) == (row["count"], row["lower"], row["upper"])
        other = release.cell({"county": "2999", "job": "job 0"}, age="3", day=release.levels[3][1][0])
        assert other.count is None or other.count >= release.threshold
        assert other.upper > release.threshold * 0.9
        again = release_from_dict(json.loads(release.to_json()))
        assert again == release
        assert type(again) is type(release)
        assert "sparse" in str(release)
        plan = curator.plan(query, **price)
        assert plan.numbers <= 200
        assert "empty ones and those that hold so many" in str(plan)
        for words in (
            "counts",
            "margin('age')",
            "estimate()",
            "fit('age ~ job')",
            "density('age')",
            "sample(3)",
            "plot()",
        ):
            with pytest.raises(InferenceError) as said:
                eval(f"release.{words}", {"release": release})
            assert said.value.code == "Q84"


def test_thresholds_are_public_and_follow_the_rules() -> None:
    wide = tc.Schema({"a": tc.Category(range(10_000)), "b": tc.Category(range(10_000))})
    law = DiscreteLaplace(Fraction(2))
    for rows, most in ((1_000, 10), (100_000, 1_000), (10**9, 10_000)):
        shape = design(tc.Histogram(["a", "b"], sparse=True), Public(wide, "replace-one", rows), Cost.of(epsilon=1))
        threshold = shape.columns[0].form.parameters["threshold"]
        assert sparse_design.false_cells(law, threshold, 10**8) <= most
        assert sparse_design.false_cells(law, threshold - 1, 10**8) > most
    private = shape_of(tc.Histogram(["a", "b"], sparse=True), wide)
    assert (
        sparse_design.false_cells(DiscreteLaplace(Fraction(1)), private.columns[0].form.parameters["threshold"], 10**8)
        <= 100
    )
    few = shape_of(tc.Histogram("region", sparse=True), SCHEMA)
    assert few.columns[0].form.parameters["threshold"] == 1
    persons = tc.Schema({"who": tc.PrivacyUnit(max_rows=2), "region": SCHEMA["region"]})
    assert (
        shape_of(tc.Histogram("region", sparse=True, threshold=30), persons).columns[0].form.parameters["threshold"]
        == 30 * FINE
    )


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: tc.Histogram("region", threshold=3), "Q83"),
        (lambda: tc.Histogram("region", sparse=True, threshold=0), "Q83"),
        (lambda: tc.Histogram("region", sparse=True, threshold=2.5), "Q83"),  # pyright: ignore
        (lambda: tc.Histogram("region", sparse=True, threshold=True), "Q83"),
        (lambda: tc.Histogram("region", sparse="yes"), "Q81"),  # pyright: ignore
        (lambda: shape_of(tc.Histogram(["a", "b"], sparse=True, threshold=1), WIDE), "Q83"),
        (lambda: shape_of(tc.Histogram(["a", "b"], sparse=True, threshold=1), WIDE, rho=1), "Q83"),
        (lambda: shape_of(tc.Histogram(["a", "b"]), WIDE), "Q31"),
        (lambda: shape_of(tc.Histogram(["a", "b", "c", "d"], sparse=True), WIDE), "Q31"),
    ],
)
def test_what_is_refused(make: Any, code: str) -> None:
    with pytest.raises(QueryError) as refused:
        make()
    assert refused.value.code == code


WIDE = tc.Schema({name: tc.Category(range(10_000)) for name in "abcd"})


def test_words_and_what_is_not_there() -> None:
    query = tc.Histogram(["region", "ok"], sparse=True, threshold=7)
    assert query.to_dict() == {"query": "Histogram", "columns": ["region", "ok"], "sparse": True, "threshold": 7}
    assert query_from_dict(query.to_dict()) == query
    data = {"region": ["north"] * 200 + ["south"], "ok": [True] * 201}
    schema = tc.Schema({"region": SCHEMA["region"], "ok": SCHEMA["ok"]})
    with pytest.raises(InferenceError) as refused:
        simulate(query, {name: np.array(cells) for name, cells in data.items()}, schema, epsilon=1, repeats=2)
    assert refused.value.code == "Q84"
    release = tc.Curator(data, schema, budget=tc.Budget(epsilon=9)).release(query, epsilon=3)
    for labels, code in (
        ({"regio": "north", "ok": "true"}, "I41"),
        ({"region": "north"}, "I02"),
        ({"region": "n", "ok": "true"}, "I02"),
    ):
        with pytest.raises(InferenceError) as refused:
            release.cell(labels)
        assert refused.value.code == code
    with pytest.raises(InferenceError) as refused:
        release.to_frame(0.3)
    assert refused.value.code == "I01"
    nothing = tc.Curator(data, schema, budget=tc.Budget(epsilon=9)).release(
        tc.Histogram(["region", "ok"], sparse=True, threshold=9_999), epsilon=3
    )
    assert nothing.to_frame().shape == (0, 5)
    assert "0 of 4 cells" in str(nothing)
    assert release_from_dict(json.loads(nothing.to_json())) == nothing
    assert estimates({"cells": release}, "table", 0.9)["cells"].columns == ("region:ok", "count", "90% interval")
    with pytest.raises(InferenceError) as refused:
        cells_of(release)
    assert refused.value.code == "Q84"

"""Cells of their own for missing values and for values beyond the bounds: counts, sensitivity, words, what they add."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.errors import QueryError
from tacit.fits.cells.released_cells import cells_of
from tacit.method.histogram import mechanism as histogram
from tacit.method.histogram.estimate import HistogramColumns
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.release.query import query_from_dict
from tacit.source import open_source
from tacit.testing import contract
from tacit.testing.reference_table import columns_of
from tacit.testing.simulate import exact_integers

COLUMNS: dict[str, Any] = {
    "age": tc.Real(18, 93, units="years"),
    "income": tc.Real(0, 300_000, missing=0),
    "educ": tc.Integer(1, 4),
    "sex": tc.Category({0: "male", 1: "female"}),
    "odd": tc.Category({code: f"o{code}" for code in range(1, 300, 3)}),
    "region": tc.Category(["north", "south"], missing="unknown"),
    "town": tc.Category(["x", "y"]),
    "ok": tc.Boolean(),
    "day": tc.Date("1969-12-01", "1970-02-01"),
    "log income": tc.Real(0, 13, computed="log(income)"),
    "anything": tc.Real(),
    "something": tc.Real(missing=1e9),
}
LOGISTIC = tc.LogisticBins(6, center=60, scale=20)
SCHEMA = tc.Schema(COLUMNS)
QUERIES = [
    tc.Histogram(["age", "sex", "region"], bins={"age": 5}, missing=True, outside=True),
    tc.Histogram(["age", "ok"], bins={"age": 30}, outside=True),
    tc.Histogram(["income", "educ", "town"], bins={"income": [0, 10_000, 300_000]}, missing=True, outside=True),
    tc.Histogram(["income", "age"], bins={"income": 3, "age": 3}, missing=True),
    tc.Histogram(["day", "ok"], bins={"day": 4}, missing=True, outside=True, where="ok or age > 50"),
    tc.Histogram(["odd", "town"], missing=True),
    tc.Histogram("log income", bins={"log income": 6}, missing=True, outside=True),
    tc.Histogram(["anything", "sex"], bins={"anything": LOGISTIC}, missing=True),
    tc.Histogram(["something", "ok"], bins={"something": LOGISTIC}, missing=True, where="ok"),
    tc.Histogram(["age", "income"], bins={"age": LOGISTIC, "income": 3}, outside=True),
]


def table(rows: int = 800, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)

    def some(cells: list[Any], kind: Any) -> pa.Array:
        return pa.array([cells[i] for i in rng.integers(0, len(cells), rows)], kind)

    wild = [None, np.nan, np.inf, -np.inf, -5.0, 18.0, 18.0 - 1e-12, 33.0, 92.999, 93.0, 93.0 + 1e-12, 1e300]
    days = [None, date(1969, 11, 30), date(1969, 12, 1), date(1970, 1, 1), date(1970, 2, 1), date(1970, 2, 2)]
    return pa.table(
        {
            "age": some(wild, pa.float64()),
            "income": some([None, np.nan, np.inf, -1.0, 0.0, 9_999.99, 10_000.0, 3e5, 1e9], pa.float64()),
            "educ": some([None, 0, 1, 2, 3, 4, 9], pa.int64()),
            "sex": some([None, 0, 1, 7], pa.int64()),
            "odd": some([None, *range(1, 310)], pa.int64()),
            "region": some([None, "north", "south", "east"], pa.string()),
            "town": some([None, "x", "y", "z"], pa.string()),
            "ok": some([None, True, False], pa.bool_()),
            "day": some(days, pa.date32()),
            "anything": some(wild, pa.float64()),
            "something": some(wild, pa.float64()),
        }
    )


def arrays(data: pa.Table) -> dict[str, np.ndarray]:
    return columns_of({name: np.array(data[name].to_pylist(), dtype=object) for name in data.column_names}, SCHEMA)


def shape_of(query: Any, schema: tc.Schema = SCHEMA) -> Any:
    return design(query, Public(schema, "add-remove", None), Cost.of(epsilon=1))


@pytest.mark.sample(3)
@pytest.mark.parametrize("query", QUERIES, ids=lambda q: "-".join(q.columns))
def test_every_engine_counts_the_same_extra_cells(query: Any, tmp_path: Path) -> None:
    data = table()
    pq.write_table(data, tmp_path / "t.parquet")
    pa.csv.write_csv(data, tmp_path / "t.csv")
    shape = shape_of(query)
    (expected,) = exact_integers(shape, arrays(data))
    if query.missing and query.where is None:
        assert expected.sum() == data.num_rows  # every row is in some cell
    sources = (
        tmp_path / "t.parquet",
        tmp_path / "t.csv",
        data,
        data.to_pandas(types_mapper=pd.ArrowDtype),
        pl.from_arrow(data),
    )
    for source in (*sources, duckdb.connect().from_arrow(data)):
        assert histogram.counts(shape, open_source(source, SCHEMA)).tolist() == expected[:, 0].tolist(), source


def test_persons_have_extra_cells_alike(tmp_path: Path) -> None:
    data = table().append_column("who", pa.array(np.random.default_rng(1).integers(0, 200, 800)))
    schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), **COLUMNS})
    pq.write_table(data, tmp_path / "t.parquet")
    columns = {name: np.array(data[name].to_pylist(), dtype=object) for name in data.column_names}
    for query in (*QUERIES[:4], *QUERIES[-3:]):
        shape = shape_of(query, schema)
        (expected,) = exact_integers(shape, columns_of(columns, schema))
        for source in (tmp_path / "t.parquet", pl.from_arrow(data)):
            assert histogram.counts(shape, open_source(source, schema)).tolist() == expected[:, 0].tolist(), source


@pytest.mark.parametrize(
    ("cells", "counts"),
    [  # whose bounds in a file leave NaN out, so that an engine may take a comparison to hold in every row
        ([100.0, 120.0, np.nan], [0, 0, 1, 0, 2]),
        ([-3.0, -np.inf, np.nan], [0, 0, 1, 2, 0]),
        ([np.inf, np.inf, np.nan], [0, 0, 1, 0, 2]),
        ([20.0, 30.0, np.nan], [2, 0, 1, 0, 0]),
        ([np.nan, np.nan], [0, 0, 2, 0, 0]),
    ],
)
def test_a_file_whose_bounds_leave_nan_out(cells: list[float], counts: list[int], tmp_path: Path) -> None:
    schema = tc.Schema({"age": COLUMNS["age"]})
    for kind in (pa.float64(), pa.float32()):
        pq.write_table(pa.table({"age": pa.array(cells, kind)}), tmp_path / "t.parquet")
        for missing, expected in ((True, counts), (False, [*counts[:2], *counts[3:]])):
            shape = shape_of(tc.Histogram("age", bins={"age": 2}, outside=True, missing=missing), schema)
            assert histogram.counts(shape, open_source(tmp_path / "t.parquet", schema)).tolist() == expected


@pytest.mark.long
def test_spark_counts_the_same_extra_cells(spark: Any, tmp_path: Path) -> None:
    pq.write_table(table(200), tmp_path / "t.parquet")
    frame = spark.read.parquet(str(tmp_path / "t.parquet"))
    for query in QUERIES[:3]:
        shape = shape_of(query)
        found = histogram.counts(shape, open_source(frame, SCHEMA))
        assert (found == histogram.counts(shape, open_source(tmp_path / "t.parquet", SCHEMA))).all()


@pytest.mark.long
@pytest.mark.sample(3)
@pytest.mark.parametrize("query", [*QUERIES[:2], QUERIES[-3]], ids=lambda q: "-".join(q.columns))
def test_the_contract_of_extra_cells(query: Any) -> None:
    contract(query, SCHEMA, tables=40, draws=40_000)


@pytest.mark.long
def test_the_contract_of_persons_with_extra_cells() -> None:
    schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), "sex": COLUMNS["sex"], "age": COLUMNS["age"]})
    query = tc.Histogram(["age", "sex"], bins={"age": 3}, missing=True, outside=True)
    contract(query, schema, tables=40, draws=40_000)


def test_one_level_and_its_missing_cell_change_by_two() -> None:
    """With one cell a row can only leave; with a cell for what is missing it moves."""
    schema = tc.Schema({"only": tc.Category(["yes"])})
    one, two = (
        design(tc.Histogram("only", missing=flag), Public(schema, "replace-one", 9), Cost.of(epsilon=1))
        for flag in (False, True)
    )
    assert (one.columns[0].form.l1, two.columns[0].form.l1) == (1, 2)
    assert two.levels == (("only", ("yes", "missing")),)
    contract(tc.Histogram("only", missing=True), schema, tables=36, draws=20_000)


def test_words_and_refusals() -> None:
    query = tc.Histogram("sex", missing=True)
    assert query.to_dict() == {"query": "Histogram", "columns": ["sex"], "missing": True}
    assert query_from_dict(query.to_dict()) == query
    assert tc.Histogram("sex", missing=False, outside=False).to_dict() == {"query": "Histogram", "columns": ["sex"]}
    for words in ({"missing": "exclude"}, {"outside": 1}, {"missing": None}):
        with pytest.raises(QueryError) as refused:
            tc.Histogram("sex", **words)
        assert refused.value.code == "Q81"
    schema = tc.Schema({"why": tc.Category(["missing", "found"]), "how": tc.Category(["missing"], missing="unknown")})
    with pytest.raises(QueryError) as refused:
        shape_of(tc.Histogram("why", missing=True), schema)
    assert refused.value.code == "Q80"
    assert shape_of(tc.Histogram("how", missing=True), schema).levels == (("how", ("missing", "unknown")),)


def test_from_question_to_cells() -> None:
    rng = np.random.default_rng(7)
    n = 30_000
    age = np.where(rng.random(n) < 0.1, np.nan, rng.uniform(10, 100, n))
    sex = np.array([0, 1, 9])[rng.choice(3, n, p=[0.4, 0.5, 0.1])]
    schema = tc.Schema({"age": COLUMNS["age"], "sex": COLUMNS["sex"], "educ": COLUMNS["educ"]})
    data = {"age": age, "sex": sex, "educ": rng.integers(0, 6, n)}
    curator = tc.Curator(data, schema, budget=tc.Budget(rho=2))
    release = curator.release(
        tc.Histogram(["age", "sex", "educ"], bins={"age": 5}, missing=True, outside=True), rho=0.5
    )
    assert release.counts.shape == (8, 3, 7)
    assert [axis.extra for axis in release.axes] == [("missing", "below", "above"), ("missing",), release.axes[0].extra]
    again = release_from_dict(json.loads(release.to_json()))
    assert again == release
    assert again.to_json() == release.to_json()
    assert release.ordered == (("age", release.levels[0][1][:5]), ("educ", ("1", "2", "3", "4")))
    ages = release.margin("age").estimate("table")
    true = [np.isnan(age).sum(), (age < 18).sum(), (age > 93).sum()]
    sd = float(np.sqrt(release.parts[0].law.variance() * 21))
    assert ages.terms[-3:] == ("missing", "below", "above")
    assert ages.values[-3:] == pytest.approx(true, abs=6 * sd)  # passes but for 6e-9
    assert release.margin("sex").to_frame().index.tolist() == ["male", "female", "missing"]
    assert "missing, below, above" in str(HistogramColumns(release).summary())
    cells = cells_of(release)
    assert cells.total == n
    assert cells.project().counts.sum() == pytest.approx(n)
    assert [axis.size for axis in cells.axes] == [8, 3, 7]
    assert [axis.bins for axis in cells.axes] == [5, 2, 4]
    assert cells.axes[2].centers.tolist() == [1, 2, 3, 4]
    inner = cells.project().used(["age", "sex"])
    kept = (age >= 18) & (age <= 93) & (sex < 2)
    assert inner.counts.shape == (5, 2)
    assert inner.counts.sum() == pytest.approx(kept.sum(), abs=6 * np.sqrt(release.parts[0].law.variance() * 70))
    assert cells_of(curator.release(tc.Histogram("age", bins={"age": 5}, outside=True), rho=0.1)).total is None
    assert cells_of(curator.release(tc.Histogram("age", bins={"age": 5}, missing=True), rho=0.1)).total == n


def test_a_plan_puts_no_rows_in_extra_cells() -> None:
    schema = tc.Schema({"age": COLUMNS["age"], "sex": COLUMNS["sex"]})
    query = tc.Histogram(["age", "sex"], bins={"age": 4}, missing=True, outside=True)
    plan = tc.plan(query, schema, rows=8_000, rho=0.1)
    values = {one.term: one.value for one in plan.parts[0].terms}
    assert plan.numbers == 7 * 3
    extra = {term for term in values if any(word in term for word in ("missing", "below", "above"))}
    assert len(extra) == 7 * 3 - 4 * 2
    assert {values[term] for term in extra} == {0.0}
    assert {values[term] for term in values if term not in extra} == {1_000.0}


@pytest.mark.parametrize(("low", "high"), [("2024-01-01", "2024-01-02"), ("1969-12-30", "1969-12-31")])
def test_no_bin_of_days_is_empty(low: str, high: str) -> None:
    """Bins begin at whole days, before 1970 too: where there are no two, that is said."""
    with pytest.raises(QueryError) as refused:
        shape_of(tc.Histogram("day", bins={"day": 2}), tc.Schema({"day": tc.Date(low, high)}))
    assert refused.value.code == "Q64"
    wider = tc.Schema({"day": tc.Date("1969-12-27", "1970-01-03")})
    for bins in (2, 3, 5, 9, 40):
        edges = shape_of(tc.Histogram("day", bins={"day": bins}), wider).axes[0].edges
        assert (np.diff(edges) >= 1).all()
        assert (edges[0], edges[-1]) == (-5, 2)

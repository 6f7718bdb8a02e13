"""Perturbed histograms: cells on every engine, price, contract, margins with both errors, words, files."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.errors import InferenceError, QueryError
from tacit.method.histogram import mechanism as histogram
from tacit.method.shared.measurement import Public
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.release.query import query_from_dict
from tacit.source import open_source
from tacit.testing import contract, simulate
from tacit.testing.reference_table import columns_of
from tacit.testing.simulate import add_noise, exact_integers, shaped

COLUMNS: dict[str, Any] = {
    "age": tc.Real(18, 93, units="years"),
    "income": tc.Real(0, 300_000, missing=0),
    "educ": tc.Integer(1, 4),
    "sex": tc.Category({0: "male", 1: "female"}),
    "county": tc.Category({code: f"c{code}" for code in range(1001, 1101)}),
    "odd": tc.Category({code: f"o{code}" for code in range(1, 300, 3)}, missing="other"),
    "region": tc.Category(["north", "south"], missing="unknown"),
    "ok": tc.Boolean(),
    "day": tc.Date("2024-01-01", "2024-12-31"),
    "log income": tc.Real(0, 13, computed="log(income)"),
    "half age": tc.Real(9, 46.5, computed="age / 2", multiple_of=0.5),
}
SCHEMA = tc.Schema(COLUMNS)
QUERIES = [
    tc.Histogram(["age", "sex", "region"], bins={"age": 5}),
    tc.Histogram(["income", "educ"], bins={"income": [0, 10_000, 50_000, 300_000]}, where="ok or age > 50"),
    tc.Histogram("day", bins={"day": ["2024-01-01", "2024-03-01", "2024-12-31"]}),
    tc.Histogram(["day", "ok"], bins={"day": 4}),
    tc.Histogram(["county", "sex"]),
    tc.Histogram(["odd", "region"]),
    tc.Histogram("log income", bins={"log income": 6}),
    tc.Histogram("half age", bins={"half age": (9, 16.5, 40, 46.5)}),
]


def table(rows: int = 600, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)

    def some(cells: list[Any], kind: Any) -> pa.Array:
        return pa.array([cells[i] for i in rng.integers(0, len(cells), rows)], kind)

    wild = [None, np.nan, np.inf, -np.inf, -5.0, 18.0, 33.0, 33.0 - 1e-9, 92.999, 93.0, 120.0]
    return pa.table(
        {
            "age": some(wild, pa.float64()),
            "income": some([None, 0.0, 9_999.99, 10_000.0, 50_000.0, 3e5, 1e9], pa.float64()),
            "educ": some([None, 0, 1, 2, 3, 4, 9], pa.int64()),
            "sex": some([None, 0, 1, 7], pa.int64()),
            "county": some([None, 1000, *range(1001, 1110)], pa.int64()),
            "odd": some([None, *range(1, 310)], pa.int64()),
            "region": some([None, "north", "south", "east"], pa.string()),
            "ok": some([None, True, False], pa.bool_()),
            "day": some([None, date(2023, 5, 1), date(2024, 1, 1), date(2024, 3, 1), date(2024, 12, 31)], pa.date32()),
        }
    )


def arrays(data: pa.Table) -> dict[str, np.ndarray]:
    return columns_of({name: np.array(data[name].to_pylist(), dtype=object) for name in data.column_names}, SCHEMA)


def shape_of(query: Any, schema: tc.Schema = SCHEMA) -> Any:
    return design(query, Public(schema, "add-remove", None), Cost.of(epsilon=1))


def test_bins_of_a_single_column_need_no_name() -> None:
    assert tc.Histogram("age", bins=64) == tc.Histogram(["age"], bins={"age": 64})
    assert tc.Histogram("age", bins=[0, 30, 100]) == tc.Histogram("age", bins={"age": [0, 30, 100]})
    for columns, wrong in (("age", True), ("age", "ten")):
        with pytest.raises(QueryError, match="Q64"):
            tc.Histogram(columns, bins=wrong)  # type: ignore[arg-type]


@pytest.mark.sample(4)
@pytest.mark.parametrize("query", QUERIES, ids=lambda q: "-".join(q.columns))
def test_every_engine_counts_the_same_cells(query: Any, tmp_path: Path) -> None:
    data = table()
    pq.write_table(data, tmp_path / "t.parquet")
    pa.csv.write_csv(data, tmp_path / "t.csv")
    shape = shape_of(query)
    (expected,) = exact_integers(shape, arrays(data))
    assert expected.sum() > 100
    relation = duckdb.connect().from_arrow(data)
    for source in (tmp_path / "t.parquet", tmp_path / "t.csv", data, pl.from_arrow(data), relation):
        assert histogram.counts(shape, open_source(source, SCHEMA)).tolist() == expected[:, 0].tolist(), source


def test_spark_counts_the_same_cells_of_a_histogram(spark: Any, tmp_path: Path) -> None:
    pq.write_table(table(200), tmp_path / "t.parquet")
    frame = spark.read.parquet(str(tmp_path / "t.parquet"))
    for query in QUERIES[:3]:
        shape = shape_of(query)
        found = histogram.counts(shape, open_source(frame, SCHEMA))
        assert (found == histogram.counts(shape, open_source(tmp_path / "t.parquet", SCHEMA))).all()


@pytest.mark.sample(3)
@pytest.mark.parametrize("query", QUERIES[:3], ids=lambda q: "-".join(q.columns))
def test_the_contract(query: Any) -> None:
    contract(query, SCHEMA, tables=40, draws=40_000)


def test_the_contract_of_persons() -> None:
    schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), "sex": COLUMNS["sex"], "age": COLUMNS["age"]})
    contract(tc.Histogram(["age", "sex"], bins={"age": 3}), schema, tables=40, draws=40_000)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        (tc.Histogram("age"), "Q64"),
        (tc.Histogram("age", bins={"age": 1}), "Q64"),
        (tc.Histogram("age", bins={"age": [18, 18, 93]}), "Q64"),
        (tc.Histogram("day", bins={"day": ["2024-13-01", "2024-12-31"]}), "Q64"),
        (tc.Histogram("sex", bins={"sex": 3}), "Q13"),
        (tc.Histogram("ages", bins={"ages": 3}), "Q10"),
        (tc.Histogram(["age", "income", "county", "educ"], bins={"age": 200, "income": 200}), "Q31"),
        (tc.Histogram("age", bins={"age": 3}, where="agee > 3"), "Q10"),
    ],
)
def test_what_cannot_be_counted_is_refused(query: Any, code: str) -> None:
    with pytest.raises(QueryError) as refused:
        shape_of(query)
    assert refused.value.code == code


@pytest.mark.parametrize(("words", "code"), [({"columns": []}, "Q03"), ({"columns": "age", "bins": {"sex": 2}}, "Q64")])
def test_words_that_are_none(words: dict[str, Any], code: str) -> None:
    with pytest.raises(QueryError) as refused:
        tc.Histogram(**words)
    assert refused.value.code == code


PEOPLE = tc.Schema({"age": COLUMNS["age"], "sex": COLUMNS["sex"], "ok": COLUMNS["ok"]})


def draw_people(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    age = rng.uniform(18, 93, n)
    return {"age": age, "sex": rng.integers(0, 2, n), "ok": rng.random(n) < 0.3 + 0.4 * (age > 60)}


@pytest.mark.long
@pytest.mark.parametrize(
    ("price", "neighbors"),
    [
        ({"epsilon": 0.5}, "add-remove"),
        pytest.param({"epsilon": 0.5}, "replace-one", marks=pytest.mark.long),
        pytest.param({"rho": 0.02}, "add-remove", marks=pytest.mark.long),
        pytest.param({"rho": 0.02}, "replace-one", marks=pytest.mark.long),
    ],
)
def test_margins_cover(price: dict[str, Any], neighbors: Any) -> None:
    """Sums of 2, 4 and 10 cells in 250 tables: 500 intervals or more.

    Where they cover .95, fewer than .89 of them hold with probability 4e-8, more than .99 with probability 2e-7.
    """
    rng = np.random.default_rng(4)
    query = tc.Histogram(["age", "sex", "ok"], bins={"age": 5})
    held: dict[str, list[np.ndarray]] = {"ok": [], "age": [], "age-sex": []}
    for _ in range(250):
        data = draw_people(800, rng)
        shape = shaped(query, PEOPLE, neighbors, 800, Cost.of(**price))
        release = simulated(shape, add_noise(shape, exact_integers(shape, data), rng))
        from tacit.method.histogram.estimate_margins import margin

        truths = {"ok": np.array([0.7 - 0.4 * 33 / 75, 0.3 + 0.4 * 33 / 75]) * 800, "age": np.full(5, 160.0)}
        truths["age-sex"] = np.full(10, 80.0)
        for name, truth in truths.items():
            limits = margin(release, tuple(name.split("-"))).estimate().intervals(0.95)
            held[name].append((limits[:, 0] <= truth) & (truth <= limits[:, 1]))
    for name, found in held.items():
        assert 0.89 < np.mean(found) < 0.99, name


def test_from_question_to_margins(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    data = draw_people(20_000, rng)
    curator = tc.Curator(data, PEOPLE, budget=tc.Budget(rho=2))
    query = tc.Histogram(["age", "sex", "ok"], bins={"age": [18, 40, 60, 93]}, where="age >= 20")
    release = curator.release(query, rho=0.5)
    assert release.counts.shape == (3, 2, 2)
    kept = data["age"] >= 20
    sexes = release.margin("sex").estimate("table")
    assert sexes.values == pytest.approx([(kept & (data["sex"] == s)).sum() for s in (0, 1)], abs=30)
    assert sexes.sampling_variances.max() == 0
    assert release.margin(["ok", "sex"]).estimate().terms == ("false:male", "false:female", "true:male", "true:female")
    frame = release.margin(["age", "ok"]).to_frame()
    assert frame.shape == (3, 2)
    assert frame.to_numpy().sum() == pytest.approx(kept.sum(), abs=60)
    assert [axis.edges for axis in release.axes] == [(18.0, 40.0, 60.0, 93.0), (), ()]
    assert release.axes[0].units == "years"
    again = release_from_dict(json.loads(release.to_json()))
    assert again == release
    assert again.to_json() == release.to_json()
    assert query_from_dict(query.to_dict()) == query
    assert "Histogram of age, sex and ok where age >= 20" in str(release)
    with pytest.raises(InferenceError) as unknown:
        release.margin("ages")
    assert unknown.value.code == "I41"
    difference = sexes.contrast("female - male")
    assert difference.std_error < 20
    assert simulate(query, data, PEOPLE, rho=0.5, repeats=2).release(0).estimate().terms == release.estimate().terms


def test_large_histograms_are_summed_up_and_planned() -> None:
    rng = np.random.default_rng(6)
    data = draw_people(5_000, rng)
    curator = tc.Curator(data, PEOPLE, budget=tc.Budget(rho=2))
    query = tc.Histogram(["age", "sex", "ok"], bins={"age": 200})
    many = tc.Histogram(["age", "sex", "ok"], bins={"age": [18, *np.linspace(18.1, 92.9, 190).round(2).tolist(), 93]})
    release = curator.release(query, rho=0.5)
    assert release.counts.size == 800
    assert curator.release(many, rho=0.5).counts.size == 191 * 4
    plan = curator.plan(query, rho=0.5)
    assert "each of 800 cells" in str(plan)
    assert plan.numbers == 800
    wide = tc.Schema({**PEOPLE, "x": tc.Real(0, 1)})
    big = tc.Curator({**data, "x": rng.random(5_000)}, wide, budget=tc.Budget(rho=2)).release(
        tc.Histogram(["age", "x"], bins={"age": 60, "x": 60}), rho=0.5
    )
    assert "3,600 cells" in str(big)
    with pytest.raises(InferenceError) as refused:
        big.estimate()
    assert refused.value.code == "I48"
    assert big.margin("x").estimate().values.sum() == pytest.approx(5_000, abs=470)  # 5.5 times 60 sqrt(2)

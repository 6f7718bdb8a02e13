"""Quantiles in groups, of subgroups and of persons: engines, price, coverage, and what is said."""

from __future__ import annotations

import json
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

import tacit as tc
from tacit.curator.source import open_source
from tacit.errors import QueryError
from tacit.mechanisms import quantiles, ranks
from tacit.privacy import Cost
from tacit.queries import query_from_dict
from tacit.release import release_from_dict
from tacit.testing.arrays import columns_of
from tacit.testing.quantiles import counted, simulate_quantiles

COLUMNS: dict[str, Any] = {
    "x": tc.Real(-5, 15, units="kg"),
    "k": tc.Integer(0, 20, missing=3),
    "sex": tc.Category({0: "male", 1: "female"}),
    "region": tc.Category(["north", "south"], missing="unknown"),
}
SCHEMA = tc.Schema(COLUMNS)
PERSONS = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), **COLUMNS})
RHO = Cost.of(rho="0.1")


def table(rows: int = 400, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)

    def some(cells: list[Any], kind: Any) -> pa.Array:
        return pa.array([cells[i] for i in rng.integers(0, len(cells), rows)], kind)

    return pa.table(
        {
            "who": pa.array(rng.integers(0, rows // 3, rows), pa.int64()),
            "x": some([None, np.nan, np.inf, -9.0, *rng.normal(5, 4, 60).tolist()], pa.float64()),
            "k": some([None, 0, 1, 7, 20, 30], pa.int32()),
            "sex": some([None, 0, 1, 2], pa.int64()),
            "region": some([None, "north", "south", "east"], pa.string()),
        }
    )


QUERIES = [
    (tc.Quantiles("x", [0.5], by="sex"), SCHEMA),
    (tc.Quantiles("k", [0.5], by=["sex", "region"]), SCHEMA),
    (tc.Quantiles("x", [0.5], by="k", bins={"k": [0, 5, 20]}, where="sex == 'male' or x > 4"), SCHEMA),
    (tc.Quantiles("k", [0.5], where="region != 'north'"), SCHEMA),
    (tc.Quantiles("x", [0.5]), PERSONS),
    (tc.Quantiles("k", [0.5], where="sex == 'female'"), PERSONS),
]


def design(query: Any, schema: tc.Schema, **changed: Any) -> Any:
    facts = {"neighbors": "add-remove", "rows": None, "cost": RHO, **changed}
    return quantiles.design(query, schema, **facts)


@pytest.mark.parametrize(("query", "schema"), QUERIES)
def test_every_engine_counts_the_same_cells(query: Any, schema: tc.Schema, tmp_path: Path) -> None:
    data = table()
    pq.write_table(data, tmp_path / "t.parquet")
    pa.csv.write_csv(data, tmp_path / "t.csv")
    shape = design(query, schema)
    arrays = columns_of({name: np.array(data[name].to_pylist(), dtype=object) for name in data.column_names}, schema)
    expected = counted(shape, arrays)
    assert sum(sum(cell.values()) for cell in expected) > 50
    relation = duckdb.connect().from_arrow(data)
    sources = [tmp_path / "t.parquet", data, pl.from_arrow(data), relation]
    for source in [*sources, tmp_path / "t.csv"]:
        found = open_source(source, schema).ranked(shape.columns[0].rowmap, shape.keys, shape.unit, shape.where)
        assert found.cells == expected, source
        assert found.rows == (400 if schema is SCHEMA else len(set(data["who"].to_pylist())))


def test_spark_counts_the_same_cells(spark: Any, tmp_path: Path) -> None:
    pq.write_table(table(150), tmp_path / "t.parquet")
    frame = spark.read.parquet(str(tmp_path / "t.parquet"))
    for query, schema in (QUERIES[2], QUERIES[4]):
        shape = design(query, schema)
        asked = (shape.columns[0].rowmap, shape.keys, shape.unit, shape.where)
        assert open_source(frame, schema).ranked(*asked) == open_source(tmp_path / "t.parquet", schema).ranked(*asked)


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("price", [Cost.of(epsilon=1), RHO], ids=str)
@pytest.mark.parametrize("prob", ["0.5", "0.1"])
def test_groups_cost_the_price_once(prob: str, price: Cost, neighbors: Any) -> None:
    """However many cells there are: what a row can change in two of them, at most, is what the price is for."""
    rows = 1_000 if neighbors == "replace-one" else None
    shape = design(tc.Quantiles("x", [prob], by="region"), SCHEMA, neighbors=neighbors, rows=rows, cost=price)
    (chosen,), sizes = quantiles.split(shape)
    p = Fraction(prob)
    leaving, within = ranks.sensitivity(p, "add-remove"), ranks.sensitivity(p, neighbors)
    rate = 1 / chosen.law.scale
    moved = 2 if neighbors == "replace-one" else 1
    assert sizes is not None
    if price.kind == "pure":
        one = max(2 * rate * within, moved * 2 * rate * leaving)
        total = 3 * one + moved / sizes.law.scale
        offered = price.epsilon
    else:
        one = max((2 * rate * within) ** 2, moved * (2 * rate * leaving) ** 2) / 8
        total = 3 * one + moved / (2 * sizes.law.scale**2)
        offered = price.zcdp
    assert offered is not None
    assert Fraction(999, 1000) * offered <= Fraction(total) <= offered * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_medians_of_groups_cover(neighbors: Any) -> None:
    """Two groups of about 1,000; 120 tables make 240 intervals: coverage below .85 has probability < 1e-6 at .95."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(120):
        sex = rng.integers(0, 2, 2_000)
        x = rng.lognormal(0, 1, 2_000) + 2 * sex
        found = simulate_quantiles(
            tc.Quantiles("x", [0.5], by="sex"), {"x": x, "sex": sex}, SCHEMA, rng=rng, rho=0.2, neighbors=neighbors
        )
        assert found.terms == ("male", "female")
        held += int(((found.limits[:, 0] <= [1, 3]) & (found.limits[:, 1] >= [1, 3])).sum())
    assert held / 240 > 0.85


def test_medians_of_person_means_cover() -> None:
    """A thousand persons with 1 to 5 rows; 120 tables: coverage below .82 has probability < 1e-6 where it is .95."""
    rng = np.random.default_rng(6)
    held = 0
    for _ in range(120):
        who = np.repeat(np.arange(1_000), rng.integers(1, 6, 1_000))
        x = rng.normal(5, 2, 1_000)[who] + rng.normal(0, 1, len(who))
        found = simulate_quantiles(tc.Quantiles("x", [0.5]), {"who": who, "x": x}, PERSONS, rng=rng, rho=0.2)
        low, high = found.conf_int()
        held += low <= 5 <= high
    assert held / 120 > 0.82


def test_from_question_to_table() -> None:
    rng = np.random.default_rng(7)
    sex = rng.integers(0, 2, 6_000)
    data = {"x": rng.normal(5, 2, 6_000) + 2 * sex, "k": rng.integers(0, 21, 6_000), "sex": sex}
    schema = tc.Schema({name: column for name, column in COLUMNS.items() if name != "region"})
    curator = tc.Curator(data, schema, budget=tc.Budget(rho=5))
    query = tc.Quantiles("x", [0.25, 0.5], by="sex", where="k < 20")
    release = curator.release(query, rho=2)
    found = release.estimate()
    assert found.terms == ("male:0.25", "male:0.5", "female:0.25", "female:0.5")
    truth = [np.quantile(data["x"][(sex == s) & (data["k"] < 20)], q) for s in (0, 1) for q in (0.25, 0.5)]
    assert np.abs(found.values - truth).max() < 0.6
    assert list(found.to_frame().index) == list(found.terms)
    words = str(release)
    assert "Quantiles of x by sex where k < 20" in words
    assert "female:0.5" in words
    again = release_from_dict(json.loads(release.to_json()))
    assert again.to_json() == release.to_json()
    assert (again.estimate().limits == found.limits).all()
    assert query_from_dict(query.to_dict()) == query
    plan = curator.plan(tc.Quantiles("x", [0.5], by="sex"), rho=0.5)
    assert "female" in str(plan)
    assert "in each" in str(plan) or "sex" in str(plan)


def test_an_empty_group_has_a_reason_and_no_error() -> None:
    data = {"x": np.linspace(-5, 15, 500), "sex": np.zeros(500, dtype=int)}
    schema = tc.Schema({"x": COLUMNS["x"], "sex": COLUMNS["sex"]})
    found = tc.Curator(data, schema, budget=tc.Budget(rho=5)).release(tc.Quantiles("x", [0.5], by="sex"), rho=1)
    male, female = found.estimate().reasons
    assert male is None
    assert female is not None


@pytest.mark.parametrize(
    ("query", "schema", "code"),
    [
        (tc.Quantiles("x", [0.5], by="sex"), PERSONS, "Q73"),
        (tc.Quantiles("x", [0.5], by="k"), SCHEMA, "Q13"),
        (tc.Quantiles("x", [0.5], where="z > 3"), SCHEMA, "Q10"),
        (tc.Quantiles("x", [0.5], by=["sex", "k"], bins={"k": 200}), SCHEMA, "Q31"),
    ],
)
def test_what_cannot_be_asked_is_refused(query: Any, schema: tc.Schema, code: str) -> None:
    with pytest.raises(QueryError) as refused:
        design(query, schema)
    assert refused.value.code == code


def test_releases_of_the_first_version_still_load() -> None:
    """quantiles/1 had one entry a rung; the same numbers are read."""
    data = {"x": np.linspace(-5, 15, 2_000)}
    release = tc.Curator(data, tc.Schema({"x": COLUMNS["x"]}), budget=tc.Budget(rho=5)).release(
        tc.Quantiles("x", [0.5]), rho=1
    )
    words = json.loads(release.to_json())
    (cell,) = words["parts"][0]["integers"]
    words["parts"][0]["integers"] = [[one] for one in cell]
    words["mechanism"] = "quantiles/1"
    assert release_from_dict(words).estimate().conf_int() == release.estimate().conf_int()

"""A range of a column of which nothing is known: price, neighbours, engines, how many rows lie beyond, words."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit as tc
from tacit.errors import InferenceError, QueryError
from tacit.method.ranges import design as ranges_design
from tacit.method.ranges import estimate as said
from tacit.method.ranges import mechanism as ranges
from tacit.method.shared import rank_utilities
from tacit.method.shared.measurement import Public
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost, range_to_mu_squared
from tacit.release.document import release_from_dict
from tacit.release.query import query_from_dict
from tacit.release.simulated import SimulatedRelease
from tacit.rows.row_map import IDENTITY, ONE, SumTerm
from tacit.schema.row_maps_of_columns import WIDE
from tacit.source import open_source

SCHEMA = tc.Schema({"x": tc.Real(), "k": tc.Integer(0, 20), "sex": tc.Category(["f", "m"])})
PERSONS = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), "x": tc.Real()})
PRICES = [Cost.of(epsilon=1), Cost.of(rho="0.1"), Cost.of(epsilon=1, delta="1e-6")]


def design(schema: tc.Schema, cost: Cost, neighbors: Any = "add-remove", **words: Any) -> Any:
    rows = 1_000 if neighbors == "replace-one" else None
    return ranges_design.design(tc.Range("x", **words), Public(schema, neighbors, rows), cost)


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("schema", [SCHEMA, PERSONS], ids=["rows", "persons"])
def test_the_parts_cost_at_most_the_price(schema: tc.Schema, price: Cost, neighbors: Any) -> None:
    shape = design(schema, price, neighbors)
    pair, size = shape.columns
    A = 1 if schema is SCHEMA else 1024
    assert pair.form.l1 == A * rank_utilities.sensitivity(Fraction(1, 200), neighbors)
    epsilon = 2 * pair.form.l1 / pair.law.scale
    rho = range_to_mu_squared(epsilon) / 2 if price.kind == "approximate" else epsilon**2 / 8
    one = epsilon if price.kind == "pure" else rho
    own = size.form.l1 / size.law.scale if price.kind == "pure" else size.form.l2_squared / (2 * size.law.scale**2)
    offered = price.epsilon if price.kind == "pure" else price.zcdp
    assert offered is not None
    assert Fraction(999, 1000) * offered <= Fraction(2 * one + own) <= offered * (1 + Fraction(1, 10**9))


def bins(source: Any, shape: Any) -> dict[int, int]:
    pair = shape.columns[0]
    term = SumTerm(None) if pair.weight is None else SumTerm(None, ONE, pair.weight, IDENTITY)
    found = source.aggregate((pair.key,), (term,), shape.unit)
    return {i: cell[0] for i, cell in enumerate(found.cells) if cell[0]}


@pytest.mark.long
def test_spark_and_every_engine_count_the_same_bins(tmp_path: Path, spark: Any) -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(0, 10.0 ** rng.integers(-8, 14, 500)), WIDE, [np.nan, np.inf, -np.inf]])
    data = pa.table({"who": rng.integers(0, 200, len(x)), "x": pa.array(x, mask=rng.random(len(x)) < 0.05)})
    pq.write_table(data, tmp_path / "t.parquet")
    for schema in (SCHEMA, PERSONS):
        shape = design(schema, PRICES[0])
        expected = bins(open_source(tmp_path / "t.parquet"), shape)
        if schema is SCHEMA:
            kept = [v for v in data["x"].to_pylist() if v is not None and math.isfinite(v)]
            places, many = np.unique(np.searchsorted(WIDE, kept, side="right"), return_counts=True)
            assert expected == dict(zip(places.tolist(), many.tolist(), strict=True))
        for source in (data, pl.from_arrow(data), duckdb.connect().from_arrow(data)):
            assert bins(open_source(source), shape) == expected
        assert bins(open_source(spark.read.parquet(str(tmp_path / "t.parquet"))), shape) == expected


def simulated(x: np.ndarray, rng: np.random.Generator, cost: Cost, neighbors: Any, outside: float) -> Any:
    query = tc.Range("x", outside=outside)
    rows = len(x) if neighbors == "replace-one" else None
    shape = ranges_design.design(query, Public(SCHEMA, neighbors, rows), cost)
    places, many = np.unique(np.searchsorted(WIDE, x, side="right"), return_counts=True)

    def draw(runs: Any, law: Selection) -> int:
        run, place = law.sample(runs.utility, runs.points, 1, rng)
        return runs.first[int(run[0])] + int(place[0])

    def noise(cells: Any, law: Any) -> Any:
        return tuple(tuple(k + int(law.sample(1, rng)[0]) for k in cell) for cell in cells)

    parts = ranges.released(shape, [dict(zip(places.tolist(), many.tolist(), strict=True))], draw, noise)
    return said.estimate(SimulatedRelease(query, "simulated", neighbors, rows, (), parts, cost))


@pytest.mark.sample(8)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize(
    ("n", "epsilon", "outside"), [(10_000, "1", 0.01), (10_000, "0.1", 0.01), (500, "1", 0.02), (100_000, "0.1", 0.002)]
)
def test_most_rows_are_within_and_bounds_are_not_far(n: int, epsilon: str, outside: float, neighbors: Any) -> None:
    """200 tables.  Rows beyond exceed T on either side by more than 5 factors e in ranks with probability e-5 each."""
    rng = np.random.default_rng(2)
    worse = far = 0
    for _ in range(200):
        x = rng.lognormal(8, 1, n)
        found = simulated(x, rng, Cost.of(epsilon=epsilon), neighbors, outside)
        assert found.reason is None
        pair = found.release.parts[0]
        slack = 5 * float(pair.law.scale) / pair.parameters["denominator"]
        beyond = ((x < found.lower) | (x > found.upper)).sum()
        worse += beyond > n * found.outside + 2 * slack
        far += found.lower < 0 or found.upper > 5 * x.max()  # an empty bin: 1% on each side
    assert worse <= 13  # 200 * 2 * exp(-5) = 2.7 are expected at most: 14 or more have probability < 1e-6
    assert far <= 16  # 200 * 2 * .01 = 4 are expected at most: 17 or more have probability < 1e-6


def test_too_few_rows_have_a_reason() -> None:
    found = simulated(np.arange(50.0), np.random.default_rng(0), Cost.of(epsilon="0.1"), "add-remove", 0.01)
    assert found.reason is not None
    assert "few for this price" in found.reason
    with pytest.raises(InferenceError) as refused:
        _ = found.column
    assert refused.value.code == "I17"
    huge = simulated(np.full(10_000, 1e15), np.random.default_rng(0), Cost.of(epsilon=1), "add-remove", 0.01)
    assert huge.upper == math.inf
    assert huge.reason is not None


def test_inside_and_outside_agree_on_what_lies_beyond() -> None:
    """The same formula on both sides of the wall, which share no code."""
    for price in PRICES:
        shape = design(SCHEMA, price)
        pair = shape.columns[0]
        part = pair.released(((1, 2),))
        for size in (10.0, 1e3, 1e6):
            inside = ranges_design.target(pair.form.parameters, float(cast(Any, pair.law).scale), size)
            assert said.rank(part, size) == pytest.approx(inside, rel=1e-12)


def test_from_question_to_bounds() -> None:
    rng = np.random.default_rng(3)
    data = {"x": rng.lognormal(10, 1, 20_000), "k": rng.integers(3, 18, 20_000), "sex": ["f", "m"] * 10_000}
    curator = tc.Curator(data, SCHEMA, budget=tc.Budget(rho=2))
    release = curator.release(tc.Range("x"), rho=0.05)
    found = release.estimate()
    assert found.lower <= np.quantile(data["x"], 0.03)
    assert np.quantile(data["x"], 0.97) <= found.upper
    assert found.rows == pytest.approx(20_000, abs=300)
    words = str(release)
    assert "Range of x" in words
    assert "DataQuality" in words
    schema = tc.Schema({**SCHEMA, "x": found.column})
    again = tc.Curator(data, schema, budget=tc.Budget(rho=1)).release(tc.Mean("x"), rho=0.5).estimate()
    assert again.value == pytest.approx(data["x"].mean(), rel=0.1)
    read = release_from_dict(json.loads(release.to_json()))
    assert (read.to_json(), read.estimate().column) == (release.to_json(), found.column)
    assert query_from_dict(tc.Range("x", outside=0.05).to_dict()) == tc.Range("x", outside="1/20")
    plan = curator.plan(tc.Range("x"), rho=0.01)
    assert 0.01 <= plan.width < 0.1
    assert tc.plan(tc.Range("x"), SCHEMA, rows=10_000, width=0.02).width <= 0.02


@pytest.mark.parametrize(("words", "code"), [({"column": "sex"}, "Q13"), ({"column": "y"}, "Q10")])
def test_what_has_no_range_is_refused(words: dict[str, str], code: str) -> None:
    with pytest.raises(QueryError) as refused:
        ranges_design.design(tc.Range(**words), Public(SCHEMA, "add-remove", None), PRICES[0])
    assert refused.value.code == code


@pytest.mark.parametrize("outside", [0, 1, "half", True, None])
def test_an_outside_that_is_none(outside: Any) -> None:
    with pytest.raises(QueryError) as refused:
        tc.Range("x", outside=outside)
    assert refused.value.code == "Q74"

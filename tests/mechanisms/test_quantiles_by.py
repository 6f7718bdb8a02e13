"""Quantiles in groups, of subgroups and of persons: engines, price, coverage, and what is said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
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
from tacit.errors import QueryError
from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles import mechanism as quantiles
from tacit.method.shared import rank_utilities
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.release.query import query_from_dict
from tacit.source import open_source
from tacit.testing.reference_table import columns_of
from tacit.testing.simulated_quantiles import counted, simulate_quantiles

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
    (tc.Quantiles("x", [0.5], by="sex"), PERSONS),
    (tc.Quantiles("k", [0.5], by=["sex", "region"], where="x > 2 or sex == 'male'"), PERSONS),
]


def design(query: Any, schema: tc.Schema, **changed: Any) -> Any:
    facts: dict[str, Any] = {"neighbors": "add-remove", "rows": None, "cost": RHO, **changed}
    return quantiles_design.design(query, Public(schema, facts["neighbors"], facts["rows"]), facts["cost"])


@pytest.mark.sample(4)
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
        table_ = open_source(source, schema)
        assert quantiles.exact(shape, table_) == expected, source
        found = table_.ranked(shape.columns[0].rowmap, (), shape.unit, shape.where)
        assert found.rows == (400 if schema is SCHEMA else len(set(data["who"].to_pylist())))


@pytest.mark.long
def test_spark_counts_the_same_cells(spark: Any, tmp_path: Path) -> None:
    pq.write_table(table(150), tmp_path / "t.parquet")
    frame = spark.read.parquet(str(tmp_path / "t.parquet"))
    for query, schema in (QUERIES[2], QUERIES[4], QUERIES[7]):
        shape = design(query, schema)
        on_files = quantiles.exact(shape, open_source(tmp_path / "t.parquet", schema))
        assert sum(map(len, on_files)) > 5
        assert quantiles.exact(shape, open_source(frame, schema)) == on_files


@pytest.mark.usefixtures("selected_ends")
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("price", [Cost.of(epsilon=1), RHO], ids=str)
@pytest.mark.parametrize("prob", ["0.5", "0.1"])
@pytest.mark.parametrize(("schema", "A"), [(SCHEMA, 1), (PERSONS, 1024)], ids=["rows", "persons"])
def test_groups_cost_the_price_once(schema: tc.Schema, A: int, prob: str, price: Cost, neighbors: Any) -> None:
    """However many cells there are: what a row can change in two of them, at most, is what the price is for.

    Of persons, a whole weight A is what a row is.
    """
    rows = 1_000 if neighbors == "replace-one" else None
    query = tc.Quantiles("x", [prob], by="region")
    shape = quantiles_design.design(query, Public(schema, neighbors, rows), price)
    (chosen,), sizes = quantiles_design.split(shape)
    p = Fraction(prob)
    leaving, within = A * rank_utilities.sensitivity(p, "add-remove"), A * rank_utilities.sensitivity(p, neighbors)
    rate, many = 1 / chosen.law.scale, len(chosen.form.matrix)
    assert many == 1  # of three steps together
    moved = 2 if neighbors == "replace-one" else 1
    assert sizes is not None
    if price.kind == "pure":
        one = max(2 * rate * within, moved * 2 * rate * leaving)
        total = many * one + moved * A / sizes.law.scale
        offered = price.epsilon
    else:
        one = max((2 * rate * within) ** 2, moved * (2 * rate * leaving) ** 2) / 8
        total = many * one + moved * A**2 / (2 * sizes.law.scale**2)
        offered = price.zcdp
    assert offered is not None
    assert Fraction(999, 1000) * offered <= Fraction(total) <= offered * (1 + Fraction(1, 10**9))


@pytest.mark.long
@pytest.mark.sample(2)
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


def weights() -> Iterator[tuple[int, int]]:
    """What a person may weigh in two cells, in tenths: at most ten in all."""
    return ((a, b) for a in range(11) for b in range(11 - a))


@pytest.mark.sample(3)
@pytest.mark.parametrize("prob", [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10)], ids=str)
def test_a_person_in_two_cells_changes_no_more_than_a_row(prob: Fraction) -> None:
    """All splits of two persons over two cells, at either end of each: sums of changes and of squares, and attained."""
    rest: tuple[dict[int, int], ...] = ({1: 10, 2: 20}, {0: 10, 3: 10})
    worst = {"replace-one": [0, 0], "add-remove": [0, 0]}

    def spread(cell: int, at: int, weight: int) -> np.ndarray:
        held = dict(rest[cell])
        held[at] = held.get(at, 0) + weight
        runs = rank_utilities.utilities(held, 4, prob, 0)
        return np.repeat(runs.utility, runs.points)

    made = {(c, at, w): spread(c, at, w) for c in (0, 1) for at in (0, 3) for w in range(11)}
    for (own, new), ends in product(product(weights(), weights()), product((0, 3), repeat=4)):
        relation = "add-remove" if new == (0, 0) else "replace-one"
        d = [int(np.abs(made[c, ends[c], own[c]] - made[c, ends[2 + c], new[c]]).max()) for c in (0, 1)]
        worst[relation] = [max(worst[relation][0], sum(d)), max(worst[relation][1], d[0] ** 2 + d[1] ** 2)]
    for relation in ("replace-one", "add-remove"):
        most, squared = rank_utilities.reached(prob, relation, grouped=True)
        assert worst[relation][0] <= 10 * most
        assert worst[relation][1] <= 100 * squared
    most, squared = rank_utilities.reached(prob, "add-remove", grouped=True)
    assert worst["add-remove"] == [10 * most, 100 * squared]


def visits(persons: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Persons with 1 to 6 rows, each row in either group; those who are often in the second have larger values."""
    who = np.repeat(np.arange(persons), rng.integers(1, 7, persons))
    share = rng.random(persons)
    sex = (rng.random(len(who)) < share[who]).astype(np.int64)
    return {"who": who, "x": rng.normal(3 + 4 * share, 1)[who] + rng.normal(0, 1, len(who)), "sex": sex}


@pytest.mark.sample(2)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_medians_of_persons_in_several_groups_cover(neighbors: Any) -> None:
    """160 intervals at 95%: below .82 has probability < 1e-6.  A person weighs the part of her rows in a group."""
    big = visits(200_000, np.random.default_rng(8))
    every, truth = np.bincount(big["who"]), np.zeros(2)
    for sex in (0, 1):
        here = big["sex"] == sex
        own = np.bincount(big["who"][here], minlength=len(every))
        mean = np.bincount(big["who"][here], big["x"][here], len(every))[own > 0] / own[own > 0]
        weight = (own / every)[own > 0][np.argsort(mean)]
        truth[sex] = np.sort(mean)[np.searchsorted(np.cumsum(weight), weight.sum() / 2)]
    assert truth[1] - truth[0] > 0.8
    rng, held = np.random.default_rng(9), 0
    query = tc.Quantiles("x", [0.5], by="sex")
    for _ in range(80):
        found = simulate_quantiles(query, visits(1_000, rng), PERSONS, rng=rng, rho=2, neighbors=neighbors)
        assert found.reasons == (None, None)
        assert float((found.limits[:, 1] - found.limits[:, 0]).max()) < 1.2
        held += int(((found.limits[:, 0] <= truth) & (truth <= found.limits[:, 1])).sum())
    assert held / 160 > 0.82


def test_groups_of_persons_from_question_to_table() -> None:
    data = visits(4_000, np.random.default_rng(10))
    schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=6), "x": COLUMNS["x"], "sex": COLUMNS["sex"]})
    curator = tc.Curator(data, schema, budget=tc.Budget(rho=5))
    release = curator.release(tc.Quantiles("x", [0.5], by="sex"), rho=2)
    found = release.estimate()
    assert found.terms == ("male", "female")
    assert found.values[0] < 5 < found.values[1]
    assert "persons counting by the part of their rows there" in found.estimand
    sizes = np.array([n for (n,) in release.parts[-1].integers]) / release.parts[-1].parameters["share"]
    assert abs(sizes.sum() - 4_000) < 60  # standard deviation of the noise: about 6
    again = release_from_dict(json.loads(release.to_json()))
    assert again.to_json() == release.to_json()
    assert (again.estimate().limits == found.limits).all()
    assert curator.plan(tc.Quantiles("x", [0.5], by="sex"), rho=1).width > 0


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
    words = release.to_dict()
    (cell,) = words["parts"][0]["integers"]
    words["parts"][0]["integers"] = [[one] for one in cell]
    words["mechanism"] = "quantiles/1"
    assert release_from_dict(words).estimate().conf_int() == release.estimate().conf_int()

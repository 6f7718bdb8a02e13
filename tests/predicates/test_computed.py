"""Computed columns: their values against Python's own, the same on every engine, and what is refused."""

from __future__ import annotations

import math
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit as tc
from tacit.errors import SchemaError
from tacit.schema.predicates.arithmetic import Reference, log
from tacit.schema.predicates.typed_conditions import typed
from tacit.source import open_source
from tacit.source.reading.column_kinds import Reading
from tacit.testing import contract, coverage, simulate
from tacit.testing.reference_table import holds, with_computed

COLUMNS: dict[str, Any] = {
    "age": tc.Real(0, 100),
    "income": tc.Real(0, 300_000, missing=0),
    "children": tc.Integer(0, 20),
    "sex": tc.Category({0: "male", 1: "female"}),
    "region": tc.Category(["N", "S", "E"], missing="unknown"),
    "ok": tc.Boolean(),
    "admitted": tc.Date("1890-01-01", "2110-12-31"),
    "left": tc.Date("2000-01-01", "2100-12-31"),
    "free": tc.Real(),
}
COMPUTED: dict[str, Any] = {
    "log income": tc.Real(0, 13, computed="log(income)"),
    "log free": tc.Real(-800, 800, computed="log(free)"),
    "root": tc.Real(0, 1e5, computed="sqrt(free)"),
    "per head": tc.Real(0, 1e5, computed="income / (children + 1)"),
    "cube": tc.Real(-1e9, 1e9, computed="(age - 40) ** 3 + abs(free)"),
    "days": tc.Integer(-40_000, 80_000, computed="left - admitted"),
    "year": tc.Integer(1890, 2110, computed="year(admitted)"),
    "month": tc.Category({i: str(i) for i in range(1, 13)}, computed="month(admitted)"),
    "quarter": tc.Integer(1, 4, computed="quarter(admitted)"),
    "day": tc.Integer(1, 31, computed="day(admitted)"),
    "weekday": tc.Category({0: "Mon", 5: "Sat", 6: "Sun"}, computed="weekday(admitted)", missing="other"),
    "group": tc.Category(["young", "middle", "old"], computed="cut(age, [30, 65])", ordered=True),
    "coded": tc.Category({7: "low", 3: "high"}, computed="cut(income / 1000, [50])"),
    "side": tc.Category(["one", "other"], computed="recode(region, {'N': 'one', 'S': 'one', 'unknown': 'other'})"),
    "half": tc.Boolean(computed="age >= 50 and sex == 'male' or not ok"),
    "known": tc.Boolean(computed="age.notna() and sex.notna()"),
}
SCHEMA = tc.Schema({**COLUMNS, **COMPUTED})


def table(rows: int = 400, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)

    def some(cells: list[Any], kind: Any) -> pa.Array:
        return pa.array([cells[i] for i in rng.integers(0, len(cells), rows)], kind)

    wild = [None, math.nan, math.inf, -math.inf, -5.0, 0.0, -0.0, 5e-324, 1e-20, 0.999999, 1.0, 30.0, 65.0, 101.0]
    days = [None, *(date(1889, 12, 30) + timedelta(int(k)) for k in rng.integers(0, 81_000, 200)), date(2000, 2, 29)]
    return pa.table(
        {
            "id": pa.array(range(rows), pa.int64()),
            "age": pa.array([None if x > 97 else x for x in rng.uniform(-5, 110, rows)], pa.float64()),
            "income": pa.array([None if x > 15 else math.exp(x) for x in rng.normal(9, 3, rows)], pa.float64()),
            "children": some([None, 0, 1, 2, 19, 22], pa.int32()),
            "sex": some([None, 0, 1, 7], pa.int64()),
            "region": some([None, "N", "S", "E", "W"], pa.string()),
            "ok": some([None, True, False], pa.bool_()),
            "admitted": some(days, pa.date32()),
            "left": some(days, pa.date32()),
            "free": some([*wild, 1e300, 2.0**64, 1e18, *rng.lognormal(0, 9, 50).tolist()], pa.float64()),
        }
    )


def columns(data: pa.Table) -> dict[str, np.ndarray]:
    return {name: np.array(data[name].to_pylist(), dtype=object) for name in data.column_names}


def values(source: Any, rows: int) -> dict[str, list[float | None]]:
    """Computed columns as an engine has them, in the order of the ids."""
    wanted = [SCHEMA.source(name) for name in COMPUTED]
    frame = source._engine.read([Reading("id", "number"), *(Reading(name, "number") for name in wanted)])
    found = sorted(source._engine.collect(frame), key=lambda row: row["c0"])
    assert len(found) == rows
    return {name: [row[f"c{i + 1}"] for row in found] for i, name in enumerate(wanted)}


def expected(data: pa.Table) -> dict[str, list[float | None]]:
    made = with_computed(columns(data), SCHEMA)
    found: dict[str, list[float | None]] = {}
    for name in COMPUTED:
        column, source = SCHEMA[name], SCHEMA.source(name)
        texts = isinstance(column, tc.Category) and isinstance(column.codes[0], str)
        found[source] = [
            None if x is None or x != x else float(column.codes.index(x) + 1) if texts else float(x)
            for x in made[source].tolist()
        ]
    return found


def equal(found: dict[str, list[float | None]], wanted: dict[str, list[float | None]]) -> None:
    for name, column in wanted.items():
        ours = [None if x is None or x != x else float(x) for x in found[name]]
        assert ours == column, name  # the same float64, bit for bit (but for the sign of zero)


def in_pandas(data: pa.Table) -> Any:
    """Days as datetime64, Booleans as such: objects are text by decree."""
    frame = data.to_pandas()
    for name in ("admitted", "left"):
        frame[name] = data[name].cast(pa.timestamp("s")).to_pandas()
    frame["ok"] = frame["ok"].astype("boolean")
    return frame


@pytest.mark.long
@pytest.mark.sample(6)
@pytest.mark.parametrize("engine", ["parquet", "pyarrow", "pandas", "polars", "duckdb"])
def test_every_engine_computes_the_same_floats(engine: str, tmp_path: Path) -> None:
    data = table()
    pq.write_table(data, tmp_path / "t.parquet")
    source = {
        "parquet": lambda: open_source(tmp_path / "t.parquet", SCHEMA),
        "pyarrow": lambda: open_source(data, SCHEMA),
        "pandas": lambda: open_source(in_pandas(data), SCHEMA),
        "polars": lambda: open_source(pl.from_arrow(data), SCHEMA),
        "duckdb": lambda: open_source(duckdb.connect().from_arrow(data), SCHEMA),
    }[engine]()
    equal(values(source, data.num_rows), expected(data))


@pytest.mark.long
def test_spark_computes_the_same_floats(spark: Any, tmp_path: Path) -> None:
    data = table(150)
    pq.write_table(data, tmp_path / "t.parquet")
    equal(values(open_source(spark.read.parquet(str(tmp_path / "t.parquet")), SCHEMA), 150), expected(data))


@pytest.mark.long
def test_text_files_compute_the_same_floats(tmp_path: Path) -> None:
    data = table().drop_columns(["free"])  # whose digits a text file may cut
    pa.csv.write_csv(data, tmp_path / "t.csv")
    kept = [name for name in COMPUTED if "free" not in SCHEMA[name].computed]
    schema = tc.Schema({name: SCHEMA[name] for name in (*(c for c in COLUMNS if c != "free"), *kept)})
    source = open_source(tmp_path / "t.csv", schema)
    frame = source._engine.read([Reading("id", "number"), *(Reading(schema.source(name), "number") for name in kept)])
    found = sorted(source._engine.collect(frame), key=lambda row: row["c0"])
    wanted = expected(table())
    equal(
        {schema.source(name): [row[f"c{i + 1}"] for row in found] for i, name in enumerate(kept)},
        {schema.source(name): wanted[schema.source(name)] for name in kept},
    )


def test_values_are_those_of_python() -> None:
    """Each row by Python's own arithmetic and calendar."""
    data = table()
    found = with_computed(columns(data), SCHEMA)
    for i, row in enumerate(data.to_pylist()):
        age = row["age"]
        if age is None:
            assert found["= group"][i] is None
        else:
            assert found["= group"][i] == ("young" if age < 30 else "middle" if age < 65 else "old")
        income = 0.0 if row["income"] is None else min(row["income"], 300_000.0)
        assert found["= log income"][i] == pytest.approx(math.log(income), rel=4e-16) if income > 0 else True
        assert found["= coded"][i] == (7 if income / 1000 < 50 else 3)
        side = {None: "other", "W": "other", "N": "one", "S": "one", "E": None}[row["region"]]
        assert found["= side"][i] == side
        day = row["admitted"]
        if day is None:
            assert math.isnan(found["= year"][i])
            continue
        day = min(max(day, date(1890, 1, 1)), date(2110, 12, 31))
        parts = [found[f"= {name}"][i] for name in ("year", "month", "day", "weekday", "quarter")]
        assert parts == [day.year, day.month, day.day, day.weekday(), (day.month + 2) // 3]
        if row["left"] is not None:
            left = min(max(row["left"], date(2000, 1, 1)), date(2100, 12, 31))
            assert found["= days"][i] == (left - day).days


def test_every_day_of_eight_centuries() -> None:
    days = np.arange(np.datetime64("1600-01-01"), np.datetime64("2400-12-31"))
    schema = tc.Schema(
        {
            "d": tc.Date("1600-01-01", "2400-12-31"),
            **{part: tc.Integer(0, 3000, computed=f"{part}(d)") for part in ("year", "month", "day", "weekday")},
        }
    )
    found = with_computed({"d": days}, schema)
    months = days.astype("datetime64[M]")
    np.testing.assert_array_equal(found["= year"], days.astype("datetime64[Y]").astype(int) + 1970)
    np.testing.assert_array_equal(found["= month"], months.astype(int) % 12 + 1)
    np.testing.assert_array_equal(found["= day"], (days - months).astype(int) + 1)
    np.testing.assert_array_equal(found["= weekday"], (days.astype(int) + 3) % 7)


@pytest.mark.long
@given(st.floats(min_value=2.0**-64, max_value=2.0**64))
@settings(max_examples=2_000, deadline=None)
def test_log_is_that_of_the_library_but_for_the_last_digit(x: float) -> None:
    found = float(log(np.float64(x), Reference()))
    assert abs(found - math.log(x)) <= 2 * math.ulp(math.log(x))


def test_log_at_its_ends_and_in_order() -> None:
    x = np.concatenate([2.0 ** np.arange(-80, 81), np.linspace(0.5, 2, 100_001)])
    found = log(np.sort(x), Reference())
    assert np.all(np.diff(found) >= 0)
    assert float(log(np.float64(1.0), Reference())) == 0.0
    assert float(log(np.float64(5e-324), Reference())) == pytest.approx(-64 * math.log(2))
    assert float(log(np.float64(1e308), Reference())) == pytest.approx(64 * math.log(2))


def test_a_number_divided_by_zero_is_missing() -> None:
    """Not infinite, and not what stands for it on the way; a condition on it does not hold."""
    schema = tc.Schema({"a": tc.Real(-9, 9), "b": tc.Real(-9, 9), "c": tc.Real(-9, 9, computed="a / b")})
    data = {"a": np.array([1.0, 0.0, -0.0, 5.0, 3.0, np.nan]), "b": np.array([0.0, -0.0, 0.0, 2.0, np.nan, 1.0])}
    np.testing.assert_array_equal(with_computed(data, schema)["= c"], [np.nan] * 3 + [2.5] + [np.nan] * 2)
    assert holds(typed("a / b >= 0", schema), data).tolist() == [False, False, False, True, False, False]


def test_what_is_missing_is_unknown_in_a_boolean_column() -> None:
    schema = tc.Schema(
        {
            "a": tc.Boolean(),
            "b": tc.Boolean(),
            "and": tc.Boolean(computed="a and b"),
            "or": tc.Boolean(computed="a or b"),
            "not": tc.Boolean(computed="not a"),
            "three": tc.Boolean(computed="a and b and not a"),
            "either": tc.Boolean(computed="not a or b or a.isna()"),
        }
    )
    cells = [True, False, None]
    pairs = [(a, b) for a in cells for b in cells]
    table_ = {"a": np.array([a for a, _ in pairs], dtype=object), "b": np.array([b for _, b in pairs], dtype=object)}
    found = with_computed(table_, schema)

    for name, words in {"and": "a AND b", "or": "a OR b", "not": "NOT a", "three": "a AND b AND NOT a"}.items():
        np.testing.assert_array_equal(found[f"= {name}"], _sql(words, pairs))
    np.testing.assert_array_equal(found["= either"], _sql("NOT a OR b OR a IS NULL", pairs))


def _sql(words: str, pairs: list[tuple[bool | None, bool | None]]) -> list[float]:
    """The same by DuckDB's three-valued logic."""
    data = pa.table(
        {"a": pa.array([a for a, _ in pairs], pa.bool_()), "b": pa.array([b for _, b in pairs], pa.bool_())}
    )
    rows = duckdb.connect().from_arrow(data).project(f"CAST({words} AS DOUBLE)").fetchall()
    return [math.nan if x is None else x for (x,) in rows]


REFUSED = [
    ({"c": tc.Real(0, 1, computed="agee / 2")}, "agee"),
    ({"c": tc.Real(0, 1, computed="region * 2")}, "not a number"),
    ({"c": tc.Real(0, 1, computed="ok * 2")}, "no arithmetic"),
    ({"c": tc.Real(0, 1, computed="admitted + 1")}, "no arithmetic"),
    ({"c": tc.Real(0, 1, computed="year(age)")}, "Date"),
    ({"c": tc.Real(0, 1, computed="cut(age, [1])")}, "has none"),
    ({"c": tc.Category(["a", "b"], computed="cut(age, [1, 2])")}, "3 intervals, and 2 levels"),
    ({"c": tc.Category(["a", "b", "c"], computed="cut(age, [2, 1])")}, "increasing order"),
    ({"c": tc.Category(["a", "b"], computed="cut(age, ['x'])")}, "not a number"),
    ({"c": tc.Category(["a", "b"], computed="age")}, "its levels are text"),
    ({"c": tc.Category(["a", "b"], computed="recode(region, {'N': 'z'})")}, "'z' is not one of its own levels"),
    ({"c": tc.Category(["a", "b"], computed="recode(region, {'Q': 'a'})")}, "'Q' is not a level"),
    ({"c": tc.Category(["a", "b"], computed="recode(region, {'N': 'a', 'N': 'b'})")}, "twice"),
    ({"c": tc.Category(["a", "b"], computed="recode(age, {'N': 'a'})")}, "no levels to recode"),
    ({"c": tc.Boolean(computed="sex == 'femal'")}, "femal"),
    ({"b": tc.Real(0, 1, computed="age / 100"), "c": tc.Real(0, 1, computed="b / 2")}, "itself computed"),
    ({"c": tc.Real(0, 1, computed="c / 2")}, "itself computed"),
]


@pytest.mark.parametrize(("more", "words"), REFUSED, ids=lambda value: value if isinstance(value, str) else None)
def test_what_cannot_be_computed_is_refused_with_the_schema(more: dict[str, Any], words: str) -> None:
    with pytest.raises(SchemaError) as refused:
        tc.Schema({**COLUMNS, **more})
    assert refused.value.code == "S18"
    assert words in refused.value.message


@pytest.mark.parametrize(
    "text", ["", "log(x", "exp(x)", "x.mean()", "1 + 2", "x > 3", "x ** 5", "cut(x)", "__import__('os')", "lag(x)", 3]
)
def test_what_cannot_be_read_is_refused_with_the_column(text: Any) -> None:
    with pytest.raises(SchemaError) as refused:
        tc.Real(0, 1, computed=text)
    assert refused.value.code == "S18"
    with pytest.raises(SchemaError):
        tc.Real(0, 1, column="y", computed="x")


def test_schemas_travel_and_leave_computed_columns_out_of_the_table() -> None:
    assert tc.Schema.from_toml(SCHEMA.to_toml()) == SCHEMA
    assert tc.Schema.from_dict(SCHEMA.to_dict()) == SCHEMA
    assert list(SCHEMA.example(5, rng=0).columns) == list(COLUMNS)
    other = tc.Schema({**COLUMNS, **COMPUTED, "root": tc.Real(0, 1e5, computed="sqrt( free )")})
    assert other.digest() == SCHEMA.digest()  # one spelling
    assert tc.Schema({**COLUMNS, **COMPUTED, "root": tc.Real(0, 1e5, computed="free")}).digest() != SCHEMA.digest()


SMALL = tc.Schema(
    {
        "who": tc.PrivacyUnit(max_rows=2),
        "income": tc.Real(1, 1000),
        "age": tc.Integer(0, 100),
        "log income": tc.Real(0, 6.9, computed="log(income)"),
        "old": tc.Boolean(computed="age >= 65"),
        "group": tc.Category(["young", "old"], computed="cut(age, [65])"),
    }
)


@pytest.mark.long
@pytest.mark.parametrize("query", [tc.Mean(["log income", "old"], by="group"), tc.DataQuality(["log income"])])
def test_the_contract_with_computed_columns(query: Any) -> None:
    schema = tc.Schema({name: column for name, column in SMALL.items() if name != "who"})
    contract(query, schema, tables=36, draws=20_000)


@pytest.mark.long
def test_the_contract_of_persons_with_computed_columns() -> None:
    contract(tc.Mean("log income", by="group"), SMALL, tables=36, draws=20_000)


def test_from_a_table_to_an_interval() -> None:
    rng = np.random.default_rng(1)
    people = {"income": rng.lognormal(3, 1, 5_000).clip(1, 1000), "age": rng.integers(0, 101, 5_000)}
    schema = tc.Schema({name: column for name, column in SMALL.items() if name != "who"})
    curator = tc.Curator(people, schema, budget=tc.Budget(rho=2))
    asked = {
        "mean": tc.Mean("log income", by="group"),
        "median": tc.Quantiles("log income", [0.5]),
        "where": tc.Mean("income", where="old"),
        "quality": tc.DataQuality("log income"),
    }
    found = curator.release(asked, rho=1)
    truth = np.log(people["income"])
    old = people["age"] >= 65
    mean = found["mean"].estimate()
    # normal noise of standard deviations up to 0.0055 and 0.9: beyond with probability 2e-10 and 2e-11
    assert mean.values == pytest.approx([truth[~old].mean(), truth[old].mean()], abs=0.035)
    assert found["median"].estimate().value == pytest.approx(np.median(truth), abs=0.1)
    assert found["where"].estimate().value == pytest.approx(people["income"][old].mean(), abs=6)
    assert simulate(asked["mean"], people, schema, rho=1, repeats=2).exact == pytest.approx(
        [truth[~old].mean(), truth[old].mean()], abs=1e-4
    )


@pytest.mark.long
def test_the_mean_of_logs_covers() -> None:
    """Simulations of 400 lognormal incomes; 1,000 give a standard error of .0069 at .95: 5 of them, 3e-7 each side."""

    def draw(rng: np.random.Generator) -> dict[str, Any]:
        return {"income": rng.lognormal(4, 0.8, 400), "age": rng.integers(0, 101, 400)}

    schema = tc.Schema({name: column for name, column in SMALL.items() if name != "who"})
    found = coverage(tc.Mean("log income"), draw, 4.0, schema=schema, rho=0.05, repeats=1_000, rng=2)
    assert abs(float(found.coverage[0]) - 0.95) < 5 * 0.0069


def test_labels_of_cut_are_told_to_be_the_levels() -> None:
    with pytest.raises(SchemaError, match="S18") as caught:
        tc.Category(["night", "day"], computed="cut(time, [6], ['night', 'day'])")
    assert 'computed="cut(age, [65])", with levels=["young", "old"]' in str(caught.value)

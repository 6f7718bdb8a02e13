"""No cell decides whether a release is answered: neither one that was asked for, nor one that nobody named."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmark_script import script

import tacit as tc
from tacit.curator.mechanisms import integers
from tacit.privacy import Cost
from tacit.source import open_source
from tacit.testing.findings import distance

FAR = 2**62
"""Milliseconds since 1970 that microseconds of 64 bits do not hold."""

SCHEMA = {
    "x": tc.Real(0, 100),
    "sex": tc.Category(["f", "m"]),
    "day": tc.Date("2020-01-01", "2021-12-31", missing="2021-01-01"),
    "late": tc.Boolean(computed="day >= '2021-01-01'"),
}
QUESTIONS: dict[str, Any] = {
    "count": tc.Count(by="sex"),
    "condition": tc.Count(where="x > 50 and sex == 'f'"),
    "mean": tc.Mean("x", by="sex"),
    "computed": tc.Mean("late"),
    "day": tc.Mean("day", where="day < '2021-06-01'"),
    "quality": tc.DataQuality(),
    "quantiles": tc.Quantiles("x", [0.5]),
    "histogram": tc.Histogram(["day", "sex"], bins={"day": 4}),
    "regression": tc.Regression("x ~ sex"),
}


def people(cell: int | None, beside: int | None, *, rows: int = 12) -> pa.Table:
    """A table of which one row is given: its day, and an instant of a column outside the schema."""
    milliseconds = pa.timestamp("ms")
    days = [18_400 * 86_400_000 + i for i in range(rows - 1)]
    return pa.table(
        {
            "x": [float(i) for i in range(rows)],
            "sex": ["f", "m", None] * (rows // 3),
            "day": pa.array([cell, *days], pa.int64()).cast(milliseconds),
            "beside": pa.array([beside, *days], pa.int64()).cast(milliseconds),
            "who": pa.array([FAR, *[i // 2 for i in range(rows - 1)]], pa.int64()).cast(milliseconds),
        }
    )


def written(table: pa.Table, folder: Path, name: str) -> Path:
    pq.write_table(table, folder / name, row_group_size=5)
    return folder / name


@pytest.mark.long
@pytest.mark.sample(6)
@pytest.mark.parametrize("unit", [False, True], ids=["rows", "persons"])
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_every_question_is_answered_and_no_neighbour_is_far(unit: bool, neighbors: Any, tmp_path: Path) -> None:
    """Two Parquet files that differ in the cells of one row: integers as close as declared, and a release of each."""
    schema = tc.Schema({**SCHEMA, **({"who": tc.PrivacyUnit(3)} if unit else {})})
    paths = [
        written(people(cell, beside), tmp_path, f"{i}.parquet")
        for i, (cell, beside) in enumerate([(0, 0), (FAR, FAR), (None, FAR)])
    ]
    curators = [tc.Curator(p, schema, budget=tc.Budget(rho=100, neighbors=neighbors)) for p in paths]
    assert {curator.rows for curator in curators} == {None if neighbors == "add-remove" else 7 if unit else 12}
    steps = 2 if neighbors == "add-remove" else 1  # one row less, one row more
    for name, question in QUESTIONS.items():
        if unit and name == "regression":
            continue
        shape = curators[0].design(question, Cost.of(rho=0.5))
        for curator in curators:
            assert curator.release(question, rho=0.5) is not None, name
        if name == "quantiles":
            continue
        exact = [integers(shape, curator._source) for curator in curators]
        for other in exact[1:]:
            for column, one, another in zip(shape.columns, exact[0], other, strict=True):
                assert distance(one, another, "l2_squared") <= steps**2 * column.form.l2_squared, name


@pytest.mark.long
def test_a_table_of_such_files_is_counted_checked_and_opened(tmp_path: Path) -> None:
    """Opening, readiness, counting, folders and pieces name no cell that was not asked for."""
    for i in range(3):
        written(people(FAR, FAR), tmp_path, f"{i}.parquet")
    for path, rows in ((tmp_path / "0.parquet", 12), (tmp_path, 36)):
        source = open_source(path)
        source.ready()
        assert source.rows() == rows
    toml = '[data]\npath = "0.parquet"\n[budget]\nrho = 1\n[schema]\nx = { type = "Real", lower = 0, upper = 100 }\n'
    (tmp_path / "t.toml").write_text(f'tacit = 1\n{toml}[spend]\nrho = 0.5\n[ask.one]\nquery = "Mean"\ncolumns = "x"\n')
    for command in ("check", "release"):
        run = [sys.executable, "-m", "tacit", command, str(tmp_path / "t.toml")]
        done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr


def test_instants_of_96_bits(tmp_path: Path) -> None:
    """An old form of Parquet's; one cell after 2262 is no other row's business, at once or piece by piece."""
    import struct

    from tacit.schema.predicates.numeric_expressions import cell_of
    from tacit.schema.row_maps_of_columns import rowmap

    schema = tc.Schema({"day": tc.Date("1600-01-01", "3000-01-01")})
    mark, julian = 12_345, 2_440_588
    instants = pa.array([0, mark * 86_400 * 10**9 + 777, 86_400 * 10**9], pa.int64()).cast(pa.timestamp("ns"))
    words: Any = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    pq.write_table(pa.table({"day": instants}), tmp_path / "t.parquet", use_deprecated_int96_timestamps=True, **words)
    raw, cell = (tmp_path / "t.parquet").read_bytes(), struct.pack("<qi", 777, julian + mark)
    assert raw.count(cell) == 1
    for days in (mark, 150_000, 300_000, 2**31 - 1 - julian, -(2**31) - julian):
        (tmp_path / "t.parquet").write_bytes(raw.replace(cell, struct.pack("<qi", 777, julian + days)))
        source = open_source(tmp_path / "t.parquet")
        assert source.ranked(rowmap(schema, "day")).rows == 3
        pieces = source.pieces((cell_of(schema, "day"),), None, None, b"k" * 32)
        assert pieces is not None
        values = [one for part, _ in pieces for one in part[:, 0].tolist()]
        assert (values[0], values[2]) == (0.0, 1.0)
        found = source.complete((cell_of(schema, "day"),)).values[:, 0].tolist()
        assert (found[0], found[2]) == (0.0, 1.0)
        if abs(days) < 10**6:
            assert values == sorted(source.complete((cell_of(schema, "day"),)).values[:, 0], key=values.index)
            assert values[1] == days


def test_instants_of_96_and_of_64_bits_are_one_column(tmp_path: Path) -> None:
    schema, instants = (
        tc.Schema({"day": tc.Date("1960-01-01", "2100-01-01")}),
        pa.array([0, 86_400 * 10**6], pa.timestamp("us")),
    )
    for i, old in enumerate((False, True)):
        pq.write_table(pa.table({"day": instants}), tmp_path / f"{i}.parquet", use_deprecated_int96_timestamps=old)
    from tacit.schema.predicates.numeric_expressions import cell_of

    found = open_source(tmp_path).complete((cell_of(schema, "day"),)).values[:, 0]
    assert sorted(found.tolist()) == [0.0, 0.0, 1.0, 1.0]


def test_a_name_with_a_point_is_not_that_of_another_column(tmp_path: Path) -> None:
    """PyArrow finds "a.b" too where it is asked for "a"; a piece has the column that was asked for."""
    from tacit.source.reading.column_kinds import Reading

    for name in ("a.b", "b"):
        first = pa.array([1.0, 2.0]) if name == "a.b" else pa.array([{"a": 1.0}, {"a": 2.0}])
        pq.write_table(pa.table({name: first, "a": [30.0, 40.0]}), tmp_path / "t.parquet")
        engine = open_source(tmp_path / "t.parquet")._engine
        pieces = engine.pieces()
        assert pieces is not None
        for one in (engine, *(piece.engine for piece in pieces)):
            assert one.arrays(one.read([Reading("a", "number")]))["c0"].tolist() == [30.0, 40.0]


@pytest.mark.parametrize(
    "engine", ["parquet", "pyarrow", "arrow file", "duckdb table", "polars", "polars lazy", "dict"]
)
def test_persons_that_numbers_of_64_bits_or_more_tell_apart(engine: str, tmp_path: Path) -> None:
    """Also where others are nobody's: NumPy makes floats of them, or hides anybody behind a mask."""
    from decimal import Decimal

    from tacit.schema.predicates.numeric_expressions import cell_of
    from tacit.schema.row_maps_of_columns import unit_of

    fuzz = script("engines_fuzz")
    unit = unit_of(tc.Schema({"x": tc.PrivacyUnit(3)}))
    big = 2**53
    kinds: list[tuple[Any, list[Any]]] = [
        (pa.int64(), [big, big + 1, None, 0, None, big]),
        (pa.uint64(), [2**64 - 1, 2**64 - 2, None, 0, 2**64 - 1, None]),
        (pa.int8(), [0, None, 0, 1, None, 1]),
        (pa.bool_(), [False, None, True, False, None, True]),
        (pa.float64(), [0.0, None, -0.0, 1.0, float("nan"), 1.0]),
        (pa.decimal128(38, 0), [Decimal(10**37), Decimal(10**37 + 1), None, Decimal(0), None, Decimal(10**37)]),
        (pa.decimal256(76, 0), [Decimal(10**75), Decimal(10**75 + 1), None, Decimal(0), None, Decimal(10**75)]),
        (pa.date32(), [2**31 - 3, 0, None, 2**31 - 3, None, 1]),
    ]
    for dtype, cells in kinds:
        if engine.startswith("polars") and pa.types.is_decimal256(dtype):
            continue
        column = pa.array(cells, pa.int32()).view(dtype) if pa.types.is_date32(dtype) else pa.array(cells, dtype)
        table = pa.table({"id": pa.array(range(6), pa.int64()), "x": column})
        if engine == "duckdb table" and pa.types.is_decimal256(dtype):
            continue  # which has no such type
        source = open_source(fuzz.opened(engine, table, tmp_path))
        found = source.complete((cell_of(tc.Schema({"id": tc.Real()}), "id"),), unit)
        assert found.owners is not None
        owners = found.owners[np.argsort(found.values[:, 0])].tolist()
        nobody = [None if c is None or c != c else c for c in cells]
        same = [[a == b for b in nobody] for a in nobody]
        assert [[a == b for b in owners] for a in owners] == same, dtype
        assert source.rows(unit) == len(set(nobody)), dtype


@pytest.mark.long
def test_every_engine_answers_as_plain_python_does() -> None:
    """A few questions of tables with a column of every type, at its extremes; more in `benchmarks/engines_fuzz.py`."""
    fuzz = script("engines_fuzz")
    rng = np.random.default_rng(7)
    wrong: list[tuple[str, str, str]] = []
    asked = 0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, odd in enumerate(list(fuzz.columns(rng))[::2]):
            engine = fuzz.ENGINES[(5 * i + i // len(fuzz.ENGINES)) % len(fuzz.ENGINES)]
            for what, name, how in fuzz.asked(engine, odd, rng, Path(folder)):
                asked += how == "as it should"
                wrong += [(what, name, how)] if how not in ("as it should", "cannot be held") else []
    assert wrong == []
    assert asked > 70


def test_spark_answers_where_a_column_beside_cannot_be_read(spark: Any, tmp_path: Path) -> None:
    """Rows are counted and questions answered without the column whose cell Spark's reader of Parquet raises at."""
    frame = spark.read.parquet(str(written(people(0, FAR), tmp_path, "t.parquet")))
    schema = tc.Schema({name: SCHEMA[name] for name in ("x", "sex")})
    curator = tc.Curator(frame, schema, budget=tc.Budget(rho=100))
    assert curator.rows == 12
    for name in ("count", "condition", "mean"):
        assert curator.release(QUESTIONS[name], rho=0.5) is not None

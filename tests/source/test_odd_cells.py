"""Dates, text and numbers of every type an engine has, at their extremes: the declared rules answer, row by row."""

from __future__ import annotations

import contextlib
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_engines import MAPS, by_row, opened

from tacit.rows.row_map import IDENTITY, KeyMap, RowMap, SumTerm
from tacit.schema import Date, Real, Schema
from tacit.schema.row_maps_of_columns import rowmap
from tacit.source import check_source, open_source
from tacit.source.reading.arrow_columns import numbers

DAY = rowmap(Schema({"x": Date("1600-01-01", "2400-01-01")}), "x")
FOUR = ["parquet", "arrow file", "pyarrow", "polars", "duckdb", "dict"]
PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
LAST = {"s": (2**63 - 2) // 10**6, "ms": (2**63 - 2) // 10**3, "us": 2**63 - 2, "ns": 2**63 - 2}


def expected(at: RowMap, days: list[float | None]) -> list[tuple[int, int]]:
    v, present = at.numpy(np.array([np.nan if day is None else float(day) for day in days]))
    return [(int(p), int(k) if p else 0) for p, k in zip(present, v, strict=True)]


def numbered(column: Any) -> pa.Table:
    return pa.table({"id": pa.array(range(len(column)), pa.int64()), "x": column})


def instants(unit: str) -> list[int | None]:
    """Counts since 1970 around midnights, and around the last instant that is one."""
    day, last = PER_DAY[unit], LAST[unit]
    ends = [last, last + 1, -last, -last - 1, 2**63 - 1, -(2**63) + 1]
    return [0, -1, 1, day - 1, day, -day, -day - 1, 40 * 365 * day, *(e for e in ends if abs(e) < 2**63), None]


def whole_days(unit: str, counts: list[int | None]) -> list[float | None]:
    return [None if c is None or abs(c) > LAST[unit] else c // PER_DAY[unit] for c in counts]


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("engine", ["parquet", "arrow file", "pyarrow", "polars", "dict"])
def test_an_instant_is_its_day_in_utc(engine: str, unit: str, zone: str | None, tmp_path: Path) -> None:
    """A clock reading without a zone is its own day.  Neither the machine's zone nor the column's enters."""
    if engine == "polars" and unit == "s":
        pytest.skip("Polars has no seconds")
    counts = instants(unit)
    table = numbered(pa.array(counts, pa.int64()).cast(pa.timestamp(unit, zone)))
    if engine == "parquet" and unit == "s":  # Parquet has milliseconds at most: what a writer can store
        counts = [c if c is None or abs(c) < 2**63 // 1000 else None for c in counts]
        table = numbered(pa.array(counts, pa.int64()).cast(pa.timestamp(unit, zone)))
    found = by_row(opened(engine, table, tmp_path), DAY, len(counts))
    assert found == expected(DAY, whole_days(unit, counts))


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_an_instant_in_a_relation(unit: str, zone: str | None) -> None:
    """DuckDB's own types, in a table of its own; instants beyond them are there without a zone only."""
    import duckdb

    counts = instants(unit)
    if zone is not None and unit in ("s", "ms"):
        counts = [c for c in counts if c is None or abs(c) <= LAST[unit]]
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'Asia/Tokyo'")
    connection.register("given", numbered(pa.array(counts, pa.int64()).cast(pa.timestamp(unit, zone))))
    connection.execute("CREATE TABLE kept AS SELECT * FROM given")
    assert by_row(open_source(connection.table("kept")), DAY, len(counts)) == expected(DAY, whole_days(unit, counts))


@pytest.mark.parametrize("engine", FOUR)
def test_days_at_their_extremes(engine: str, tmp_path: Path) -> None:
    counts = [0, 1, -1, 19_000, -200_000, 2**31 - 2, 2**31 - 1, -(2**31) + 2, -(2**31) + 1, -(2**31), None]
    table = numbered(pa.array(counts, pa.int32()).cast(pa.date32()))
    days = [None if c is None or abs(c) > 2**31 - 2 else float(c) for c in counts]
    assert by_row(opened(engine, table, tmp_path), DAY, len(counts)) == expected(DAY, days)


@pytest.mark.parametrize("engine", FOUR)
def test_days_counted_in_milliseconds(engine: str, tmp_path: Path) -> None:
    days = [0, 1, -1, 19_000, -50_000, None]
    cells = pa.array([None if d is None else d * 86_400_000 for d in days], pa.int64()).cast(pa.date64())
    assert by_row(opened(engine, numbered(cells), tmp_path), DAY, len(days)) == expected(DAY, [*days])


NOWHERE = [("polars", pa.decimal256(60, 20)), ("duckdb", pa.decimal256(60, 20)), ("duckdb", pa.float16())]


@pytest.mark.parametrize(
    "kind",
    [pa.decimal128(38, 0), pa.decimal128(38, 37), pa.decimal256(60, 20), pa.float16(), pa.uint64(), pa.int64()],
    ids=str,
)
@pytest.mark.parametrize("engine", FOUR)
def test_wide_numbers(engine: str, kind: pa.DataType, tmp_path: Path) -> None:
    if (engine, kind) in NOWHERE:
        pytest.skip(f"{engine} has no {kind}")
    top = 2 if kind == pa.decimal128(38, 37) else 2**11 if kind == pa.float16() else 2**62
    cells = [0, 1, top, -top, -1, None]
    if kind == pa.uint64():
        cells = [0, 1, 2**64 - 1, None]
    made = [Decimal(c) if c is not None and pa.types.is_decimal(kind) else c for c in cells]
    column = (
        pa.array(np.array([np.nan if c is None else c for c in cells], np.float16)) if kind == pa.float16() else None
    )
    table = numbered(pa.array(made, kind) if column is None else column)
    want = expected(MAPS[0], [None if c is None else float(c) for c in cells])
    assert by_row(opened(engine, table, tmp_path), MAPS[0], len(cells)) == want


def broken() -> pa.Array:
    """Text with bytes that are no UTF-8 in the second cell: f, ff fe, m, (null)."""
    ends = np.array([0, 1, 3, 4, 4], np.int32).tobytes()
    return pa.Array.from_buffers(
        pa.string(), 4, [pa.py_buffer(b"\x07"), pa.py_buffer(ends), pa.py_buffer(b"f\xff\xfem")]
    )


SEX = KeyMap("sex", "sex", "category", ("f", "m"), ("f", "m"))


@pytest.mark.parametrize("levels", [2, 40])
@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("engine", ["parquet", "pyarrow", "arrow file"])
def test_bytes_that_are_no_text_are_missing(engine: str, dictionary: bool, levels: int, tmp_path: Path) -> None:
    """One such cell must not make a release fail (law 7): DuckDB's reader of Parquet raises by default."""
    table = pa.table({"sex": broken(), "day": pa.array([0, 1, 2, 3], pa.int64()).cast(pa.timestamp("ms"))})
    names = ("f", "m", *(f"level {i}" for i in range(levels - 2)))
    key = KeyMap("sex", "sex", "category", names, names)
    if engine == "parquet":
        pq.write_table(table, tmp_path / "t.parquet", use_dictionary=dictionary)
        source = open_source(tmp_path / "t.parquet")
    else:
        source = opened(engine, table, tmp_path)
    for sums in ((SumTerm(None),), (SumTerm(None), SumTerm(RowMap("day", "day", "date", 0.0, 16.0, 16)))):
        found = source.aggregate((key,), sums)
        assert found.rows == 4
        assert [cell[0] for cell in found.cells[:2]] == [1, 1]
        assert not any(cell[0] for cell in found.cells[2:])


def test_text_that_cannot_be_encoded_is_missing() -> None:
    """Lone surrogates, which Python's text may hold."""
    cells = ["f", "\ud800", None, "m", "f\udcff"]
    for data in (
        {"sex": cells},
        {"sex": np.array(cells, object)},
        pd.DataFrame({"sex": pd.Series(cells, dtype=object)}),
        pd.DataFrame({"sex": pd.Series(cells, dtype=pd.StringDtype("python"))}),
    ):
        assert open_source(data).aggregate((SEX,), (SumTerm(None),)).cells == ((1,), (1,))


def test_pandas_types_that_hold_nulls() -> None:
    numbers = [0, 1, None, 50, 100]
    want = expected(MAPS[0], [None if c is None else float(c) for c in numbers])
    for dtype in ("Int8", "UInt16", "Int64", "Float32", "Float64", "int64[pyarrow]", "double[pyarrow]"):
        frame = pd.DataFrame({"id": range(5), "x": pd.array(numbers, dtype=dtype)})
        assert by_row(open_source(frame), MAPS[0], 5) == want, dtype
    flags = pd.DataFrame({"id": range(3), "x": pd.array([True, None, False], dtype="boolean")})
    assert by_row(open_source(flags), MAPS[3], 3) == expected(MAPS[3], [1.0, None, 0.0])
    for dtype in ("string[python]", "string[pyarrow]", "category", "str"):
        words = pd.DataFrame({"sex": pd.Series(["f", None, "m", "x"], dtype=dtype)})
        assert open_source(words).aggregate((SEX,), (SumTerm(None),)).cells == ((1,), (1,)), dtype
    times = pd.DataFrame({"id": range(3), "x": pd.to_datetime(["1970-01-02 23:59", None, "1969-12-31 00:00"])})
    assert by_row(open_source(times), DAY, 3) == expected(DAY, [1.0, None, -1.0])


def test_a_collation_of_the_connection_does_not_merge_levels() -> None:
    """A connection may hold f and F, or é and e, equal; a level is its characters."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET default_collation = 'NOCASE.NOACCENT'")
    connection.execute("CREATE TABLE people (sex VARCHAR)")
    connection.execute("INSERT INTO people VALUES ('f'), ('F'), ('m'), ('M'), ('ḿ'), (NULL), ('f ')")
    for names in (("f", "m"), ("F", "M"), ("f", "F", "m", "M", "ḿ", *(f"level {i}" for i in range(40)))):
        key = KeyMap("sex", "sex", "category", names, names)
        found = open_source(connection.table("people")).aggregate((key,), (SumTerm(None),))
        assert [cell[0] for cell in found.cells] == [int(not name.startswith("level")) for name in names]


@pytest.mark.parametrize("extra", [0, 40, 300])
def test_levels_are_told_apart_by_their_characters(tmp_path: Path, extra: int) -> None:
    """Few levels are compared with each, more are joined, in places of 8 and 16 bits; wherever the text stands."""
    import duckdb

    odd = ["f", "F", " f", "f ", "é", "e\u0301", "it's", 'a"b', "\ue000", "\ue001x", "a,b", "[1]", "%", "\\"]
    names = (*odd, *(f"level {i}" for i in range(extra)))
    cells = [*names, *names[:5], "other", "", None, "LEVEL 1", "level 1 "]
    table = pa.table({"sex": pa.array(cells, pa.string()), "x": [1.0] * len(cells)})
    pq.write_table(table, tmp_path / "t.parquet")
    coded = table.set_column(0, "sex", table["sex"].dictionary_encode())
    key = KeyMap("sex", "sex", "category", names, names)
    for data in (tmp_path / "t.parquet", table, coded, duckdb.from_arrow(table), pl.DataFrame(table)):
        found = open_source(data).aggregate((key,), (SumTerm(None),))
        assert [cell[0] for cell in found.cells] == [1 + (i < 5) for i in range(len(names))]
        assert found.rows == len(cells)


def test_folders_and_patterns_in_the_order_of_names(tmp_path: Path) -> None:
    folder = tmp_path / "odd ' [name]*"
    (folder / "year=2024").mkdir(parents=True)
    for i, name in enumerate(("b.parquet", "year=2024/a.parquet", "[c].parquet")):
        pq.write_table(pa.table({"age": [float(i)] * (i + 1)}), folder / name)
    (folder / "notes.txt").write_text("not a table")
    source = open_source(folder)
    assert source.columns() == {"age": "DOUBLE"}  # the folder year=2024 is no column
    assert source.rows() == 6
    at = RowMap("age", "age", "real", 0.0, 4.0, 4)
    assert source.aggregate((), (SumTerm(at, IDENTITY),)).cells == ((0 + 2 + 6,),)
    (tmp_path / "plain").mkdir()
    for i in range(3):
        pq.write_table(pa.table({"age": [1.0] * (i + 1)}), tmp_path / "plain" / f"p{i}.parquet")
    assert open_source(str(tmp_path / "plain" / "p[01].parquet")).rows() == 3


def test_an_open_result_is_found_before_a_charge() -> None:
    import duckdb

    import tacit as tc
    from tacit.errors import SourceError

    connection = duckdb.connect()
    relation = connection.sql("SELECT 1.0 * range AS age FROM range(100)")
    curator = tc.Curator(relation, Schema({"age": Real(0, 100)}), budget=tc.Budget(rho=1))
    reader = connection.sql("SELECT * FROM range(1000000)").to_arrow_reader(10)
    next(iter(reader))
    with pytest.raises(SourceError) as refused:
        curator.release(tc.Mean("age"), rho=0.1)
    assert refused.value.code == "D08"
    del reader
    assert "left 0.9" in repr(curator.release(tc.Mean("age"), rho=0.1))


def test_days_as_python_dates_and_as_text(tmp_path: Path) -> None:
    days = [date(1970, 1, 1), None, date(2024, 2, 29)]
    want = expected(DAY, [0.0, None, 19782.0])
    assert by_row(open_source({"id": [0, 1, 2], "x": days}), DAY, 3) == want
    lines = ["id,x", "0,1970-01-01", "1,29.2.2024", "2,2024-02-29"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    source = open_source(tmp_path / "t.csv")
    check_source(source, Schema({"x": Date("1600-01-01", "2400-01-01")}))
    assert by_row(source, DAY, 3) == want


def test_spark_reads_days_as_the_others(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions as fn

    for unit in ("ms", "us"):
        for zone in (None, "UTC"):
            counts = [c for c in instants(unit) if c is None or abs(c) <= LAST[unit]]
            pq.write_table(
                numbered(pa.array(counts, pa.int64()).cast(pa.timestamp(unit, zone))), tmp_path / "t.parquet"
            )
            frame = spark.read.parquet(str(tmp_path / "t.parquet"))
            assert by_row(open_source(frame), DAY, len(counts)) == expected(DAY, whole_days(unit, counts))
    pq.write_table(pa.table({"sex": broken()}), tmp_path / "b.parquet")
    found = open_source(spark.read.parquet(str(tmp_path / "b.parquet"))).aggregate((SEX,), (SumTerm(None),))
    assert (found.rows, found.cells) == (4, ((1,), (1,)))
    days = [0, -1, 19_000, None]
    made = spark.createDataFrame([(i, d) for i, d in enumerate(days)], "id long, d int")
    frame = made.select("id", fn.date_add(fn.lit("1970-01-01").cast("date"), fn.col("d")).alias("x"))
    assert by_row(open_source(frame), DAY, 4) == expected(DAY, [*days])


def test_polars_categories_and_enums() -> None:
    for dtype in (pl.String, pl.Categorical, pl.Enum(["f", "m", "x"])):
        frame = pl.DataFrame({"sex": pl.Series(["f", None, "m", "x"], dtype=dtype)})
        assert open_source(frame).aggregate((SEX,), (SumTerm(None),)).cells == ((1,), (1,))


def test_python_numbers_of_any_size() -> None:
    """A list's cells are floats; a number that no float holds is beyond every bound, as in a list of whole numbers."""
    cells = [10**400, 5, None, -(10**400), True]
    assert by_row(open_source({"id": range(5), "x": cells}), MAPS[0], 5) == expected(
        MAPS[0], [1e300, 5, None, -1e300, 1]
    )


ENDS = """
import tacit as tc
curator = tc.Curator(PATH, tc.Schema({"age": tc.Real(0, 100), "sex": tc.Category(["f", "m"])}), budget=tc.Budget(rho=1))
curator.release(tc.Mean("age", by="sex"), rho=0.1)
print("done")
"""


@pytest.mark.sample(3)
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow"])
def test_a_process_ends_quietly(suffix: str, tmp_path: Path) -> None:
    import subprocess
    import sys

    table = pa.table({"age": [1.0, 2.0], "sex": ["f", "m"]})
    path = tmp_path / f"t{suffix}"
    if suffix == ".parquet":
        pq.write_table(table, path)
    elif suffix == ".csv":
        path.write_text("age,sex\n1,f\n2,m\n")
    else:
        with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)
    run = [sys.executable, "-c", ENDS.replace("PATH", repr(str(path)))]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@pytest.mark.parametrize("watched", [False, True])
def test_an_interrupt_ends_a_query(tmp_path: Path, watched: bool) -> None:
    """Ctrl-C in the middle of a pass over the data is a bare KeyboardInterrupt, and the table can be asked again.

    `watched`: while another thread asks how far it is.
    """
    import signal
    import threading

    from tacit.source.pass_progress import watching

    pq.write_table(pa.table({"x": np.arange(2_000_000) % 100.0}), tmp_path / "t.parquet")
    source = open_source(tmp_path / "t.parquet")
    seen = threading.Event()

    def knock() -> None:  # again and again: an interrupt within a finalizer is swallowed by Python
        while not seen.wait(0.2):
            signal.raise_signal(signal.SIGINT)

    def asking() -> None:
        threading.Thread(target=knock, daemon=True).start()
        try:
            while True:
                source.aggregate((), (SumTerm(MAPS[0], IDENTITY),))
        finally:
            seen.set()

    def looking(share: Any) -> None:
        while not seen.wait(0.01):
            share()

    with contextlib.ExitStack() as stack:
        # whoever started the tests may have had interrupts ignored (`nohup`, a shell's `&`), and a child inherits that
        stack.callback(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        if watched:
            share = stack.enter_context(watching()).share
            threading.Thread(target=looking, args=(share,), daemon=True).start()
        with pytest.raises(KeyboardInterrupt) as stopped:
            asking()
    assert stopped.value.__cause__ is None
    assert stopped.value.__context__ is None
    assert source.rows() == 2_000_000


def test_files_of_one_folder_that_were_written_otherwise(tmp_path: Path) -> None:
    """Text as a dictionary or not; but one unit of time, or another table."""
    from tacit.errors import SourceError

    days = pa.array([0, 86_400_000], pa.int64()).cast(pa.timestamp("ms"))
    words = pa.array(["f", "m"])
    pq.write_table(pa.table({"sex": words, "x": days}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"sex": words.dictionary_encode(), "x": days}), tmp_path / "b.parquet")
    found = open_source(tmp_path).aggregate((SEX,), (SumTerm(None), SumTerm(DAY, IDENTITY)))
    first = DAY.numpy(np.array([0.0, 1.0]))[0]
    assert found.cells == ((2, 2 * first[0]), (2, 2 * first[1]))
    pq.write_table(pa.table({"sex": words, "x": days.cast(pa.timestamp("us"))}), tmp_path / "c.parquet")
    with pytest.raises(SourceError, match="column 'x' of"):
        open_source(tmp_path)


@pytest.mark.parametrize("kind", ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 1000])
def test_numbers_are_read_where_they_lie_as_pyarrow_converts_them(kind: str, rows: int) -> None:
    rng = np.random.default_rng(rows)
    values = rng.integers(0, 100, rows).astype(kind)
    if kind[0] == "f":
        values[rng.random(rows) < 0.3] = np.nan
    for part in (values, values[::2], values[::-1]):
        found, expected = numbers(part).read(), pa.array(part, from_pandas=True)
        assert found.type == expected.type
        assert found.null_count == expected.null_count
        assert found.equals(expected)

"""A selection has as many rows as its table, whatever stands in the columns; a name is that of one column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit as tc
from tacit.errors import SourceError
from tacit.rows.row_map import ONE, SumTerm
from tacit.schema.predicates.numeric_expressions import cell_of
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_maps_of_columns import keymap, rowmap, unit_of
from tacit.source import check_source, computing, open_source
from tacit.source.engine_sums import cell_expressions as expressions

NAMES = ("x", "sex", "day", "ok", "who")
SCHEMA = tc.Schema(
    {
        "x": tc.Real(0, 100, missing=50),
        "sex": tc.Category(["f", "m"], missing="unknown"),
        "day": tc.Date("2020-01-01", "2020-12-31"),
        "ok": tc.Boolean(missing=False),
        "twice": tc.Real(0, 200, computed="2 * x"),
    }
)
WITH_PERSONS = tc.Schema({**dict(SCHEMA), "who": tc.PrivacyUnit(3)})


def arrow_file(rows: int, folder: Path, make: Any) -> Path:
    table = nulls(rows)
    with pa.OSFile(str(folder / "t.arrow"), "wb") as out, make(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return folder / "t.arrow"


def nulls(rows: int) -> pa.Table:
    return pa.table({name: pa.nulls(rows) for name in NAMES})


def text_file(rows: int, folder: Path) -> Path:
    (folder / "t.csv").write_text(",".join(NAMES) + "\n" + ",,,,\n" * rows)
    return folder / "t.csv"


def parquet_file(rows: int, folder: Path) -> Path:
    pq.write_table(nulls(rows), folder / "t.parquet")
    return folder / "t.parquet"


def relation(rows: int, _: Path) -> Any:
    import duckdb

    return duckdb.connect().sql(f"SELECT {', '.join(f'NULL AS {name}' for name in NAMES)} FROM range({rows})")


ENGINES: dict[str, Callable[[int, Path], Any]] = {
    "polars": lambda rows, _: pl.DataFrame({name: pl.Series([None] * rows, dtype=pl.Null) for name in NAMES}),
    "polars lazy": lambda rows, _: pl.LazyFrame({name: pl.Series([None] * rows, dtype=pl.Null) for name in NAMES}),
    "polars, a row is a literal": lambda rows, _: pl.LazyFrame({"z": [1] * rows}).select(
        *(pl.when(pl.col("z") > 1).then(None).alias(name) for name in NAMES)
    ),
    "pyarrow": lambda rows, _: nulls(rows),
    "parquet": parquet_file,
    "csv": text_file,
    "arrow stream": lambda rows, folder: arrow_file(rows, folder, pa.ipc.new_stream),
    "duckdb": relation,
}


def check_lengths(data: Any, rows: int) -> None:
    """Each kind of pass over a table without a single cell."""
    source = computing(open_source(data), SCHEMA)
    check_source(source, WITH_PERSONS)
    at, key, unit = rowmap(SCHEMA, "x"), keymap(SCHEMA, "sex"), unit_of(WITH_PERSONS)
    where, some = typed("ok == False and x > 10", SCHEMA), min(rows, 1)
    assert source.rows() == rows
    assert source.rows(unit) == some
    assert source.aggregate((), (SumTerm(at, ONE),)) == type(source.aggregate((), ()))(rows, ((rows,),))
    assert source.aggregate((key,), (SumTerm(None),)).cells == ((0,), (0,), (rows,))
    assert source.aggregate((key,), (SumTerm(None), SumTerm(at, ONE)), None, where).cells[2] == (rows, rows)
    assert source.aggregate((), (SumTerm(rowmap(SCHEMA, "twice"), ONE),)).rows == rows
    assert source.aggregate((), (SumTerm(rowmap(SCHEMA, "day"), ONE),)).cells == ((0,),)
    assert source.ranked(at).rows == rows
    tally = source.tallied((key,), where)
    assert (tally.rows, tally.counts.tolist()) == (rows, [0, 0, rows])
    found = source.complete((cell_of(SCHEMA, "x"), cell_of(SCHEMA, "twice")), unit, where)
    assert found.values.tolist() == [[50.0, 100.0]] * rows
    assert found.owners is not None
    assert len(set(found.owners.tolist())) == some


CASES = [(name, rows) for name in ENGINES for rows in ((0, 1, 3) if name.startswith("polars") else (3,))]


@pytest.mark.parametrize(("engine", "rows"), [*CASES, ("parquet", 0)])
def test_a_table_without_any_cell_has_its_rows(engine: str, rows: int, tmp_path: Path) -> None:
    check_lengths(ENGINES[engine](rows, tmp_path), rows)


@pytest.mark.long
def test_spark_a_table_without_any_cell_has_its_rows(spark: Any) -> None:
    check_lengths(spark.range(3).selectExpr(*(f"NULL AS {name}" for name in NAMES)), 3)


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_columns_that_no_row_enters_are_as_long_as_the_frame(rows: int) -> None:
    import duckdb

    columns = {"one": expressions.real(1.0), "yes": nw.lit(True)}
    held = pl.DataFrame({"z": [2] * rows}, schema={"z": pl.Int64})
    for frame in (held.lazy(), duckdb.from_arrow(held.to_arrow())):
        made: Any = expressions.select(nw.from_native(frame), columns)
        native = made.to_native()
        found = native.collect() if isinstance(native, pl.LazyFrame) else native.pl()
        assert (found.columns, found.rows()) == (["one", "yes"], [(1.0, True)] * rows)


def test_a_release_of_a_polars_frame_of_nulls() -> None:
    """It was M01 after its charge, or the release of one row."""
    frame = pl.DataFrame({name: [None] * 5 for name in NAMES})
    for schema in (SCHEMA, WITH_PERSONS):
        for neighbors in ("replace-one", "add-remove"):
            if schema is WITH_PERSONS and neighbors == "replace-one":
                continue  # one person: their number is public, and must be two
            budget = tc.Budget(rho=10, neighbors=neighbors)  # type: ignore[arg-type]
            curator = tc.Curator(frame, schema, budget=budget)
            assert curator.rows == (5 if neighbors == "replace-one" else None)
            for query in (tc.Mean(["x", "twice"], by="sex"), tc.Quantiles("x", [0.5]), tc.DataQuality()):
                assert curator.release(query, rho=0.5) is not None


def counted(table: pa.Table, folder: Path) -> list[Any]:
    with pa.OSFile(str(folder / "t.arrow"), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    pq.write_table(table, folder / "t.parquet")
    return [table, folder / "t.arrow", folder / "t.parquet"]


@pytest.mark.parametrize("names", [("a", "a"), ("A", "a")])
def test_a_name_of_two_columns_is_refused_before_a_charge(names: tuple[str, str], tmp_path: Path) -> None:
    """DuckDB and Spark do not tell a from A; where an engine does, each is its own column."""
    import duckdb

    table = pa.table([pa.array([1.0, 2.0]), pa.array([10.0, 20.0])], names=list(names))
    (tmp_path / "t.csv").write_text(f"{names[0]},{names[1]}\n1,10\n2,20\n")
    frame = pd.DataFrame([[1.0, 10.0], [2.0, 20.0]], columns=list(names))
    made = duckdb.connect().sql(f'SELECT 1.0 AS "{names[0]}", 10.0 AS "{names[1]}" FROM range(2)')
    alike = names[0] == names[1]
    for data in (*counted(table, tmp_path), tmp_path / "t.csv", frame, made):
        told = not alike and data is not made and getattr(data, "suffix", "") != ".parquet"
        schema = tc.Schema({"a": tc.Real(0, 100)})
        if told:
            check_source(open_source(data), schema)
            found = open_source(data).complete((cell_of(schema, "a"),)).values
            assert sorted(found[:, 0]) == [10.0, 20.0]
            continue
        with pytest.raises(SourceError) as refused:
            tc.Curator(data, schema, budget=tc.Budget(rho=1), ledger=tmp_path / "t.ledger")
        assert refused.value.code == "D04"
        assert not (tmp_path / "t.ledger").exists()


def test_a_relation_may_have_two_columns_of_a_name_that_nobody_needs() -> None:
    """As after a join; the one that is needed has its name alone."""
    import duckdb

    made = duckdb.connect().sql("SELECT 1 AS id, 7.0 AS x, 2 AS ID FROM range(3)")
    curator = tc.Curator(made, tc.Schema({"x": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    assert curator.rows == 3
    with pytest.raises(SourceError, match=r"two columns 'id' in this table \(DuckDB relation\)"):
        tc.Curator(made, tc.Schema({"id": tc.Real(0, 100)}), budget=tc.Budget(rho=1))

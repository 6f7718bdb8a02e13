"""Every engine gives the integers of the NumPy reference, row by row and in sums, whatever the cells hold."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import SourceError
from tacit.method.shared import encoding as forms
from tacit.rows.row_map import GRID, IDENTITY, ONE, KeyMap, RowMap, SumTerm
from tacit.schema import Boolean, Category, Date, Integer, Real, Schema
from tacit.schema.row_maps_of_columns import keymap, rowmap
from tacit.source import check_source, open_source

ENGINES = ["parquet", "arrow file", "csv", "pandas", "polars", "polars lazy", "pyarrow", "duckdb", "dict"]
EDGES = [0.0, -0.0, 0.5, 1.5, 2.5, 49.99999999999999, 100.0, np.nextafter(100, 0), np.nextafter(0, 1), -1e-300, 5e-324]
WILD = [float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 2.0**63, -(2.0**63), 2.0**53 + 2, -1.0, 101.0]
MAPS = [
    RowMap("x", "x", "real", 0.0, 100.0, GRID),
    RowMap("x", "x", "real", -7.3, 1e6, GRID, missing=17),
    RowMap("x", "x", "integer", 1.0, 16.0, 15, 69920),
    RowMap("x", "x", "boolean", 0.0, 1.0, 1),
]


def opened(engine: str, table: pa.Table, folder: Path) -> Any:
    if engine == "parquet":
        pq.write_table(table, folder / "t.parquet", row_group_size=7)
        return open_source(folder / "t.parquet")
    if engine == "arrow file":
        with pa.OSFile(str(folder / "t.arrow"), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table, max_chunksize=5)
        return open_source(folder / "t.arrow")
    if engine == "csv":
        lines = [",".join(table.column_names)]
        for row in table.to_pylist():
            cells = ["" if v is None else repr(v) if isinstance(v, float) else str(v) for v in row.values()]
            lines.append(",".join(cells))
        (folder / "t.csv").write_text("\n".join(lines) + "\n")
        return open_source(folder / "t.csv")
    if engine == "pandas":
        return open_source(table.to_pandas())
    if engine == "polars":
        return open_source(pl.from_arrow(table))
    if engine == "polars lazy":
        return open_source(pl.from_arrow(table).lazy())  # pyright: ignore
    if engine == "duckdb":
        import duckdb

        return open_source(duckdb.connect().from_arrow(table))
    if engine == "dict":
        return open_source({name: table.column(name).combine_chunks() for name in table.column_names})
    return open_source(table)


def by_row(source: Any, at: RowMap, n: int) -> list[tuple[int, int]]:
    """(present, v) of every row, through an id that makes each row a cell."""
    ids = KeyMap("id", "id", "category", tuple(range(n)), tuple(map(str, range(n))))
    found = source.aggregate((ids,), (SumTerm(at, ONE), SumTerm(at, IDENTITY)))
    assert found.rows == n
    return [(cell[0], cell[1]) for cell in found.cells]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("at", MAPS, ids=lambda at: at.kind)
def test_row_by_row_as_the_reference(engine: str, at: RowMap, tmp_path: Path) -> None:
    """PyArrow's Parquet statistics omit NaN: this is also the canary for engines that fold comparisons to true."""
    rng = np.random.default_rng(1)
    cells = [*EDGES, *WILD, *rng.uniform(-5, 105, 40), *rng.integers(0, 17, 20).astype(float), None, 0.0, 1.0]
    table = pa.table({"id": pa.array(range(len(cells)), pa.int64()), "x": pa.array(cells, pa.float64())})
    values = np.array([math.nan if c is None else c for c in cells])
    v, present = at.numpy(values)
    expected = [(int(p), int(k) if p else 0) for p, k in zip(present, v, strict=True)]
    assert by_row(opened(engine, table, tmp_path), at, len(cells)) == expected


@pytest.mark.parametrize(
    "kind", [pa.float32(), pa.int8(), pa.uint64(), pa.int64(), pa.decimal128(24, 4), pa.bool_()], ids=str
)
@pytest.mark.parametrize("engine", ["parquet", "polars", "pyarrow", "duckdb"])
def test_other_types_of_numbers(engine: str, kind: pa.DataType, tmp_path: Path) -> None:
    cells = [0, 1, 1, 0, None] if kind == pa.bool_() else [0, 1, 50, 100, 127, None]
    column = pa.array(cells, pa.int64()).cast(kind)
    table = pa.table({"id": pa.array(range(len(cells)), pa.int64()), "x": column})
    at = MAPS[0]
    v, present = at.numpy(np.array([math.nan if c is None else float(c) for c in cells]))
    expected = [(int(p), int(k) if p else 0) for p, k in zip(present, v, strict=True)]
    assert by_row(opened(engine, table, tmp_path), at, len(cells)) == expected


SCHEMA = Schema(
    {
        "age": Real(0, 100),
        "educ": Integer(1, 16, missing=3),
        "sex": Category(["f", "m"], missing="unknown"),
        "code": Category({0: "no", 7: "yes"}),
        "ok": Boolean(),
        "day": Date("2024-01-01", "2024-12-31"),
    }
)


def everyone() -> pa.Table:
    rng = np.random.default_rng(2)
    n = 300
    days = [None, date(2023, 1, 1), date(2024, 2, 29)]
    ages = [None if u < 0.1 else float("nan") if u < 0.2 else 120 * u for u in rng.random(n)]
    return pa.table(
        {
            "age": pa.array(ages, pa.float64()),
            "educ": pa.array([None if u < 0.1 else int(20 * u) for u in rng.random(n)], pa.int32()),
            "sex": pa.array([[None, "f", "m", "x"][k] for k in rng.integers(0, 4, n)], pa.string()),
            "code": pa.array([[None, 0, 7, 9][k] for k in rng.integers(0, 4, n)], pa.int64()),
            "ok": pa.array([[None, True, False][k] for k in rng.integers(0, 3, n)], pa.bool_()),
            "day": pa.array([days[k] for k in rng.integers(0, 3, n)], pa.date32()),
        }
    )


def sums_of(schema: Schema) -> tuple[SumTerm, ...]:
    found: list[SumTerm] = [SumTerm(None)]
    for name in ("age", "educ", "ok", "day"):
        at = rowmap(schema, name)
        form = forms.binary_group("add-remove") if at.G == 1 else forms.group(at.G, "laplace", "add-remove")
        found += [SumTerm(at, polynomial) for polynomial in form.polynomials]
        if at.G > 1:  # of both signs: floors of negative quotients
            found.append(
                SumTerm(at, forms.total(at.G, -at.G // 3, "laplace", cells=1, neighbors="replace-one").polynomials[2])
            )
    return tuple(found)


def reference(table: pa.Table, keys: tuple[KeyMap, ...], sums: tuple[SumTerm, ...]) -> list[list[int]]:
    """Cells by plain Python."""
    rows = table.to_pylist()
    sizes = [key.size for key in keys]
    cells = [[0] * len(sums) for _ in range(math.prod(sizes))]
    for row in rows:
        place = [key.index(row[key.source]) for key in keys]
        if None in place:
            continue
        index = 0
        for size, at in zip(sizes, place, strict=True):
            index = index * size + at  # pyright: ignore
        for i, one in enumerate(sums):
            if one.rowmap is None:
                cells[index][i] += 1
                continue
            cell = row[one.rowmap.source]
            x = (cell - date(1970, 1, 1)).days if isinstance(cell, date) else math.nan if cell is None else float(cell)
            v, present = one.rowmap.numpy(np.array([x]))
            cells[index][i] += one.polynomial(int(v[0])) if present[0] else 0
    return cells


@pytest.mark.parametrize("engine", [e for e in ENGINES if e != "dict"])
def test_groups_of_every_type(engine: str, tmp_path: Path) -> None:
    table = everyone()
    source = opened(engine, table, tmp_path)
    if engine != "pandas":  # to_pandas makes Booleans with nulls an object column, which is refused below
        check_source(source, SCHEMA)
        keys = (keymap(SCHEMA, "sex"), keymap(SCHEMA, "code"), keymap(SCHEMA, "ok"))
        sums = sums_of(SCHEMA)
    else:
        keys = (keymap(SCHEMA, "sex"), keymap(SCHEMA, "code"))
        sums = tuple(s for s in sums_of(SCHEMA) if s.rowmap is None or s.rowmap.column in ("age", "educ"))
    found = source.aggregate(keys, sums)
    assert found.rows == table.num_rows
    assert [list(cell) for cell in found.cells] == reference(table, keys, sums)
    shuffled = table.take(np.random.default_rng(3).permutation(table.num_rows))
    (tmp_path / "again").mkdir()
    assert opened(engine, shuffled, tmp_path / "again").aggregate(keys, sums) == found


@pytest.mark.parametrize("engine", ["parquet", "polars", "pyarrow", "duckdb", "pandas"])
def test_empty_tables(engine: str, tmp_path: Path) -> None:
    table = everyone().slice(0, 0)
    source = opened(engine, table, tmp_path)
    keys = (keymap(SCHEMA, "sex"),)
    at = rowmap(SCHEMA, "age")
    assert source.rows() == 0
    assert source.aggregate(keys, (SumTerm(at),)).cells == ((0,), (0,), (0,))
    assert source.aggregate((), (SumTerm(at), SumTerm(at, IDENTITY))).cells == ((0, 0),)


@pytest.mark.parametrize("engine", ["pyarrow", "polars", "parquet"])
def test_sums_near_the_edge_of_64_bits(engine: str, tmp_path: Path) -> None:
    """1,023 rows of 2**53 each: the sum, just below 2**63, is exact."""
    from tacit.rows.row_map import Polynomial

    at = RowMap("x", "x", "integer", 0.0, 1.0, 1, 2**26)
    table = pa.table({"x": pa.array([1.0] * 1023)})
    found = opened(engine, table, tmp_path).aggregate((), (SumTerm(at, Polynomial((0, 0, 2))),))
    assert found.cells == ((1023 * 2**53,),)


@pytest.mark.parametrize("engine", ["pyarrow", "polars", "parquet", "pandas"])
def test_sums_beyond_64_bits(engine: str, tmp_path: Path) -> None:
    """1,100 rows of 2**53 each, above 2**63, and of both signs: in limbs, joined in Python's integers."""
    from tacit.rows.row_map import Polynomial

    at = RowMap("x", "x", "integer", 0.0, 1.0, 1, 2**26)
    table = pa.table({"x": pa.array([1.0] * 1100)})
    sums = (SumTerm(at, Polynomial((0, 0, 2))), SumTerm(at, Polynomial((0, 0, -2))))
    found = opened(engine, table, tmp_path).aggregate((), sums)
    assert found.cells == ((1100 * 2**53, -1100 * 2**53),)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.floats(width=64), st.sampled_from(EDGES + WILD)), min_size=1, max_size=30),
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e9),
)
def test_engines_agree_on_any_floats(cells: list[float | None], low: float, span: float) -> None:
    at = RowMap("x", "x", "real", low, low + span, GRID)
    if not at.upper > at.lower:
        return
    v, present = at.numpy(np.array([math.nan if c is None else c for c in cells]))
    expected = ((int(present.sum()), int(v[present].sum())),)
    table = pa.table({"x": pa.array(cells, pa.float64())})
    for data in (table, pl.from_arrow(table)):
        assert open_source(data).aggregate((), (SumTerm(at, ONE), SumTerm(at, IDENTITY))).cells == expected


def test_text_files_answer_by_rules_and_never_complain(tmp_path: Path) -> None:
    """Cells that cannot be read are missing; rows that cannot be split are left out; nothing raises."""
    raw = b'age,sex\n30,f\nabc,m\n,f\n"40",m\n50\n60,m,extra\n\xff\xfe,f\n1e400,f\n70,"f"\n'
    (tmp_path / "t.csv").write_bytes(raw)
    schema = Schema({"age": Real(0, 100), "sex": Category(["f", "m"])})
    source = open_source(tmp_path / "t.csv")
    check_source(source, schema)
    found = source.aggregate((), (SumTerm(rowmap(schema, "age")),))
    assert 3 <= found.cells[0][0] <= 5  # 30, 40, 70 for certain; 50 and 60 as the parser splits them
    with open(tmp_path / "bad.csv", "wb") as out:
        out.write(b"age,age\n1,2\n")
    with pytest.raises(SourceError):
        open_source(tmp_path / "bad.csv")


def test_a_folder_that_cannot_be_listed_is_a_plain_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(self: Path, pattern: str) -> Any:
        raise FileNotFoundError(pattern)

    monkeypatch.setattr(Path, "rglob", gone)
    with pytest.raises(SourceError, match=r"D03.*cannot be listed"):
        open_source(tmp_path)


BAD = [
    (lambda folder: open_source(folder / "none.parquet"), "D02"),
    (lambda folder: open_source(folder / "notes.txt"), "D01"),
    (lambda folder: open_source(folder / "broken.parquet"), "D03"),
    (lambda folder: open_source(3), "D01"),
    (lambda folder: open_source({"a": [1, 2], "b": [1]}), "D04"),
    (lambda folder: check_source(open_source({"a": [1, "secret"]}), Schema({"a": Real(0, 1)})), "D04"),
    (lambda folder: open_source({"a": "secret"}), "D04"),
    (lambda folder: open_source({"a": np.zeros((2, 2))}), "D04"),
]


@pytest.mark.parametrize(("wrong", "code"), BAD, ids=[f"{i}-{code}" for i, (_, code) in enumerate(BAD)])
def test_bad_sources(wrong: Any, code: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 secret")
    with pytest.raises(SourceError) as refused:
        wrong(tmp_path)
    assert refused.value.code == code
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_names_and_types_are_checked_without_rows() -> None:
    table = everyone()
    with pytest.raises(SourceError) as refused:
        check_source(open_source(table), Schema({"agee": Real(0, 1)}))
    assert (refused.value.code, refused.value.hint) == ("D10", 'column="age"')
    year = Date("2024-01-01", "2024-12-31")
    for wrong in ({"sex": Real(0, 1)}, {"age": Category(["a"])}, {"sex": Category([1, 2])}, {"age": year}):
        with pytest.raises(SourceError) as refused:
            check_source(open_source(table), Schema(wrong))
        assert refused.value.code == "D11"


def test_object_columns_of_pandas_hold_text_only() -> None:
    frame = pd.DataFrame({"x": pd.Series([1, "a", None], dtype=object)})
    with pytest.raises(SourceError):
        check_source(open_source(frame), Schema({"x": Real(0, 1)}))
    check_source(open_source(frame), Schema({"x": Category(["a"])}))


def test_spark_gives_the_same_integers(spark: Any, tmp_path: Path) -> None:
    table = everyone()
    pq.write_table(table, tmp_path / "t.parquet")
    source = open_source(spark.read.parquet(str(tmp_path / "t.parquet")))
    check_source(source, SCHEMA)
    keys = (keymap(SCHEMA, "sex"), keymap(SCHEMA, "code"), keymap(SCHEMA, "ok"))
    sums = sums_of(SCHEMA)
    assert [list(cell) for cell in source.aggregate(keys, sums).cells] == reference(table, keys, sums)
    assert source.rows() == table.num_rows
    cells = [*EDGES, *WILD, None]
    wild = pa.table({"id": pa.array(range(len(cells)), pa.int64()), "x": pa.array(cells, pa.float64())})
    pq.write_table(wild, tmp_path / "w.parquet")
    at = MAPS[0]
    v, present = at.numpy(np.array([math.nan if c is None else c for c in cells]))
    expected = [(int(p), int(k) if p else 0) for p, k in zip(present, v, strict=True)]
    assert by_row(open_source(spark.read.parquet(str(tmp_path / "w.parquet"))), at, len(cells)) == expected

"""Division is that of IEEE 754 on every engine, also by a constant: Polars alone would multiply by its reciprocal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit as tc
from tacit.rows.row_map import Polynomial, SumTerm
from tacit.schema.row_maps_of_columns import binmap, keymap
from tacit.source import open_source
from tacit.source.engine_sums import cell_expressions as ex
from tacit.source.reading.column_kinds import Reading
from tacit.testing.reference_table import with_computed

DIVISORS = [3, 5, 7, 10, 49, 98, 103, 107, 161, 187, 197, 327_680, 49 * 2**10, 365, 146_097, 2**20, 2**7]


def engines(columns: dict[str, np.ndarray]) -> list[Any]:
    return [pa.table(columns), pl.DataFrame(columns), pl.DataFrame(columns).lazy()]


def test_polars_by_itself_is_not_exact() -> None:
    """Why this file is there: if it passes one day, `divide` may go."""
    x = np.arange(1.0, 500.0)
    found = pl.DataFrame({"x": x}).select(pl.col("x") / 49.0).to_series().to_numpy()
    assert (found != x / 49.0).any()


@pytest.mark.parametrize("divisor", DIVISORS)
def test_polynomials_are_floored_exactly(divisor: int) -> None:
    """Multiples of the divisor above all, which a quotient one digit too small would take to the integer below."""
    multiples = np.arange(0, 3_000) * divisor
    v = np.unique(np.concatenate([multiples, multiples + 1, np.maximum(multiples - 1, 0)]))
    polynomial = Polynomial((0, 1), divisor)
    for frame in (pl.DataFrame({"v": v}).lazy(), pl.DataFrame({"v": v})):
        found = nw.from_native(frame).lazy().select(ex.evaluate(polynomial, "v").alias("t")).collect()["t"].to_numpy()
        np.testing.assert_array_equal(found, v // divisor)


@pytest.mark.parametrize("divisor", DIVISORS)
def test_computed_columns_and_conditions_divide_exactly(divisor: int) -> None:
    schema = tc.Schema({"x": tc.Real(0, 1e9), "y": tc.Real(0, 1e9, computed=f"x / {divisor}")})
    x = np.concatenate([np.arange(0.0, 2_000.0), np.random.default_rng(0).uniform(0, 1e9, 2_000)])
    expected = np.sort(with_computed({"x": x}, schema)["= y"])
    np.testing.assert_array_equal(expected, np.sort(x / divisor))
    for table in engines({"x": x}):
        engine = open_source(table, schema)._engine
        rows = engine.collect(engine.read([Reading("= y", "number")]))
        np.testing.assert_array_equal(np.sort([row["c0"] for row in rows]), expected)


@pytest.mark.long
@pytest.mark.sample(2)
@pytest.mark.parametrize("day", ["1600-01-01", "2400-12-31"])
def test_days_of_eight_centuries_on_every_engine(day: str) -> None:
    days = np.arange(np.datetime64("1600-01-01"), np.datetime64("2400-12-31"))[:: 3 if day[0] == "1" else 7]
    parts = ("year", "month", "day", "weekday")
    schema = tc.Schema(
        {"d": tc.Date("1600-01-01", "2400-12-31"), **{p: tc.Integer(0, 3000, computed=f"{p}(d)") for p in parts}}
    )
    expected = with_computed({"d": days}, schema)
    cells = pa.array(days.astype("datetime64[D]"))
    for table in (pa.table({"d": cells}), pl.DataFrame({"d": pl.from_arrow(cells)})):
        engine = open_source(table, schema)._engine
        readings = [Reading("d", "date"), *(Reading(f"= {part}", "number") for part in parts)]
        rows = sorted(engine.collect(engine.read(readings)), key=lambda row: row["c0"])
        for i, part in enumerate(parts):
            np.testing.assert_array_equal([row[f"c{i + 1}"] for row in rows], expected[f"= {part}"])


@pytest.mark.parametrize(
    ("low", "high", "bins"),
    [
        (0, 100, 7),
        (18, 93, 10),
        (-3.3, 1e6, 200),
        (1e9, 1e9 + 1, 13),
        (0.1, 0.3, 3),
        (-1e-5, 2e-5, 9),
        (0, 3e5, 199),
        (1e9, 1e9 + 13, 13),
    ],
)
def test_bins_of_equal_width_are_those_of_their_edges(low: float, high: float, bins: int) -> None:
    key = binmap(tc.Schema({"x": tc.Real(low, high)}), "x", bins)
    edges, width = np.array(key.edges), high - low
    near = [edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf), [low, high, 1e308, -1e308, 0.0]]
    x = np.concatenate([np.random.default_rng(0).uniform(low - width / 5, high + width / 5, 2_000), *near])
    expected = np.bincount(np.searchsorted(edges, x, side="right"), minlength=bins)
    for table in engines({"x": x}):
        found = [cell[0] for cell in open_source(table).aggregate((key,), (SumTerm(None),)).cells]
        assert found == expected.tolist()


@pytest.mark.parametrize(("low", "high", "bins"), [(0, 100, 7), (1e9, 1e9 + 13, 13), (-7.3, 1e6, 200), (0, 1, 5)])
def test_every_row_is_in_its_bin(low: float, high: float, bins: int, tmp_path: Path) -> None:
    """Row by row, with what is missing; the file's bounds leave NaN out.  5 bins are compared with each edge."""
    schema = tc.Schema({"x": tc.Real(low, high), "id": tc.Category(list(range(2_000)))})
    key = binmap(schema, "x", bins)
    edges = np.array(key.edges)
    near = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf), [np.nan, np.inf, -np.inf]])
    wild = np.concatenate([near, [low, high, np.nextafter(low, -np.inf), np.nextafter(high, np.inf), 1e308, -1e308]])
    x = np.concatenate([wild, np.random.default_rng(1).uniform(low, high, 2_000 - len(wild))])
    table = pa.table({"x": pa.array([*x[:-1], None], pa.float64()), "id": np.arange(2_000)})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=300)
    expected = np.zeros((2_000, bins), dtype=np.int64)
    there = np.isfinite(x) & (np.arange(2_000) < 1_999)
    expected[np.flatnonzero(there), np.searchsorted(edges, x[there], side="right")] = 1
    for data in (table, pl.from_arrow(table), tmp_path / "t.parquet"):
        found = open_source(data).tallied((keymap(schema, "id"), key))
        np.testing.assert_array_equal(found.counts.reshape(2_000, bins), expected)
        assert found.rows == 2_000


@pytest.mark.sample(4)
@pytest.mark.parametrize("low", [-3, 0, 1, 2015, 2**40])
@pytest.mark.parametrize("bins", [13, 7])
@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint64(), pa.float64()], ids=str)
def test_bins_of_whole_numbers(low: int, bins: int, kind: pa.DataType, tmp_path: Path) -> None:
    """Bins one wide are found by a shorter way from a positive end; so are those of a column of whole numbers."""
    schema = tc.Schema({"x": tc.Integer(low, low + 12), "code": tc.Category(list(range(low, low + 13)))})
    key, code = binmap(schema, "x", bins), keymap(schema, "code")
    edges = np.array(key.edges)
    x = np.arange(low - 3, low + 17).astype(np.float64)
    if kind == pa.float64():
        near = [edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf), edges + 0.25, [1e300, -1e300, 1e-300]]
        x = np.concatenate([x, *near])
    elif kind == pa.int8():
        x = x[x < 127] if low < 100 else np.array([1.0, 100.0, -100.0])
    elif kind == pa.uint64():
        x = x[x >= 0]
    cells = pa.array([*x.astype(kind.to_pandas_dtype()), None], kind)
    table = pa.table({"x": cells, "code": cells})
    pq.write_table(table, tmp_path / "t.parquet")
    binned = np.bincount(np.searchsorted(edges, x, side="right"), minlength=bins)
    listed = np.array([np.sum(x == one) for one in range(low, low + 13)])
    for data in (table, pl.from_arrow(table), tmp_path / "t.parquet"):
        source = open_source(data)
        np.testing.assert_array_equal(source.tallied((key,)).counts, binned)
        np.testing.assert_array_equal(source.tallied((code,)).counts, listed)

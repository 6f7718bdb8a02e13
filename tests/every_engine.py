"""A table of odd cells, and one check: every engine adds up the same integers of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import tacit as tc
from tacit.method.regression.mechanism_rows import exact_part, rows_held
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.shared.measurement import Measurement
from tacit.source import open_source

ODD_SCHEMA = tc.Schema(
    {"x": tc.Real(-2, 2), "m": tc.Boolean(), "g": tc.Category(["a", "b"]), "y": tc.Boolean(), "k": tc.Integer(0, 9)}
)


def odd_table(rows: int = 400, seed: int = 3) -> pa.Table:
    """Rows with nulls, NaN, infinities, and values and levels beyond the schema."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, rows)
    x[:4] = [np.nan, np.inf, -np.inf, 1e300]
    return pa.table(
        {
            "x": pa.array(x),
            "m": pa.array([None if i % 50 == 7 else bool(b) for i, b in enumerate(rng.random(rows) < 0.4)]),
            "g": pa.array(rng.choice(["a", "b", "z"], rows)),
            "y": pa.array(rng.random(rows) < 0.5),
            "k": pa.array([None if i == 9 else int(k) for i, k in enumerate(rng.poisson(3, rows))], pa.int64()),
        }
    )


def columns_of(data: pa.Table) -> dict[str, np.ndarray]:
    return {name: np.array(data[name].to_pylist(), dtype=object) for name in data.column_names}


def assert_every_engine_adds_up(
    expected: Sequence[tuple[tuple[int, ...], ...]],
    asked: Sequence[ProductPart],
    shape: Measurement,
    data: pa.Table,
    schema: tc.Schema,
    folder: Path,
) -> None:
    """Each part asked for, from Parquet, CSV, Arrow, Polars and DuckDB: on the engine, and from rows that are held."""
    pq.write_table(data, folder / "t.parquet")
    pa.csv.write_csv(data, folder / "t.csv")
    relation = duckdb.connect().from_arrow(data)
    for source in (folder / "t.parquet", folder / "t.csv", data, pl.from_arrow(data), relation):
        opened = open_source(source, schema)
        assert [exact_part(one, shape, opened) for one in asked] == list(expected), type(source)
        rows = rows_held(shape, opened)
        assert (rows is None) == (shape.unit is not None), type(source)
        assert [exact_part(one, shape, opened, rows) for one in asked] == list(expected), type(source)

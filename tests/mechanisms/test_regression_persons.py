"""Regressions of persons with several rows: the same integers on every engine, the contract, sensitivities, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from test_regression import COLUMNS, PLAIN, QUERIES, SCHEMA, arrays, somewhere, table

import tacit as tc
from tacit.curator.asked import design
from tacit.curator.source import open_source
from tacit.errors import QueryError
from tacit.mechanisms import regression
from tacit.mechanisms.regression import Crosses
from tacit.privacy import Cost
from tacit.testing.contract import PRICES, contract, sensitivity
from tacit.testing.regressions import rows_of
from tacit.testing.tables import pairs

UNIT = tc.PrivacyUnit(3)
PERSONS = tc.Schema({"who": UNIT, **SCHEMA})
ASKED = [one for one in QUERIES if one.model != "poisson"]


def visits(kind: str, rows: int = 400) -> pa.Table:
    """Rows of 90 persons, of some one, of some many, of those without a name 8; some of them have no complete row."""
    rng = np.random.default_rng(7)
    who = [None if u < 0.02 else int(90 * u**2) for u in rng.random(rows)]
    named = [None if one is None else f"Pérson {one}" for one in who]
    data = table(rows)
    column = pa.array(named, pa.string()) if kind == "text" else pa.array(who, pa.int64())
    return data.append_column("who", column)


@pytest.mark.parametrize("query", ASKED, ids=lambda q: q.formula)
def test_every_engine_adds_up_the_same_integers_of_persons(query: Any, tmp_path: Path) -> None:
    for kind in ("number", "text"):
        data = visits(kind)
        made = rows_of(query, arrays(data), PERSONS, Cost.of(epsilon=1), "add-remove")
        assert made.size == len(set(data["who"].to_pylist()))
        assert made.who is not None
        assert 30 < len(np.unique(made.who)) < made.size
        shape = somewhere(made.shape)
        expected = [(made.sums(column),) for column in shape.columns]
        assert len({abs(x) for x in expected[1][0]}) > 4
        pq.write_table(data, tmp_path / "t.parquet")
        pa.csv.write_csv(data, tmp_path / "t.csv")
        relation = duckdb.connect().from_arrow(data)
        frames = (data, data.to_pandas(types_mapper=pd.ArrowDtype), pl.from_arrow(data), relation)
        for source in (tmp_path / "t.parquet", tmp_path / "t.csv", *frames):
            opened = open_source(source, PERSONS)
            assert [regression.exact(column, shape, opened) for column in shape.columns] == expected, type(source)

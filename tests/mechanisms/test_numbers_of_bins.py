"""A number of bins for every numeric column; more bins than 200; probabilities that floats make."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit as tc
from tacit.curator.mechanisms import design, integers
from tacit.errors import QueryError
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.release.query import query_from_dict
from tacit.source import open_source

SCHEMA = tc.Schema(
    {
        "age": tc.Real(18, 93),
        "fare": tc.Real(0, 50),
        "kids": tc.Integer(0, 4),
        "day": tc.Date("2020-01-01", "2029-12-31"),
        "sex": tc.Category(["f", "m"]),
        "open": tc.Real(),
    }
)
N = 3_000


def table() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        "age": np.append(rng.uniform(10, 100, N - 3), [np.nan, np.inf, 18.0]),
        "fare": rng.uniform(0, 50, N),
        "kids": rng.integers(0, 5, N),
        "day": np.datetime64("2020-01-01") + rng.integers(0, 3653, N).astype("timedelta64[D]"),
        "sex": np.array(["f", "m"])[rng.integers(0, 2, N)],
        "open": rng.normal(size=N),
    }


def curator() -> tc.Curator:
    return tc.Curator(table(), SCHEMA, budget=tc.Budget(rho=9))


def test_a_number_of_bins_is_of_every_numeric_column() -> None:
    asked = curator()
    short = asked.release(tc.Histogram(["age", "fare", "kids", "sex"], bins=12), rho=0.1)
    assert [len(labels) for _, labels in short.levels] == [12, 12, 5, 2]  # whole numbers keep their values
    # it is the same question as the one that names the columns: a stored answer, free
    long = asked.release(tc.Histogram(["age", "fare", "kids", "sex"], bins={"age": 12, "fare": 12}), rho=0.1)
    assert (long.charge, long.query) == (short.charge, short.query)
    assert len(asked.release(tc.Mean("fare", by=["age", "sex"], bins=3), rho=0.1).estimate().terms) == 6
    assert asked.release(tc.Count(by="kids", bins=9), rho=0.1).levels == (("kids", ("0", "1", "2", "3", "4")),)
    assert tc.plan(tc.Histogram(["age", "sex"], bins=7), SCHEMA, rows=100, rho=1).numbers == 14
    assert tc.Histogram(["age", "sex"], bins=7).to_dict()["bins"] == 7
    assert query_from_dict(tc.Histogram(["age", "sex"], bins=7).to_dict()) == tc.Histogram(["age", "sex"], bins=7)
    for query, code in (
        (tc.Mean("fare", by="sex", bins=3), "Q64"),
        (tc.Histogram(["age", "sex"], bins=1), "Q64"),
        (tc.Histogram(["open", "sex"], bins=5), "Q12"),
        (tc.Histogram("sex", bins=5), "Q13"),
    ):
        with pytest.raises(QueryError) as refused:
            asked.release(query, rho=0.1)
        assert refused.value.code == code


def test_a_number_of_bins_in_a_file_is_the_same_question(tmp_path: Path) -> None:
    from tacit.study import read

    text = """tacit = 1
[table]
rows = 100
[budget]
rho = 1
[schema]
age = { type = "Real", lower = 0, upper = 9 }
ok = { type = "Boolean" }
[spend]
rho = 1
[ask.cells]
query = "Histogram"
columns = ["age", "ok"]
bins = %s
"""
    jobs: list[Any] = []
    for i, bins in enumerate(("12", "{ age = 12 }")):
        (tmp_path / f"{i}.toml").write_text(text % bins)
        jobs.append(read(tmp_path / f"{i}.toml"))
    assert jobs[0].asks == jobs[1].asks == {"cells": tc.Histogram(["age", "ok"], bins={"age": 12})}


SOURCES: dict[str, Callable[[Any, Path], Any]] = {
    "pandas": lambda rows, _: pd.DataFrame(rows),
    "polars": lambda rows, _: pl.DataFrame(rows),
    "duckdb": lambda rows, _: duckdb.connect().from_arrow(pa.table(rows)),
    "parquet": lambda rows, place: pq.write_table(pa.table(rows), place / "t.parquet") or place / "t.parquet",
}
MANY = {
    "even": ("age", 2_000),
    "uneven": ("age", [18.0 + 75 * (i / 2_000) ** 2 for i in range(2_001)]),
    "days": ("day", 1_500),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("engine", SOURCES)
@pytest.mark.parametrize("kind", [pytest.param(one, marks=[] if one == "even" else pytest.mark.long) for one in MANY])
def test_thousands_of_bins_on_every_engine(engine: str, kind: str, tmp_path: Path) -> None:
    """The integers are those of the reference, cell by cell: `KeyMap.index` of each row."""
    column, bins = MANY[kind]
    shape = design(tc.Histogram(column, bins=bins), Public(SCHEMA, "replace-one", N), Cost.of(rho=1))
    (key,) = shape.keys
    rows = {name: values for name, values in table().items() if name == column}
    cells = rows[column]
    if kind == "days":
        cells = cells.astype("datetime64[D]").astype(np.int64)
    expected = np.zeros(key.size, dtype=int)
    for value in cells.tolist():
        place = key.index(float(value))
        if place is not None:
            expected[place] += 1
    (found,) = integers(shape, open_source(SOURCES[engine](rows, tmp_path)))
    assert [cell[0] for cell in found] == expected.tolist()


@pytest.mark.parametrize("engine", SOURCES)
def test_uneven_bins_beyond_two_hundred(engine: str, tmp_path: Path) -> None:
    rows = {"fare": table()["fare"]}
    edges = [50 * (i / 250) ** 2 for i in range(251)]
    shape = design(tc.Histogram("fare", bins=edges), Public(SCHEMA, "replace-one", N), Cost.of(rho=1))
    (found,) = integers(shape, open_source(SOURCES[engine](rows, tmp_path)))
    assert [cell[0] for cell in found] == np.histogram(rows["fare"], edges)[0].tolist()


def test_more_bins_than_a_column_may_have() -> None:
    for bins in (2_001, [18.0 + 75 * i / 2_001 for i in range(2_002)]):
        with pytest.raises(QueryError) as refused:
            curator().release(tc.Histogram("age", bins=bins), rho=0.1)
        assert refused.value.code == "Q64"
        assert len(str(refused.value)) < 200


def test_probabilities_that_floats_make() -> None:
    asked = tc.Quantiles("age", np.arange(0.1, 1, 0.1))
    assert asked.probs == tuple(Fraction(i, 10) for i in range(1, 10))
    assert tc.Quantiles("age", np.linspace(0, 1, 5)[1:-1]).probs == (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
    assert tc.Quantiles("age", 0.1 + 0.2) == tc.Quantiles("age", 0.3)
    # rounding mends what floats do, not what was typed
    for probs in (0.30001, "0.30001", 1e-12, 1 - 1e-12, np.array([0.0, 0.5]), np.array([[0.5]])):
        with pytest.raises(QueryError) as refused:
            tc.Quantiles("age", probs)
        assert refused.value.code in ("Q74", "Q06")

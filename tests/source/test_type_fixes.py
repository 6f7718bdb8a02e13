"""A column of another type than declared: what was expected, what to do, and nothing of any cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.errors import SourceError
from tacit.schema import Boolean, Category, Column, Date, Integer, Real, Schema
from tacit.source import check_source, open_source

NUMBERS = [*range(999), "secret"]


def refused(table: Any, column: Column) -> SourceError:
    with pytest.raises(SourceError) as found:
        check_source(open_source(table), Schema({"x": column}))
    assert "secret" not in str(found.value)
    return found.value


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (Integer(0, 1000), "Integer needs numbers"),
        (Real(0, 1), "Real needs numbers"),
        (Category(["a", "b"]), "Category needs text"),
        (Date("2024-01-01", "2024-12-31"), "Date needs dates"),
    ],
)
def test_a_list_with_one_odd_cell_says_what_was_expected(column: Column, words: str) -> None:
    found = refused({"x": NUMBERS}, column)
    assert found.code == "D04"
    assert words in found.message
    assert "of several types" in found.message
    assert "str" not in found.message  # which types they are is a matter of the rows
    assert found.hint is not None
    assert "one type for all cells" in found.hint


def test_a_list_that_nobody_asks_for_may_hold_anything() -> None:
    table = {"x": NUMBERS, "y": [0.5] * 1000, "z": [object()] * 1000}
    check_source(open_source(table), Schema({"y": Real(0, 1)}))
    with pytest.raises(SourceError, match="list of objects"):
        check_source(open_source(table), Schema({"z": Real(0, 1)}))


@pytest.mark.parametrize("given", ["secret", 40, {"a": 1}, np.zeros((2, 2)), pd.DataFrame({"a": [1]})])
def test_what_is_no_list_is_named_by_its_kind(given: Any) -> None:
    with pytest.raises(SourceError, match=r"D04.*'x' (is a|has 2 dimensions).*Hint: \[30, 40, None\]") as found:
        open_source({"x": given})
    assert not any(one in str(found.value) for one in ("secret", "is 40"))


def test_a_library_s_own_conversion_is_named(tmp_path: Path) -> None:
    text = pd.DataFrame({"x": ["1", "secret"]})
    days = Date("2024-01-01", "2024-12-31")
    pq.write_table(pa.Table.from_pandas(text), tmp_path / "t.parquet")
    relation = duckdb.connect().from_arrow(pa.Table.from_pandas(text))
    for table, column, hint in (
        (text, Real(0, 1), 'pd.to_numeric(frame["x"], errors="coerce")'),
        (text, days, 'pd.to_datetime(frame["x"], errors="coerce")'),
        (pd.DataFrame({"x": [True]}), Category(["a"]), 'frame["x"].astype("string")'),
        (pl.DataFrame(text), Integer(0, 1), 'pl.col("x").cast(pl.Float64, strict=False)'),
        (relation, Real(0, 1), 'TRY_CAST("x" AS DOUBLE)'),
        (tmp_path / "t.parquet", days, 'SELECT * REPLACE (TRY_CAST("x" AS DATE) AS "x")'),
    ):
        found = refused(table, column)
        assert found.code == "D11"
        assert found.hint is not None
        assert hint in found.hint


def test_codes_of_the_other_type_are_told() -> None:
    """A newcomer's most frequent slip: codes 0 and 1 that the table holds as text, or the other way round."""
    text, numbers = {"x": ["0", "1"]}, {"x": [0, 1]}
    said = refused(text, Category({0: "male", 1: "female"}))
    assert said.hint == 'Category({"0": "male", …}), if the column\'s codes are text'
    said = refused(numbers, Category(["0", "1"]))
    assert said.hint == 'Category({0: "0", …}), if the column\'s codes are numbers'
    # made text, each number would be a level that nobody listed
    said = refused(numbers, Category(["male", "female"]))
    words = "with its own code in place of 0, if the column's codes are numbers"
    assert said.hint == f'Category({{0: "male", …}}), {words}'


def test_text_of_yes_and_no_is_no_number() -> None:
    """`pd.to_numeric` would make every cell missing."""
    said = str(refused(pd.DataFrame({"x": ["yes", "no"]}), Boolean()).hint)
    assert said == 'frame["x"].map({"yes": True, "no": False}), or Category(["no", "yes"])'


@pytest.mark.parametrize("given", ["s3://bucket/t.parquet", "https://host/t.csv", "postgresql://host/t"])
def test_an_address_is_no_path(given: str) -> None:
    with pytest.raises(SourceError, match=r"D01.*is an address.*duckdb\.sql"):
        open_source(given)


def test_a_query_is_no_path() -> None:
    with pytest.raises(SourceError, match=r"D01.*is a query, not a path"):
        open_source("select * from 'events.parquet'")


def test_a_file_of_another_delimiter_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age;sex\n1;2\n")
    with pytest.raises(SourceError, match=r"D10.*names one column: tacit import --delimiter ';'"):
        check_source(open_source(tmp_path / "t.csv"), Schema({"age": Real(0, 1)}))

"""Types are public, and cells are not: what a plain list, or a type that lists its values, may tell of them."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

import tacit as tc
from tacit.errors import SourceError
from tacit.source import open_source

COLUMNS: dict[str, tuple[Any, Any]] = {
    "category": (tc.Category(["a", "b"]), "a"),
    "codes": (tc.Category([0, 1]), 1),
    "text": (tc.Text(max_length=4), "a"),
    "date": (tc.Date("2000-01-01", "2001-01-01"), date(2000, 2, 2)),
    "real": (tc.Real(0, 1), 0.5),
    "whole": (tc.Integer(0, 9), 4),
    "truth": (tc.Boolean(), True),
}
ASKED: dict[str, Any] = {
    "category": tc.Count(by="c"),
    "codes": tc.Histogram("c"),
    "text": tc.Count(by="c"),
    "date": tc.Mean("c"),
    "real": tc.Mean("c"),
    "whole": tc.Quantiles("c", [0.5]),
    "truth": tc.Mean("c"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_list_without_a_cell_is_answered_as_its_neighbour_is(name: str) -> None:
    """One more row must not decide whether there is an answer (law 7): tables of no row, of a row, of none present."""
    column, cell = COLUMNS[name]
    budget = tc.Budget(epsilon=1, delta="1e-6", neighbors="add-remove")
    for cells in ([], [cell], [None, None], [None, cell]):
        curator = tc.Curator({"c": cells}, tc.Schema({"c": column}), budget=budget, size_hint=100)
        assert curator.release(ASKED[name], epsilon=1, delta="1e-6").charge == 1
        person = tc.Curator(
            {"who": [None] * len(cells), "c": cells},
            tc.Schema({"who": tc.PrivacyUnit(max_rows=2), "c": column}),
            budget=budget,
            size_hint=100,
        )
        assert person.release(ASKED[name], epsilon=1, delta="1e-6").charge == 1


def test_how_large_integers_are_is_not_told() -> None:
    """Their Arrow type differs (64 bits, unsigned, 128 or 256); the words of an error must not."""
    said: set[str] = set()
    for cell in (1, 2**63, 2**64, 10**60, 10**400):
        assert open_source({"c": [1, cell, None]}).columns()["c"] == "list of whole numbers"
        with pytest.raises(SourceError, match="D11") as refused:
            tc.Curator({"c": [1, cell]}, tc.Schema({"c": tc.Text(max_length=4)}), budget=tc.Budget(epsilon=1))
        said.add(str(refused.value))
    assert len(said) == 1


def test_no_draft_and_no_error_repeats_the_values_that_a_type_lists() -> None:
    """They come from rows, also within a struct; and a word among them is no name of a type."""
    import duckdb
    import polars as pl

    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (s STRUCT(a ENUM('hiv', 'flu')), u UNION(x ENUM('hiv'), y INT), e ENUM('date'))")
    frames: list[Any] = [
        connection.table("t"),
        pl.DataFrame(
            schema={"s": pl.Struct({"a": pl.Enum(["hiv"])}), "u": pl.List(pl.Enum(["hiv"])), "e": pl.Enum(["date"])}
        ),
    ]
    for frame in frames:
        said = tc.draft(frame)
        assert 'e = { type = "Category"' in said
        for name in ("s", "u"):
            with pytest.raises(SourceError, match="D11") as refused:
                tc.Curator(frame, tc.Schema({name: tc.Real(0, 1)}), budget=tc.Budget(epsilon=1))
            said += str(refused.value)
        assert "hiv" not in said

"""Long tables: a screen shows head, tail and what is left out; files and `to_text()` have every row."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit as tc
from tacit.base.table import SHOWN, Table


def long(rows: int) -> Table:
    return Table("Squares", ("n", "square"), tuple((str(n), str(n * n)) for n in range(rows)), ("made up",))


def test_a_table_of_few_rows_is_printed_whole() -> None:
    table = long(SHOWN)
    assert table.shortened() is table
    assert str(table) == table.to_text()
    assert table._repr_html_() == table.to_html()


@pytest.mark.parametrize("rows", [SHOWN + 1, 800])
def test_a_long_table_is_printed_as_head_and_tail(rows: int) -> None:
    table = long(rows)
    lines = str(table).splitlines()
    assert len(lines) == 2 + 30 + 1 + 2  # title and headings, rows, the gap, notes
    assert lines[-1] == "made up"
    assert f"{rows - 30:,} of {rows:,} rows are not shown" in lines[-2]
    assert "summary().to_text()" in lines[-2]
    assert lines[2].split() == ["0", "0"]
    assert lines[-3].split()[0] == str(rows - 1)
    assert f"{rows - 30:,} of {rows:,} rows" in table._repr_html_()
    assert len(table.to_text().splitlines()) == rows + 3


@pytest.mark.parametrize("rows", [1, 2, 3, 10])
def test_as_many_rows_as_asked_for_are_shown(rows: int) -> None:
    short = long(100).shortened(rows)
    shown = [row for row in short.rows if row[0] != "…"]
    assert len(shown) == rows
    assert f"{100 - rows} of 100 rows" in short.notes[0]


def test_files_have_every_row(tmp_path: Path) -> None:
    for suffix in ("txt", "csv", "md", "tex", "html", "json"):
        long(500).save(tmp_path / f"t.{suffix}")
        assert "249001" in (tmp_path / f"t.{suffix}").read_text(), suffix  # 499 squared
        assert "62500" in (tmp_path / f"t.{suffix}").read_text(), suffix  # 250 squared, in the middle


def test_a_release_of_many_cells_is_printed_short() -> None:
    schema = tc.Schema({"age": tc.Real(0, 100), "ok": tc.Boolean()})
    curator = tc.Curator({"age": [1.0, 2.0], "ok": [True, False]}, schema, budget=tc.Budget(rho=1))
    found = curator.release(tc.Histogram(["age", "ok"], bins={"age": 100}), rho=0.1)
    for shown in (found, found.estimate(), found.summary()):
        assert len(str(shown).splitlines()) < 40
        assert "170 of 200 rows are not shown" in str(shown)
    assert len(found.summary().to_text().splitlines()) > 200
    assert "170 of 200 rows" in found._repr_html_()

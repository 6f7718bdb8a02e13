"""What a person sees who waits: only at a terminal, a bar only where the length of the table is public."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit as tc
from tacit.cli import working as shown
from tacit.cli.working import lengths_are_public, working
from tacit.curator.source import open_source
from tacit.curator.source.watch import watching
from tacit.rowmap import IDENTITY, RowMap, Sum

TERMS = (Sum(RowMap("x", "x", "real", 0.0, 100.0, 2**10), IDENTITY),)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("long") / "t.parquet"
    pq.write_table(pa.table({"x": np.arange(2_000_000) % 100.0}), made, row_group_size=100_000)
    return made


def until(path: Path, seen: Callable[[], bool]) -> None:
    """Passes over the table until something is seen; at most a minute."""
    end = time.monotonic() + 60
    while not seen() and time.monotonic() < end:
        open_source(path).aggregate((), TERMS)


def test_a_bar_and_a_clock_then_an_empty_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(shown, "EVERY", 0.001)
    with working("reading", bar=True):
        until(path, lambda: "█" in screen.getvalue())
    text = screen.getvalue()
    assert text.startswith("… reading\n\r")
    assert "█" in text
    assert text.endswith("\r")
    assert text.split("\r")[-2].strip() == ""


def test_a_clock_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No share of the work is asked for, and the engine counts none."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(shown, "EVERY", 0.001)
    with working("reading", bar=False):
        until(path, lambda: screen.getvalue().count("\r") > 5)
    assert " 0 s" in screen.getvalue()
    assert "%" not in screen.getvalue()


def test_nothing_where_nobody_watches(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "EVERY", 0.001)
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with working("reading", bar=True):
        open_source(path).aggregate((), TERMS)
    assert screen.getvalue() == ""


def test_the_same_integers_watched_or_not(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with watching() as watched:
        assert watched.share() is None
        found = open_source(path).aggregate((), TERMS)
        share = watched.share()
    assert share is None or 0 <= share <= 1
    assert found == open_source(path).aggregate((), TERMS)
    assert capfd.readouterr() == ("", ""), "DuckDB's own bar"


def test_where_the_length_is_public() -> None:
    rows = {"x": [1.0, 2.0, 3.0], "who": ["a", "b", "c"]}
    row, person = tc.Schema({"x": tc.Real(0, 5)}), tc.Schema({"x": tc.Real(0, 5), "who": tc.PrivacyUnit(max_rows=3)})
    replace, add = tc.Budget(rho=1), tc.Budget(rho=1, neighbors="add-remove")
    for schema, budget, public in ((row, replace, True), (row, add, False), (person, replace, False)):
        assert lengths_are_public(tc.Curator(rows, schema, budget=budget, ledger=None, name="t")) == public

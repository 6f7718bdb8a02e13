"""What a person sees who waits: only where it is asked for, a bar only where the length of the table is public."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit as tc
from tacit.base.progress import SHOWN, phase
from tacit.cli.output import progress_on_terminal
from tacit.curator import purchase as requests
from tacit.rows.row_map import IDENTITY, RowMap, SumTerm
from tacit.source import open_source
from tacit.source.pass_progress import reading, watching

TERMS = (SumTerm(RowMap("x", "x", "real", 0.0, 100.0, 2**10), IDENTITY),)
SCHEMA = tc.Schema({"x": tc.Real(0, 100)})
PERSONS = tc.Schema({"x": tc.Real(0, 100), "who": tc.PrivacyUnit(max_rows=3)})
ROWS = {"x": [1.0, 2.0, 3.0], "who": ["a", "b", "c"]}


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


def test_a_bar_and_a_clock_then_an_empty_line(path: Path) -> None:
    screen = io.StringIO()
    with tc.progress(screen, every=0.001), reading("reading", bar=True):
        until(path, lambda: "█" in screen.getvalue())
    text = screen.getvalue()
    assert text.startswith("… reading\n\r")
    assert "█" in text
    assert text.endswith("\r")
    assert text.split("\r")[-2].strip() == ""


def test_a_clock_alone(path: Path) -> None:
    """No share of the work is asked for, and the engine counts none."""
    screen = io.StringIO()
    with tc.progress(screen, every=0.001), reading("reading", bar=False):
        until(path, lambda: screen.getvalue().count("\r") > 5)
    assert " 0 s" in screen.getvalue()
    assert "%" not in screen.getvalue()


def test_nothing_where_nobody_asks(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    tc.Curator(ROWS, SCHEMA, budget=tc.Budget(rho=1)).release(tc.Mean("x"), rho=0.1)
    assert capfd.readouterr() == ("", "")
    for screen, asked in ((io.StringIO(), False), (Terminal(), True)):  # the command line asks where a person watches
        monkeypatch.setattr(sys, "stderr", screen)
        with progress_on_terminal():
            assert (SHOWN.get() is not None) == asked


def test_the_same_integers_watched_or_not(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with watching() as seen:
        assert seen.share() is None
        found = open_source(path).aggregate((), TERMS)
        share = seen.share()
    assert share is None or 0 <= share <= 1
    assert found == open_source(path).aggregate((), TERMS)
    assert capfd.readouterr() == ("", ""), "DuckDB's own bar"


REPLACE, ADD = tc.Budget(rho=1), tc.Budget(rho=1, neighbors="add-remove")
COUNTED = "… counting rows, whose number is public\n"


@pytest.mark.parametrize(
    ("schema", "budget", "text"),
    [
        (SCHEMA, REPLACE, f"{COUNTED}… reading the table, question 1 of 2\n… reading the table, question 2 of 2\n"),
        (SCHEMA, ADD, "… reading the table, once a question\n"),
        (PERSONS, ADD, "… reading the table, once a question\n"),
        (PERSONS, REPLACE, f"{COUNTED.replace('rows', 'persons')}… reading the table, once a question\n"),
    ],
)
def test_phases_of_a_release(schema: tc.Schema, budget: tc.Budget, text: str) -> None:
    """Where the length of the table is private, its questions are one phase: their times apart would tell more."""
    screen = io.StringIO()
    with tc.progress(screen, every=600):
        tc.Curator(ROWS, schema, budget=budget).release({"a": tc.Mean("x"), "b": tc.Sum("x")}, rho=0.1)
    assert screen.getvalue() == text


def test_what_rows_hold_changes_nothing_that_is_shown() -> None:
    shown: set[str] = set()
    for rows in (ROWS, {"x": [None, float("nan"), 1e300], "who": ["a", "a", "a"]}):
        screen = io.StringIO()
        with tc.progress(screen, every=600):
            tc.Curator(rows, SCHEMA, budget=REPLACE).release(tc.Mean("x"), rho=0.1)
        shown.add(screen.getvalue())
    assert len(shown) == 1


def test_an_interrupt_leaves_the_charge_and_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    curator = tc.Curator(ROWS, SCHEMA, budget=REPLACE)
    measure = requests.measure

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(requests, "measure", interrupted)
    threads = threading.active_count()
    with tc.progress(io.StringIO(), every=0.001):
        with pytest.raises(KeyboardInterrupt):
            curator.release(tc.Mean("x"), rho=0.25)
        assert threading.active_count() == threads
        assert curator.remaining == "left 0.75 of 1.00"
        monkeypatch.setattr(requests, "measure", measure)
        assert curator.release(tc.Mean("x"), rho=0.25).charge == 1
    assert curator.remaining == "left 0.75 of 1.00"


def test_a_screen_that_is_gone_stops_nothing() -> None:
    screen = io.StringIO()
    screen.close()
    with tc.progress(screen, every=0.001):
        with phase("waiting", lambda: 0.5):
            time.sleep(0.01)
        assert tc.Curator(ROWS, SCHEMA, budget=REPLACE).release(tc.Mean("x"), rho=0.1).charge == 1


def test_simulations_show_how_far_they_are() -> None:
    screen, drawn = io.StringIO(), [0]

    def draw(rng: np.random.Generator) -> dict[str, np.ndarray]:
        end = time.monotonic() + 30
        while drawn[0] == 5 and "50 %" not in screen.getvalue() and time.monotonic() < end:
            time.sleep(0.002)
        drawn[0] += 1
        return {"x": rng.normal(50, 10, 20)}

    with tc.progress(screen, every=0.001):
        tc.testing.coverage(tc.Mean("x"), draw, 50.0, rho=0.1, schema=SCHEMA, repeats=10)
        tc.testing.simulate(tc.Mean("x"), {"x": [1.0, 2.0]}, SCHEMA, rho=0.1, repeats=10)
    text = screen.getvalue()
    for line in ("… drawing 10 tables\n", "… intervals of all of them\n", "… 10 simulated releases\n"):
        assert line in text
    assert "50 %" in text


def test_a_phase_within_another_has_the_clock() -> None:
    """Two clocks on one line would write over each other: the outer one waits, and goes on afterwards."""
    screen = io.StringIO()
    with tc.progress(screen, every=0.001), phase("outer", lambda: 0.25):
        wait_for(screen, "25 %")
        with phase("inner", lambda: 0.5):
            # the outer line is blank before the inner one begins
            assert screen.getvalue().split("… inner")[0].split("\r")[-2].strip() == ""
            wait_for(screen, "50 %")
            inner = screen.getvalue().split("… inner\n")[1]
            assert "25 %" not in inner
        shown = len(screen.getvalue())
        wait_for(screen, "25 %", shown)
    assert screen.getvalue().split("\r")[-2].strip() == ""


def wait_for(screen: io.StringIO, text: str, after: int = 0) -> None:
    end = time.monotonic() + 60
    while text not in screen.getvalue()[after:] and time.monotonic() < end:
        time.sleep(0.001)
    assert text in screen.getvalue()[after:]


def test_a_text_file_shows_how_far_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB does not know how long a stream is: the fraction is that of bytes, where it is watched."""
    from tacit.source.reading import text_files

    monkeypatch.setattr(text_files, "BLOCK", 64)
    path = tmp_path / "t.csv"
    path.write_text("x,who\n" + "1.5,a\n" * 1_000)
    with watching() as seen:
        stream = text_files.cells(path, ",", 2, [0])
        shares = [seen.share() for _ in stream]
        assert seen.share() == 1.0
    assert shares == sorted(shares)
    assert len(set(shares)) > 20
    with watching() as seen:
        assert open_source(path).aggregate((), TERMS).rows == 1_000
        assert seen.share() == 1.0
    assert text_files.cells(path, ",", 2, [0]).read_all().num_rows == 1_000, "unwatched"


def test_an_import_shows_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.source.raw_text import text_import

    monkeypatch.setattr(text_import, "BATCH", 100)
    (tmp_path / "t.csv").write_text("x\n" + "1.5\n" * 40_000)
    screen = io.StringIO()
    with tc.progress(screen, every=0.001):
        text_import.import_table(tmp_path / "t.csv", SCHEMA, tmp_path / "t.parquet")
    text = screen.getvalue()
    assert text.startswith(f"… reading {tmp_path / 't.csv'}\n")
    assert "%" in text


def test_compiling_is_a_phase() -> None:
    from tacit.models.block_sums import compiled
    from tacit.models.blocks import block_mle

    compiled.cache_clear()
    screen = io.StringIO()
    with tc.progress(screen, every=600):
        block_mle(tc.families.Exponential(rate=(0.1, 10)), np.ones((8, 5)), [5] * 8)
    assert "… compiling the model's program\n" in screen.getvalue()

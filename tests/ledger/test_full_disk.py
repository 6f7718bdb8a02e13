"""A disk that is full before a charge, or between the charge and the store of its answer."""

from __future__ import annotations

import functools
import gc
import os
import sqlite3
import subprocess
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.curator import purchase as door
from tacit.curator import reusable_holdout as holdout_door
from tacit.errors import CHARGE_STANDS, NOTHING_SPENT, LedgerError
from tacit.ledger.charge_state import UNSURE
from tacit.ledger.sqlite_errors import locked_error
from tacit.release.parts import Part

SCHEMA = tc.Schema({"age": tc.Real(0, 100), "place": tc.Category(list(range(300)))})
ROWS = {"age": np.linspace(0, 100, 600), "place": np.arange(600) % 300}
QUERY = tc.Mean("age", by="place")  # its answer needs more than what is left of a page


def opened(ledger: Path) -> tc.Curator:
    return tc.Curator(ROWS, SCHEMA, budget=tc.Budget(rho=1), ledger=ledger, name="people")


def after_the_data(monkeypatch: pytest.MonkeyPatch, step: Callable[[], None]) -> None:
    """Something that happens once noise is drawn, before the answer is stored."""
    measure = door.measure

    def measured(*given: Any) -> Any:
        found = measure(*given)
        step()
        return found

    monkeypatch.setattr(door, "measure", measured)


def refused(curator: tc.Curator, rho: str = "0.25") -> str:
    with pytest.raises(LedgerError) as found:
        curator.release(QUERY, rho=rho)
    assert found.value.code == "L08"
    # the charge was recorded, whatever became of its answer
    assert "Nothing was read or spent" not in str(found.value)
    assert found.value.state == CHARGE_STANDS
    assert found.value.__cause__ is None
    assert found.value.__context__ is None
    frames = [frame for frame, _ in traceback.walk_tb(found.value.__traceback__)]
    held = [value for frame in frames if "tacit" in frame.f_code.co_filename for value in near(dict(frame.f_locals))]
    assert any(isinstance(value, tc.Curator) for value in held)  # it does look
    assert not [value for value in held if isinstance(value, tc.Release | Part)], "the answer lost hangs on the error"
    assert not [value for value in held if isinstance(value, str) and '"integers"' in value]
    return str(found.value)


def near(thing: object, steps: int = 4) -> Iterator[object]:
    """What local names hold, by whatever name, and what that holds, a few steps far."""
    for one in gc.get_referents(thing):
        yield one
        if steps and isinstance(one, dict | list | tuple | set | functools.partial):
            yield from near(one, steps - 1)


def resumed(ledger: Path) -> None:
    """The charge stands; the same question has its answer by it, and is the same ever after."""
    curator = opened(ledger)
    assert str(curator.spent.rho) == "1/4"
    first = curator.release(QUERY, rho="0.25")
    assert curator.release(QUERY, rho="0.25").to_dict() == first.to_dict()
    assert str(opened(ledger).spent.rho) == "1/4"
    assert first.to_dict()["charge"] == 1


def no_more_pages(curator: tc.Curator) -> None:
    """SQLite's own limit, on the connection of the ledger: as a disk without another block."""
    connection = curator._ledger.store_._connect()  # type: ignore[attr-defined]
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")


def test_full_between_charge_and_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = tmp_path / "people.ledger"
    curator = opened(ledger)
    after_the_data(monkeypatch, lambda: no_more_pages(curator))
    words = refused(curator)
    assert words == refused(curator), "the words tell nothing of the answer"
    monkeypatch.undo()
    curator._ledger.close()
    resumed(ledger)


def test_full_before_the_charge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read, nothing is spent."""
    ledger = tmp_path / "people.ledger"
    curator = opened(ledger)
    read: list[int] = []
    after_the_data(monkeypatch, lambda: read.append(1))
    no_more_pages(curator)
    with pytest.raises(LedgerError) as found:
        curator.release(QUERY, rho="0.25", note="a long one, " * 1_000)
    assert (found.value.code, found.value.state) == ("L08", NOTHING_SPENT)
    assert read == []
    curator._ledger.close()
    after = opened(ledger)._ledger
    after.verify()
    assert after.charges() == []
    assert after.spent().rho == 0


def test_errors_after_a_charge_say_that_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between commit and confirmation, in the commit itself, and when a hold-out's answer is stored."""
    curator = opened(tmp_path / "people.ledger")
    store: Any = curator._ledger.store_
    with monkeypatch.context() as here:
        held = locked_error("people.ledger", 30)
        here.setattr(type(store), "confirm", lambda self, entry: (_ for _ in ()).throw(held))
        with pytest.raises(LedgerError, match="held by another process") as found:
            curator.release(QUERY, rho="0.25")
        assert found.value.state == CHARGE_STANDS
    assert str(curator.spent.rho) == "1/4"
    with monkeypatch.context() as here:
        lost = sqlite3.OperationalError("disk I/O error")
        lost.sqlite_errorcode = sqlite3.SQLITE_IOERR  # type: ignore[misc]
        connection = Failing(store._connect(), lost)
        here.setattr(store, "_connection", connection)
        with pytest.raises(LedgerError, match="cannot be used: disk i/o error") as found:
            curator.release(tc.Mean("age"), rho="0.25")
        assert (found.value.code, found.value.state) == ("L06", UNSURE)
        assert "is the disk full" in str(found.value.hint)
    assert str(curator.spent.rho) == "1/4"
    with curator.holdout(threshold=0.1, rho="0.25", answers=1) as holdout:
        made, full = holdout_door.document, LedgerError("no room to write ledger.", code="L08")

        def document(*given: Any) -> Any:
            monkeypatch.setattr(type(store), "write", lambda self: (_ for _ in ()).throw(full))
            return made(*given)

        monkeypatch.setattr(holdout_door, "document", document)
        monkeypatch.setattr(holdout_door.Run, "differs", lambda *given: True)
        with pytest.raises(LedgerError) as found:
            holdout.check(train=99.0, score="age")
    assert (found.value.code, found.value.state) == ("L08", CHARGE_STANDS)


class Failing:
    """A connection whose COMMIT fails: nobody can tell from the error whether it was written."""

    def __init__(self, connection: sqlite3.Connection, lost: sqlite3.Error) -> None:
        self._connection, self._lost, self._wrote = connection, lost, False

    def execute(self, sql: str, *marks: Any) -> Any:
        self._wrote |= sql.startswith("INSERT")
        if sql == "COMMIT" and self._wrote:
            raise self._lost
        return self._connection.execute(sql, *marks)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    try:
        done = subprocess.run(command, capture_output=True, check=False).returncode
    except OSError:
        done = 1
    if done:
        pytest.skip("no file system may be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path) -> None:
    with (place / "other").open("ab", buffering=0) as out:
        try:
            while True:
                out.write(bytes(4096))
        except OSError:
            pass
    with (place / "rest").open("ab", buffering=0) as out:
        try:
            while True:
                out.write(b"\0")
        except OSError:
            pass


def test_a_disk_that_fills_between_charge_and_store(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real one, and a process that ends there: the next finds the charge, and answers once there is room."""
    ledger = small_disk / "people.ledger"
    curator = opened(ledger)
    after_the_data(monkeypatch, lambda: fill(small_disk))
    words = refused(curator)
    assert words == refused(curator)
    monkeypatch.undo()
    assert str(opened(ledger).spent.rho) == "1/4", "read on a full disk"
    for name in ("other", "rest"):
        os.remove(small_disk / name)
    curator._ledger.close()
    resumed(ledger)

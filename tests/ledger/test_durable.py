"""What must be on the disk before anybody goes on: spied on, for a test cannot cut the power."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tacit.base.json_text import write_text
from tacit.errors import LedgerError
from tacit.ledger import Request, open_ledger
from tacit.ledger.ledger_files import copied, flush_folder, make_file
from tacit.ledger.sqlite import SqliteStore
from tacit.privacy import Budget, Cost

Flushed = list[tuple[str, bool]]
"""What was flushed, in order: "folder", or "file" with whether a name led to it for good."""


@pytest.fixture
def flushed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Flushed:
    """Each `os.fsync`: of the folder, or of a file, and whether the final name was there at that moment."""
    found: Flushed = []
    right = os.fsync

    def spy(handle: int) -> None:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            assert os.path.samestat(status, tmp_path.stat())
        found.append(("folder" if stat.S_ISDIR(status.st_mode) else "file", (tmp_path / "people.ledger").exists()))
        right(handle)

    monkeypatch.setattr(os, "fsync", spy)
    return found


def test_the_name_of_a_new_ledger_is_on_the_disk(tmp_path: Path, flushed: Flushed) -> None:
    """A charge in a file whose name is lost with the power is no charge."""
    make_file(tmp_path / "people.ledger")
    assert flushed == [("folder", True)]
    flushed.clear()
    make_file(tmp_path / "people.ledger")  # another process was first
    assert flushed == []


def test_opening_a_new_ledger_flushes_its_folder(tmp_path: Path, flushed: Flushed) -> None:
    open_ledger(tmp_path / "people.ledger", budget=Budget(rho=1), unit=None).close()
    assert flushed == [("folder", True)]


def test_a_folder_is_flushed_by_itself(tmp_path: Path, flushed: Flushed) -> None:
    flush_folder(tmp_path / "people.ledger")
    assert flushed == [("folder", False)]


@pytest.mark.parametrize("links", [True, False])
def test_bytes_of_a_copy_are_on_the_disk_before_its_name_and_then_the_name(
    tmp_path: Path, flushed: Flushed, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a file system with links, and on one without."""

    def none(*_: object) -> None:
        raise OSError("no links here")

    if not links:
        monkeypatch.setattr(os, "link", none)
    with copied(tmp_path / "people.ledger") as place:
        place.write_bytes(b"all of it")
        assert flushed == []
    assert flushed == [("file", False), ("folder", True)]
    assert (tmp_path / "people.ledger").read_bytes() == b"all of it"
    assert [one.name for one in tmp_path.iterdir()] == ["people.ledger"]


def test_a_copy_that_fails_has_no_name(tmp_path: Path, flushed: Flushed) -> None:
    with pytest.raises(LedgerError), copied(tmp_path / "people.ledger"):
        raise OSError("the disk is gone")
    assert flushed == []
    assert list(tmp_path.iterdir()) == []


def test_a_document_is_on_the_disk_before_it_has_its_name(tmp_path: Path, flushed: Flushed) -> None:
    write_text(tmp_path / "people.ledger", "{}\n")
    assert flushed[0] == ("file", False)


def test_a_connection_flushes_all_that_it_writes(tmp_path: Path) -> None:
    """Each setting as SQLite reports it: of every connection, one made anew after the first too."""
    ledger = open_ledger(tmp_path / "people.ledger", budget=Budget(rho=1), unit=None)
    store = ledger.store_
    assert isinstance(store, SqliteStore)
    wanted = {
        "synchronous": 3,  # EXTRA: the journal's name is gone from the disk, too
        "fullfsync": 1,  # past the cache of the drive, where the system can
        "checkpoint_fullfsync": 1,
        "cache_spill": 0,  # the main file changes in a commit alone
        "cell_size_check": 1,
        "trusted_schema": 0,
        "journal_mode": "delete",
    }
    for _ in range(2):
        found = {name: store._connect().execute(f"PRAGMA {name}").fetchone()[0] for name in wanted}
        assert found == wanted
        store.close()


def test_no_row_is_read_before_the_file_was_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A charge is confirmed by a connection of its own, also when it is asked for again without an answer."""
    ledger = open_ledger(tmp_path / "people.ledger", budget=Budget(rho=1), unit=None)
    seen: list[int] = []
    right = SqliteStore._alone

    def spy(self: SqliteStore, path: Path, seq: int) -> object:
        seen.append(seq)
        return right(self, path, seq)

    monkeypatch.setattr(SqliteStore, "_alone", spy)
    request = Request("people", (), "{}", Cost.of(rho="0.1"))
    ledger.charge(request)
    ledger.charge(request)
    ledger.store(1, "answer")
    ledger.charge(request)  # answered: nothing is read for it
    assert seen == [2, 2]

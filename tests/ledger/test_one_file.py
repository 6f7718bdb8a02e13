"""A ledger is its main file alone: nothing beside it is needed, and what lacks a part of it is refused."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from as_before import with_log

import tacit as tc
from tacit.curator import purchase as door
from tacit.errors import BudgetError, LedgerError
from tacit.ledger import Request, open_ledger
from tacit.ledger import sqlite as sqlite_module
from tacit.ledger.chain import linked
from tacit.privacy import Budget, Cost

BUDGET = Budget(rho=1)


def ask(i: int | str) -> Request:
    return Request("people", (f"n{i}",), f'{{"question":"{i}"}}', Cost.of(rho="0.01"), "note")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "people.ledger"


def alone(place: Path) -> Path:
    """A copy of the main file, read-only, without whatever lies beside it."""
    folder = place.parent / "alone"
    folder.mkdir(exist_ok=True)
    copy = folder / place.name
    copy.unlink(missing_ok=True)
    shutil.copy(place, copy).chmod(0o400)
    return copy


def refused(place: Path, budget: Budget | None = BUDGET) -> LedgerError:
    with pytest.raises(LedgerError) as found:
        open_ledger(place, budget=budget, unit=None)
    assert found.value.code == "L10"
    return found.value


def test_a_file_with_two_names_is_charged_under_none(place: Path) -> None:
    """A commit that was interrupted under one name would count under the other, and be undone under the first."""
    ledger = open_ledger(place, budget=BUDGET, unit=None)
    ledger.charge(ask(1))
    other = place.with_name("other.ledger")
    other.hardlink_to(place)
    for one in (ledger, open_ledger(other, budget=BUDGET, unit=None)):
        with pytest.raises(LedgerError, match=r"L92.*2 names.*Nothing was read or spent"):
            one.charge(ask(2))
        assert one.spent().rho * 100 == 1
    other.unlink()
    other.symlink_to(place)
    assert open_ledger(other, budget=BUDGET, unit=None).charge(ask(2)).number == 2


def test_while_data_are_read_the_file_alone_has_the_charge(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure, seen = door.measure, []

    def looked(*given: object) -> object:
        with closing(sqlite3.connect(f"file:{alone(place)}?mode=ro&immutable=1", uri=True)) as raw:
            seen.append(raw.execute("SELECT count(*) FROM tacit_entries WHERE kind = 'charge'").fetchone()[0])
        return measure(*given)

    monkeypatch.setattr(door, "measure", looked)
    schema = tc.Schema({"age": tc.Real(0, 100)})
    curator = tc.Curator({"age": np.linspace(0, 100, 50)}, schema, budget=BUDGET, ledger=place, name="people")
    for i in range(3):
        curator.release(tc.Mean("age"), rho=f"0.0{i + 1}")
    assert seen == [1, 2, 3]
    assert [one.name for one in place.parent.iterdir() if one.is_file()] == [place.name]


def test_no_data_without_the_charge_in_the_file_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A charge that lies beside the file, whoever put it there, is not acted on; it stands."""
    ledger = open_ledger(place, budget=BUDGET, unit=None)
    ledger.charge(ask(1))
    old = alone(place)
    monkeypatch.setattr(sqlite_module, "address", _looking_at(old, place))
    with pytest.raises(LedgerError) as found:
        ledger.charge(ask(2))
    assert found.value.code == "L06"
    assert found.value.state == "A charge that was recorded stands."
    monkeypatch.undo()
    assert ledger.charge(ask(2)).number == 2
    assert str(ledger.spent().rho) == "1/50"


def _looking_at(other: Path, place: Path):
    address = sqlite_module.address
    return lambda path, options: address(other if "immutable" in options and path == place else path, options)


@pytest.mark.parametrize("live", [True, False])
def test_a_ledger_of_before_loses_nothing(place: Path, live: bool) -> None:
    """Made with a write-ahead log that holds most of it: killed there, or let go of."""
    with_log(place, charges=5, live=live)
    if live:
        assert Path(f"{place}-wal").stat().st_size > 0
        assert open_ledger_alone_fails(place)
    ledger = open_ledger(place, budget=None, unit=None)
    assert [one.release for one in ledger.charges()] == [f"answer {i}" for i in range(5)]
    assert str(ledger.spent().rho) == "1/20"
    ledger.verify()
    ledger.charge(ask("more"))
    assert not Path(f"{place}-wal").exists()
    assert len(open_ledger(alone(place), budget=None, unit=None).charges()) == 6


def open_ledger_alone_fails(place: Path) -> bool:
    """The main file of such a ledger says nothing of its charges: it is not taken for a new one."""
    words = refused(alone(place))
    return "holds no header" in words.message and "-wal" in (words.hint or "")


def test_an_earlier_version_that_holds_the_ledger_is_waited_for(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    holder = with_log(place, charges=2, live=True, keep=True)
    assert holder is not None
    monkeypatch.setattr(sqlite_module, "BUSY_SECONDS", 0.3)
    with pytest.raises(LedgerError) as found:
        open_ledger(place, budget=None, unit=None)
    assert found.value.code == "L07"
    assert "earlier version" in found.value.message
    holder.close()
    assert len(open_ledger(place, budget=None, unit=None).charges()) == 2


def test_an_earlier_version_that_turns_the_log_on_again(place: Path) -> None:
    """Between two charges of an open ledger: the next one is in the file alone all the same."""
    ledger = open_ledger(place, budget=BUDGET, unit=None)
    ledger.charge(ask(1))
    with closing(sqlite3.connect(place)) as earlier:
        assert earlier.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal"
    ledger.charge(ask(2))
    assert len(open_ledger(alone(place), budget=None, unit=None).charges()) == 2
    with closing(sqlite3.connect(place)) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone()[0] == "delete"


@pytest.mark.parametrize("setting", ["journal_mode = WAL", "user_version = 3"])
def test_a_file_without_a_header_is_no_new_ledger(place: Path, setting: str) -> None:
    with closing(sqlite3.connect(place)) as raw:
        raw.execute(f"PRAGMA {setting}")
    assert place.stat().st_size == 4096
    before = place.read_bytes()
    assert "is no new one" in refused(place).message
    assert place.read_bytes() == before


def test_a_table_without_a_header_is_no_new_ledger(place: Path) -> None:
    sqlite_module.SqliteStore(place).create()
    assert "holds no header" in refused(place).message


def test_an_empty_file_is_a_new_ledger_unless_a_log_lies_beside_it(place: Path) -> None:
    place.touch()
    Path(f"{place}-wal").write_bytes(b"x" * 100)
    assert "lies beside it" in refused(place).message
    place.unlink()
    assert "lies beside it" in refused(place).message
    Path(f"{place}-wal").unlink()
    open_ledger(place, budget=BUDGET, unit=None).verify()


def test_a_journal_of_a_file_that_had_pages_is_no_new_ledger(place: Path) -> None:
    place.touch()
    beside = Path(f"{place}-journal")
    beside.write_bytes(bytes.fromhex("d9d505f920a163d7") + bytes(4) + bytes(4) + (7).to_bytes(4, "big") + bytes(492))
    assert "lies beside it" in refused(place).message
    beside.write_bytes(bytes.fromhex("d9d505f920a163d7") + bytes(504))  # of a file that was being made
    open_ledger(place, budget=BUDGET, unit=None).verify()


def test_rows_at_the_end_that_are_gone_are_missed(place: Path) -> None:
    ledger = open_ledger(place, budget=BUDGET, unit=None)
    for i in range(3):
        ledger.charge(ask(i))
    ledger.close()
    with closing(sqlite3.connect(place)) as raw:
        trigger = raw.execute("SELECT sql FROM sqlite_master WHERE name = 'no_delete'").fetchone()[0]
        raw.execute("DROP TRIGGER no_delete")
        raw.execute("DELETE FROM tacit_entries WHERE seq > 4")
        raw.execute(trigger)
        raw.commit()
    assert "7 entries were written, and 4 are there" in refused(place).message


def test_an_open_ledger_sees_what_is_changed_under_it(place: Path) -> None:
    ledger = open_ledger(place, budget=BUDGET, unit=None)
    for i in range(3):
        ledger.store(ledger.charge(ask(i)).number, f"answer {i}")
    with closing(sqlite3.connect(place)) as raw:
        raw.execute("DROP TRIGGER no_update")
        raw.execute("UPDATE tacit_entries SET body = 'another' WHERE kind = 'release' AND key = '2'")
        raw.commit()
    assert ledger.charge(ask(0)).release == "answer 0"
    with pytest.raises(LedgerError) as found:
        ledger.charge(ask(1))
    assert found.value.code == "L10"


def test_a_backup_is_a_ledger_of_its_own(place: Path, tmp_path: Path) -> None:
    ledger = open_ledger(place, budget=BUDGET, unit=5)
    for i in range(3):
        ledger.store(ledger.charge(ask(i)).number, f"answer {i}")
    target = tmp_path / "copy.ledger"
    ledger.backup(target)
    assert target.stat().st_mode & 0o777 == 0o600
    copy = open_ledger(target, budget=BUDGET, unit=5)
    assert copy.charges() == ledger.charges()
    assert copy.identity == ledger.identity
    copy.verify()
    with pytest.raises(LedgerError) as found:
        ledger.backup(target)
    assert found.value.code == "L16"
    with pytest.raises(LedgerError) as found:
        ledger.backup(tmp_path / "no" / "copy.ledger")
    assert found.value.code == "L16"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["copy.ledger", "people.ledger"]


def test_a_backup_that_does_not_verify_gets_no_name(place: Path, tmp_path: Path) -> None:
    ledger = open_ledger(place, budget=BUDGET, unit=None)
    ledger.charge(ask(1))
    with ledger.store_.write() as tx:
        words = ledger._body(tx, ask(2), 2, ledger.first.spend(Cost.of(rho="0.5")))  # a sum that is wrong
        tx.append(linked(tx.last(), "charge", ask(2).digest, words))
    with pytest.raises(LedgerError) as found:
        ledger.backup(tmp_path / "copy.ledger")
    assert found.value.code == "L10"
    assert [one.name for one in tmp_path.iterdir()] == ["people.ledger"]


def test_tacit_budget_backs_up(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import typer

    from tacit.cli import app as words_of

    open_ledger(place, budget=BUDGET, unit=None).charge(ask(1))
    command = typer.main.get_command(words_of.app)
    command(["budget", str(place), "--backup", str(tmp_path / "copy.ledger"), "--json"], standalone_mode=False)
    said = json.loads(capsys.readouterr().out)
    assert said["backup"] == str(tmp_path / "copy.ledger")
    assert len(open_ledger(tmp_path / "copy.ledger", budget=None, unit=None).charges()) == 1
    words = ["--backup", str(tmp_path / "copy.ledger"), "--raise-to-rho", "2", "--note", "board 9"]
    with pytest.raises(LedgerError) as found:  # before the raise is recorded
        command(["budget", str(place), *words], standalone_mode=False)
    assert found.value.code == "L16"
    assert open_ledger(place, budget=None, unit=None).acts() == []


def test_half_a_character_is_refused_before_it_is_charged(place: Path) -> None:
    ledger = open_ledger(place, budget=BUDGET, unit=None)
    for made in (lambda: Request("peo\ud800ple", (), "{}", Cost.of(rho="0.01")), lambda: ask("\udcff")):
        with pytest.raises(LedgerError) as found:
            made()
        assert found.value.code == "L17"
    for act in (
        lambda: ledger.raise_budget(Budget(rho=2), note="board \udcff"),
        lambda: ledger.limit("alice", Budget(rho=1), note="board \udcff"),
        lambda: ledger.table("peo\ud800ple", 3),
    ):
        with pytest.raises(LedgerError) as found:
            act()
        assert found.value.code == "L17"
    ledger.verify()


def test_a_mount_that_is_no_text_and_a_path_that_is_none(tmp_path: Path) -> None:
    from tacit.ledger.ledger_files import refuse_network

    refuse_network(tmp_path / "x.ledger", "odd\n\n/dev/sda /mnt/\udcff ext4 rw 0 0\n")
    for odd in ("a\0b", "x" * 5000):
        with pytest.raises((LedgerError, BudgetError)):
            open_ledger(odd, budget=BUDGET, unit=None)

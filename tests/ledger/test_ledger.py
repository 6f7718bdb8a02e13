"""Law 3: charge first, one release a charge, identity for good, append-only, and nothing lost in a kill."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import time
from fractions import Fraction
from pathlib import Path

import pytest
from alone import alone

from tacit.errors import BudgetError, LedgerError
from tacit.ledger import Ledger, Request, open_ledger
from tacit.ledger import sqlite as sqlite_module
from tacit.ledger.chain import broken_link
from tacit.ledger.ledger_files import refuse_network
from tacit.ledger.sqlite import SqliteStore
from tacit.privacy import Budget, Cost


def ask(i: int | str, rho: str = "0.01", names: tuple[str, ...] = ()) -> Request:
    return Request("people", names, f'{{"question":"{i}"}}', Cost.of(rho=rho), "note")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "people.ledger"


@pytest.fixture(params=["file", "memory"])
def ledger(request: pytest.FixtureRequest, place: Path) -> Ledger:
    return open_ledger(place if request.param == "file" else None, budget=Budget(rho="0.1"), unit=None)


def test_charge_then_release_then_the_same_answer(ledger: Ledger) -> None:
    charge = ledger.charge(ask(1, names=("age",)))
    assert (charge.number, charge.release) == (1, None)
    assert ledger.store(1, "first") == "first"
    assert ledger.store(1, "second") == "first"  # the first stored wins
    again = ledger.charge(ask(1, names=("age",)))
    assert (again.number, again.release, again.head) == (1, "first", charge.head)
    assert ledger.spent().rho == Fraction(1, 100)
    found = ledger.named("people", "age")
    assert found is not None
    assert found.release == "first"
    assert ledger.find("nothing") is None


def test_the_budget_is_spent_to_the_last_bit_and_not_further(ledger: Ledger) -> None:
    for i in range(10):
        ledger.charge(ask(i))
    with pytest.raises(BudgetError) as refused:
        ledger.charge(ask("more", rho="0.0000001"))
    assert refused.value.code == "B02"
    assert ledger.spent().rho == Fraction(1, 10)
    assert len(ledger.charges()) == 10
    ledger.verify()


def test_names_are_of_one_question(ledger: Ledger) -> None:
    ledger.charge(ask(1, names=("age",)))
    with pytest.raises(LedgerError) as refused:
        ledger.charge(ask(2, names=("age",)))
    assert refused.value.code == "L09"
    assert ledger.spent().rho == Fraction(1, 100)


def test_a_release_needs_its_charge(ledger: Ledger) -> None:
    with pytest.raises(LedgerError):
        ledger.store(1, "unpaid")


def test_an_edition_keeps_its_size(ledger: Ledger) -> None:
    ledger.table("people", 10_000)
    ledger.table("people", 10_000)
    ledger.table("others", None)
    with pytest.raises(LedgerError) as refused:
        ledger.table("people", 812)
    assert refused.value.code == "L05"
    assert "10,000" in str(refused.value)


@pytest.mark.parametrize(
    ("budget", "unit", "code"),
    [
        (Budget(rho=1), None, "L01"),
        (Budget(rho="0.1", neighbors="add-remove"), None, "L01"),
        (Budget(epsilon=1), None, "L01"),
        (None, 20, "L02"),
    ],
)
def test_identity_is_fixed_at_creation(place: Path, budget: Budget | None, unit: int | None, code: str) -> None:
    open_ledger(place, budget=Budget(rho="0.1"), unit=None).close()
    with pytest.raises(LedgerError) as refused:
        open_ledger(place, budget=budget, unit=unit)
    assert refused.value.code == code
    assert open_ledger(place, budget=None, unit=None).budget == Budget(rho="0.1")


@pytest.mark.parametrize("other", [None, 4, 6])
def test_a_ledger_of_persons_is_no_ledger_of_rows(place: Path, other: int | None) -> None:
    """Nor one of persons with fewer rows, or more."""
    open_ledger(place, budget=Budget(rho="0.1"), unit=5).close()
    with pytest.raises(LedgerError) as refused:
        open_ledger(place, budget=None, unit=other)
    assert refused.value.code == "L02"
    assert open_ledger(place, budget=None, unit=5).unit == 5


def test_a_new_ledger_takes_a_budget_and_leaves_no_file(place: Path) -> None:
    with pytest.raises(BudgetError):
        open_ledger(place, budget=None, unit=None)
    assert not place.exists()


def test_what_is_no_ledger_is_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.ledger"
    text.write_text("these are my notes, not a database, and they are long enough to have a page of their own\n" * 99)
    before = text.read_bytes()
    with pytest.raises(LedgerError) as refused:
        open_ledger(text, budget=Budget(rho=1), unit=None)
    assert refused.value.code == "L03"
    assert text.read_bytes() == before
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as made:
        made.execute("CREATE TABLE t (x)")
    with pytest.raises(LedgerError) as refused:
        open_ledger(other, budget=Budget(rho=1), unit=None)
    assert refused.value.code == "L03"


def test_only_the_owner_reads_it(place: Path) -> None:
    open_ledger(place, budget=Budget(rho=1), unit=None)
    assert place.stat().st_mode & 0o777 == 0o600


def test_a_half_made_ledger_is_finished(place: Path) -> None:
    place.touch()
    open_ledger(place, budget=Budget(rho=1), unit=None).close()
    assert open_ledger(place, budget=Budget(rho=1), unit=None).spent().rho == 0


def test_rows_cannot_be_changed_or_removed(place: Path) -> None:
    ledger = open_ledger(place, budget=Budget(rho=1), unit=None)
    ledger.charge(ask(1))
    with sqlite3.connect(place) as raw:
        for statement in ("DELETE FROM tacit_entries", "UPDATE tacit_entries SET body = '{}'"):
            with pytest.raises(sqlite3.Error):
                raw.execute(statement)
    ledger.verify()


def test_any_edit_is_found(place: Path) -> None:
    ledger = open_ledger(place, budget=Budget(rho=1), unit=None)
    for i in range(3):
        ledger.store(ledger.charge(ask(i, names=(f"n{i}",))).number, f"release {i}")
    with ledger.store_.read() as tx:
        entries = tx.all()
    assert broken_link(entries) is None
    from dataclasses import replace

    for i, entry in enumerate(entries):
        for change in ({"body": entry.body + " "}, {"key": entry.key + "x"}, {"kind": "table"}, {"prev": "1" * 64}):
            assert broken_link([*entries[:i], replace(entry, **change), *entries[i + 1 :]]) is not None
        if i + 1 < len(entries):
            assert broken_link([*entries[:i], *entries[i + 1 :]]) is not None
    ledger.close()
    with sqlite3.connect(place) as raw:
        trigger = raw.execute("SELECT sql FROM sqlite_master WHERE name = 'no_update'").fetchone()[0]
        raw.execute("DROP TRIGGER no_update")
        raw.execute("""UPDATE tacit_entries SET body = replace(body, '1/100', '1/200') WHERE kind = 'charge'""")
        raw.execute(trigger)  # its absence alone would be damage
    with pytest.raises(LedgerError) as found:
        open_ledger(place, budget=None, unit=None).verify()
    assert found.value.code == "L10"


def test_an_older_copy_put_back_is_found_by_releases(place: Path, tmp_path: Path) -> None:
    ledger = open_ledger(place, budget=Budget(rho=1), unit=None)
    first = ledger.charge(ask(1))
    ledger.close()
    shutil.copy(place, tmp_path / "old.ledger")
    second = open_ledger(place, budget=None, unit=None).charge(ask(2))
    old = open_ledger(tmp_path / "old.ledger", budget=None, unit=None)
    old.verify()  # the chain itself cannot know
    old.check([(first.number, first.head)])
    with pytest.raises(LedgerError) as found:
        old.check([(second.number, second.head)])
    assert found.value.code == "L14"
    old.charge(ask("another"))
    with pytest.raises(LedgerError):
        old.check([(second.number, second.head)])


def test_a_ledger_held_by_another_process(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(place, budget=Budget(rho=1), unit=None)
    ledger.close()
    holder = sqlite3.connect(place, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(sqlite_module, "BUSY_SECONDS", 0.2)
    with pytest.raises(LedgerError) as refused:
        ledger.charge(ask(1))
    assert refused.value.code == "L07"
    holder.execute("ROLLBACK")
    assert ledger.charge(ask(1)).number == 1


def test_a_full_disk_charges_nothing(place: Path) -> None:
    ledger = open_ledger(place, budget=Budget(rho=1), unit=None)
    ledger.charge(ask(1))
    store = ledger.store_
    assert isinstance(store, SqliteStore)
    pages = store._connect().execute("PRAGMA page_count").fetchone()[0]
    store._connect().execute(f"PRAGMA max_page_count = {pages}")

    def fill() -> None:
        for i in range(100):
            ledger.charge(Request("people", (), f'{{"q":"{i}{"x" * 3000}"}}', Cost.of(rho="0.0001"), ""))

    with pytest.raises(LedgerError) as refused:
        fill()
    assert refused.value.code == "L08"
    ledger.close()
    again = open_ledger(place, budget=None, unit=None)
    again.verify()
    assert again.spent().rho == sum((one.cost.zcdp for one in again.charges()), Fraction(0))


def test_network_file_systems_are_refused() -> None:
    mounts = "/dev/sda / ext4 rw 0 0\nserver:/home /mnt/home nfs4 rw 0 0\n"
    refuse_network(Path("/var/x.ledger"), mounts)
    with pytest.raises(LedgerError) as refused:
        refuse_network(Path("/mnt/home/x.ledger"), mounts)
    assert refused.value.code == "L04"


@alone
def test_a_child_does_not_spend_from_memory_and_reopens_a_file(place: Path) -> None:
    memory = open_ledger(None, budget=Budget(rho="0.1"), unit=None)
    kept = open_ledger(place, budget=Budget(rho="0.1"), unit=None)
    kept.charge(ask("parent"))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            kept.charge(ask("child"))
            memory.charge(ask("child"))
        except LedgerError as refused:
            code = 0 if refused.code == "L11" else 2
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    kept.charge(ask("parent again"))
    assert [charge.number for charge in kept.charges()] == [1, 2, 3]
    assert memory.spent().rho == 0


def spend_until_refused(place: Path, seed: int, count: int) -> None:
    """A process that charges and stores, as many times as it may."""
    ledger = open_ledger(place, budget=None, unit=None)
    for i in range(count):
        try:
            charge = ledger.charge(ask(f"{seed}-{i}"))
        except BudgetError:
            return
        ledger.store(charge.number, f"{seed}-{i}")


@alone
def test_many_processes_never_overspend(place: Path) -> None:
    open_ledger(place, budget=Budget(rho=1), unit=None).close()  # 100 charges fit; 8 x 25 = 200 are asked
    children: list[int] = []
    for seed in range(8):
        child = os.fork()
        if child == 0:
            try:
                spend_until_refused(place, seed, 25)
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    ledger = open_ledger(place, budget=None, unit=None)
    ledger.verify()
    charges = ledger.charges()
    assert ledger.spent().rho == 1
    assert [one.number for one in charges] == list(range(1, 101))
    assert all(one.release is not None for one in charges)
    assert len({one.digest for one in charges}) == 100


@alone
def test_killed_at_any_moment_nothing_is_lost(place: Path, tmp_path: Path) -> None:
    """SIGKILL at random moments: whatever a child said it had been granted stands, and the chain is whole."""
    random.seed(5)
    open_ledger(place, budget=Budget(rho=1000), unit=None).close()
    said = tmp_path / "said"
    for round_ in range(400):
        # on a busy machine a child says little before it is killed
        if round_ >= 40 and said.read_text().count("\n") > 80:
            break
        child = os.fork()
        if child == 0:
            try:
                with said.open("a") as out:
                    ledger = open_ledger(place, budget=None, unit=None)
                    for i in range(1000):
                        charge = ledger.charge(ask(f"{round_}-{i}"))
                        out.write(f"charge {charge.number} {charge.head}\n")
                        out.flush()
                        stored = ledger.store(charge.number, f"{round_}-{i}")
                        out.write(f"stored {charge.number} {stored}\n")
                        out.flush()
            finally:
                os._exit(0)
        time.sleep(random.uniform(0.005, 0.12))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    ledger = open_ledger(place, budget=None, unit=None)
    ledger.verify()
    charges = {one.number: one for one in ledger.charges()}
    lines = [line.split() for line in said.read_text().splitlines() if line.count(" ") == 2]
    assert len(lines) > 40
    for what, number, value in lines:
        one = charges[int(number)]
        assert value == (one.head if what == "charge" else one.release)
    assert ledger.spent().rho == Fraction(len(charges), 100)


def test_after_a_commit_a_copy_of_the_file_alone_has_the_charge(place: Path, tmp_path: Path) -> None:
    """Power loss: what is in the file alone when `charge` returns is enough."""
    ledger = open_ledger(place, budget=Budget(rho=1), unit=None)
    for i in range(5):
        ledger.charge(ask(i))
        folder = tmp_path / f"copy{i}"
        folder.mkdir()
        shutil.copy(place, folder / place.name)
        (folder / place.name).chmod(0o400)
        copied = open_ledger(folder / place.name, budget=None, unit=None)
        copied.verify()
        assert len(copied.charges()) == i + 1


def test_every_commit_is_flushed(place: Path) -> None:
    store = open_ledger(place, budget=Budget(rho=1), unit=None).store_
    assert isinstance(store, SqliteStore)
    names = ("synchronous", "journal_mode")
    settings = {name: store._connect().execute(f"PRAGMA {name}").fetchone()[0] for name in names}
    assert settings == {"synchronous": 3, "journal_mode": "delete"}

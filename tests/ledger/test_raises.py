"""Recorded raises of a ledger's total: upwards only, once, among the charges, found when edited."""

from __future__ import annotations

import os
import sqlite3
import time
from fractions import Fraction
from pathlib import Path

import pytest
from alone import alone

from tacit.errors import BudgetError, LedgerError
from tacit.ledger import Ledger, Raise, Request, open_ledger
from tacit.ledger.chain import Entry, entry_hash, linked
from tacit.ledger.sqlite import SqliteStore
from tacit.privacy import Budget, Cost, Spend

PAIR = Budget(epsilon=1, delta="1e-6")


def ask(i: int | str, rho: str = "0.01") -> Request:
    return Request("people", (), f'{{"question":"{i}"}}', Cost.of(rho=rho), "note")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "people.ledger"


@pytest.fixture(params=["file", "memory"])
def ledger(request: pytest.FixtureRequest, place: Path) -> Ledger:
    return open_ledger(place if request.param == "file" else None, budget=Budget(rho="0.1"), unit=None)


def test_a_raise_admits_what_was_refused_and_no_more(ledger: Ledger) -> None:
    ledger.charge(ask(1, "0.1"))
    with pytest.raises(BudgetError):
        ledger.charge(ask(2, "0.05"))
    made = ledger.raise_budget(Budget(rho="0.15"), note="board 31")
    assert isinstance(made, Raise)
    assert (made.number, made.before, made.total, made.after) == (1, Budget(rho="0.1"), Budget(rho="0.15"), 1)
    ledger.charge(ask(2, "0.05"))
    with pytest.raises(BudgetError) as refused:
        ledger.charge(ask(3, "0.0001"))
    assert refused.value.code == "B02"
    assert "of 0.15" in refused.value.message
    assert ledger.budget == Budget(rho="0.15")
    assert ledger.standing().describe() == "left 0.00 of 0.15"
    assert ledger.acts() == [made]
    ledger.verify()


def test_the_same_total_again_records_nothing(ledger: Ledger) -> None:
    assert ledger.raise_budget(Budget(rho="0.1"), note="board 30") is None
    ledger.raise_budget(Budget(rho="0.2"), note="board 31")
    assert ledger.raise_budget(Budget(rho="0.2"), note="board 31, typed twice") is None
    assert [one.note for one in ledger.acts()] == ["board 31"]


@pytest.mark.parametrize(
    ("first", "total"),
    [
        (Budget(rho="0.1"), Budget(rho="0.0999999")),
        (Budget(rho="0.1"), Budget(epsilon=5)),
        (Budget(rho="0.1"), Budget(epsilon=5, delta="1e-6")),
        (Budget(rho="0.1"), Budget(rho=1, neighbors="add-remove")),
        (Budget(epsilon=1), Budget(epsilon=2, delta="1e-6")),
        (Budget(epsilon=1), Budget(rho=9)),
        (PAIR, Budget(epsilon=2, delta="1e-7")),
        (PAIR, Budget(epsilon="0.9", delta="1e-3")),
        (PAIR, Budget(epsilon=2, delta="1e-6", accounting="basic")),
        (PAIR, Budget(rho=1)),
        (Budget(epsilon=1, delta="1e-6", accounting="basic"), Budget(epsilon=2, delta="1e-6")),
        (Budget(epsilon=1, delta="1e-6", accounting="basic"), Budget(epsilon=2, delta="1e-7", accounting="basic")),
    ],
)
def test_what_is_no_raise_is_refused(first: Budget, total: Budget) -> None:
    ledger = open_ledger(None, budget=first, unit=None)
    with pytest.raises(BudgetError) as refused:
        ledger.raise_budget(total, note="board 31")
    assert refused.value.code == "B13"
    assert str(first) in (refused.value.hint or "")
    assert ledger.acts() == []
    assert ledger.budget == first


@pytest.mark.parametrize(
    ("first", "total"),
    [
        (Budget(epsilon=1), Budget(epsilon="1.5")),
        (PAIR, Budget(epsilon=1, delta="1e-5")),
        (PAIR, Budget(epsilon=2, delta="1e-6")),
        (
            Budget(epsilon=1, delta="1e-6", accounting="basic"),
            Budget(epsilon=1, delta="2e-6", accounting="basic"),
        ),
        (Budget(rho="0.1", neighbors="add-remove"), Budget(rho="0.2", neighbors="add-remove")),
    ],
)
def test_every_kind_is_raised(place: Path, first: Budget, total: Budget) -> None:
    ledger = open_ledger(place, budget=first, unit=None)
    ledger.raise_budget(total, note="board 31")
    again = open_ledger(place, budget=total, unit=None)
    assert again.budget == total
    assert again.budget.limit == total.limit
    assert first.limit.within(total.limit)
    again.verify()


@pytest.mark.parametrize("note", ["", "  \n", None])
def test_a_raise_needs_a_note(ledger: Ledger, note: str) -> None:
    with pytest.raises(LedgerError) as refused:
        ledger.raise_budget(Budget(rho=1), note=note)
    assert refused.value.code == "L21"
    assert ledger.budget == Budget(rho="0.1")


def test_the_budget_given_is_the_total_in_force(place: Path) -> None:
    kept = open_ledger(place, budget=Budget(rho="0.5"), unit=None)
    with pytest.raises(LedgerError) as refused:
        open_ledger(place, budget=Budget(rho="0.8"), unit=None)
    assert refused.value.code == "L01"
    assert "curator.raise_budget(rho=0.8, " in (refused.value.hint or "")
    kept.raise_budget(Budget(rho="0.8"), note="board\x1b 31")
    with pytest.raises(LedgerError) as refused:
        open_ledger(place, budget=Budget(rho="0.5"), unit=None)
    assert refused.value.code == "L01"
    assert "promises ρ = 0.8 (replace-one), raised from ρ = 0.5 on 20" in refused.value.message
    assert "(board 31)" in refused.value.message
    assert refused.value.hint == "write ρ = 0.8, or leave the budget out"
    assert open_ledger(place, budget=Budget(rho="0.8"), unit=None).budget == Budget(rho="0.8")
    assert open_ledger(place, budget=None, unit=None).budget == Budget(rho="0.8")
    assert kept.charge(ask(1, "0.8")).number == 1  # a ledger that was open before


def chained(entries: list[Entry]) -> list[Entry]:
    """The same entries, their hashes made anew by somebody who knows how."""
    found: list[Entry] = []
    for one in entries:
        prev = found[-1].hash if found else one.prev
        found.append(Entry(one.seq, one.kind, one.key, one.body, prev, entry_hash(*_five(one, prev))))
    return found


def _five(one: Entry, prev: str) -> tuple[int, str, str, str, str]:
    return one.seq, one.kind, one.key, one.body, prev


def rewritten(place: Path, change: tuple[str, str], *, rechain: bool) -> Ledger:
    """A ledger whose raises were edited behind its back."""
    store = SqliteStore(place)
    with store.read() as tx:
        entries = tx.all()
    store.close()
    edited = [
        Entry(one.seq, one.kind, one.key, one.body.replace(*change) if one.kind == "raise" else one.body, *_two(one))
        for one in entries
    ]
    assert edited != entries
    with sqlite3.connect(place) as raw:
        trigger = raw.execute("SELECT sql FROM sqlite_master WHERE name = 'no_update'").fetchone()[0]
        raw.execute("DROP TRIGGER no_update")
        for one in chained(edited) if rechain else edited:
            raw.execute(
                "UPDATE tacit_entries SET body = ?, prev = ?, hash = ? WHERE seq = ?",
                (one.body, one.prev, one.hash, one.seq),
            )
        raw.execute(trigger)  # its absence alone would be damage
    return open_ledger(place, budget=None, unit=None)


def _two(one: Entry) -> tuple[str, str]:
    return one.prev, one.hash


@pytest.mark.parametrize(
    ("change", "rechain"),
    [
        (("4/5", "9/10"), False),
        (("board 31", "board 32"), False),
        (('"rho":"1/2"', '"rho":"2/5"'), True),  # another total before
        (("4/5", "2/5"), True),  # downwards
        (("4/5", "11/20"), True),  # below what was charged under it
        (("replace-one", "add-remove"), True),
        (('"number":1', '"number":2'), True),
        (("board 31", " "), True),
        (('"total"', '"totals"'), True),
    ],
)
def test_an_edited_raise_is_found(place: Path, change: tuple[str, str], rechain: bool) -> None:
    ledger = open_ledger(place, budget=Budget(rho="0.5"), unit=None)
    ledger.charge(ask(1, "0.5"))
    ledger.raise_budget(Budget(rho="0.8"), note="board 31")
    ledger.charge(ask(2, "0.2"))
    ledger.verify()
    ledger.close()
    with pytest.raises(LedgerError) as found:
        rewritten(place, change, rechain=rechain).verify()
    assert found.value.code == "L10"


def test_a_charge_before_its_raise_is_found(place: Path) -> None:
    """A total that is in force only later pays for nothing earlier."""
    ledger = open_ledger(place, budget=Budget(rho="0.5"), unit=None)
    with ledger.store_.write() as tx:
        request = ask(1, "0.6")
        words = ledger._body(tx, request, 1, Spend())
        tx.append(linked(tx.last(), "charge", request.digest, words))
    ledger.raise_budget(Budget(rho="0.8"), note="board 31")
    with pytest.raises(LedgerError) as found:
        ledger.verify()
    assert found.value.code == "L10"


@pytest.mark.parametrize("before", ["0.05", "0.2"])
def test_a_raise_of_another_total_than_the_one_in_force_is_found(ledger: Ledger, before: str) -> None:
    """Chained as it should be, and upward: but what it says was promised never was."""
    words = {"before": Budget(rho=before).to_dict(), "total": Budget(rho="0.8").to_dict(), "note": "board 31"}
    with ledger.store_.write() as tx:
        tx.append(linked(tx.last(), "raise", "1", {"number": 1, "date": "2026-11-21", **words}))
    with pytest.raises(LedgerError) as found:
        ledger.verify()
    assert found.value.code == "L10"


def test_what_a_later_version_wrote_is_named(ledger: Ledger) -> None:
    with ledger.store_.write() as tx:
        tx.append(linked(tx.last(), "seal", "1", {}))  # type: ignore[arg-type]
    with pytest.raises(LedgerError) as found:
        ledger.verify()
    assert found.value.code == "L15"
    assert "'seal'" in found.value.message


def test_releases_are_held_against_a_raised_ledger(ledger: Ledger) -> None:
    first = ledger.charge(ask(1))
    ledger.raise_budget(Budget(rho="0.2"), note="board 31")
    second = ledger.charge(ask(2))
    ledger.check([(first.number, first.head), (second.number, second.head)])
    with pytest.raises(LedgerError) as found:
        ledger.check([(second.number, first.head)])
    assert found.value.code == "L14"


EARLIER = [
    (
        1,
        "header",
        "",
        '{"budget":{"delta":"1/1000000","epsilon":"1","held":"48711940719/2000000000000","neighbors":"replace-one"},'
        '"format":1,"id":"b078e296daeba37d47da9f6df1715bd3","unit":null}',
        "7b1e8cc208fe1732fc3597916459dd669e838183a467629c64685fa3ab9fa59d",
    ),
    (2, "table", "people", '{"rows":10}', "92edd07a547aef7d0cfcd06faffa089338104202fdc448e20e4c51adffcc2601"),
    (
        3,
        "charge",
        "6ae0f660046dadcf5fe8462c0e00a062db4c8d67be82f4098c5ea4208d19b076",
        '{"cost":{"rho":"1/100"},"date":"2026-11-21","names":["age"],"note":"board 17","number":1,'
        '"question":"{\\"q\\":1}","spent":{"rho":"1/100"},"table":"people"}',
        "4984780007bd9c09f86e8ae0dbcaef2ca5e9d947308ebb83f001cdc4f317af69",
    ),
    (
        4,
        "name",
        '["people","age"]',
        '{"digest":"6ae0f660046dadcf5fe8462c0e00a062db4c8d67be82f4098c5ea4208d19b076"}',
        "c21a199677e3ed0559a8ed0c9b4f6567db623d3fbbe13f5248c9a07cb8704532",
    ),
    (5, "release", "1", "answer", "380d434fc9085f4a4aeb243e84bf8b9ca0e31d6b845218b8453fecb586f5a225"),
]
"""Entries written at commit 2e4b4a4, before there were raises and limits: number, kind, key, body, hash."""


def test_a_ledger_of_before_opens_and_is_raised(place: Path) -> None:
    store = SqliteStore(place)
    store.create()
    prev = "0" * 64
    with store.write() as tx:
        for seq, kind, key, body, own in EARLIER:
            tx.append(Entry(seq, kind, key, body, prev, own))
            prev = own
    store.close()
    ledger = open_ledger(place, budget=PAIR, unit=None)
    ledger.verify()
    (charge,) = ledger.charges()
    assert (charge.release, charge.analyst, charge.head) == ("answer", None, EARLIER[2][-1])
    ledger.limit("alice", Budget(rho="0.01"), note="board 30")
    ledger.raise_budget(Budget(epsilon=2, delta="1e-6"), note="board 31")
    ledger.charge(ask(2, "0.03"))
    ledger.verify()


def test_a_charge_of_nobody_is_written_as_before(ledger: Ledger) -> None:
    """So that an earlier version reads it: it takes such a ledger for one of the first, lower total."""
    ledger.charge(ask(1))
    ledger.raise_budget(Budget(rho="0.2"), note="board 31")
    ledger.charge(ask(2))
    with ledger.store_.read() as tx:
        bodies = [set(one.words) for one in tx.all() if one.kind == "charge"]
        format_ = next(one.words["format"] for one in tx.all() if one.kind == "header")
    assert bodies == [{"number", "table", "names", "question", "cost", "note", "date", "spent"}] * 2
    assert format_ == 1


def spend(where: Path, seed: int) -> None:
    """Charges until the last total is spent."""
    ledger = open_ledger(where, budget=None, unit=None)
    i = 0
    while True:
        try:
            ledger.store(ledger.charge(ask(f"{seed}-{i}")).number, f"{seed}-{i}")
            i += 1
        except BudgetError:
            if ledger.budget.rho == Fraction(1, 2):
                return
            time.sleep(0.002)


def raise_in_steps(where: Path) -> None:
    """The totals of one board, typed by one of several people."""
    ledger = open_ledger(where, budget=None, unit=None)
    for tenths in range(2, 6):
        total = Budget(rho=Fraction(tenths, 10))
        try:
            ledger.raise_budget(total, note=f"board {tenths}")
        except BudgetError as refused:  # another was faster, and further
            if refused.code != "B13":
                raise
        time.sleep(0.02)


@alone
def test_many_processes_charge_while_others_raise(place: Path) -> None:
    open_ledger(place, budget=Budget(rho="0.1"), unit=None).close()
    works = [lambda seed=seed: spend(place, seed) for seed in range(4)] + [lambda: raise_in_steps(place)] * 3
    children: list[int] = []
    for work in works:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                work()
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 7
    ledger = open_ledger(place, budget=None, unit=None)
    ledger.verify()  # every charge within the total in force at its time
    raises = [one for one in ledger.acts() if isinstance(one, Raise)]
    assert [one.note for one in raises] == [f"board {tenths}" for tenths in range(2, 6)]
    assert [one.number for one in raises] == [1, 2, 3, 4]
    assert ledger.spent().rho == Fraction(1, 2)
    assert [one.number for one in ledger.charges()] == list(range(1, 51))
    assert all(one.release is not None for one in ledger.charges())

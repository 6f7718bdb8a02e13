"""The chain of hashes: an entry that was edited, with its own hash made anew, does not lead to the next one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.errors import LedgerError
from tacit.ledger import Request, open_ledger
from tacit.ledger.chain import Entry, broken_link, entry_hash, linked
from tacit.ledger.chain_view import View
from tacit.privacy import Budget, Cost

HEADER = '{"budget":{"neighbors":"replace-one","rho":"1"},"format":1,"id":"x","unit":null}'


def chain() -> list[Entry]:
    entries = [linked(None, "header", "", HEADER)]
    for name in "abcd":
        entries.append(linked(entries[-1], "table", name, {"rows": 10}))
    return entries


def edited(entry: Entry, **change: str) -> Entry:
    """Another entry in its place, whose own hash is right."""
    one = replace(entry, **change)
    return replace(one, hash=entry_hash(one.seq, one.kind, one.key, one.body, one.prev))


@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("change", [{"body": '{"rows":11}'}, {"key": "z"}, {"prev": "1" * 64}])
def test_an_edit_with_its_own_hash_made_anew_is_found(at: int, change: dict[str, str]) -> None:
    """By what is verified afterwards, and by what is read at once; at the place itself, or right after it."""
    entries = chain()
    assert broken_link(entries) is None
    entries[at] = edited(entries[at], **change)
    place = at + 1 if "prev" in change else at + 2
    assert broken_link(entries) == place
    view = View()
    for entry in entries[: place - 1]:
        view.take(entry, None)
    with pytest.raises(LedgerError) as found:
        view.take(entries[place - 1], None)
    assert found.value.code == "L10"


def test_places_are_counted_from_one_without_a_gap() -> None:
    entries = chain()
    moved = [edited(one, seq=one.seq + 1) for one in entries]  # type: ignore[arg-type]
    assert broken_link(moved) == 1
    assert broken_link(entries[1:]) == 1
    assert broken_link([*entries[:2], edited(entries[2], seq=4)]) == 3  # type: ignore[arg-type]


def test_every_field_is_in_the_hash() -> None:
    """Two entries that differ anywhere have different hashes, also where one field ends as another begins."""
    words = [2, "table", "people", "{}", "0" * 64]
    changes = [(0, 3), (1, "name"), (2, "person"), (3, "[]"), (4, "1" * 64)]
    others = [[*words[:i], value, *words[i + 1 :]] for i, value in changes]
    others += [[2, "tablep", "eople", "{}", "0" * 64], [2, "table", "people{", "}", "0" * 64]]
    assert len({entry_hash(*one) for one in (words, *others)}) == 8  # type: ignore[arg-type]


def test_a_file_whose_charge_was_made_cheaper_is_refused(tmp_path: Path) -> None:
    """Half the price, in the body and in what is spent, and the hash of that entry made anew."""
    place = tmp_path / "people.ledger"
    ledger = open_ledger(place, budget=Budget(rho=1), unit=None)
    for i in (1, 2):
        ledger.charge(Request("people", (), f'{{"question":"{i}"}}', Cost.of(rho="0.4")))
    with ledger.store_.read() as tx:
        first = tx.all()[1]
    ledger.close()
    cheap = edited(first, body=first.body.replace("2/5", "1/5"))
    assert cheap.body != first.body
    with closing(sqlite3.connect(place)) as raw:
        trigger = raw.execute("SELECT sql FROM sqlite_master WHERE name = 'no_update'").fetchone()[0]
        raw.execute("DROP TRIGGER no_update")
        raw.execute("UPDATE tacit_entries SET body = ?, hash = ? WHERE seq = ?", (cheap.body, cheap.hash, cheap.seq))
        raw.execute(trigger)
        raw.commit()
    with pytest.raises(LedgerError) as found:
        open_ledger(place, budget=None, unit=None)
    assert found.value.code == "L10"
    assert "entry 3" in found.value.message

"""A ledger as the version before wrote it: SQLite with a write-ahead log, the table first and the header after it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

from tacit.ledger import Request
from tacit.ledger.chain import Entry, linked
from tacit.ledger.sqlite_layout import DDL
from tacit.privacy import Budget, Cost, Spend


def entries(charges: int) -> list[Entry]:
    """A header, and charges of ρ = 0.01 with their names and answers."""
    header = {"format": 1, "budget": Budget(rho=1).to_dict(), "unit": None, "id": "0" * 32}
    found = [linked(None, "header", "", header)]
    for i in range(charges):
        request = Request("people", (f"n{i}",), f'{{"question":"{i}"}}', Cost.of(rho="0.01"), "note")
        spent = sum((Spend(rho=request.cost.zcdp) for _ in range(i)), Spend(rho=request.cost.zcdp))
        words = {
            "number": i + 1,
            "table": "people",
            "names": [f"n{i}"],
            "question": request.question,
            "cost": request.cost.to_dict(),
            "note": "note",
            "date": "2026-11-21",
            "spent": spent.to_dict(),
        }
        found.append(linked(found[-1], "charge", request.digest, words))
        found.append(linked(found[-1], "name", f'["people","n{i}"]', {"digest": request.digest}))
        found.append(linked(found[-1], "release", f"{i + 1}", f"answer {i}"))
    return found


def with_log(place: Path, *, charges: int, live: bool, keep: bool = False) -> sqlite3.Connection | None:
    """Make one; `live`: as a kill leaves it, all in the log; `keep`: held open by its writer, which is returned."""
    made = sqlite3.connect(place, isolation_level=None)
    made.execute("PRAGMA journal_mode = WAL")
    made.execute("PRAGMA synchronous = FULL")
    for statement in DDL:
        made.execute(statement)
    for one in entries(charges):
        row = ("main", one.seq, one.kind, one.key, one.body, one.prev, one.hash)
        made.execute("INSERT INTO tacit_entries VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    if keep:
        return made
    if live:
        for name in (place.name, f"{place.name}-wal"):
            shutil.copy(place.with_name(name), place.with_name(f"kept-{name}"))
    made.close()
    if live:
        for name in (place.name, f"{place.name}-wal"):
            os.replace(place.with_name(f"kept-{name}"), place.with_name(name))
    return None

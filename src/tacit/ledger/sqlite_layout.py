"""The layout of a ledger's SQLite file, and its check: application_id, one table, two indices, two triggers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from typing import Final

from tacit.ledger.acts import one_line
from tacit.ledger.entry_forms import damaged, headless
from tacit.ledger.sqlite_errors import no_ledger

APPLICATION: Final = 0x7AC17001
"""SQLite's application_id of a ledger."""
DDL: Final = (
    """CREATE TABLE IF NOT EXISTS tacit_entries (
        ledger TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL,
        prev TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (ledger, seq), UNIQUE (ledger, kind, key))""",
    """CREATE TRIGGER IF NOT EXISTS no_update BEFORE UPDATE ON tacit_entries
        BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END""",
    """CREATE TRIGGER IF NOT EXISTS no_delete BEFORE DELETE ON tacit_entries
        BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END""",
    f"PRAGMA application_id = {APPLICATION}",
)
# without the tables that ANALYZE makes: these change no entry
PARTS: Final = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%'"


def empty(connection: sqlite3.Connection) -> bool:
    """Return whether a file has no pages: it is new, or the transaction that made the ledger was rolled back."""
    # the count of pages is known only after a first read of the file
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return connection.execute("PRAGMA page_count").fetchone()[0] == 0


def has_parts(connection: sqlite3.Connection) -> bool:
    """Return whether the database has any table, index or trigger."""
    return bool(_parts(connection))


def is_ledger(connection: sqlite3.Connection, where: str | None) -> bool:
    """Return True for a ledger; LedgerError L03 for another database, L10 for a ledger whose layout was changed."""
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    parts = _parts(connection)
    # mark 0 is no mark: with the table of entries a ledger that lost its mark (L10), without it another file (L03)
    if mark != APPLICATION and (mark != 0 or (parts and not _looks_like(parts))):
        raise no_ledger(where)
    if not parts:
        raise headless(where)
    if mark != APPLICATION or parts != _expected():
        raise damaged(where, "its table, indices or triggers are not those of a ledger")
    return True


def sound(connection: sqlite3.Connection, where: str | None) -> None:
    """Raise LedgerError L10 where SQLite finds damage in pages, rows or indices, or the encoding is not UTF-8."""
    if connection.execute("PRAGMA encoding").fetchone()[0] != "UTF-8":
        raise damaged(where, "its text is not UTF-8")
    found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found != "ok":
        raise damaged(where, one_line(str(found))[:200])


def _parts(connection: sqlite3.Connection) -> frozenset[tuple[str, ...]]:
    """Return the tables, indices and triggers of a database, with spaces normalised."""
    return frozenset(
        # the index of a constraint has no SQL (None), which repr makes text
        tuple(" ".join(one.split()) if isinstance(one, str) else repr(one) for one in row)
        for row in connection.execute(PARTS)
    )


def _looks_like(parts: frozenset[tuple[str, ...]]) -> bool:
    """Return whether any part belongs to a ledger's table, so that the file is a damaged ledger and not another."""
    return any("tacit_entries" in part[2] for part in parts)


@cache
def _expected() -> frozenset[tuple[str, ...]]:
    """Return the parts of an intact ledger, from a database in memory made by `DDL`."""
    with closing(sqlite3.connect(":memory:")) as made:
        for statement in DDL:
            made.execute(statement)
        return _parts(made)

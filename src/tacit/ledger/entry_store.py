"""The table of entries, and transactions that read it and append to it: SQL shared by SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from tacit.ledger.chain import Entry
from tacit.ledger.chain_view import View
from tacit.ledger.entry_forms import entry_of, misplaced

COLUMNS: Final = "seq, kind, key, body, prev, hash"
Execute = Callable[[str, Sequence[Any]], list[Any]]
"""Runs SQL with `?` placeholders and returns all rows."""
After = Callable[[int], Iterator[Any]]
"""Yields the rows after an entry number, in order; after 0 all rows of the table, past its indices."""


@dataclass
class Tx:
    """One transaction on the entries of one ledger; LedgerError L10 for an entry that the view has not verified."""

    execute: Execute
    after: After
    ledger: str
    view: View
    where: str | None
    appended: list[Entry] = field(default_factory=list[Entry])

    def catch_up(self) -> None:
        """Read and verify the entries that were written since the last transaction of this process."""
        known = self.view.last
        # the newest verified entry must still be there: a file exchanged for another is found before anything is added
        if known > 0:
            self._at(known)
        for row in self.after(known):
            self.view.take(entry_of(row), self.where)

    def last(self) -> Entry | None:
        """Return the newest entry, or None."""
        if self.appended:
            return self.appended[-1]
        # read again and compared, since the next entry will be chained to this hash
        return self._at(self.view.last) if self.view.last else None

    def get(self, kind: str, key: str) -> Entry | None:
        """Return the entry of a kind with a key, or None; there is at most one."""
        # entries of this transaction enter the view only when read back after the commit: a rollback leaves it right
        mine = [one for one in self.appended if (one.kind, one.key) == (kind, key)]
        seq = self.view.places.get((kind, key))
        return mine[-1] if mine else None if seq is None else self._at(seq)

    def has(self, kind: str, key: str) -> bool:
        """Return whether there is an entry of a kind with a key, among those that were verified, without reading it."""
        return (kind, key) in self.view.places or any((one.kind, one.key) == (kind, key) for one in self.appended)

    def newest(self, kind: str, analyst: str | None = None) -> Entry | None:
        """Return the newest entry of a kind, or the newest charge of an analyst; None where there is none."""
        mine = [one for one in self.appended if one.kind == kind and (analyst is None or _analyst_of(one) == analyst)]
        seq = self.view.newest.get((kind, analyst))
        return mine[-1] if mine else None if seq is None else self._at(seq)

    def all(self) -> list[Entry]:
        """Read every entry again, oldest first; the caller verifies that they are a chain."""
        found: list[Entry] = []
        for row in self.after(0):
            entry = entry_of(row)
            if entry is None:
                raise misplaced(self.where, len(found) + 1)
            found.append(entry)
        return found

    def numbered(self, kind: str) -> list[Entry]:
        """Return the entries of a kind whose keys are "1", "2", ...: raises and limits, of which there are few."""
        found: list[Entry] = []
        while (one := self.get(kind, str(len(found) + 1))) is not None:
            found.append(one)
        return found

    def append(self, entry: Entry) -> Entry:
        """Append one entry; the database refuses a second one of the same kind and key, or of the same number."""
        marks = (self.ledger, entry.seq, entry.kind, entry.key, entry.body, entry.prev, entry.hash)
        self.execute(f"INSERT INTO tacit_entries (ledger, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", marks)
        self.appended.append(entry)
        return entry

    def _at(self, seq: int) -> Entry:
        """Read the entry of a number again; LedgerError L10 unless it is the one that was verified."""
        sql = f"SELECT {COLUMNS} FROM tacit_entries WHERE ledger = ? AND seq = ?"
        rows = self.execute(sql, (self.ledger, seq))
        entry = entry_of(rows[0]) if len(rows) == 1 else None
        if entry is None or not self.view.holds(entry, seq):
            raise misplaced(self.where, seq)
        return entry


def _analyst_of(charge: Entry) -> str | None:
    """Return the analyst of a charge, or None."""
    words = charge.words.get("analyst")
    return None if words is None else words["name"]


class Store(Protocol):
    """A database that holds a ledger.  Its own errors are raised as LedgerError; nothing was spent then."""

    @property
    def where(self) -> str | None:
        """Return the path or server, for messages; None in memory."""
        ...

    def exists(self) -> bool:
        """Return whether a ledger exists (none is made); LedgerError L03 or L10 where something else does."""
        ...

    def create(self, first: Callable[[Tx], Any] | None = None) -> None:
        """Make the table and, where it has no entry yet, append the first: both or neither, even where killed."""
        ...

    def read(self) -> AbstractContextManager[Tx]:
        """Open a transaction that sees the entries as they are at one moment."""
        ...

    def write(self) -> AbstractContextManager[Tx]:
        """Open the only writing transaction: durable when the block ends, without effect if the block raises."""
        ...

    def confirm(self, entry: Entry) -> None:
        """Raise LedgerError unless the entry survives a loss of power, and a copy of the file alone."""
        ...

    def inspect(self) -> None:
        """Run the database's own integrity check; LedgerError L10 where it finds damage."""
        ...

    def copy_to(self, place: Path) -> Entry:
        """Copy all entries of one moment to an empty file and return the newest; LedgerError L16 if it cannot."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...

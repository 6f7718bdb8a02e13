"""Where entries live: the one table, and how a transaction reads and appends to it.  SQL shared by both databases."""

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
"""Runs SQL with `?` marks; all its rows."""
After = Callable[[int], Iterator[Any]]
"""Rows after a place, in order; after 0 of the whole table, whatever its indices say."""


@dataclass
class Tx:
    """One transaction on the entries of one ledger.  What it reads went through the view: LedgerError L10 otherwise."""

    execute: Execute
    after: After
    ledger: str
    view: View
    where: str | None
    appended: list[Entry] = field(default_factory=list[Entry])

    def catch_up(self) -> None:
        """Read what was written since, and hold it against the chain so far."""
        known = self.view.last
        if known > 0:
            self._at(known)
        for row in self.after(known):
            self.view.take(entry_of(row), self.where)

    def last(self) -> Entry | None:
        """The newest entry."""
        if self.appended:
            return self.appended[-1]
        return self._at(self.view.last) if self.view.last else None

    def get(self, kind: str, key: str) -> Entry | None:
        """The entry of a kind with a key; there is at most one."""
        mine = [one for one in self.appended if (one.kind, one.key) == (kind, key)]
        seq = self.view.places.get((kind, key))
        return mine[-1] if mine else None if seq is None else self._at(seq)

    def newest(self, kind: str, analyst: str | None = None) -> Entry | None:
        """The newest entry of a kind; of charges, that of an analyst where one is named."""
        mine = [one for one in self.appended if one.kind == kind and (analyst is None or _whose(one) == analyst)]
        seq = self.view.newest.get((kind, analyst))
        return mine[-1] if mine else None if seq is None else self._at(seq)

    def all(self) -> list[Entry]:
        """Every entry, oldest first, read anew; whether they are a chain is the reader's to verify."""
        found: list[Entry] = []
        for row in self.after(0):
            entry = entry_of(row)
            if entry is None:
                raise misplaced(self.where, len(found) + 1)
            found.append(entry)
        return found

    def numbered(self, kind: str) -> list[Entry]:
        """The entries of a kind whose keys are "1", "2", …: few, and each found by its key."""
        found: list[Entry] = []
        while (one := self.get(kind, str(len(found) + 1))) is not None:
            found.append(one)
        return found

    def append(self, entry: Entry) -> Entry:
        """Insert one entry at the end; a second of the same kind and key, or number, is refused by the database."""
        marks = (self.ledger, entry.seq, entry.kind, entry.key, entry.body, entry.prev, entry.hash)
        self.execute(f"INSERT INTO tacit_entries (ledger, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", marks)
        self.appended.append(entry)
        return entry

    def _at(self, seq: int) -> Entry:
        sql = f"SELECT {COLUMNS} FROM tacit_entries WHERE ledger = ? AND seq = ?"
        rows = self.execute(sql, (self.ledger, seq))
        entry = entry_of(rows[0]) if len(rows) == 1 else None
        if entry is None or not self.view.holds(entry, seq):
            raise misplaced(self.where, seq)
        return entry


def _whose(charge: Entry) -> str | None:
    words = charge.words.get("analyst")
    return None if words is None else words["name"]


class Store(Protocol):
    """A database that holds a ledger.  Its own errors leave as LedgerError, with nothing spent."""

    @property
    def where(self) -> str | None:
        """Words for messages; None in memory."""
        ...

    def exists(self) -> bool:
        """Whether a ledger is there already (without making one); LedgerError L03, L10 for what is none."""
        ...

    def create(self, first: Callable[[Tx], Any] | None = None) -> None:
        """Make the table and, where there is no entry yet, its first: both or neither, however often it is killed."""
        ...

    def read(self) -> AbstractContextManager[Tx]:
        """A consistent view."""
        ...

    def write(self) -> AbstractContextManager[Tx]:
        """The only writer, durable when the block ends, nothing of it if the block raises."""
        ...

    def confirm(self, entry: Entry) -> None:
        """LedgerError unless the entry is where a loss of power, or a copy of the file alone, leaves it."""
        ...

    def inspect(self) -> None:
        """The database's own check of itself; LedgerError L10 where it finds damage."""
        ...

    def copy_to(self, place: Path) -> Entry:
        """A copy of everything in an empty file, at one moment; its newest entry.  LedgerError L16 for none."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...

"""Where entries live: the one table, and how a transaction reads and appends to it.  SQL shared by both databases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, Protocol

from tacit.curator.ledger.chain import Entry

COLUMNS: Final = "seq, kind, key, body, prev, hash"
Execute = Callable[[str, Sequence[Any]], Any]


@dataclass(frozen=True)
class Tx:
    """One transaction on the entries of one ledger.  `execute` runs SQL with `?` marks and returns a cursor."""

    execute: Execute
    ledger: str

    def last(self) -> Entry | None:
        """The newest entry."""
        return self._one("ORDER BY seq DESC LIMIT 1", ())

    def get(self, kind: str, key: str) -> Entry | None:
        """The entry of a kind with a key; there is at most one."""
        return self._one("AND kind = ? AND key = ?", (kind, key))

    def newest(self, kind: str) -> Entry | None:
        """The newest entry of a kind."""
        return self._one("AND kind = ? ORDER BY seq DESC LIMIT 1", (kind,))

    def all(self) -> list[Entry]:
        """Every entry, oldest first."""
        rows = self.execute(f"SELECT {COLUMNS} FROM tacit_entries WHERE ledger = ? ORDER BY seq", (self.ledger,))
        return [Entry(*row) for row in rows.fetchall()]

    def numbered(self, kind: str) -> list[Entry]:
        """The entries of a kind whose keys are "1", "2", …: few, and each found by its key."""
        found: list[Entry] = []
        while (one := self.get(kind, str(len(found) + 1))) is not None:
            found.append(one)
        return found

    def newest_with(self, kind: str, part: str) -> Entry | None:
        """The newest entry of a kind whose body holds a text, letter for letter in both databases."""
        return self._one("AND kind = ? AND replace(body, ?, '') <> body ORDER BY seq DESC LIMIT 1", (kind, part))

    def append(self, entry: Entry) -> Entry:
        """Insert one entry at the end; a second of the same kind and key, or number, is refused by the database."""
        marks = (self.ledger, entry.seq, entry.kind, entry.key, entry.body, entry.prev, entry.hash)
        self.execute(f"INSERT INTO tacit_entries (ledger, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", marks)
        return entry

    def _one(self, where: str, marks: tuple[Any, ...]) -> Entry | None:
        sql = f"SELECT {COLUMNS} FROM tacit_entries WHERE ledger = ? {where}"
        row = self.execute(sql, (self.ledger, *marks)).fetchone()
        return None if row is None else Entry(*row)


class Store(Protocol):
    """A database that holds a ledger.  Its own errors leave as LedgerError, with nothing spent."""

    @property
    def where(self) -> str | None:
        """Words for messages; None in memory."""
        ...

    def exists(self) -> bool:
        """Whether a ledger is there already (without making one)."""
        ...

    def create(self) -> None:
        """Make the table where it is missing; safe to repeat, safe to be killed in."""
        ...

    def read(self) -> AbstractContextManager[Tx]:
        """A consistent view."""
        ...

    def write(self) -> AbstractContextManager[Tx]:
        """The only writer, durable when the block ends, nothing of it if the block raises."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...

"""A ledger in a SQLite file (or in memory): one writer at a time, append-only by trigger, durable in one file.

The mode is a rollback journal with synchronous=EXTRA: when a commit returns, every page is in the main file and
flushed, and the journal's name is gone from the disk.  The number of entries is stored in the file's first page by the
same commit.  So a copy of the main file taken in the middle of a later commit either shows all earlier entries or is
refused, because a number of the chain is missing or there are fewer entries than the first page says (see `docs`, the
ledger).
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from tacit.errors import LedgerError
from tacit.ledger.chain import Entry
from tacit.ledger.chain_view import View
from tacit.ledger.charge_state import UNSURE
from tacit.ledger.entry_forms import damaged, entry_of
from tacit.ledger.entry_store import COLUMNS, Tx
from tacit.ledger.ledger_files import address, make_file, refuse_left_over, refuse_links, refuse_network, size_of
from tacit.ledger.sqlite_errors import failed, is_busy, locked_error
from tacit.ledger.sqlite_layout import DDL, empty, has_parts, is_ledger, sound

BUSY_SECONDS = 30.0
"""How long to wait for another process that holds the ledger, before LedgerError L07."""
SETTINGS: Final = (
    "synchronous = EXTRA",  # flushes the folder, too: a journal that came back after a power loss would undo the commit
    "fullfsync = ON",  # macOS: fsync alone leaves the bytes in the cache of the drive
    "checkpoint_fullfsync = ON",
    "cache_spill = OFF",  # the main file changes in a commit, never before it
    "cell_size_check = ON",
    "trusted_schema = OFF",  # functions in the schema of a file from elsewhere must not run
)
MINE: Final = f"CASE ledger WHEN 'main' THEN seq END, {COLUMNS[5:]}"
WHOLE: Final = f"SELECT {MINE} FROM tacit_entries NOT INDEXED ORDER BY rowid"
"""Reads the table itself and not its indices, which may be damaged; rows of another ledger get no number."""


class SqliteStore:
    """A ledger in one file; each process has one connection, and a forked child makes its own."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._owner = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._inherited: list[sqlite3.Connection] = []  # never closed in a child: closing would drop the parent's locks
        self._lock = threading.RLock()
        self._view = View()
        if path is not None:
            refuse_network(path)

    @property
    def where(self) -> str | None:
        """See `Store.where`."""
        return None if self._path is None else str(self._path)

    def exists(self) -> bool:
        """See `Store.exists`; in one transaction, since another process may be making the ledger."""
        if self._path is None:
            return self._connection is not None
        if size_of(self._path) == 0:
            refuse_left_over(self._path)
            return False
        with self._lock, self._begun("BEGIN") as connection, self._translated():
            return not empty(connection) and is_ledger(connection, self.where)

    def create(self, first: Callable[[Tx], Any] | None = None) -> None:
        """See `Store.create`.  Table and header are one transaction: a table without a header is damage."""
        if self._path is not None and size_of(self._path) == 0:
            make_file(self._path)
        with self._lock, self._begun("BEGIN IMMEDIATE") as connection:
            with self._translated():
                for statement in () if has_parts(connection) else DDL:
                    connection.execute(statement)
            tx = self._tx(connection)
            if first is not None and self._view.last == 0:
                first(tx)
            self._end(connection, tx)

    @contextmanager
    def read(self) -> Generator[Tx]:
        """See `Store.read`."""
        with self._lock, self._begun("BEGIN") as connection:
            tx = self._tx(connection)
            yield tx
            self._end(connection, tx)

    @contextmanager
    def write(self) -> Generator[Tx]:
        """See `Store.write`."""
        if self._path is not None:
            refuse_links(self._path)
        # IMMEDIATE locks before anything is read: two that read first would block each other when they write
        with self._lock, self._begun("BEGIN IMMEDIATE") as connection:
            tx = self._tx(connection)
            yield tx
            self._end(connection, tx)

    def confirm(self, entry: Entry) -> None:
        """See `Store.confirm`: the main file alone, opened read-only and without any journal, shows the entry.

        A read transaction is open meanwhile, so that no process can be writing the file.
        """
        if self._path is None:
            return
        with self.read():
            found = self._alone(self._path, entry.seq)
        if found != entry:
            message = f"the file {self.where} alone does not show the charge that was recorded: no row is read."
            hint = "was it moved, or does an earlier version of tacit hold it? Ask again"
            raise LedgerError(message, code="L06", hint=hint, state="A charge that was recorded stands.")

    def inspect(self) -> None:
        """See `Store.inspect`: SQLite's integrity check, and a comparison of table, triggers and indices with `DDL`."""
        with self.read(), self._translated():
            connection = self._connect()
            is_ledger(connection, self.where)
            sound(connection, self.where)

    def copy_to(self, place: Path) -> Entry:
        """See `Store.copy_to`: by SQLite's backup function, within a read transaction, which keeps writers out."""
        with self.read() as tx, self._translated():
            with closing(sqlite3.connect(address(place, "mode=rw"), uri=True, isolation_level=None)) as copy:
                self._connect().backup(copy)
            newest = tx.last()
        assert newest is not None
        return newest

    def close(self) -> None:
        """See `Store.close`."""
        if self._connection is not None and self._owner == os.getpid():
            self._connection.close()
        self._connection = None

    def _tx(self, connection: sqlite3.Connection) -> Tx:
        """Make a transaction whose view is up to date; LedgerError L10 where entries that were written are missing."""
        with self._translated():
            written = connection.execute("PRAGMA user_version").fetchone()[0]
        tx = Tx(self._execute, self._after, "main", self._view, self.where)
        tx.catch_up()
        # only fewer are damage: earlier versions of the library append without counting
        if self._view.last < written:
            raise damaged(self.where, f"{written} entries were written, and {self._view.last} are there")
        return tx

    def _end(self, connection: sqlite3.Connection, tx: Tx) -> None:
        """Commit a transaction, and with it the number of entries (user_version, in the file's first page)."""
        with self._translated():
            if tx.appended:
                connection.execute(f"PRAGMA user_version = {tx.appended[-1].seq}")
        with self._translated(UNSURE if tx.appended else None):
            connection.execute("COMMIT")

    @contextmanager
    def _begun(self, begin: str) -> Generator[sqlite3.Connection]:
        """Begin a transaction, rolled back unless the block ends it; first end write-ahead logging where it is on."""
        try:
            with self._translated():
                connection = self._connect()
                connection.execute(begin)
                # the mode can be turned off only outside a transaction, by the only connection
                if self._path is not None and self._has_log(connection):
                    connection.execute("ROLLBACK")
                    self.close()
                    self._leave_log(self._path)
                    connection = self._connect()
                    connection.execute(begin)
            yield connection
        finally:
            with suppress(sqlite3.Error):
                # after COMMIT there is none: only a block that raised is undone
                if self._connection is not None and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def _has_log(self, connection: sqlite3.Connection) -> bool:
        """Return whether the file is a ledger in write-ahead mode, which earlier versions used."""
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # the mode is the file's once it is read
        with_log = connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        return with_log and not empty(connection) and is_ledger(connection, self.where)

    def _leave_log(self, path: Path) -> None:
        """Move the write-ahead log into the main file and turn the mode off, waiting for processes that hold the file.

        Each try has a connection of its own: two processes that waited with theirs open would block each other.
        """
        until = time.monotonic() + BUSY_SECONDS
        while True:
            with closing(self._open(path)) as made:
                try:
                    if made.execute("PRAGMA journal_mode = DELETE").fetchone()[0] == "delete":
                        return
                except sqlite3.OperationalError as problem:
                    if not is_busy(problem):
                        raise
            if time.monotonic() > until:
                raise locked_error(self.where, BUSY_SECONDS, "an earlier version of tacit keeps its charges beside it")
            time.sleep(0.005 + os.getpid() % 41 / 1000)  # differs by process, so that two do not retry in step

    def _execute(self, sql: str, marks: Sequence[Any]) -> list[Any]:
        """Run one statement and return its rows."""
        with self._translated():
            return self._connect().execute(sql, marks).fetchall()

    def _after(self, seq: int) -> Iterator[Any]:
        """See `tacit.ledger.entry_store.After`."""
        some = f"SELECT {COLUMNS} FROM tacit_entries WHERE ledger = 'main' AND seq > {seq} ORDER BY seq"
        with self._translated():
            yield from self._connect().execute(some if seq else WHOLE)

    def _alone(self, path: Path, seq: int) -> Entry | None:
        """Return an entry as the main file alone shows it ("immutable" ignores logs and journals), or None."""
        sql = f"SELECT {COLUMNS} FROM tacit_entries WHERE ledger = 'main' AND seq = ?"
        with suppress(sqlite3.Error):
            with closing(sqlite3.connect(address(path, "mode=ro&immutable=1"), uri=True)) as alone:
                row = alone.execute(sql, (seq,)).fetchone()
            return None if row is None else entry_of(row)
        return None

    def _connect(self) -> sqlite3.Connection:
        """Return this process's connection, made anew after a fork; LedgerError L11 for memory in a forked process."""
        if self._connection is not None and self._owner != os.getpid():
            if self._path is None:
                message = "a ledger in memory does not follow its table into another process."
                raise LedgerError(message, code="L11", hint='ledger="people.ledger"')
            self._inherited.append(self._connection)
            self._connection = None
        if self._connection is None:
            self._owner = os.getpid()
            self._connection = self._open(self._path)
        return self._connection

    def _open(self, path: Path | None) -> sqlite3.Connection:
        """Open a connection whose commits are flushed to the disk before they return."""
        # "rw", not "rwc": SQLite must never make the file, whose mode and durable name are the work of `make_file`
        place = ":memory:" if path is None else address(path, "mode=rw")
        # isolation_level=None, or the module would begin transactions by itself; threads take turns by the lock
        made = sqlite3.connect(
            place, uri=path is not None, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False
        )
        try:
            for setting in SETTINGS if path is not None else ():
                made.execute(f"PRAGMA {setting}")
        except BaseException:
            made.close()
            raise
        return made

    @contextmanager
    def _translated(self, unsure: str | None = None) -> Generator[None]:
        """Raise LedgerError in place of SQLite's errors, without a cause or context.

        unsure: the state of those that do not say whether the statement was done.
        """
        try:
            yield
            return
        except (sqlite3.Error, sqlite3.Warning, MemoryError, OverflowError, UnicodeError) as problem:
            found = failed(problem, self.where, BUSY_SECONDS)
            found.state = unsure if unsure is not None and found.code == "L06" else found.state
        try:
            raise found
        finally:
            found.__context__ = None  # set by `with`, outside the handler too

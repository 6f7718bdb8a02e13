"""A ledger in a SQLite file (or in memory): WAL, synchronous=FULL, append-only by trigger, one writer at a time."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tacit.curator.ledger.store import Tx
from tacit.errors import LedgerError

APPLICATION: Final = 0x7AC17001
"""SQLite's application_id: says that a database is a ledger."""
BUSY_SECONDS = 30.0
"""How long another process may hold the ledger before a clear error."""
NETWORK: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "fuse.sshfs", "afs", "ncpfs", "ceph"}
)
"""File systems whose locks SQLite cannot rely on."""

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


class SqliteStore:
    """One file; one connection a process, made anew after a fork."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._owner = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._inherited: list[sqlite3.Connection] = []  # never closed in a child: closing would drop the parent's locks
        self._lock = threading.RLock()
        if path is not None:
            refuse_network(path)

    @property
    def where(self) -> str | None:
        """See `Store.where`."""
        return None if self._path is None else str(self._path)

    def exists(self) -> bool:
        """Whether the file holds a ledger; LedgerError L03 for a file that is something else."""
        if self._path is None or not self._path.exists() or self._path.stat().st_size == 0:
            return self._connection is not None and self._path is None
        with self._translated():
            found = self._connect().execute("PRAGMA application_id").fetchone()[0]
            tables = self._connect().execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if found != APPLICATION and (found != 0 or tables):
            raise self._no_ledger()
        return bool(tables)

    def create(self) -> None:
        """See `Store.create`."""
        if self._path is not None and not self._path.exists():
            self._make_file(self._path)
        with self.write(), self._translated():
            for statement in DDL:
                self._connect().execute(statement)

    @contextmanager
    def read(self) -> Generator[Tx]:
        """See `Store.read`."""
        with self._block("BEGIN") as tx:
            yield tx

    @contextmanager
    def write(self) -> Generator[Tx]:
        """See `Store.write`."""
        with self._block("BEGIN IMMEDIATE") as tx:
            yield tx

    def close(self) -> None:
        """See `Store.close`."""
        if self._connection is not None and self._owner == os.getpid():
            self._connection.close()
        self._connection = None

    @contextmanager
    def _block(self, begin: str) -> Generator[Tx]:
        with self._lock:
            with self._translated():
                connection = self._connect()
                connection.execute(begin)
            try:
                yield Tx(self._execute, "main")
                with self._translated():
                    connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _execute(self, sql: str, marks: Sequence[Any]) -> sqlite3.Cursor:
        with self._translated():
            return self._connect().execute(sql, marks)

    def _connect(self) -> sqlite3.Connection:
        if self._connection is not None and self._owner != os.getpid():
            if self._path is None:
                message = "a ledger in memory does not follow its table into another process."
                raise LedgerError(message, code="L11", hint='ledger="people.ledger"')
            self._inherited.append(self._connection)
            self._connection = None
        if self._connection is None:
            self._owner = os.getpid()
            self._connection = self._open()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        place = ":memory:" if self._path is None else f"file:{_quoted(self._path)}?mode=rw"
        made = sqlite3.connect(
            place, uri=self._path is not None, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False
        )
        if self._path is not None:
            self._settings(made)
        return made

    def _settings(self, made: sqlite3.Connection) -> None:
        """Every commit reaches the disk before it returns."""
        import time

        until = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                made.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as problem:  # turning WAL on does not wait for other processes
                if "locked" not in str(problem) or time.monotonic() > until:
                    made.close()
                    raise
                time.sleep(0.01)
        for setting in ("synchronous = FULL", "fullfsync = ON", "checkpoint_fullfsync = ON", "trusted_schema = OFF"):
            made.execute(f"PRAGMA {setting}")

    def _make_file(self, path: Path) -> None:
        """An empty file of mode 0600, its name on the disk; another process may have made it first."""
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except FileExistsError:
            pass
        except OSError as problem:
            message = f"ledger {path} cannot be made: {problem.strerror}."
            raise LedgerError(message, code="L06", hint="a folder that exists and may be written") from None

    @contextmanager
    def _translated(self) -> Generator[None]:
        """SQLite's errors -> LedgerError, named by what a curator can do; no other error hangs on it."""
        try:
            yield
            return
        except sqlite3.Error as problem:
            words = str(problem).lower()
        found = self._error(words)
        try:
            raise found
        finally:
            found.__context__ = None  # set by `with`, outside the handler too

    def _error(self, words: str) -> LedgerError:
        if "locked" in words or "busy" in words:
            message = f"ledger {self.where} is held by another process for more than {BUSY_SECONDS:g} seconds."
            return LedgerError(message, code="L07", hint="wait for it, or end it, and ask again")
        if "full" in words:
            return LedgerError(f"no room to write ledger {self.where}.", code="L08", hint="free some disk space")
        if "not a database" in words:
            return self._no_ledger()
        if "malformed" in words or "append-only" in words:
            return LedgerError(f"ledger {self.where} is damaged: {words}.", code="L10", hint="restore the newest copy")
        if "unique" in words:
            return LedgerError(f"ledger {self.where} was written at once by another.", code="L07", hint="ask again")
        return LedgerError(f"ledger {self.where} cannot be used: {words}.", code="L06", hint="check path and rights")

    def _no_ledger(self) -> LedgerError:
        return LedgerError(f"{self.where} is not a ledger.", code="L03", hint='ledger="people.ledger", a new file')


def refuse_network(path: Path, mounts: str | None = None) -> None:
    """LedgerError L04 where `path` is on a network file system, whose locks lose charges."""
    if mounts is None:
        try:
            mounts = Path("/proc/self/mounts").read_text(encoding="utf-8")
        except OSError:  # no such list on this system: nothing can be told
            return
    place, kind = "", ""
    target = str(path.resolve())
    for line in mounts.splitlines():
        _, mounted, found, *_ = line.split()
        mounted = mounted.replace("\\040", " ")
        inside = target == mounted or target.startswith(mounted.rstrip("/") + "/")
        if inside and len(mounted) >= len(place):
            place, kind = mounted, found
    if kind in NETWORK:
        message = f"ledger {path} is on a network file system ({kind}), whose locks are not reliable."
        raise LedgerError(message, code="L04", hint='a local disk, or ledger="postgresql://server/ledger"')


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(os.fsencode(path.resolve()))  # names that are no text, too

"""A ledger on a PostgreSQL server, by URL: the same entries, one writer at a time by a lock on the header's row.

"postgresql://user@server/database?ledger=name" keeps several ledgers in one database ("main" where not said).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from tacit.errors import LedgerError
from tacit.ledger.chain import Entry
from tacit.ledger.chain_view import View
from tacit.ledger.charge_state import UNSURE
from tacit.ledger.entry_forms import damaged, misplaced
from tacit.ledger.entry_store import COLUMNS, Tx

# UNIQUE (ledger, kind, key): one charge a question, one answer a charge, whatever a client does; TRUNCATE fires
# statement triggers only
DDL: Final = (
    """CREATE TABLE IF NOT EXISTS tacit_entries (
        ledger TEXT NOT NULL, seq BIGINT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL,
        prev TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (ledger, seq), UNIQUE (ledger, kind, key))""",
    """CREATE OR REPLACE FUNCTION tacit_append_only() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'a ledger is append-only'; END $$""",
    """CREATE OR REPLACE TRIGGER tacit_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON tacit_entries
        FOR EACH STATEMENT EXECUTE FUNCTION tacit_append_only()""",
)
LOCK: Final = 0x7AC17001
"""Key of the advisory lock that admits one maker of a ledger."""
WAIT_SECONDS = 30
"""Seconds to wait for another writer, before LedgerError L07."""
BATCH: Final = 200
"""Entries read at a time."""
GUARD: Final = """SELECT
    (SELECT count(*) FROM pg_trigger WHERE tgrelid = 'tacit_entries'::regclass
        AND tgname = 'tacit_no_change' AND tgenabled <> 'D'),
    (SELECT count(*) FROM pg_constraint WHERE conrelid = 'tacit_entries'::regclass AND contype IN ('p', 'u')
        AND convalidated)"""
"""Counts the triggers and the indices that are in force."""


class PostgresStore:
    """One ledger of one database; one connection a process, made anew after a fork or a lost connection."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        options = parse_qsl(parts.query)
        self._ledger = dict(options).get("ledger", "main")
        query = urlencode([(key, value) for key, value in options if key != "ledger"])
        self._url = urlunsplit(parts._replace(query=query))
        host = parts.hostname or "localhost"
        self.where: str | None = f"postgresql://{host}{parts.path}?ledger={self._ledger}"  # no password in messages
        self._owner = os.getpid()
        self._connection: Any = None
        self._inherited: list[Any] = []  # kept open in a child: closing would end the parent's session on the server
        self._lock = threading.RLock()
        self._view = View()
        self._unsure = False

    def exists(self) -> bool:
        """See `Store.exists`."""
        with self._lock, self._translated(), self._connect().transaction():
            if not self._made():
                return False
            sql = "SELECT count(*) FROM tacit_entries WHERE ledger = %s"
            return bool(self._connect().execute(sql, (self._ledger,)).fetchone()[0])

    def create(self, first: Callable[[Tx], Any] | None = None) -> None:
        """See `Store.create`.  An advisory lock admits one maker; an existing table may be in use and is kept."""
        with self._lock, self._translated(), self._connect().transaction():
            self._connect().execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            for statement in () if self._made() else DDL:
                self._connect().execute(statement)
            tx = self._tx()
            if first is not None and self._view.last == 0:
                first(tx)

    @contextmanager
    def read(self) -> Generator[Tx]:
        """See `Store.read`."""
        with self._lock, self._translated(), self._connect().transaction():
            # one snapshot for all statements of the transaction; "read committed" would take one for each
            self._connect().execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield self._tx()

    @contextmanager
    def write(self) -> Generator[Tx]:
        """See `Store.write`.  Isolation is "read committed": reads after the lock see the last commit."""
        with self._lock, self._translated(), self._connect().transaction():
            self._unsure = False
            # a server may be set to answer a commit before it is flushed, and a charge must survive a loss of power
            self._connect().execute("SET LOCAL synchronous_commit = on")
            self._connect().execute(f"SET LOCAL lock_timeout = '{WAIT_SECONDS}s'")
            sql = "SELECT seq FROM tacit_entries WHERE ledger = %s AND kind = 'header' FOR UPDATE"
            if self._connect().execute(sql, (self._ledger,)).fetchone() is None:
                if self._view.last > 0:  # this process has read the header before, so it was removed
                    raise misplaced(self.where, 1)
                self._connect().execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            tx = self._tx()
            yield tx
            # what fails from here on is the commit: a connection lost meanwhile does not say whether it was done
            self._unsure = bool(tx.appended)

    def confirm(self, entry: Entry) -> None:
        """See `Store.confirm`: the server flushed the entry before its commit returned; read it back once more."""
        with self.read() as tx:
            if tx.get(entry.kind, entry.key) != entry:
                raise misplaced(self.where, entry.seq)

    def inspect(self) -> None:
        """See `Store.inspect`: trigger and indices are in force.  A server checks its own pages (`pg_amcheck`)."""
        with self._lock, self._translated(), self._connect().transaction():
            triggers, indices = self._connect().execute(GUARD).fetchone()
        if triggers < 1 or indices < 2:
            raise damaged(self.where, "its table has lost its trigger or an index")

    def copy_to(self, place: Path) -> Entry:
        """See `Store.copy_to`: always LedgerError L16, since a server makes its own backups."""
        raise LedgerError(
            f"ledger {self.where} is on a server, which makes its own backups.",
            code="L16",
            hint="pg_dump, pg_basebackup",
        )

    def close(self) -> None:
        """See `Store.close`."""
        if self._connection is not None and self._owner == os.getpid():
            self._connection.close()
        self._connection = None

    def _made(self) -> bool:
        """Return whether the table of entries exists."""
        return self._connect().execute("SELECT to_regclass('tacit_entries')").fetchone()[0] is not None

    def _tx(self) -> Tx:
        """Make a transaction whose view is up to date."""
        tx = Tx(self._execute, self._after, self._ledger, self._view, self.where)
        tx.catch_up()
        return tx

    def _execute(self, sql: str, marks: Sequence[Any]) -> list[Any]:
        """Run one statement, with "?" for each argument; return its rows, if any."""
        made = self._connect().execute(sql.replace("?", "%s"), marks)
        return made.fetchall() if made.description is not None else []

    def _after(self, seq: int) -> Iterator[Any]:
        """See `tacit.ledger.entry_store.After`."""
        # continued by number: OFFSET would make the server count all earlier rows again for every batch
        sql = f"SELECT {COLUMNS} FROM tacit_entries WHERE ledger = ? AND seq > ? ORDER BY seq LIMIT {BATCH}"
        while rows := self._execute(sql, (self._ledger, seq)):
            yield from rows
            seq = rows[-1][0]

    def _connect(self) -> Any:
        """Return this process's connection, made anew after a fork or a lost connection."""
        if self._connection is not None and self._owner != os.getpid():
            self._inherited.append(self._connection)
            self._connection = None
        if self._connection is not None and self._connection.closed:
            self._connection = None
        if self._connection is None:
            self._owner = os.getpid()
            # autocommit: transactions are the explicit ones of read, write and create only
            self._connection = _psycopg().connect(self._url, autocommit=True, connect_timeout=10)
        return self._connection

    @contextmanager
    def _translated(self) -> Generator[None]:
        """Raise LedgerError in place of the server's errors, without a cause or context."""
        psycopg = _psycopg()
        try:
            yield
            return
        except (
            psycopg.errors.LockNotAvailable,
            psycopg.errors.DeadlockDetected,
            psycopg.errors.SerializationFailure,
        ):
            message = f"ledger {self.where} is held by another process for more than {WAIT_SECONDS} seconds."
            found = LedgerError(message, code="L07", hint="wait for it, or end it, and ask again")
        except psycopg.errors.UniqueViolation:
            found = LedgerError(f"ledger {self.where} was written at once by another.", code="L07", hint="ask again")
        except psycopg.errors.DiskFull:
            found = LedgerError(f"no room to write ledger {self.where}.", code="L08", hint="free some disk space")
        except (
            psycopg.errors.UndefinedTable,
            psycopg.errors.UndefinedColumn,
            psycopg.errors.UndefinedFunction,
            psycopg.errors.DataError,
            psycopg.errors.DataCorrupted,
            psycopg.errors.IndexCorrupted,
            UnicodeError,
        ) as problem:
            found = damaged(self.where, type(problem).__name__)
        except psycopg.OperationalError:
            found = LedgerError(f"ledger {self.where} is out of reach.", code="L06", hint="is the server running?")
            found.state, self._unsure = UNSURE if self._unsure else found.state, False
        except psycopg.Error as problem:
            words = type(problem).__name__
            found = LedgerError(f"ledger {self.where} cannot be used: {words}.", code="L06", hint="check the rights")
        try:
            raise found
        finally:
            found.__context__ = None  # set by `with`, outside the handler too


def _psycopg() -> Any:
    """Return the module psycopg; LedgerError L12 if it is not installed."""
    try:
        import psycopg
    except ImportError:
        raise LedgerError(
            "a ledger on a server needs psycopg.", code="L12", hint="pip install 'tacit[postgres]'"
        ) from None
    return psycopg

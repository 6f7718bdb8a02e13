"""Translation of SQLite's errors to `LedgerError`, with a hint for the curator."""

from __future__ import annotations

import sqlite3
from typing import Final

from tacit.errors import LedgerError
from tacit.ledger.acts import one_line
from tacit.ledger.entry_forms import damaged

BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
"""Error codes of a file that another process holds."""
REACH: Final = frozenset(
    {
        sqlite3.SQLITE_AUTH,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    }
)


def failed(problem: BaseException, where: str | None, seconds: float) -> LedgerError:
    """Return the LedgerError of an error: L03, L06, L07, L08; L10 for errors that an intact ledger never raises."""
    # the low byte of an extended error code is its primary code
    code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
    words = one_line(str(problem).lower())[:200] or type(problem).__name__
    if is_busy(problem):
        return locked_error(where, seconds)
    if code == sqlite3.SQLITE_FULL:
        return LedgerError(f"no room to write ledger {where}.", code="L08", hint="free some disk space")
    if code == sqlite3.SQLITE_NOTADB:
        return no_ledger(where)
    # another writer took the number or the key first; any other constraint is broken only by a changed file
    if code == sqlite3.SQLITE_CONSTRAINT and "unique" in words:
        return LedgerError(f"ledger {where} was written at once by another.", code="L07", hint="ask again")
    if code == sqlite3.SQLITE_IOERR:
        hint = "is the disk full, or are files limited (ulimit -f)? Else check the disk"
        return LedgerError(f"ledger {where} cannot be used: {words}.", code="L06", hint=hint)
    if code in REACH or isinstance(problem, MemoryError):
        return LedgerError(f"ledger {where} cannot be used: {words}.", code="L06", hint="check path and rights")
    return damaged(where, words)


def is_busy(problem: BaseException) -> bool:
    """Return whether the error says that another process holds the file."""
    return getattr(problem, "sqlite_errorcode", 0) & 0xFF in BUSY


def locked_error(where: str | None, seconds: float, also: str = "") -> LedgerError:
    """Return the error L07 of a ledger held by another process; `also`: words in brackets."""
    more = f" ({also})" if also else ""
    message = f"ledger {where} is held by another process for more than {seconds:g} seconds{more}."
    return LedgerError(message, code="L07", hint="wait for it, or end it, and ask again")


def no_ledger(where: str | None) -> LedgerError:
    """Return the error L03 of a file that is no ledger."""
    message = f"{where} is not a ledger, or its first page is lost."
    return LedgerError(message, code="L03", hint='a ledger\'s own path, or a new file: ledger="people.ledger"')

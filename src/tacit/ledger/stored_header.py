"""The database of a ledger by its path or URL, and the header that begins its chain.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tacit.errors import LedgerError
from tacit.ledger.chain import Entry
from tacit.ledger.entry_forms import FORMAT, format_of, headless
from tacit.ledger.entry_store import Store
from tacit.ledger.postgres import PostgresStore
from tacit.ledger.sqlite import SqliteStore


def store_at(where: str | Path | None) -> Store:
    """Return the database that a path or a URL names (None: in memory), whether it holds a ledger or not."""
    if where is not None and str(where).startswith(("postgresql://", "postgres://")):
        return PostgresStore(str(where))
    return SqliteStore(None if where is None else Path(where))


@contextmanager
def closing_on_failure(store: Store) -> Generator[None]:
    """Close the store's connections where the block raises."""
    try:
        yield
    except BaseException:
        store.close()
        raise


def recorded_header(store: Store, where: str | Path) -> Entry:
    """Return the header of an existing ledger; LedgerError L03 where there is none."""
    if not store.exists():
        raise LedgerError(f"{where} is not a ledger.", code="L03", hint="the path of a .ledger file", state=None)
    return header_of(store)


def header_of(store: Store) -> Entry:
    """Return the header; LedgerError L10 where there are entries and no header."""
    with store.read() as tx:
        found = tx.get("header", "")
    if found is None:
        raise headless(store.where)
    return found


def header_words(store: Store, header: Entry) -> Any:
    """Return the parsed body of a header; LedgerError L15 in a later version's format."""
    found = format_of(header)
    if found > FORMAT:
        message = f"ledger {store.where} has format {found}; this version reads up to {FORMAT}."
        raise LedgerError(message, code="L15", hint="upgrade tacit")
    return header.words

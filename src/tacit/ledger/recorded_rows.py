"""The public number of rows (persons) that a ledger has on record.  INSIDE the wall."""

from __future__ import annotations

from tacit.ledger.ledger import Ledger


def recorded_rows(ledger: Ledger, table: str) -> int | None:
    """Return the number of rows of a table; None where it is private, or the table was never opened."""
    with ledger.store_.read() as tx:
        known = tx.get("table", table)
        return None if known is None else known.words["rows"]

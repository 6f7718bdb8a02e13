"""The ledger: an append-only, hash-chained record of charges and the releases they bought.  INSIDE the wall."""

from __future__ import annotations

from tacit.ledger.acts import Limit, Raise, Standing
from tacit.ledger.chain import Charge, Entry, Request
from tacit.ledger.ledger import Ledger
from tacit.ledger.open_ledger import open_ledger, open_recorded, unit_of

__all__ = [
    "Charge",
    "Entry",
    "Ledger",
    "Limit",
    "Raise",
    "Request",
    "Standing",
    "open_ledger",
    "open_recorded",
    "unit_of",
]

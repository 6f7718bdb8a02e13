"""The ledger: charges that survive anything, and the releases they bought.  INSIDE the wall.  Laws: design §2.3."""

from __future__ import annotations

from tacit.curator.ledger.chain import Charge, Entry, Request
from tacit.curator.ledger.ledger import Ledger, open_ledger

__all__ = ["Charge", "Entry", "Ledger", "Request", "open_ledger"]

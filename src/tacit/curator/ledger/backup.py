"""A copy of a ledger in a file of its own: whole, verified before it has its name, never over anything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.curator.ledger.files import copied
from tacit.curator.ledger.forms import damaged

if TYPE_CHECKING:
    from tacit.curator.ledger.ledger import Ledger


def back_up(ledger: Ledger, target: Path) -> None:
    """See `Ledger.backup`."""
    from tacit.curator.ledger.opening import open_recorded

    with copied(target) as place:
        newest = ledger.store_.copy_to(place)
        copy = open_recorded(place)
        try:
            copy.verify()
            with copy.store_.read() as tx:
                found = tx.last()
        finally:
            copy.close()
        if found != newest or copy.identity != ledger.identity:
            raise damaged(str(target), "the copy is not what was copied")

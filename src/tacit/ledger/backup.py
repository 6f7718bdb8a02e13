"""Verification of a ledger, and its copy to a new file, which is verified before it gets its name."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import LedgerError
from tacit.ledger import chain_audit as audit
from tacit.ledger.chain import broken_link
from tacit.ledger.entry_forms import damaged, misplaced
from tacit.ledger.entry_store import Store
from tacit.ledger.ledger_files import copied
from tacit.ledger.stored_header import closing_on_failure, header_words, recorded_header, store_at
from tacit.privacy import Budget


def verify_store(store: Store, promise: Budget) -> None:
    """Verify a ledger as described in `Ledger.verify`.  `promise`: the header's budget."""
    store.inspect()
    with store.read() as tx:
        entries = tx.all()
    # the hash chain is judged whatever the kinds; the sums only where every kind is known, as a new one may change them
    later = None if broken_link(entries) is not None else audit.unknown(entries)
    wrong = audit.first_contradiction(entries, promise) if later is None else None
    if wrong is not None:
        raise misplaced(store.where, wrong)
    if later is not None:
        message = f"ledger {store.where} holds a {later.kind!r} (entry {later.seq}), which this version cannot read."
        raise LedgerError(message, code="L15", hint="upgrade tacit")


def back_up(store: Store, identity: str, target: Path) -> None:
    """Copy a ledger as described in `Ledger.backup`.  `identity`: hash of the header, which the copy must share."""
    with copied(target) as place:
        newest = store.copy_to(place)
        copy = store_at(place)
        with closing_on_failure(copy):
            header = recorded_header(copy, place)
            verify_store(copy, Budget.from_dict(header_words(copy, header)["budget"]))
            with copy.read() as tx:
                found = tx.last()
        copy.close()
        # the newest hash depends on every entry before it, so one comparison covers the whole chain
        if found != newest or header.hash != identity:
            raise damaged(str(target), "the copy is not what was copied")

"""Memory of the entries that a process has verified: each was checked once for its hash, its number and its form.

A database finds entries by indices, which a damaged file or an edit may falsify.  The view remembers the hash of each
entry number, the number of each key, and the newest entry of each kind.  So an entry read later is either the one that
was verified or an error, and no entry can be hidden by a wrong index.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tacit.ledger.chain import START, Entry, entry_hash
from tacit.ledger.entry_forms import misplaced, well_formed


@dataclass
class View:
    """Verified entries.

    hashes: of entries 1, 2, ....  places: number of the entry of a kind and key.  newest: number of the newest entry of
    a kind (analyst None), and of the newest charge of each analyst.
    """

    hashes: list[str] = field(default_factory=list[str])
    places: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    newest: dict[tuple[str, str | None], int] = field(default_factory=dict[tuple[str, str | None], int])

    @property
    def last(self) -> int:
        """Return the number of the last verified entry; 0 for none."""
        return len(self.hashes)

    def take(self, entry: Entry | None, where: str | None) -> None:
        """Verify and remember the next entry; LedgerError L10 where it does not follow, or is no entry."""
        if entry is None or not self._follows(entry) or not well_formed(entry):
            raise misplaced(where, self.last + 1)
        self.hashes.append(entry.hash)
        self.places[entry.kind, entry.key] = entry.seq
        self.newest[entry.kind, None] = entry.seq
        # the newest charge of an analyst holds that analyst's sum, from which the next charge is admitted
        analyst = entry.words.get("analyst") if entry.kind == "charge" else None
        if analyst is not None:
            self.newest["charge", analyst["name"]] = entry.seq

    def holds(self, entry: Entry | None, seq: int) -> bool:
        """Return whether the entry read with number `seq` is the one that was verified."""
        return entry is not None and entry.seq == seq and entry.hash == self.hashes[seq - 1] and _own(entry)

    def _follows(self, entry: Entry) -> bool:
        """Return whether an entry continues the chain: number, hashes, a new key, and one header, which is first."""
        prev = self.hashes[-1] if self.hashes else START
        first = (entry.kind == "header") == (self.last == 0)
        # a file without its unique index could hold a question charged twice, or two answers to one charge
        new = (entry.kind, entry.key) not in self.places
        return entry.seq == self.last + 1 and entry.prev == prev and first and new and _own(entry)


def _own(entry: Entry) -> bool:
    """Return whether an entry's hash is the hash of its content."""
    return entry.hash == entry_hash(entry.seq, entry.kind, entry.key, entry.body, entry.prev)

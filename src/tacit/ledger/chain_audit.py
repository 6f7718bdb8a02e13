"""Audit of a whole chain: every hash, every sum, and every charge against the budget and limit then in force.

An edited entry breaks the hashes after it.  Where somebody computed these anew, the sums and totals must still agree.
Pure functions of entries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, get_args

from tacit.ledger.acts import is_upward, limit_of, raise_of, same_words
from tacit.ledger.chain import Entry, Kind, broken_link
from tacit.ledger.entry_forms import UNREADABLE, well_formed
from tacit.privacy import Budget, Cost, Spend
from tacit.privacy.exact_numbers import significant

KINDS: Final = get_args(Kind)


def first_contradiction(entries: Sequence[Entry], promise: Budget) -> int | None:
    """Return the number of the first entry that contradicts those before it, or None.

    promise: the header's budget.
    """
    broken = broken_link(entries)
    if broken is not None:
        return broken
    books = _Books(promise)
    for one in entries:
        try:
            fits = well_formed(one) and books.take(one)
        except UNREADABLE:  # a body that no version wrote
            fits = False
        if not fits:
            return one.seq
    return None


def _price(budget: Budget, cost: Cost, charged: Mapping[str, Any] | None) -> Spend:
    """Return what a charge adds to the sum spent.

    charged: recorded where the price of the parts is below that of the whole cost, or that is rounded up, and at most
    so much; else ValueError.
    """
    exact = budget.exact_spend(cost)
    if charged is None:
        return exact
    found = Spend.from_dict(charged)
    # as a budget rounds long fractions, whichever it is: raises change which are short
    most = Spend(**{one.name: significant(getattr(exact, one.name), 40, up=True) for one in fields(exact)})
    # a charge of nothing, or of more than the cost of the whole, would let the sum be rewritten at will
    if found == Spend() or not found.within(most):
        raise ValueError("no parts cost this")
    return found


def unknown(entries: Sequence[Entry]) -> Entry | None:
    """Return the first entry of a kind that this version does not know, or None."""
    return next((one for one in entries if one.kind not in KINDS), None)


@dataclass
class _Books:
    """Running totals: the budget in force, the sums spent, the limits, and how many entries of each kind came so far.

    own: number of charges and sum spent, by analyst.
    """

    budget: Budget
    spent: Spend = field(default_factory=Spend)
    own: dict[str, tuple[int, Spend]] = field(default_factory=dict[str, tuple[int, Spend]])
    limits: dict[str, Budget] = field(default_factory=dict[str, Budget])
    charges: int = 0
    raises: int = 0
    changes: int = 0

    def take(self, entry: Entry) -> bool:
        """Add the next entry; False where it contradicts the totals."""
        take = {"charge": self._charge, "raise": self._raise, "limit": self._limit}.get(entry.kind)
        # headers, tables, names and releases change no sum
        return take is None or take(entry)

    def _charge(self, entry: Entry) -> bool:
        """Add a charge; return whether its number and sum are right and the budget admits it."""
        words = entry.words
        price = _price(self.budget, Cost.from_dict(words["cost"]), words.get("charged"))
        self.charges, self.spent = self.charges + 1, self.spent + price
        # the recorded sum is compared with one added up afresh: an edited price cannot hide behind recomputed hashes
        summed = words["number"] == self.charges and Spend.from_dict(words["spent"]) == self.spent
        return summed and self.budget.holds(self.spent) and self._analyst(words.get("analyst"), price)

    def _analyst(self, words: Mapping[str, Any] | None, price: Spend) -> bool:
        """Add a charge to its analyst's sum; return whether the sum is right and within the analyst's limit."""
        if words is None:
            return True
        name = words["name"]
        count, before = self.own.get(name, (0, Spend()))
        self.own[name] = (count + 1, before + price)
        return (words["number"], Spend.from_dict(words["spent"])) == self.own[name] and self._within(name)

    def _within(self, analyst: str) -> bool:
        """Return whether an analyst's sum is within the limit in force."""
        limit = self.limits.get(analyst)
        return limit is None or limit.holds(self.own.get(analyst, (0, Spend()))[1])

    def _raise(self, entry: Entry) -> bool:
        """Raise the total; return whether the entry names the earlier total, is upward and has a note."""
        found = raise_of(entry, self.charges)
        self.raises += 1
        fits = found.number == self.raises and found.before == self.budget and found.total != self.budget
        fits = fits and is_upward(self.budget, found.total) and bool(found.note.strip())
        self.budget = found.total
        return fits

    def _limit(self, entry: Entry) -> bool:
        """Set an analyst's limit; return whether the entry names the earlier limit and the charges so far fit."""
        found = limit_of(entry, self.charges)
        self.changes += 1
        fits = found.number == self.changes and found.before == self.limits.get(found.analyst)
        self.limits[found.analyst] = found.most
        return fits and same_words(self.budget, found.most) and self._within(found.analyst) and bool(found.note.strip())

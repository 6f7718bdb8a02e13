"""Recorded changes of a ledger's budget: raises of the total, and limits of one analyst.  Pure values.

Each is one entry of the chain.  A raise holds the totals before and after it; the newest is the budget in force.  A
limit holds the most that one analyst may spend, before and after.  Neither changes what was charged.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tacit.base.arguments import described
from tacit.errors import BudgetError, LedgerError
from tacit.ledger.chain import Entry, checked_text
from tacit.privacy import Budget, Spend

LONGEST: Final = 100
"""The most characters of an analyst's name."""


@dataclass(frozen=True)
class Raise:
    """A raise of the total budget; `after` is the number of the last charge before it, 0 where there was none."""

    number: int
    before: Budget
    total: Budget
    note: str
    date: str
    after: int

    @property
    def words(self) -> str:
        """Return the change as text: "ρ = 0.5 to ρ = 0.8"."""
        return f"{self.before} to {self.total}"


@dataclass(frozen=True)
class Limit:
    """The most that one analyst may spend from this entry on; `before` is None for a first limit."""

    number: int
    analyst: str
    before: Budget | None
    most: Budget
    note: str
    date: str
    after: int

    @property
    def words(self) -> str:
        """Return the change as text: "no limit to ρ = 0.2"."""
        return f"{'no limit' if self.before is None else self.before} to {self.most}"


Act: TypeAlias = Raise | Limit


@dataclass(frozen=True)
class Standing:
    """The total budget and the sum of charges at one moment; with an analyst, also that analyst's limit and charges."""

    budget: Budget
    spent: Spend
    analyst: str | None = None
    limit: Budget | None = None
    own: Spend = field(default_factory=Spend)

    def describe(self) -> str:
        """Say what is left: "left 0.49 of 0.50 · alice: left 0.10 of 0.20"; no second part without a limit."""
        whole = self.budget.describe_left(self.spent)
        return whole if self.limit is None else f"{whole} · {self.analyst}: {self.limit.describe_left(self.own)}"


def checked_analyst(name: object) -> str:
    """Return an analyst's name in Unicode form NFC; LedgerError L22 for an invalid one."""
    wrong = not isinstance(name, str) or not name.isprintable() or name != name.strip() or not 0 < len(name) <= LONGEST
    if wrong:
        message = f"the analyst's name {described(name)} is not text of 1 to {LONGEST} printable characters."
        raise LedgerError(message, code="L22", hint='analyst="alice"')
    # a name typed with composed or with combining accents is one analyst, under one limit
    return unicodedata.normalize("NFC", str(name))


def checked_note(note: object) -> str:
    """Return the note of a raise or a limit; LedgerError L21 where it is empty."""
    if not isinstance(note, str) or not note.strip():
        message = "a raise or a limit is recorded with a note: who decided it, and where it is written."
        raise LedgerError(message, code="L21", hint='note="board 31"')
    checked_text(note)
    return note


def is_upward(before: Budget, total: Budget) -> bool:
    """Whether `total` has the parameters, relation and accounting of `before`, and none of them is lower.

    The ρ (or μ²) in which an (ε, δ) budget is accounted must not fall either, so that earlier charges stay within every
    later total.
    """
    pairs = [(getattr(before, name), getattr(total, name)) for name in ("epsilon", "delta", "rho", "reserved_delta")]
    # a parameter that appears or vanishes would be a promise of another form, not a higher one
    if any((old is None) != (new is None) for old, new in pairs) or not same_words(before, total):
        return False
    return all(old is None or old <= new for old, new in pairs) and before.limit.within(total.limit)


def same_words(one: Budget, other: Budget) -> bool:
    """Return whether two budgets add costs in the same way and protect against the same neighbours."""
    return (one.kind, one.neighbors) == (other.kind, other.neighbors)


def refused_raise(where: str | None, before: Budget, total: Budget) -> BudgetError:
    """Return the error B13 of a total that is no raise."""
    message = (
        f"{where or 'the ledger'} promises {before} ({before.neighbors}), which {total} ({total.neighbors}) is no "
        "raise of: a total is only raised, in the kind, accounting and relation that it has."
    )
    return BudgetError(message, code="B13", hint=f"a total above {before}")


def acts_of(entries: Iterable[Entry]) -> list[Act]:
    """Return all raises and limits of a chain, in order."""
    found: list[Act] = []
    after = 0
    for one in entries:
        if one.kind == "charge":
            after = one.words["number"]
        elif one.kind == "raise":
            found.append(raise_of(one, after))
        elif one.kind == "limit":
            found.append(limit_of(one, after))
    return found


def raise_of(entry: Entry, after: int) -> Raise:
    """Read an entry of kind "raise"."""
    words = entry.words
    before, total = Budget.from_dict(words["before"]), Budget.from_dict(words["total"])
    return Raise(words["number"], before, total, words["note"], words["date"], after)


def limit_of(entry: Entry, after: int) -> Limit:
    """Read an entry of kind "limit"."""
    words = entry.words
    before = None if words["before"] is None else Budget.from_dict(words["before"])
    most = Budget.from_dict(words["limit"])
    return Limit(words["number"], words["analyst"], before, most, words["note"], words["date"], after)


def one_line(text: str) -> str:
    """Return a note as one line of printable characters, so that no control sequence reaches a terminal."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())

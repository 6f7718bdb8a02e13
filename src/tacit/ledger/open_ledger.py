"""Opening or making a ledger, and the check of its budget and unit of privacy.  INSIDE the wall."""

from __future__ import annotations

import secrets
from functools import partial
from pathlib import Path

from tacit.errors import BudgetError, LedgerError
from tacit.ledger.acts import Raise, is_upward, one_line
from tacit.ledger.chain import Entry, linked
from tacit.ledger.entry_forms import FORMAT
from tacit.ledger.entry_store import Store, Tx
from tacit.ledger.ledger import Ledger
from tacit.ledger.stored_header import closing_on_failure, header_of, header_words, recorded_header, store_at
from tacit.privacy import Budget
from tacit.privacy.exact_numbers import plain


def unit_of(where: str | Path) -> int | None:
    """Return the unit of privacy of an existing ledger: the most rows of a person, None for one row each."""
    ledger = open_recorded(where)
    ledger.close()
    return ledger.unit


def open_recorded(where: str | Path) -> Ledger:
    """Open an existing ledger with its own budget and unit; LedgerError L03 where there is none."""
    store = store_at(where)
    with closing_on_failure(store):
        header = recorded_header(store, where)
        return _same(store, header, None, header_words(store, header)["unit"])


def open_ledger(where: str | Path | None, *, budget: Budget | None, unit: int | None) -> Ledger:
    """Open a ledger, or make one (which takes a budget).

    where: a path; a "postgresql://" URL; None for memory only.  budget: the total in force; after a recorded raise the
    earlier total is refused, so that no code goes on stating a budget that no longer holds.  An (ε, δ) pair that names
    no accounting is accounted in μ² by a new ledger, and in ρ by one that was made so.  unit: the most rows a person
    may have, None for one.  Raises LedgerError: L01 another budget, L02 another unit of privacy, L03 no ledger, L04 a
    network file system, L06 out of reach, L07 held by another process, L08 no room, L10 damage, or no header, L15 a
    later version; BudgetError B11 without a budget.

    >>> ledger = open_ledger(None, budget=Budget(rho=1), unit=None)
    >>> ledger.spent().rho
    Fraction(0, 1)
    """
    store = store_at(where)
    with closing_on_failure(store):
        if not store.exists():
            if budget is None:
                message = f"there is no ledger at {store.where}; a new one takes a budget."
                raise BudgetError(message, code="B11", hint="budget=tc.Budget(rho=0.5)")
            store.create(partial(_write_header, budget, unit))
        return _same(store, header_of(store), budget, unit)


def _write_header(budget: Budget, unit: int | None, tx: Tx) -> None:
    """Append the header; where another process made the ledger first, its header stands (`Store.create`)."""
    # the random id makes the hash of the header, the ledger's identity, unlike that of a ledger with the same promise
    words = {"format": FORMAT, "budget": budget.to_dict(), "unit": unit, "id": secrets.token_hex(16)}
    tx.append(linked(None, "header", "", words))


def _same(store: Store, header: Entry, budget: Budget | None, unit: int | None) -> Ledger:
    """Return the ledger; LedgerError L01 for another budget, L02 for another unit, L15 for a later format."""
    words = header_words(store, header)
    first = Budget.from_dict(words["budget"])
    ledger = Ledger(store, first, unit, header.hash)
    # the total in force, raises included; `under` gives a pair without accounting that of the header
    if budget is not None and budget.under(ledger.first) != ledger.budget:
        raise _another(ledger, budget.under(ledger.first))
    if words["unit"] != unit:
        message = f"ledger {store.where} protects {_unit(words['unit'])}; this schema says {_unit(unit)}."
        raise LedgerError(message, code="L02", hint="another ledger for another unit of privacy")
    return ledger


def _another(ledger: Ledger, given: Budget) -> LedgerError:
    """Return the error L01: the ledger's budget, its last raise, and the budget given."""
    raises = [one for one in ledger.acts() if isinstance(one, Raise)]
    now = raises[-1].total if raises else ledger.first
    since = "".join(f", raised from {one.before} on {one.date} ({one_line(one.note)})" for one in raises[-1:])
    message = (
        f"ledger {ledger.where} promises {now} ({now.neighbors}){since}; this budget is {given} ({given.neighbors})."
    )
    hint = f"write {now}, or leave the budget out" if raises else "leave budget= out to use the ledger's own"
    if is_upward(now, given):
        options = ", ".join(
            f"{name}={plain(value)}"
            for name in ("rho", "epsilon", "delta")
            if (value := getattr(given, name)) is not None and value != getattr(now, name)
        )
        hint = f'{hint}; a raise is recorded: curator.raise_budget({options}, note="board 31")'
    return LedgerError(message, code="L01", hint=hint)


def _unit(unit: int | None) -> str:
    """Describe a unit of privacy in an error message."""
    return "one row each" if unit is None else f"persons of at most {unit} rows"

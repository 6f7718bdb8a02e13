"""Defaults of a table's name and of the path of its ledger.  INSIDE the wall."""

from __future__ import annotations

from pathlib import Path

from tacit.base.json_text import is_text, shown
from tacit.errors import BudgetError, LedgerError
from tacit.privacy import Budget


def ledger_place(path: Path | None, ledger: str | Path | None) -> str | None:
    """Return the ledger given, or `<file>.ledger` beside a file; None for a table in memory."""
    if ledger is not None:
        return str(ledger)
    return None if path is None else f"{path}.ledger"


def _text(name: str) -> str:
    """Return the name; LedgerError L20 where it holds a lone surrogate, which has no UTF-8 form."""
    if not is_text(name):
        raise LedgerError(f"the name {shown(name)} is not valid text.", code="L20", hint='name="lfs-2024"')
    return name


def table_name(name: str | None, path: Path | None, where: str | None) -> str:
    """Return the name given, or a path's stem; LedgerError L20 where a table in a ledger would have no name."""
    if name is not None:
        if not name.strip():
            raise LedgerError(
                "name= is empty: it says which people, which edition.", code="L20", hint='name="lfs-2024"'
            )
        return _text(name)
    if path is not None:
        return _text(path.stem)
    if where is not None:
        message = "a frame recorded in a ledger needs name=: which people, which edition."
        raise LedgerError(message, code="L20", hint='name="lfs-2024"')
    return "table"


def needs_budget(budget: Budget | None, where: str | None) -> None:
    """Raise BudgetError B10 for a table in memory without a budget."""
    if budget is None and where is None:
        raise BudgetError("a table in memory needs a budget.", code="B10", hint="budget=tc.Budget(rho=0.5)")

"""Names: of a table and of the column of its persons, and the path of its ledger.  INSIDE the wall."""

from __future__ import annotations

import os
from pathlib import Path

from tacit.base.arguments import described
from tacit.base.json_text import is_text, shown
from tacit.errors import BudgetError, LedgerError, StudyError
from tacit.privacy import Budget
from tacit.schema import Schema
from tacit.study import Site


def ledger_place(path: Path | None, ledger: str | Path | None) -> str | None:
    """Return the ledger given, or that beside a file (`ledger_beside`); None for a table in memory."""
    if ledger is not None:
        return str(ledger)
    return None if path is None else ledger_beside(path)


def ledger_beside(path: str | Path) -> str:
    """Return the ledger of a file for which none is given: `<file>.ledger`, of a symbolic link beside its target.

    A link is another name of the same rows: with a ledger of its own they would have the whole budget once more.  A
    ledger that an earlier version made beside the link stays in use; LedgerError L93 where there are two.
    """
    own, target = f"{path}.ledger", os.path.realpath(path)
    place = Path(path)
    if os.path.join(os.path.realpath(place.parent), place.name) == target:
        return own
    beside = f"{target}.ledger"
    if not os.path.exists(own):
        return beside
    if os.path.exists(beside) and not os.path.samefile(own, beside):
        text = f"{path} is a link to {target}, and there is a ledger beside either: which one counts is not known."
        raise LedgerError(text, code="L93", hint=f"ledger={beside!r}, with all charges about these rows")
    return own


def _text(name: str) -> str:
    """Return the name; LedgerError L20 where it holds a lone surrogate, which has no UTF-8 form."""
    if not is_text(name):
        raise LedgerError(f"the name {shown(name)} is not valid text.", code="L20", hint='name="lfs-2024"')
    return name


def checked_arguments(name: object, budget: object, ledger: object, site: object) -> None:
    """Raise an error for arguments of `Curator` of a wrong type: L20 (name), B16 (budget), L06 (ledger), P04 (site)."""
    if name is not None and not isinstance(name, str):
        raise LedgerError(f"name is {described(name)}: not text.", code="L20", hint='name="lfs-2024"')
    if budget is not None and not isinstance(budget, Budget):
        number = isinstance(budget, int | float) and not isinstance(budget, bool) and 0 < budget <= 100
        hint = f"budget=tc.Budget(epsilon={described(budget)})" if number else "budget=tc.Budget(epsilon=1)"
        raise BudgetError(f"budget is {described(budget)}: a Budget says in what it counts.", code="B16", hint=hint)
    if ledger is not None and not isinstance(ledger, str | Path):
        raise LedgerError(f"ledger is {described(ledger)}: not a path.", code="L06", hint='ledger="people.ledger"')
    if site is not None and not isinstance(site, Site):
        text = f"site is {described(site)}: not a site."
        raise StudyError(text, code="P04", hint='site=tc.Site.load("st-mary.toml", study)')


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


def column_of_persons(schema: Schema) -> str | None:
    """Return the column that identifies persons, as the schema says that the table names it; None without any."""
    return None if schema.unit is None else schema.source(schema.unit)


def found_persons(schema: Schema, site: Site | None) -> str | None:
    """Return the column of the table itself that identifies persons: that of the site's map, where it has one."""
    mapped = None if site is None or schema.unit is None else site.columns.get(schema.unit)
    return column_of_persons(schema) if mapped is None else mapped.column


def needs_budget(budget: Budget | None, where: str | None) -> None:
    """Raise BudgetError B10 for a table in memory without a budget."""
    if budget is None and where is None:
        raise BudgetError("a table in memory needs a budget.", code="B10", hint="budget=tc.Budget(rho=0.5)")

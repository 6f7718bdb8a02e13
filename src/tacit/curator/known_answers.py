"""What a ledger knows of questions before they are asked: an answer that they have, or a name that is taken.

INSIDE the wall; public facts alone.  Nothing is read, charged or written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.curator.ledger_request import charge_of
from tacit.curator.purchase import TableContext
from tacit.curator.request import Questions, Shares, split
from tacit.curator.study_rules import of_edition
from tacit.errors import LedgerError
from tacit.ledger.taken_names import known_already
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.release.query import Query
from tacit.study import Study


def known_words(
    query: Query[Any] | Mapping[str, Query[Any]],
    shares: Shares | None,
    cost: Cost,
    context: TableContext,
    public: Public,
    study: Study | None,
) -> tuple[str, bool]:
    """Return what the ledger knows of questions at a price, in words, "" for nothing, and whether they are free."""
    one = isinstance(query, Query)
    parts = ((None, query, cost),) if one else split(query, cost, shares, context.schema)
    try:
        charge = charge_of(Questions(parts, cost, "", study), context.asked, context.ledger, public)
    except LedgerError as problem:
        if problem.code != "L09":
            raise
        return f"the release would be refused: {of_edition(problem, study).message}", False
    return ("", False) if charge is None else (known_already(charge), True)

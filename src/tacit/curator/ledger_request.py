"""What a ledger is asked to charge, and whether it was asked before.  INSIDE the wall; public facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.base.json_text import canonical
from tacit.base.muted import silent
from tacit.curator.mechanisms import design
from tacit.curator.request import Questions
from tacit.curator.settled import settled
from tacit.ledger import Charge, Ledger, Request
from tacit.ledger.taken_names import taken_name
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.price_parts import price_parts
from tacit.privacy import Cost
from tacit.release.query_checks import of_numbers
from tacit.schema import Schema


@dataclass(frozen=True)
class AskedTable:
    """Of which table is asked, and by whom.

    unit: the most rows a person may have, None where each row is a person.
    """

    table: str
    schema: Schema
    neighbors: str
    unit: int | None
    analyst: str | None = None


def request_of(questions: Questions, designs: Sequence[Measurement], asked: AskedTable) -> Request:
    """Return the request to the ledger, whose question is canonical JSON of public facts, never a digest of rows."""
    question = {
        "table": asked.table,
        "schema": asked.schema.digest(),
        "neighbors": asked.neighbors,
        "unit": asked.unit,
        # with the versions of the mechanisms: an answer of an earlier one is not returned for the new one
        "mechanism": "+".join(sorted({one.mechanism for one in designs})),
        "cost": questions.cost.to_dict(),
        "ask": [
            # the name of a single question is no part of it: asked under another name it is free
            [name if questions.several else None, query.to_dict(), _price(cost)]
            for name, query, cost in questions.parts
        ],
    }
    names = tuple(name for name, _, _ in questions.parts if name is not None)
    bought = price_parts(designs)
    return Request(asked.table, names, canonical(question), questions.cost, questions.note, asked.analyst, bought)


def asked_before(questions: Questions, asked: AskedTable, ledger: Ledger, rows: int | None) -> Charge | None:
    """Return the charge that these questions have already, None for none; nothing is read, charged or written.

    rows: the number of rows (persons), where it may be known.  LedgerError L09 where another question has one of the
    names, as the release would raise it; other errors as `Curator.release`.
    """
    accounting, public_size = ledger.first.kind, asked.neighbors == "replace-one"
    public = Public(asked.schema, asked.neighbors, rows if public_size else None, rows, accounting)
    return charge_of(questions, asked, ledger, public)


def charge_of(questions: Questions, asked: AskedTable, ledger: Ledger, public: Public) -> Charge | None:
    """As `asked_before`, with all that is public of the table."""
    with silent():
        designs = [design(of_numbers(query, asked.schema), public, cost) for _, query, cost in questions.parts]
    request = request_of(settled(questions, designs, ledger.first.kind), designs, asked)
    found = ledger.find(request.digest)
    if found is None:
        for name in request.names:
            taken = ledger.named(asked.table, name)
            if taken is not None:
                raise taken_name(request, name, taken)
    return found


def _price(cost: Cost) -> dict[str, str]:
    """Write a part's price in a question: μ² as its ρ, as earlier versions did, so that their answers are found."""
    return cost.to_dict() if cost.mu_squared is None else Cost(rho=cost.zcdp).to_dict()

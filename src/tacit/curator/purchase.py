"""How an answer is bought: a durable charge, the data, the noise, the stored release, and only then the answer.

INSIDE the wall.  The order of `answer` and `_buy` is law 3; `guarded` is law 7.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

from tacit.base.json_text import canonical
from tacit.curator import study_rules as studied
from tacit.curator.guard import guarded
from tacit.curator.mechanisms import measure
from tacit.curator.request import Asked
from tacit.curator.stored_releases import stored
from tacit.errors import LedgerError
from tacit.ledger import Charge, Ledger, Request
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.price_parts import price_parts
from tacit.privacy import Cost
from tacit.release.document import Release, Releases
from tacit.release.parts import Part
from tacit.release.query import Query
from tacit.release.registry import ready, release_class
from tacit.schema import Schema
from tacit.source import Source
from tacit.source.pass_progress import reading
from tacit.study import Study

VERSION: Final = "0.1.0"


@dataclass(frozen=True)
class Behind:
    """What stands behind the door: a table and what is public of it, its ledger, and who asks."""

    name: str
    schema: Schema
    rows: int | None
    unit: int | None
    analyst: str | None
    ledger: Ledger
    source: Source

    @property
    def length_is_public(self) -> bool:
        """Whether the number of rows is: under replace-one, where each row is a person."""
        return self.rows is not None and self.unit is None

    @property
    def remaining(self) -> str:
        """What is left, in words."""
        return self.ledger.standing(self.analyst).describe()


def answer(asked: Asked, designs: Sequence[Measurement], behind: Behind) -> tuple[Release, ...]:
    """Law 3, first half: after public checks a stored answer; or a durable charge, then the data."""
    behind.ledger.first.spend(asked.cost)  # a price this budget cannot add is refused before anything else
    request = _request(asked, designs, behind)
    request = _once_more(request, asked, behind.ledger) if asked.fresh else request
    bought = behind.ledger.find(request.digest)
    if bought is None or bought.release is None:
        if bought is None:  # a charge of before the last day buys its answer after it
            studied.still_open(asked.study)
        for one in designs:
            ready(one.kind)
        _source_ready(behind)
        charge = behind.ledger.charge(request)
        bought = charge if charge.release is not None else _buy(asked, designs, charge, behind)
    return _read(bought, asked.study, behind)


def _buy(asked: Asked, designs: Sequence[Measurement], charge: Charge, behind: Behind) -> Charge:
    """Law 3, second half, of which one error can come but those of the ledger: no frame of it holds an answer.

    A failure leaves the charge; asked again, it has new noise, so that nobody may keep what this one had.
    """
    return guarded(partial(_bought, asked, designs, charge, behind), log_of(behind.ledger), LedgerError)


def _bought(asked: Asked, designs: Sequence[Measurement], charge: Charge, behind: Behind) -> Charge:
    """The charge stands; read rows, add noise, store, and only then return."""
    noisy = _measured(designs, behind)
    made = [
        _document(one, parts, part, charge, asked.study, behind)
        for one, parts, part in zip(designs, noisy, asked.parts, strict=True)
    ]
    text = Releases(tuple((f"{i}", one) for i, one in enumerate(made))).to_json()
    return replace(charge, release=behind.ledger.store(charge.number, text))


def _measured(designs: Sequence[Measurement], behind: Behind) -> list[tuple[Part, ...]]:
    """READS ROWS.  Noisy integers of each design; a phase a question only where lengths of time tell nothing new."""
    if not behind.length_is_public:
        with reading("reading the table, once a question", bar=False):
            return [measure(one, behind.source) for one in designs]
    found: list[tuple[Part, ...]] = []
    for i, one in enumerate(designs, start=1):
        of = f", question {i} of {len(designs)}" if len(designs) > 1 else ""
        with reading(f"reading the table{of}", bar=True):
            found.append(measure(one, behind.source))
    return found


def log_of(ledger: Ledger) -> Path | None:
    """The curator's own log, beside a ledger that is a file."""
    return None if ledger.where is None or "://" in ledger.where else Path(ledger.where + ".log")


def _document(
    shape: Measurement,
    parts: tuple[Part, ...],
    part: tuple[str | None, Query[Any], Cost],
    charge: Charge,
    study: Study | None,
    behind: Behind,
) -> Release:
    return release_class(shape.kind)(
        query=shape.query,
        mechanism=shape.mechanism,
        table=behind.name,
        schema=behind.schema.digest(),
        neighbors=behind.ledger.first.neighbors,
        unit=behind.unit,
        rows=behind.rows,
        levels=shape.levels,
        axes=shape.axes,
        parts=parts,
        cost=part[2],
        charge=charge.number,
        head=charge.head,
        date=charge.date,
        version=VERSION,
        name=part[0],
        recorded=behind.ledger.where is not None,
        ledger=behind.ledger.identity,
        study=None if study is None else study.digest(),
        ordered=shape.ordered,
        variables=shape.variables,
    )


def _request(asked: Asked, designs: Sequence[Measurement], behind: Behind) -> Request:
    """The question as the ledger remembers it: never a digest of rows."""
    question = {
        "table": behind.name,
        "schema": behind.schema.digest(),
        "neighbors": behind.ledger.first.neighbors,
        "unit": behind.unit,
        "mechanism": "+".join(sorted({one.mechanism for one in designs})),
        "cost": asked.cost.to_dict(),
        "ask": [[name if asked.several else None, query.to_dict(), _said(cost)] for name, query, cost in asked.parts],
    }
    names = tuple(name for name, _, _ in asked.parts if name is not None)
    bought = price_parts(designs)
    return Request(behind.name, names, canonical(question), asked.cost, asked.note, behind.analyst, bought)


def _once_more(request: Request, asked: Asked, ledger: Ledger) -> Request:
    """The first repetition of a question that has no answer yet: a charge that a crash left without one is resumed.

    Names of several questions stay those of the first answers; a name that one question is given must be a new one.
    """
    if asked.several:
        request = replace(request, names=())
    for number in count(1):
        words = {**json.loads(request.question), "again": number}
        again = replace(request, question=canonical(words))
        found = ledger.find(again.digest)
        if found is None or found.release is None:
            return again
    raise AssertionError


def _said(cost: Cost) -> dict[str, str]:
    """A part's price in a question: a share of a pair as the ρ that it once was, so that old answers are found."""
    return cost.to_dict() if cost.mu_squared is None else Cost(rho=cost.zcdp).to_dict()


def _read(charge: Charge, study: Study | None, behind: Behind) -> tuple[Release, ...]:
    """The stored document, as releases that know what is left.

    A study that asks the same of the same columns at the same price is answered by it, whatever was asked first.
    """
    found = tuple(stored(charge, behind.ledger.where).with_remaining(behind.remaining).values())
    return found if study is None else tuple(replace(one, study=study.digest()) for one in found)


def _source_ready(behind: Behind) -> None:
    """A user's connection with an unfinished result is refused before the charge."""
    ready = getattr(behind.source, "ready", None)
    if ready is not None:
        ready()

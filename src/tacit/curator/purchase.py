"""Buying an answer, in this order: record a durable charge, read rows, add noise, store the release, return it.

INSIDE the wall.  Law 3 is the order of `answer` and `_bought`; law 7 is `guarded`.
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
from tacit.curator import study_rules
from tacit.curator.guard import guarded
from tacit.curator.ledger_request import AskedTable, request_of
from tacit.curator.mechanisms import measure
from tacit.curator.request import Questions
from tacit.curator.stored_releases import stored
from tacit.errors import LedgerError
from tacit.ledger import Charge, Ledger, Request
from tacit.method.additive.statistic import AdditiveStatistic, admit
from tacit.method.shared.default_boxes import refuse_unfit_boxes
from tacit.method.shared.measurement import Measurement
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
class TableContext:
    """A curator's table with its public facts, its ledger, and the analyst who asks.

    rows: number of rows (persons) where it is public, else None.  unit: the most rows a person may have, None for one.
    """

    name: str
    schema: Schema
    rows: int | None
    unit: int | None
    analyst: str | None
    ledger: Ledger
    source: Source
    trust: tuple[AdditiveStatistic, ...] = ()
    """The users' own statistics that may touch the rows."""

    @property
    def length_is_public(self) -> bool:
        """Whether the number of rows is public: under replace-one, where each row is a person."""
        return self.rows is not None and self.unit is None

    @property
    def asked(self) -> AskedTable:
        """Of which table is asked, and by whom."""
        return AskedTable(self.name, self.schema, self.ledger.first.neighbors, self.unit, self.analyst)

    @property
    def remaining(self) -> str:
        """What is left, in words."""
        return self.ledger.standing(self.analyst).describe()


def answer(questions: Questions, designs: Sequence[Measurement], context: TableContext) -> tuple[Release, ...]:
    """Return a stored answer where there is one, else charge and buy it (law 3); public checks come first."""
    charge = charged(questions, designs, context)
    bought = charge if charge.release is not None else _buy(questions, designs, charge, context)
    # the stored text, not the objects made from it: where two processes resumed one charge both return the same
    return _read(bought, questions.study, context)


def charged(questions: Questions, designs: Sequence[Measurement], context: TableContext) -> Charge:
    """Return the durable charge of the questions, with its stored answer if there is one; public checks come first."""
    context.ledger.first.spend(questions.cost)  # a price this budget cannot add is refused before anything else
    request = request_of(questions, designs, context.asked)
    request = _once_more(request, questions, context.ledger) if questions.fresh else request
    # before the next checks: an answer that was bought stays free when the study has closed or the engine is gone
    bought = context.ledger.find(request.digest)
    if bought is not None and bought.release is not None:
        return bought
    if bought is None:  # a charge made before the study closed may still be answered afterwards
        study_rules.still_open(questions.study)
        for one in designs:  # and so may one of a version that did not look at boxes
            refuse_unfit_boxes(one.query, context.schema)
    for one in designs:
        admit(one.query, context.schema, context.trust)
        ready(one.kind)
    source_ready(context)
    return _charged(request, questions.study, context)


def _charged(request: Request, study: Study | None, context: TableContext) -> Charge:
    """Charge the ledger; LedgerError L09 of an edited study says what whoever wrote it has to change."""
    try:
        return context.ledger.charge(request)
    except LedgerError as problem:
        raise study_rules.of_edition(problem, study) from None


def _buy(questions: Questions, designs: Sequence[Measurement], charge: Charge, context: TableContext) -> Charge:
    """Buy an answer under an existing charge; only MachineError and LedgerError can leave, without a traceback.

    A failure leaves the charge; when the question is asked again the noise is drawn anew, so no traceback may show the
    answer of the failed attempt: two answers to one charge would cost twice.
    """
    return guarded(partial(_bought, questions, designs, charge, context), log_of(context.ledger), LedgerError)


def _bought(questions: Questions, designs: Sequence[Measurement], charge: Charge, context: TableContext) -> Charge:
    """Read rows, add noise, store the release, and return the charge with what was stored."""
    # only noisy integers leave this call: nothing after it touches rows
    noisy = _measured(designs, context)
    made = [
        document(one, parts, part, charge, questions.study, context)
        for one, parts, part in zip(designs, noisy, questions.parts, strict=True)
    ]
    # one document for all answers of the charge: stored together or not at all
    text = Releases(tuple((f"{i}", one) for i, one in enumerate(made))).to_json()
    return replace(charge, release=context.ledger.store(charge.number, text))


def _measured(designs: Sequence[Measurement], context: TableContext) -> list[tuple[Part, ...]]:
    """READS ROWS.  Return the noisy integers of each design.

    Progress is shown per question only where the number of rows is public, since the time taken reveals it.
    """
    if not context.length_is_public:
        with reading("reading the table, once a question", bar=False):
            return [measure(one, context.source) for one in designs]
    found: list[tuple[Part, ...]] = []
    for i, one in enumerate(designs, start=1):
        of = f", question {i} of {len(designs)}" if len(designs) > 1 else ""
        with reading(f"reading the table{of}", bar=True):
            found.append(measure(one, context.source))
    return found


def log_of(ledger: Ledger) -> Path | None:
    """Return the path of the curator's log, beside a ledger that is a file; None for other ledgers."""
    return None if ledger.where is None else log_of_path(ledger.where)


def log_of_path(where: str) -> Path | None:
    """Return the path of the curator's log, beside the ledger at `where`; None for one on a server."""
    return None if "://" in where else Path(where + ".log")


def document(
    shape: Measurement,
    parts: tuple[Part, ...],
    part: tuple[str | None, Query[Any], Cost],
    charge: Charge,
    study: Study | None,
    context: TableContext,
) -> Release:
    """Return the release of protected parts: name, query and price of a question with the facts of its table."""
    return release_class(shape.kind)(
        query=shape.query,
        mechanism=shape.mechanism,
        table=context.name,
        schema=context.schema.digest(),
        neighbors=context.ledger.first.neighbors,
        unit=context.unit,
        rows=context.rows,
        levels=shape.levels,
        axes=shape.axes,
        parts=parts,
        cost=part[2],
        charge=charge.number,
        head=charge.head,
        date=charge.date,
        version=VERSION,
        name=part[0],
        recorded=context.ledger.where is not None,
        ledger=context.ledger.identity,
        study=None if study is None else study.digest(),
        ordered=shape.ordered,
        variables=shape.variables,
    )


def _once_more(request: Request, questions: Questions, ledger: Ledger) -> Request:
    """Number the repetitions of a question and return the first that has no stored answer.

    A charge that a crash left without its answer is thus resumed.  Several questions asked again record no names: these
    stay with the first answers; a name given to one question must be new.
    """
    if questions.several:
        request = replace(request, names=())
    words = json.loads(request.question)
    # another text, hence another digest and another charge: each repetition is paid for
    each = (replace(request, question=canonical({**words, "again": number})) for number in count(1))
    return ledger.first_unanswered(each)


def _read(charge: Charge, study: Study | None, context: TableContext) -> tuple[Release, ...]:
    """Read the stored document back as releases, with the words for what is left of the budget.

    The same question at the same price has one answer, whichever study asked first; it gets the asking study's digest.
    """
    found = tuple(stored(charge, context.ledger.where).with_remaining(context.remaining).values())
    return found if study is None else tuple(replace(one, study=study.digest()) for one in found)


def source_ready(context: TableContext) -> None:
    """Raise SourceError D08, before the charge, where the engine cannot run a query now."""
    ready = getattr(context.source, "ready", None)
    if ready is not None:
        ready()

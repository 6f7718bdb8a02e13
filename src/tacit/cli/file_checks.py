"""Whether a curator's file would be answered: its price within its budget, each question with a design.

For `tacit check`, of public facts alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tacit.curator.mechanisms import design
from tacit.curator.request import split
from tacit.errors import BudgetError, LedgerError, TacitError
from tacit.method.shared.default_boxes import refuse_unfit_boxes
from tacit.method.shared.measurement import Public
from tacit.privacy import Budget, Cost, Spend
from tacit.privacy.refusal import refusal
from tacit.release.query_checks import of_numbers
from tacit.schema import Boolean, Schema
from tacit.schema.row_maps_of_columns import most_rows, unit_of
from tacit.schema.toml_words import located

CONVERTED: Final = (("gdp", "zcdp"), ("zcdp", "approximate"))
"""Kinds of a budget and of a price where the cost depends on what the price buys: noise or selections."""

TEXT: Final = "text file", "text folder"
"""What tables of text are called."""

SIZES: Final = (1_000, 1_000_000)
"""Numbers of rows at which questions are tried where a file gives none."""

if TYPE_CHECKING:
    from tacit.planning import Plan
    from tacit.release.query import Query
    from tacit.study import Study
    from tacit.study.curator_file import Job


def answers_of_text(schema: Schema, kind: str) -> tuple[str, ...]:
    """Return, of a table of text, which words its columns of yes and no are read from: any other cell is missing."""
    names = [name for name, one in schema.items() if isinstance(one, Boolean) and one.computed is None]
    if kind not in TEXT or not names:
        return ()
    from tacit.source.reading.truth_words import FALSE, TRUE

    words = ", ".join(f"{yes}/{no}" for yes, no in zip(TRUE[:-1], FALSE[:-1], strict=True))
    return (
        f"Read of {', '.join(names)}: {words}, in any case; any other cell is missing, and tacit import shows which.",
    )


def check_price(job: Job, ledger: Any, planned: Callable[[], Plan]) -> Budget | None:
    """Return the budget, None where none is known.

    Raises BudgetError B30 where `[spend]` is more than the whole budget, B04 where the budget adds no such price.
    ledger: the file's ledger if it exists, whose total may have been raised since; None otherwise.  planned: makes the
    plan of the file, which knows what a price buys; it is needed where budget and price are of different kinds.
    """
    budget: Budget | None = job.budget if ledger is None else ledger.standing(None).budget
    if budget is None or job.spend is None or not job.asks:
        return budget
    if located("[spend]:")(partial(_admits, budget, job.spend, planned)):
        return budget
    fitting = refusal(budget, Spend(), job.spend, None, 0, len(job.asks)).hint
    whose, larger = "its [budget] is", "or a larger [budget], before the ledger is made"
    if ledger is not None:
        whose, larger = (
            "the total of its ledger is",
            'or raise the total: tacit budget LEDGER, with --note "who decided"',
        )
    message = f"[spend] is {job.spend}; {whose} {budget}, for all releases together."
    raise BudgetError(message, code="B30", hint=f"{fitting}; {larger}")


def asked_before(job: Job | Study, table: str, cost: Cost, analyst: str | None, ledger: Any) -> Any:  # Charge | None
    """Return the charge that a file's questions have already, None for none; LedgerError L09 for a name that is taken.

    table: its name in the ledger.  Where the number of rows is public, it is the one that the ledger has on record.
    """
    from tacit.curator.ledger_request import AskedTable, asked_before
    from tacit.curator.request import Questions
    from tacit.curator.study_rules import of_edition, size_hint
    from tacit.ledger.recorded_rows import recorded_rows
    from tacit.study import Study

    if ledger is None or not job.asks:
        return None
    study = job if isinstance(job, Study) else None
    rows, public = recorded_rows(ledger, table), ledger.first.neighbors == "replace-one"
    if public and rows is None:  # a table that it never had
        return None
    rows = rows if public else job.rows if study is None else size_hint(None, study, table)
    unit = None if unit_of(job.schema) is None else most_rows(job.schema)
    asked = AskedTable(table, job.schema, ledger.first.neighbors, unit, analyst)
    try:
        return asked_before(Questions(split(job.asks, cost, job.shares, job.schema), cost, ""), asked, ledger, rows)
    except LedgerError as problem:
        raise of_edition(problem, study) from None


def check_questions(job: Job | Study, budget: Budget | None) -> None:
    """Raise, with its section, what would refuse a question: a group without levels, bins that are none, and the like.

    Where the number of rows is public and the file does not give it, only what is refused at any of SIZES.
    """
    if budget is None or job.spend is None or not job.asks:
        return
    for name, query, cost in split(job.asks, job.spend, job.shares, job.schema):
        located(f"[ask.{name}]")(partial(_design, job, budget, query, cost))


def _design(job: Job | Study, budget: Budget, query: Query[Any], cost: Cost) -> None:
    refuse_unfit_boxes(query, job.schema)
    public = Public(job.schema, budget.neighbors, None, job.rows, budget.kind)
    given = (job.rows,) if job.rows is not None else SIZES
    sizes = given if budget.neighbors == "replace-one" else (None,)
    refused: list[TacitError] = []
    for rows in sizes:
        try:
            design(of_numbers(query, job.schema), replace(public, rows=rows), cost)
        except TacitError as problem:
            refused.append(problem)
    if len(refused) == len(sizes) and len({one.code for one in refused}) == 1:
        raise refused[0]


def _admits(budget: Budget, cost: Cost, planned: Callable[[], Plan]) -> bool:
    """Return whether a budget of which nothing is spent admits a price."""
    # without what it buys, a price of another kind is taken as the most that it could cost
    if budget.admits(Spend(), cost) or (budget.kind, cost.kind) not in CONVERTED:
        return budget.admits(Spend(), cost)
    try:
        page = planned()
    except TacitError:  # `tacit plan` says why there is none; `tacit release` refuses what costs too much
        return True
    return budget.admits(Spend(), page.charged, page.bought)

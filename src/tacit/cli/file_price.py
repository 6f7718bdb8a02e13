"""Whether the price of a curator's file fits its budget, before anything is asked: for `tacit check`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tacit.errors import BudgetError, TacitError
from tacit.privacy import Budget, Cost, Spend
from tacit.privacy.refusal import refusal
from tacit.schema.toml_words import located

CONVERTED: Final = (("gdp", "zcdp"), ("zcdp", "approximate"))
"""Kinds of a budget and of a price where the cost depends on what the price buys: noise or selections."""

if TYPE_CHECKING:
    from tacit.planning import Plan
    from tacit.study.curator_file import Job


def check_price(job: Job, ledger: Any, planned: Callable[[], Plan]) -> None:
    """Raise BudgetError B30 where `[spend]` is more than the whole budget, B04 where the budget adds no such price.

    ledger: the file's ledger if it exists, whose total may have been raised since; None otherwise.  planned: makes the
    plan of the file, which knows what a price buys; it is needed where budget and price are of different kinds.
    """
    budget: Budget | None = job.budget if ledger is None else ledger.standing(None).budget
    if budget is None or job.spend is None or not job.asks:
        return
    if located("[spend]:")(partial(_admits, budget, job.spend, planned)):
        return
    fitting = refusal(budget, Spend(), job.spend, None, 0, len(job.asks)).hint
    whose, larger = "its [budget] is", "or a larger [budget], before the ledger is made"
    if ledger is not None:
        whose, larger = (
            "the total of its ledger is",
            'or raise the total: tacit budget LEDGER, with --note "who decided"',
        )
    message = f"[spend] is {job.spend}; {whose} {budget}, for all releases together."
    raise BudgetError(message, code="B30", hint=f"{fitting}; {larger}")


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

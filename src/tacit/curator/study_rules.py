"""Rules that a study sets its parties: its schema, its highest price, its closing date.  INSIDE the wall.

Everything here depends on public facts alone: the study, the ledger's budget, today's date.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Final

from tacit.base.arguments import described
from tacit.errors import LedgerError, QueryError, StudyError
from tacit.ledger import Ledger, open_ledger
from tacit.privacy import Budget, Cost, Number
from tacit.schema import Schema
from tacit.study import Site, Study

Prices: Final = ("epsilon", "delta", "rho")


def public_of(given: Schema | Mapping[str, Any] | Study) -> tuple[Schema, Study | None]:
    """Return the schema, and the study where one was given in its place."""
    if isinstance(given, Study):
        return given.schema, given
    return (given if isinstance(given, Schema) else Schema(given)), None


def ledger_of(where: str | None, budget: Budget | None, study: Study | None, unit: int | None) -> Ledger:
    """Open a curator's ledger with the budget given, else with the study's.  LedgerError as `open_ledger`.

    A party that keeps one ledger for several studies of the same people gives the budget of that ledger.
    """
    if study is None or budget is not None:
        if study is not None and budget is not None and budget.neighbors != study.budget.neighbors:
            message = f"the study is {study.budget.neighbors}; this budget is {budget.neighbors}."
            raise LedgerError(message, code="L01", hint=f'Budget(…, neighbors="{study.budget.neighbors}")')
        return open_ledger(where, budget=budget, unit=unit)
    try:
        return open_ledger(where, budget=study.budget, unit=unit)
    except LedgerError as problem:
        if problem.code == "L01":
            problem.hint = "budget= that of the ledger, or a ledger of its own for this study"
        raise


def size_hint(given: int | None, study: Study | None, name: str) -> int | None:
    """Return the approximate number of rows: given, else the study's for this party; QueryError Q41 for no number."""
    if given is not None:
        if isinstance(given, bool) or not isinstance(given, int) or given < 2:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise QueryError(
                f"size_hint is {described(given)}: not a whole number of at least 2.",
                code="Q41",
                hint="size_hint=10_000",
            )
        return given
    if study is None:
        return None
    party = study.parties.get(name)
    return study.rows if party is None or party.rows is None else party.rows


def with_study(site: Site | None, study: Study | None) -> None:
    """Raise StudyError P04 where a site is given without the study that it was loaded for."""
    if site is not None and (study is None or study.digest() != site.study):
        what = "none is given" if study is None else "this is another"
        message = f"{site.path} maps columns to those of a study, and {what}."
        raise StudyError(message, code="P04", hint='site=tc.Site.load("st-mary.toml", study), and that study')


def same(study: Study, own: Study | None) -> None:
    """Raise StudyError P04 unless the study is the one that the curator was made with."""
    if own is None or own.digest() != study.digest():
        message = "the curator was made for another schema than that of this study."
        hint = 'tc.Curator(data, study, name="st-mary", ledger="st-mary.ledger")'
        raise StudyError(message, code="P04", hint=hint)


def price(study: Study, given: Mapping[str, Number | None]) -> dict[str, Number | None]:
    """Return the price given, else the study's; StudyError P02 where it exceeds it under the study's accounting."""
    if all(value is None for value in given.values()):
        return {name: getattr(study.spend, name) for name in Prices}
    cost = Cost.of(**given)
    # compared as charges of the ledger, since prices in ε and in ρ have no order of their own
    if not study.budget.spend(cost).within(study.budget.spend(study.spend)):
        message = f"the study asks for {study.spend} of each party; this price is {cost}."
        raise StudyError(message, code="P02", hint="less, or leave the price out")
    return dict(given)


def own_words(shares: object, name: object, fresh: object = None) -> None:
    """Raise QueryError Q21 for arguments that may not be given with a study, which sets them itself."""
    for word, value in (("shares", shares), ("name", name), ("fresh", fresh or None)):
        if value is not None:
            raise QueryError(
                f"{word}= may not be given with a study, which sets it.", code="Q21", hint=f"leave {word} out"
            )


def still_open(study: Study | None) -> None:
    """Raise StudyError P01 after the study's closing date."""
    if study is None or study.closes is None:
        return
    today = datetime.date.today()
    if today > study.closes:
        message = f"the study closed on {study.closes.isoformat()}; today is {today.isoformat()}."
        hint = f"write to {study.contact or 'whoever runs the study'}: later answers are left out"
        raise StudyError(message, code="P01", hint=hint)


def of_edition(problem: LedgerError, study: Study | None) -> LedgerError:
    """Return an error of the ledger; L09 of a study as that of an edited one, with what whoever wrote it has to change.

    A party cannot rename questions: its answers would be those of no study.
    """
    if study is None or problem.code != "L09":
        return problem
    text = f"{problem.message} This party answered another edition of the study."
    first = next(iter(study.asks))
    hint = (
        f"from whoever wrote the study: an edition in which every question has a new name, [ask.{first}-2], "
        "or a study of the new questions alone"
    )
    return LedgerError(text, code="L09", hint=hint)

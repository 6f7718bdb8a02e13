"""What a study lets its parties do: its price at most, until it closes, by a party it lists.  INSIDE the wall.

Public facts only: the study, the ledger's promise, today's date.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Final

from tacit.errors import LedgerError, QueryError, StudyError
from tacit.ledger import Ledger, open_ledger
from tacit.privacy import Budget, Cost, Number
from tacit.schema import Schema
from tacit.study import Site, Study

Prices: Final = ("epsilon", "delta", "rho")


def public_of(given: Schema | Mapping[str, Any] | Study) -> tuple[Schema, Study | None]:
    """A schema, or a study in its place, as Curator is given one -> schema, study."""
    if isinstance(given, Study):
        return given.schema, given
    return (given if isinstance(given, Schema) else Schema(given)), None


def ledger_of(where: str | None, budget: Budget | None, study: Study | None, unit: int | None) -> Ledger:
    """The ledger of a curator: of the budget given, else of the study's.  LedgerError as `open_ledger`.

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
    """About how many rows there are: as given, else as the study says of this party; QueryError Q41 for no number."""
    if given is not None:
        if isinstance(given, bool) or not isinstance(given, int) or given < 2:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise QueryError(f"size_hint is {given!r}: no number from 2 on.", code="Q41", hint="size_hint=10_000")
        return given
    if study is None:
        return None
    party = study.parties.get(name)
    return study.rows if party is None or party.rows is None else party.rows


def with_study(site: Site | None, study: Study | None) -> None:
    """StudyError P04 for a site without the study that it was read for."""
    if site is not None and (study is None or study.digest() != site.study):
        what = "none is given" if study is None else "this is another"
        message = f"{site.path} maps columns to those of a study, and {what}."
        raise StudyError(message, code="P04", hint='site=tc.Site.load("st-mary.toml", study), and that study')


def same(study: Study, own: Study | None) -> None:
    """StudyError P04 unless it is the curator's own study."""
    if own is None or own.digest() != study.digest():
        message = "the curator was made for another schema than that of this study."
        hint = 'tc.Curator(data, study, name="st-mary", ledger="st-mary.ledger")'
        raise StudyError(message, code="P04", hint=hint)


def price(study: Study, given: Mapping[str, Number | None]) -> dict[str, Number | None]:
    """The study's price, or a lower one; StudyError P02 for a higher one, in the way the study's own budget adds."""
    if all(value is None for value in given.values()):
        return {name: getattr(study.spend, name) for name in Prices}
    cost = Cost.of(**given)
    if not study.budget.spend(cost).within(study.budget.spend(study.spend)):
        message = f"the study asks for {study.spend} of each party; this price is {cost}."
        raise StudyError(message, code="P02", hint="less, or leave the price out")
    return dict(given)


def own_words(shares: object, name: object, fresh: object = None) -> None:
    """QueryError Q21 for words that a study says itself, or that have no place beside one."""
    for word, value in (("shares", shares), ("name", name), ("fresh", fresh or None)):
        if value is not None:
            raise QueryError(f"{word}= beside a study, which says it itself.", code="Q21", hint=f"leave {word} out")


def still_open(study: Study | None) -> None:
    """StudyError P01 after the last day on which answers count."""
    if study is None or study.closes is None:
        return
    today = datetime.date.today()
    if today > study.closes:
        message = f"the study closed on {study.closes.isoformat()}; today is {today.isoformat()}."
        hint = f"write to {study.contact or 'whoever runs the study'}: later answers are left out"
        raise StudyError(message, code="P01", hint=hint)

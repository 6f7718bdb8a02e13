"""Implementation of `tacit explain`: what a price, a ledger, releases or a file's price mean for one person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.cli.output import emit
from tacit.errors import CommandError


@dataclass(frozen=True)
class TablesBeside:
    """The tables that are asked for beside the first.

    releases, parts: numbers of them.  people: of a population.  columns: of means.  attack: whether it is played.
    """

    releases: list[int]
    parts: list[int]
    people: int | None
    columns: int | None
    attack: bool


def explain(
    what: str | None,
    price: dict[str, str | None],
    neighbors: str | None,
    asked: TablesBeside,
    save: str | None,
    plot: str | None,
    as_json: bool,
) -> None:
    """Run `tacit explain`: print the table, and those that are asked for beside it."""
    import tacit as tc

    typed = {name: value for name, value in price.items() if value is not None}
    if (what is None) == (not typed):
        text = "a price is needed, or a file that has one" if what is None else "a file has its own price"
        raise CommandError(f"{text}.", code="C06", hint="tacit explain --epsilon 1, or tacit explain people.ledger")
    numbers: dict[str, Any] = typed
    made = tc.explain(neighbors=neighbors, **numbers) if what is None else tc.explain(what, neighbors=neighbors)
    tables = [made.summary()]
    if asked.releases:
        tables.append(made.composition(asked.releases).summary())
    if asked.parts:
        tables.append(made.partition(asked.parts).summary())
    if asked.people is not None:
        tables.append(made.population(asked.people).summary())
    if asked.columns is not None:
        tables.append(made.minimax(columns=asked.columns).summary())
    if asked.attack:
        tables.append(made.differencing().summary())
    if save is not None:
        made.save(save)
    if plot is not None:
        made.plot().save(plot)
    words: dict[str, Any] = {**made.to_dict(), "tables": [{"title": t.title, "rows": t.cells()} for t in tables[1:]]}
    emit("\n\n".join(str(one) for one in tables), words, as_json)

"""Implementation of `tacit explain`: what a price, a ledger, releases or a file's price mean for one person."""

from __future__ import annotations

from typing import Any

from tacit.cli.output import emit
from tacit.errors import CommandError


def explain(
    what: str | None,
    price: dict[str, str | None],
    neighbors: str | None,
    asked: tuple[list[int], list[int], int | None, int | None, bool],
    save: str | None,
    plot: str | None,
    as_json: bool,
) -> None:
    """Run `tacit explain`: print the table, and those that are asked for beside it.

    asked: numbers of releases, numbers of parts, people of a population, columns of means, whether to play the attack.
    """
    import tacit as tc

    typed = {name: value for name, value in price.items() if value is not None}
    if (what is None) == (not typed):
        text = "a price is needed, or a file that has one" if what is None else "a file has its own price"
        raise CommandError(f"{text}.", code="C06", hint="tacit explain --epsilon 1, or tacit explain people.ledger")
    numbers: dict[str, Any] = typed
    made = tc.explain(neighbors=neighbors, **numbers) if what is None else tc.explain(what, neighbors=neighbors)
    releases, parts, people, columns, attack = asked
    tables = [made.summary()]
    if releases:
        tables.append(made.composition(releases).summary())
    if parts:
        tables.append(made.partition(parts).summary())
    if people is not None:
        tables.append(made.population(people).summary())
    if columns is not None:
        tables.append(made.minimax(columns=columns).summary())
    if attack:
        tables.append(made.differencing().summary())
    if save is not None:
        made.save(save)
    if plot is not None:
        made.plot().save(plot)
    words: dict[str, Any] = {**made.to_dict(), "tables": [{"title": t.title, "rows": t.cells()} for t in tables[1:]]}
    emit("\n\n".join(str(one) for one in tables), words, as_json)

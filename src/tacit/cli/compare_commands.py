"""Implementation of `tacit plan --compare`: of each question of a file, every method that could answer it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.cli.actions import expected_words, price_of, questions_of
from tacit.cli.output import emit, progress_on_terminal
from tacit.cli.saving import one_each, save_tables
from tacit.errors import CommandError
from tacit.privacy import Cost
from tacit.study import Study, read


def compare(
    path: str,
    price: dict[str, str | None],
    wanted: bool,
    level: float | None,
    widths: Sequence[str],
    save: str | None,
    plot: str | None,
    expect: Sequence[str],
    as_json: bool,
) -> None:
    """Run `tacit plan --compare`: print a table for each question, at its share of the price."""
    from tacit.curator.request import split
    from tacit.planning.compare import compare_at

    if not wanted:
        raise CommandError("--plot is of a comparison.", code="C06", hint="--compare --plot widths.png")
    if widths:
        raise CommandError("--compare is at a price, not at a --width.", code="C06", hint="--rho 0.1")
    found = read(path)
    usual = found.combining.level if isinstance(found, Study) else 0.95
    facts: dict[str, Any] = {
        "rows": found.rows,
        "level": usual if level is None else level,
        "neighbors": "replace-one" if found.budget is None else found.budget.neighbors,
        "asks": found.asks,
        "expect": {**found.expect, **expected_words(expect)},
    }
    parts = split(questions_of(found), Cost.of(**price_of(found, price)), found.shares, found.schema)
    with progress_on_terminal():
        made = {str(name): compare_at(part, one, found.schema, name=str(name), **facts) for name, one, part in parts}
    if save is not None:
        save_tables({name: one.summary() for name, one in made.items()}, save, path)
    if plot is not None:
        for name, place in one_each(plot, made, (path,)).items():
            made[name].plot().save(place)
    text = "\n\n".join(one.to_text() for one in made.values())
    emit(text, {name: one.to_dict() for name, one in made.items()}, as_json)

"""Check a stored release of quantiles: its parts must be those that its question asks for, each once, in order."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from tacit.method.quantiles import cut_tree, many_steps
from tacit.method.quantiles.query import Quantiles

if TYPE_CHECKING:
    from tacit.release.document import Release, Released


def _first(made: Release) -> bool:
    """Return whether the release has the first version's format, in which each selection is a cell of its own."""
    return made.mechanism == "quantiles/1"


def public_size(made: Released) -> bool:
    """Return whether the number of present rows is public: all are in one cell, and none is left out."""
    grid, query = made.parts[0].grid, cast(Quantiles, made.query)
    return (
        made.rows is not None
        and grid is not None
        and grid.missing != "exclude"
        and not made.levels
        and (query.where is None)
    )


def wrong(made: Release) -> Iterator[str]:
    """Yield each reason why the parts are not those of the question; yield nothing where they are."""
    query = cast(Quantiles, made.query)
    if made.parts and made.parts[0].form == "halved":
        yield from _wrong_halved(made, query)
        return
    if made.parts and made.parts[0].form == "cuts":
        yield from _wrong_cuts(made, query)
        return
    chosen, grid = made.parts[: len(query.probs)], made.parts[0].grid
    sized = not query.interval or public_size(made)
    # earlier releases have "ranks", with ends further out; all have one form
    forms = ("ranks", "ranks-2", "joint", "joint-2", "joint-3", "joint-4") if query.interval else ("point",)
    wanted = [tuple((form,) * len(query.probs) + (() if sized else ("size",))) for form in forms]
    if tuple(part.form for part in made.parts) not in wanted:
        yield "its parts are not one for each probability, and the number of rows where it is not public"
        return
    asked = [(p.numerator, p.denominator) for p in query.probs]
    if asked != [(part.parameters["numerator"], part.parameters["denominator"]) for part in chosen]:
        yield "its probabilities are not those of the question"
    if any(part.label != query.column or part.grid != grid for part in made.parts):
        yield f"its parts are not all of {query.column!r} on one grid"
    if not _first(made) and any(len(cell) != (3 if query.interval else 1) for part in chosen for cell in part.integers):
        yield "it has not one selection for each quantile, or three with an interval"


def _wrong_cuts(made: Release, query: Quantiles) -> Iterator[str]:
    """Yield what is wrong with a release of cuts and of the numbers of rows between them."""
    if not query.interval or [part.form for part in made.parts] != ["cuts", "between"]:
        yield "its parts are not cuts and the numbers of rows between them"
        return
    cutting, between = made.parts
    if any(part.label != query.column or part.grid != cutting.grid for part in made.parts):
        yield f"its parts are not all of {query.column!r} on one grid"
    facts, probs = cutting.parameters, cast("tuple[Fraction, ...]", query.probs)
    halved = len(cut_tree.tree(probs, facts["levels"], facts["reach"]))
    if any(len(cuts) != halved for cuts in cutting.integers):
        yield "its cuts are not as many as the ranges that are halved"
    pairs = zip(cutting.integers, between.integers, strict=True)
    if any(len(counts) != len(cut_tree.edges(cuts, facts["G"])) + 1 for cuts, counts in pairs):
        yield "its numbers of rows are not those of the cells between its cuts"


def _wrong_halved(made: Release, query: Quantiles) -> Iterator[str]:
    """Yield what is wrong with a release of quantiles that were selected by halving ranges, in one part."""
    part = made.parts[0]
    if query.interval or made.levels or len(made.parts) > 1:
        yield "its one part of all quantiles is not of points of one cell"
    elif part.label != query.column:
        yield f"its part is not of {query.column!r}"
    elif any(len(cell) != len(query.probs) for cell in part.integers):
        yield "it has not one selection for each quantile"
    elif part.parameters["levels"] != many_steps.levels(len(query.probs)):
        yield "its levels are not those of its number of quantiles"

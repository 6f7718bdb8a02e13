"""Check a stored release of quantiles: its parts must be those that its question asks for, each once, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from tacit.method.quantiles.query import Quantiles

if TYPE_CHECKING:
    from tacit.release.document import Release


def _first(made: Release) -> bool:
    """Return whether the release has the first version's format, in which each selection is a cell of its own."""
    return made.mechanism == "quantiles/1"


def wrong(made: Release) -> Iterator[str]:
    """Yield each reason why the parts are not those of the question; yield nothing where they are."""
    query = cast(Quantiles, made.query)
    chosen, grid = made.parts[: len(query.probs)], made.parts[0].grid
    # where these hold, the number of present rows is public, and no part is spent on it: `design`
    public = made.rows is not None and grid is not None and grid.missing != "exclude"
    public = public and not made.levels and query.where is None
    if tuple(part.form for part in made.parts) != (
        *("ranks" for _ in query.probs),
        *(() if public else ("size",)),
    ):
        yield "its parts are not one for each probability, and the number of rows where it is not public"
        return
    asked = [(p.numerator, p.denominator) for p in query.probs]
    if asked != [(part.parameters["numerator"], part.parameters["denominator"]) for part in chosen]:
        yield "its probabilities are not those of the question"
    if any(part.label != query.column or part.grid != grid for part in made.parts):
        yield f"its parts are not all of {query.column!r} on one grid"
    if not _first(made) and any(len(cell) != 3 for part in chosen for cell in part.integers):
        yield "it has not three selections for each quantile"

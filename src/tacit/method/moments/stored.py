"""Check a stored release of moments: its parts must be those that its question asks for, each once, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from tacit.method.moments.query import Count, Sum, Variance
from tacit.method.shared.encoding_choice import offset_of

if TYPE_CHECKING:
    from tacit.release.document import Release


ONE_CELL: Final = ("deviations", "plain", "exclusion", "exclusion-2", "binary-plain", "binary-exclusion")
"""Encodings of one cell of a public number of rows (law 4)."""


def wrong(made: Release) -> Iterator[str]:
    """Yield each reason why the parts are not those of the question; yield nothing where they are."""
    query: Any = made.query
    columns = ("",) if isinstance(query, Count) else tuple(query.columns)
    if tuple(part.label for part in made.parts) != columns:
        yield f"its parts are not of {', '.join(map(repr, columns))}, which the question asks for"
    weights = getattr(query, "weights", None) is not None
    for part in made.parts:
        if isinstance(query, Count):
            good = part.form == ("counted" if weights else "count")
        elif isinstance(query, Variance):
            alone = not query.interval and part.parameters.get("rows") == made.rows and query.where is None
            good = part.form == "bernstein" or (part.form == "deviations" and alone)
        else:
            weighed = weights or getattr(query, "per", None) == "row"
            good = part.form not in ("count", "counted", "bernstein", "deviations") and (
                part.form == "weighted" or not weighed
            )
            good = good and (part.form != "total" or isinstance(query, Sum))
        grouped = bool(made.levels) or made.neighbors == "add-remove"
        if not good or (grouped and part.form in ONE_CELL):
            yield f"form {part.form!r} is no answer to this {type(query).__name__}"
        elif part.form == "total" and part.grid is not None:
            facts = part.parameters
            if facts["offset"] != offset_of(part.grid.lower, part.grid.upper, facts["G"]):
                yield f"offset of {part.label!r} is not the way from 0 to its lower bound"

"""Check a stored release of moments: its parts must be those that its question asks for, each once, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tacit.method.moments.query import Count, Variance

if TYPE_CHECKING:
    from tacit.release.document import Release


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
            good = part.form == "bernstein"
        else:
            weighed = weights or getattr(query, "per", None) == "row"
            good = part.form not in ("count", "counted", "bernstein") and (part.form == "weighted" or not weighed)
        grouped = bool(made.levels) or made.neighbors == "add-remove"
        # the plain forms protect rows in one cell of a public number of rows alone (law 4)
        if not good or (grouped and part.form in ("plain", "exclusion", "binary-plain", "binary-exclusion")):
            yield f"form {part.form!r} is no answer to this {type(query).__name__}"

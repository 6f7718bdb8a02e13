"""Check a stored release of replicates: its parts must be those that its question asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from tacit.method.shared.encoding_choice import offset_of

if TYPE_CHECKING:
    from tacit.release.document import Release

COUNTS: Final = ("count",)
MEANS: Final = ("plain", "exclusion-2", "group", "binary-plain", "binary-exclusion", "binary-group")
FORMS: Final = {"Count": COUNTS, "Mean": MEANS, "Sum": (*MEANS, "total")}
"""Encodings by the statistic's kind."""
ONE_CELL: Final = ("plain", "exclusion-2", "binary-plain", "binary-exclusion")
"""Encodings of one cell of a public number of rows (law 4)."""


def wrong(made: Release) -> Iterator[str]:
    """Yield each reason why the parts are not those of the question; yield nothing where they are."""
    query: Any = made.query
    kind = type(query.statistic).__name__
    if len(made.parts) != query.replicates:
        yield f"it has {len(made.parts):,} replicates, and the question asks for {query.replicates:,}"
        return
    first = made.parts[0]
    if first.label != (query.columns[0] if query.columns else ""):
        yield f"its parts are of {first.label!r}, which is not what the question asks for"
    facts = (first.label, first.form, first.grid, first.parameters, first.law, first.l1, first.l2_squared, first.cost)
    for one in made.parts[1:]:
        if facts != (one.label, one.form, one.grid, one.parameters, one.law, one.l1, one.l2_squared, one.cost):
            yield "its replicates are not alike"
            return
    grouped = bool(made.levels) or made.neighbors == "add-remove"
    if first.form not in FORMS[kind] or "share" in first.parameters or (grouped and first.form in ONE_CELL):
        yield f"form {first.form!r} is no answer to this {kind}"
    elif first.form == "total" and first.grid is not None:
        constants = first.parameters
        if constants["offset"] != offset_of(first.grid.lower, first.grid.upper, constants["G"]):
            yield f"offset of {first.label!r} is not the way from 0 to its lower bound"

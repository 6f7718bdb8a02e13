"""Check a stored release of replicates: its parts must be those that its question asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from tacit.method.shared.encoding_choice import offset_of
from tacit.release.field_rules import all_different

if TYPE_CHECKING:
    from tacit.release.document import Release
    from tacit.release.parts import Part

COUNTS: Final = ("count",)
MEANS: Final = ("plain", "exclusion-2", "group", "binary-plain", "binary-exclusion", "binary-group")
FORMS: Final = {
    "Count": COUNTS, "Mean": MEANS, "Sum": (*MEANS, "total"), "Variance": MEANS, "SufficientStatistics": MEANS,
}  # fmt: skip
"""Encodings by the statistic's kind."""
ONE_CELL: Final = ("plain", "exclusion-2", "binary-plain", "binary-exclusion")
"""Encodings of one cell of a public number of rows (law 4)."""


def wrong(made: Release) -> Iterator[str]:
    """Yield each reason why the parts are not those of the question; yield nothing where they are."""
    query: Any = made.query
    kind = type(query.statistic).__name__
    labels = _labels(query.statistic, kind)
    size = len(query.statistic.statistics or ()) if labels is None else len(labels)
    if len(made.parts) != query.replicates * size:
        said, asked = f"{len(made.parts):,} parts", f"{query.replicates:,} replicates of {size:,}"
        yield f"it has {said}, and the question asks for {asked}"
        return
    found = tuple(part.label for part in made.parts[:size])
    # labels of sufficient statistics may hold bounds of the schema, which a release does not have
    if found != labels if labels is not None else not all_different(found):
        yield f"its parts are of {', '.join(map(repr, found))}, which is not what the question asks for"
    for i, one in enumerate(made.parts[size:]):
        if _facts(made.parts[i % size]) != _facts(one):
            yield "its replicates are not alike"
            return
    for one in made.parts[:size]:
        yield from _of_form(made, kind, one)


def _labels(statistic: Any, kind: str) -> tuple[str, ...] | None:
    """Return the labels of the parts of one replicate; None where the question alone does not say them."""
    return None if kind == "SufficientStatistics" else tuple(getattr(statistic, "columns", ("",)))


def _facts(part: Part) -> tuple[object, ...]:
    """Return all of a part but its integers."""
    return (part.label, part.form, part.grid, part.parameters, part.law, part.l1, part.l2_squared, part.cost)


def _of_form(made: Release, kind: str, part: Part) -> Iterator[str]:
    """Yield why the form of a part is no answer to the question."""
    grouped = bool(made.levels) or made.neighbors == "add-remove"
    shared = "share" in part.parameters and (made.unit is None or not made.levels)
    if part.form not in FORMS[kind] or shared or (grouped and part.form in ONE_CELL):
        yield f"form {part.form!r} is no answer to this {kind}"
    elif part.form == "total" and part.grid is not None:
        constants = part.parameters
        if constants["offset"] != offset_of(part.grid.lower, part.grid.upper, constants["G"]):
            yield f"offset of {part.label!r} is not the way from 0 to its lower bound"

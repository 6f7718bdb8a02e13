"""Checks of a stored data set against its question: cells, size, and the number of rows where it is not public."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast

from tacit.method.ks_dataset.data_set_cells import edges, variable_of
from tacit.method.ks_dataset.query import MOST_SIZE, KSDataset

if TYPE_CHECKING:
    from tacit.release.document import Release, Released

MOST_VALUES: Final = 2.0**53
"""Bounds of whole numbers and days are exact in floats up to here."""


def public_size(made: Released) -> bool:
    """Return whether the number of present rows is public: all are in one cell, and none is left out."""
    query = cast(KSDataset, made.query)
    return made.rows is not None and variable_of(made).missing != "exclude" and query.where is None


def wrong(made: Release) -> Iterator[str]:
    """Yield why the parts do not answer the question; nothing where they do."""
    query = cast(KSDataset, made.query)
    if [one.name for one in made.variables] != [query.column]:
        yield f"it is not of the column {query.column!r} alone"
        return
    wanted = ("data-set",) if public_size(made) else ("data-set", "present")
    if tuple(part.form for part in made.parts) != wanted or any(part.label != query.column for part in made.parts):
        yield "its parts are not a data set, and the number of rows where it is not public"
        return
    one, part = made.variables[0], made.parts[0]
    whole = one.kind == "real" or (one.lower.is_integer() and one.upper.is_integer())
    if one.kind not in ("real", "integer", "date") or not whole or max(map(abs, (one.lower, one.upper))) > MOST_VALUES:
        yield f"column {one.name!r} has no public cells"
        return
    cells = len(edges(one, query.cells)) - 1
    k = part.parameters["G"]
    if part.parameters["cells"] != cells or len(part.integers[0]) != cells:
        yield f"it has not the {cells:,} cells of its question"
    if k != (query.points or k) or not 1 <= k <= min(MOST_SIZE, made.rows or MOST_SIZE):
        yield f"it has {k:,} points, which are not those of its question"
    if sum(part.integers[0]) != k:
        yield f"the points of its cells are not {k:,} in all"

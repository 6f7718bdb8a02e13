"""Checks of a stored kernel density against its question: one part of all cells, which are those of its bandwidths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast

from tacit.method.kernel_density.cells import MOST_CELLS, Support
from tacit.method.kernel_density.query import KernelDensity
from tacit.rows.multiples import between

if TYPE_CHECKING:
    from tacit.release.document import Release

MOST_VALUES: Final = 2.0**53
"""Bounds of whole numbers and days are exact in floats up to here."""


def wrong(made: Release) -> Iterator[str]:
    """Yield why the part does not answer the question; nothing where it does."""
    query = cast(KernelDensity, made.query)
    if len(made.parts) != 1 or made.parts[0].label != "" or tuple(name for name, _ in made.levels) != query.columns:
        yield "it is not one part of the cells of the columns of the question"
        return
    for (name, labels), axis in zip(made.levels, made.axes, strict=True):
        if axis.kind not in ("real", "integer", "date") or axis.extra or len(axis.edges) != len(labels) + 1:
            yield f"column {name!r} has cells that are none of a kernel density"
            continue
        beside = 0.5 if axis.kind == "integer" else (axis.multiple_of or 0.0) / 2
        low, high, cells = axis.edges[0] + beside, axis.edges[-1] - beside, len(labels)
        whole = axis.kind == "real" or (low.is_integer() and high.is_integer())
        if not whole or not 2 <= cells <= MOST_CELLS[len(query.columns)] or max(abs(low), abs(high)) > MOST_VALUES:
            yield f"column {name!r} has no public cells"
            continue
        declared = None if axis.multiple_of is None else between(low, high, axis.multiple_of)
        width, values = query.widths.get(name), Support(axis.kind, low, high, declared)
        if width is not None and cells != values.number(width):
            yield f"the cells of {name!r} are not those of its bandwidth"
        if axis.edges[1:-1] != values.edges(cells):
            yield f"the cells of {name!r} are not as wide as one another"

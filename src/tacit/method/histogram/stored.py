"""Checks of the parts of a stored histogram against its question."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, cast

from tacit.method.histogram.query import Histogram

if TYPE_CHECKING:
    from tacit.release.document import Release


def _histogram(made: Release) -> Iterator[str]:
    if len(made.parts) != 1 or made.parts[0].label != "" or cast(Histogram, made.query).sparse:
        yield "it is not one part of all cells"


def _sparse(made: Release) -> Iterator[str]:
    query = cast(Histogram, made.query)
    if len(made.parts) != 1 or made.parts[0].label != "" or not query.sparse:
        yield "it is not one part of the cells that passed"
        return
    (part,) = made.parts
    cells, least = prod(len(labels) for _, labels in made.levels), part.parameters["threshold"]
    if query.threshold is not None and query.threshold * part.parameters.get("share", 1) != least:
        yield "its threshold is not that of the question"
    if any(len(cell) != 2 or not 0 <= cell[0] < cells or cell[1] < least for cell in part.integers):
        yield "it has a cell that there is not, or one below the threshold"
    if any(one[0] >= other[0] for one, other in pairwise(part.integers)):  # so none is there twice
        yield "its cells are not in order"


def wrong(made: Release) -> Iterator[str]:
    """Yield why the parts do not answer the question; nothing where they do."""
    yield from (_sparse if made.kind == "sparse-histogram" else _histogram)(made)

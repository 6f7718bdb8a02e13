"""Checks of a stored distribution function against its question: bins, degree, sensitivity and number of integers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast

from tacit.method.bernstein.encoding import FINE, lattice
from tacit.method.bernstein.lattice_bins import scale_of, unit_edges
from tacit.method.bernstein.query import MOST_DEGREE, Bernstein
from tacit.method.shared.weighted_encoding import SHARE

if TYPE_CHECKING:
    from tacit.release.document import Release

MOST_VALUES: Final = 2.0**53
"""Bounds of whole numbers and days are exact in floats up to here."""


def wrong(made: Release) -> Iterator[str]:
    """Yield why the part does not answer the question; nothing where it does."""
    query = cast(Bernstein, made.query)
    names = tuple(one.name for one in made.variables)
    if len(made.parts) != 1 or made.parts[0].label != "" or names != (query.column,):
        yield "it is not one part of the column of the question"
        return
    (part,), (one,) = made.parts, made.variables
    degree = part.parameters["degree"]
    if not 2 <= degree <= MOST_DEGREE or degree != (query.degree or degree):
        yield f"it has degree {degree}, which is not that of the question"
        return
    whole = one.kind == "real" or (one.lower.is_integer() and one.upper.is_integer())
    if one.kind not in ("real", "integer", "date") or not whole or max(abs(one.lower), abs(one.upper)) > MOST_VALUES:
        yield f"column {one.name!r} has no public bins"
        return
    leaves = query.where is not None or one.missing == "exclude"
    edges, persons = unit_edges(one, degree), made.unit is not None
    former = part.parameters.get("share") == SHARE
    form = lattice(edges, degree, scale_of(one, FINE), made.neighbors, leaves=leaves, persons=persons, former=former)
    if (part.parameters, part.l1, part.l2_squared) != (form.parameters, form.l1, form.l2_squared):
        yield "its sensitivity is not that of its lattice"
    if len(part.integers[0]) != len(form.matrix):
        yield f"it has {len(part.integers[0]):,} integers; its degree makes {len(form.matrix):,}"

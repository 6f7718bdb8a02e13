"""Checks of a stored series against its question: bins, terms, sensitivity and number of coefficients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast

from tacit.method.orthogonal_series.design import edges
from tacit.method.orthogonal_series.encoding import series
from tacit.method.orthogonal_series.query import MOST_TERMS, OrthogonalSeries
from tacit.method.shared.weighted_encoding import SHARE

if TYPE_CHECKING:
    from tacit.release.document import Release

MOST_VALUES: Final = 2.0**53
"""Bounds of whole numbers and days are exact in floats up to here."""


def wrong(made: Release) -> Iterator[str]:
    """Yield why the part does not answer the question; nothing where it does."""
    query = cast(OrthogonalSeries, made.query)
    d = len(query.columns)
    if len(made.parts) != 1 or made.parts[0].label != "" or tuple(one.name for one in made.variables) != query.columns:
        yield "it is not one part of the columns of the question"
        return
    (part,) = made.parts
    terms = part.parameters["terms"]
    if not 1 <= terms <= MOST_TERMS[d] or terms != (query.terms or terms):
        yield f"it has {terms} terms, which are not those of the question"
        return
    for one in made.variables:
        whole = one.kind == "real" or (one.lower.is_integer() and one.upper.is_integer())
        if (
            one.kind not in ("real", "integer", "date")
            or not whole
            or max(map(abs, (one.lower, one.upper))) > MOST_VALUES
        ):
            yield f"column {one.name!r} has no public bins"
            return
    leaves = query.where is not None or any(one.missing == "exclude" for one in made.variables)
    ends = tuple(edges(one, d) for one in made.variables)
    persons, former = made.unit is not None, part.parameters.get("share") == SHARE
    form = series(query.basis, ends, terms, made.neighbors, leaves=leaves, persons=persons, former=former)
    if (part.parameters, part.l1, part.l2_squared) != (form.parameters, form.l1, form.l2_squared):
        yield "its sensitivity is not that of its functions"
    if len(part.integers[0]) != len(form.matrix):
        yield f"it has {len(part.integers[0]):,} integers; its terms make {len(form.matrix):,}"

"""Check a stored release of a range: its parts must be those that its question asks for, each once, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from tacit.method.ranges.query import Range
from tacit.schema.row_maps_of_columns import WIDE

if TYPE_CHECKING:
    from tacit.release.document import Release


def wrong(made: Release) -> Iterator[str]:
    """Yield each reason why the parts are not those of the question; yield nothing where they are."""
    query = cast(Range, made.query)
    if [(part.form, part.label) for part in made.parts] != [("range", query.column), ("present", query.column)]:
        yield f"its parts are not the range of {query.column!r}, and the number of rows"
        return
    facts, p = made.parts[0].parameters, query.outside / 2
    if facts["bins"] != len(WIDE) + 1:
        yield f"it has {facts['bins']} bins; there are {len(WIDE) + 1}"
    if (facts["numerator"], facts["denominator"]) != (p.numerator, p.denominator):
        yield "its probability is not that of the question"

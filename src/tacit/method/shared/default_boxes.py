"""Boxes of parameters that nobody chose: those of a family's own, held against the bounds that a column declares."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from tacit.errors import QueryError
from tacit.method.shared.asked_parameters import columns_of, law_of
from tacit.schema.column_types import Integer, Real

if TYPE_CHECKING:
    from tacit.models.family import Family
    from tacit.schema.table_schema import Schema

WITHOUT_UNITS: Final = frozenset({"share", "df", "shape", "dispersion"})
"""Parameters that are the same whatever the units of the column."""
REACHED: Final = 0.5
"""Part of the column's range that locations of the default boxes must reach."""
HIGHEST: Final = 0.25
"""Part of the upper bound of a positive column or a count that a typical row of the default boxes must reach."""
SPREAD: Final = 6.0
"""Ranges of a column over the largest standard deviation of the default boxes, at most; even rows have 3.5."""


def refuse_unfit_boxes(query: Any, schema: Schema) -> None:
    """Raise QueryError Q390 where boxes that the question leaves to the family cannot be those of its column.

    A family's own boxes know nothing of a column's units: nearly all blocks of such a question would end at an end of
    the box, and the answer be a reason.  Public facts alone: the declared bounds, and boxes that nobody gave.
    """
    family = _family(query)
    if family is None or len(columns_of(query)) != 1:
        return
    (name,) = columns_of(query)
    column = schema.get(name)
    if not isinstance(column, Real | Integer) or column.lower is None or column.upper is None:
        return
    left = _left(family)
    low, high = float(column.lower), float(column.upper)
    if not left or not _unfit(family, low, high):
        return
    boxes = " and ".join(f"{word} ({least:g} to {most:g})" for word, (least, most) in left.items())
    fit = (
        "boxes of {}, which no one chose, are not those"
        if len(left) > 1
        else "box of {}, which no one chose, is not that"
    )
    message = f"{type(family).__name__}: the {fit.format(boxes)} of {name}, declared {low:g} to {high:g}."
    raise QueryError(message, code="Q390", hint=_hint(family, left, low, high))


def _family(query: Any) -> Family | None:
    """Return the built-in family of a question about one; None of any other."""
    from tacit.models.family import Family

    law = law_of(query)
    return law if isinstance(law, Family) else None


def _left(family: Family) -> dict[str, tuple[float, float]]:
    """Return the boxes that are the family's own, of parameters in units of the column, or of one over it."""
    own: dict[str, Any] = {one.name: one.default for one in fields(family)}
    words = [word for word in family.kinds if word not in WITHOUT_UNITS]
    return {word: own[word] for word in words if isinstance(own[word], tuple) and getattr(family, word) == own[word]}


def _unfit(family: Family, low: float, high: float) -> bool:
    """Return whether a column of these bounds has most of its possible laws outside the boxes."""
    ends = [(one.lower, one.upper) for one in family.parameters]
    corners = [family.bind(list(corner)) for corner in itertools.product(*ends)]
    if family.row_support == "count" and "mean" in family.kinds:
        return max(float(one.mean) for one in corners) < HIGHEST * high
    places = [family.location_and_width(one) for one in corners]
    known = [one for one in places if one is not None]
    if not known:
        return False
    least, most, wide = min(x for x, _ in known), max(x for x, _ in known), max(w for _, w in known)
    if family.row_support == "positive":
        # locations are those of the logarithms
        return high > 0 and most < math.log(HIGHEST * high)
    if family.row_support != "real":
        return False
    reached = min(most, high) - max(least, low)
    return reached < REACHED * (high - low) or wide < (high - low) / SPREAD


def _hint(family: Family, left: Iterable[str], low: float, high: float) -> str:
    """Return boxes to write: those that follow from the bounds where these say them, else which to say."""
    wide, boxes = high - low, list[str]()
    for word in left:
        if family.row_support == "real" and family.kinds[word] == "real":
            boxes.append(f"{word}=({low:g}, {high:g})")
        elif family.row_support == "real":
            boxes.append(f"{word}=({wide / 1000:g}, {wide / 2:g})")
        elif (family.row_support, word) == ("count", "mean"):
            boxes.append(f"{word}=(0, {high:g})")
        else:
            boxes.append(f"{word}=(lower, upper)")
    return f"{type(family).__name__}({', '.join(boxes)}): where each could lie, whatever the table holds"

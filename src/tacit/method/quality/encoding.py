"""Counts of disjoint classes: the integers of `DataQuality`, and their sensitivity."""

from __future__ import annotations

from tacit.method.shared.encoding import Encoding
from tacit.rows.row_map import ONE


def classes(number: int, neighbors: str) -> Encoding:
    """Return the encoding of counts of disjoint classes; every row is in exactly one of them.

    Sensitivity in l1 and in squared l2: 1 (add-remove) or 2 (replace-one: one count falls by 1, another rises by 1).
    """
    # the squares of -1 and +1 add up to 2 as well
    twice = 2 if neighbors == "replace-one" else 1
    return Encoding("classes", {"G": 1, "classes": number}, (ONE,), ((1,),) * number, twice, twice)

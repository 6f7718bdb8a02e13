"""Counts of disjoint classes: the integers of `DataQuality`, and their sensitivity."""

from __future__ import annotations

from tacit.method.shared.encoding import Encoding
from tacit.rows.row_map import ONE


def classes(number: int, neighbors: str) -> Encoding:
    """Counts of disjoint classes that every row is in one of: 1 (add-remove) or 2 (replace-one) in any norm's power."""
    twice = 2 if neighbors == "replace-one" else 1
    return Encoding("classes", {"G": 1, "classes": number}, (ONE,), ((1,),) * number, twice, twice)

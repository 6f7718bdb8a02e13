"""Integer coordinates of a row in a regression: their grid, and how large their sums may be."""

from __future__ import annotations

from typing import Final

H: Final = 2**10
"""Largest |z|: products of two stay at or below 2**20, sums of them below 2**62 for 2**42 rows."""
EXACT: Final = 2**52
"""Integers below are exact float64."""
MOST: Final = 48
"""Coordinates of a row, the response counted."""
SIGN: Final = -1
"""In place of a level: -1 at the first of two levels, 1 at the second."""

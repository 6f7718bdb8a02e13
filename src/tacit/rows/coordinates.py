"""Constants of a row's integer coordinates in a regression: their grid, and the sizes that keep arithmetic exact."""

from __future__ import annotations

from typing import Final

H: Final = 2**10
"""Largest |z| of a coordinate: products of two are at most 2**20, and sums of them over 2**42 rows at most 2**62."""
EXACT: Final = 2**52
"""Integers below this are exact in float64, and so are their quotients by powers of two."""
SHORT: Final = 2**24
"""The same of float32."""
MOST: Final = 64
"""Largest number of coordinates of a row, including the response."""
SIGN: Final = -1
"""Stands in place of a level for sum coding of two levels: -1 at the first, 1 at the second."""

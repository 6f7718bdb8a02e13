"""Blocks of coefficients of a series, which are shrunk together.  Plain numbers; no data here.

`estimates.series_coefficients` shrinks by them, and designs that choose a number of terms foretell what that is worth.
"""

from __future__ import annotations

from math import ceil
from typing import Final

PENALTY: Final = 0.5
"""Penalty of a block of one coefficient; it falls with the root of the number of coefficients."""
GROWTH: Final = 1.35
"""Each block from the fifth coefficient on ends at so many times the end of the one before."""


def blocks(terms: int) -> tuple[int, ...]:
    """Return the ends of the blocks: four single coefficients, then blocks that grow by a third.

    >>> blocks(16)
    (1, 2, 3, 4, 6, 9, 13, 16)
    """
    ends, end = list[int](), 0
    while end < terms:
        end = end + 1 if end < 4 else ceil(GROWTH * end)
        ends.append(min(end, terms))
    return tuple(ends)

"""The capacity of a block in rows, from public facts."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Final

SPARE: Final = 6.0
"""Standard deviations of a block's size, of independently assigned rows, that its capacity exceeds the mean by."""


def capacity(rows: int, blocks: int) -> int:
    """Return the rows that a block can hold: the expected number, and six standard deviations and eight rows more.

    >>> capacity(100_000, 1_000)
    168
    """
    expected = rows / blocks
    return ceil(expected + SPARE * sqrt(expected)) + 8


def equal_capacity(rows: int, blocks: int) -> int:
    """Return the rows of the largest of blocks of equal size: rows / blocks, rounded up.

    >>> equal_capacity(10, 4)
    3
    """
    return -(-rows // blocks)

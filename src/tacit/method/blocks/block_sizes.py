"""How many rows a block has room for: public arithmetic."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Final

SPARE: Final = 6.0
"""Standard deviations of a block's size (of rows assigned one by one) that its capacity leaves room for."""


def capacity(rows: int, blocks: int) -> int:
    """Rows that a block has room for, from public facts: the expected number and six standard deviations more.

    >>> capacity(100_000, 1_000)
    168
    """
    expected = rows / blocks
    return ceil(expected + SPARE * sqrt(expected)) + 8


def equal_capacity(rows: int, blocks: int) -> int:
    """Seats of the largest block.

    >>> equal_capacity(10, 4)
    3
    """
    return -(-rows // blocks)

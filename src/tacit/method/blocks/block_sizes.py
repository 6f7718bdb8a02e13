"""The capacity of a block in rows, computed from public facts."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Final

SPARE: Final = 6.0
"""Capacity above the mean size of a block, in standard deviations of that size when each row draws its block."""


def capacity(rows: int, blocks: int) -> int:
    """Return the capacity of a block in rows: the expected size plus six standard deviations plus eight rows.

    >>> capacity(100_000, 1_000)
    168
    """
    expected = rows / blocks  # sizes are about Poisson: their variance is their mean
    # eight more for the skew of small Poisson sizes; a block that overflows loses rows, never privacy
    return ceil(expected + SPARE * sqrt(expected)) + 8


def equal_capacity(rows: int, blocks: int) -> int:
    """Return the size of the largest block when rows are dealt out equally: rows / blocks, rounded up.

    >>> equal_capacity(10, 4)
    3
    """
    return -(-rows // blocks)

"""Blocks of rows by fresh secret labels, for mechanisms that sample and aggregate.  INSIDE the wall.

Every row (person) has a random word of its own, drawn when the rows are read, used once and dropped: its block, and its
place in the order in which a full block leaves rows out.  Words do not depend on the rows, so that neighbouring tables
are compared with the same words: a row that is replaced keeps its own, one that is added or removed changes no other's.
So exactly one block changes (theory §2, erratum E2), and nothing need be known of the number of rows; a sorted file
does no harm.  A block's content is a function of its own rows and their words: sorted, padded to a public capacity.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.curator.source.rows import Rows

SPARE: Final = 6.0
"""Standard deviations of a block's size (of rows assigned one by one) that its capacity leaves room for."""
LARGEST: Final = 2**31


@dataclass(frozen=True)
class Blocks:
    """values: shape (blocks, capacity, columns), rows of a block in ascending order, 0 where it has no more of them.
    sizes: shape (blocks,), rows in each.
    """

    values: NDArray[np.float64]
    sizes: NDArray[np.int64]


def capacity(rows: int, blocks: int) -> int:
    """Rows that a block has room for, from public facts: the expected number and six standard deviations more.

    >>> capacity(100_000, 1_000)
    168
    """
    expected = rows / blocks
    return ceil(expected + SPARE * sqrt(expected)) + 8


def words(rows: Rows) -> NDArray[np.uint64]:
    """READS ROWS.  A fresh word for each row, the same for all rows of a person; shape (rows,)."""
    if rows.owners is None:
        return fresh(len(rows.values))
    owners = rows.owners + 1  # rows of nobody are one person's
    return fresh(int(owners.max(initial=0)) + 1)[owners]


def fresh(count: int) -> NDArray[np.uint64]:
    """So many words of the operating system's generator."""
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def packed(rows: Rows, own: NDArray[np.uint64], blocks: int, room: int) -> Blocks:
    """READS ROWS.  The rows in their blocks, by their words; of more rows than room those of the lowest words stay."""
    if not 0 < blocks < LARGEST:
        raise ArithmeticError(f"{blocks} blocks cannot be labelled")
    labels = (((own >> np.uint64(32)) * np.uint64(blocks)) >> np.uint64(32)).astype(np.int64)
    order = np.argsort(labels.astype(np.uint16) if blocks <= 2**16 else labels, kind="stable")
    sizes = np.bincount(labels, minlength=blocks)
    starts = np.cumsum(sizes) - sizes
    if (sizes > room).any():
        for block in np.flatnonzero(sizes > room):
            at = order[starts[block] : starts[block] + sizes[block]]
            at[:] = at[np.lexsort((*rows.values[at].T[::-1], own[at]))]
    labels = labels[order]
    place = np.arange(len(order)) - starts[labels]
    kept = slice(None) if (sizes <= room).all() else place < room
    made = np.full((blocks, room, rows.values.shape[1]), np.inf)
    made[labels[kept], place[kept]] = rows.values[order[kept]]
    sizes = np.minimum(sizes, room)
    made = _ascending(made)
    made[np.arange(room) >= sizes[:, None]] = 0.0
    return Blocks(made, sizes)


def _ascending(made: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of each block in ascending order, by the first column, then the second, ...; what is infinite last."""
    if made.shape[2] == 1:
        return np.sort(made, axis=1)
    order = np.lexsort(tuple(np.moveaxis(made, 2, 0)[::-1]), axis=1)
    return np.take_along_axis(made, order[:, :, None], axis=1)

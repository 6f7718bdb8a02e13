"""Estimates of all blocks from sums, where a table is read once: rows are labelled, not moved.  INSIDE the wall.

Of some laws a block's estimate is a function of exact integer sums over its rows (`models.block_sums`).  Here rows are
added to the sums of their blocks in the order in which they lie; `mechanism_labels` packs rows into blocks instead, and
`block_mle` adds up what a block holds.  Both make the same integers, and so the same estimates, bit by bit: sums of
64-bit integers do not depend on any order.  Which way is taken therefore changes nothing, and the argument of
`mechanism_means` is about both: one block changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.models.block_sums import StatisticSums
from tacit.source.engine_sums.row_arrays import RowArrays
from tacit.source.shared_blocks import shared

Ints = NDArray[np.int64]
EXACT: Final = 2**53
"""Whole numbers up to this one are exact in float64."""
PART: Final = 2**15
"""Rows that are added at a time: what is made of them fits a processor's cache."""


def summed(
    asked: StatisticSums, rows: RowArrays, labels: NDArray[Any], k: int, sizes: Ints | None = None
) -> tuple[Ints, Ints, int]:
    """READS ROWS.  Return sums, shape (k, q), counts, shape (k,), and the most labelled rows that a block has.

    Rows outside the model's support are left out; a block with a row beyond a bound counts none, as in `of_packed`.
    sizes: how many rows have each label, shape (k,), where that is known.
    """
    x = rows.values[:, 0]

    def work(parts: Iterator[slice]) -> tuple[list[Ints], Ints, NDArray[np.bool_], Ints]:
        # of each thread its own
        sums = [BlockSums(k) for _ in asked.shifts]
        left_out, labelled, far = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.bool_)
        for part in parts:
            some, own = x[part], labels[part].astype(np.int64)
            if sizes is None:
                labelled += np.bincount(own, minlength=k)
            inside = np.asarray(asked.model.inside(some), dtype=np.bool_)
            if not inside.all():
                left_out += np.bincount(own[~inside], minlength=k)
                some, own = some[inside], own[inside]
            found, reach, beyond = asked.steps(some)
            for total, steps, most in zip(sums, found, reach, strict=True):
                total.add(own, steps, most)
            if beyond is not None:
                far[own[beyond]] = True
        return [total.whole() for total in sums], left_out, far, labelled

    found = shared([slice(at, at + PART) for at in range(0, len(x), PART)], work)
    sums = np.sum([one[0] for one in found], axis=0).T
    left_out, far, labelled = (np.sum([one[i] for one in found], axis=0) for i in (1, 2, 3))
    most = labelled if sizes is None else sizes
    return sums, np.where(far > 0, 0, most - left_out), int(most.max())


class BlockSums:
    """Sums of whole numbers by block, in floats as long as these are exact, and in 64-bit integers."""

    def __init__(self, k: int) -> None:
        self._whole, self._floats, self._reach = np.zeros(k, dtype=np.int64), np.zeros(k), 0.0

    def add(self, own: Ints, steps: NDArray[np.float64], most: float) -> None:
        """Add whole numbers to the sums of their blocks `own`; most: a bound on the sum of their sizes."""
        if not most <= EXACT:
            np.add.at(self._whole, own, steps.astype(np.int64))
            return
        if self._reach + most > EXACT:
            self.whole()
        # no sum of some of them is beyond EXACT: each addition is exact, in whatever order
        np.add.at(self._floats, own, steps)
        self._reach += most

    def whole(self) -> Ints:
        """Return the sums so far."""
        self._whole += self._floats.astype(np.int64)
        self._floats.fill(0.0)
        self._reach = 0.0
        return self._whole

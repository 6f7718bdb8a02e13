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
from tacit.source.row_arrays import RowArrays
from tacit.source.shared_blocks import shared

Ints = NDArray[np.int64]
PART: Final = 2**15
"""Rows that are added at a time: what is made of them fits a processor's cache."""


def summed(asked: StatisticSums, rows: RowArrays, labels: NDArray[Any], k: int) -> tuple[Ints, Ints, int]:
    """READS ROWS.  Return sums, shape (k, q), counts, shape (k,), and the most labelled rows that a block has.

    Rows outside the model's support are left out; a block with a row beyond a bound counts none, as in `of_packed`.
    """
    x = rows.values[:, 0]

    def work(parts: Iterator[slice]) -> tuple[list[Ints], Ints, Ints, NDArray[np.bool_]]:
        # of each thread its own
        sums = [np.zeros(k, dtype=np.int64) for _ in asked.shifts]
        counts, left_out, far = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.bool_)
        for part in parts:
            some, own = x[part], labels[part].astype(np.int64)
            inside = np.asarray(asked.model.inside(some), dtype=np.bool_)
            if not inside.all():
                left_out += np.bincount(own[~inside], minlength=k)
                some, own = some[inside], own[inside]
            counts += np.bincount(own, minlength=k)
            found, beyond = asked.steps(some)
            for total, steps in zip(sums, found, strict=True):
                np.add.at(total, own, steps)
            if beyond is not None:
                far[own[beyond]] = True
        return sums, counts, left_out, far

    found = shared([slice(at, at + PART) for at in range(0, len(x), PART)], work)
    sums = np.sum([one[0] for one in found], axis=0).T
    counts, left_out, far = (np.sum([one[i] for one in found], axis=0) for i in (1, 2, 3))
    return sums, np.where(far > 0, 0, counts), int((counts + left_out).max())

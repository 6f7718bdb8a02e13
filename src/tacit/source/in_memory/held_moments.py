"""Sums of coordinates and of their squares, of rows that are held, in NumPy.  INSIDE the wall.

The integers are those of `held_products`.  Coordinates are at most 2**14 (`held_rows.LARGEST`), so that sums of squares
over STEP rows are below 2**53, and exact in float64 in whatever order BLAS adds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_products import CrossProducts
from tacit.source.in_memory.block_factors import DOT
from tacit.source.shared_blocks import Buffers

Ints = NDArray[np.int64]
STEP: Final = DOT
"""Rows that are added up at a time: in float64 some tens of columns of these lie in a processor's cache."""


@dataclass(frozen=True)
class MomentSums:
    """Sums that a question asks for: of one coordinate each, of its square, or of rows."""

    question: CrossProducts

    @classmethod
    def of(cls, question: CrossProducts) -> MomentSums | None:
        """Return the sums of a question, or None where it asks for others."""
        plain = question.norm is None and question.score is None and question.weight is None
        alike = all(len(set(one.of)) < 2 and not (one.shift or one.sum_shift or one.times) for one in question.products)
        return cls(question) if plain and alike else None

    def over(self, blocks: Iterator[NDArray[np.int16]]) -> Ints:
        """READS ROWS.  Return what `ProductSums.over` returns."""
        buffers, m, rows = Buffers(), len(self.question.coordinates), 0
        # sums, and sums of squares
        total, ones = np.zeros((2, m), dtype=np.int64), np.ones(STEP)
        for z in blocks:
            rows += z.shape[1]
            for at in range(0, z.shape[1], STEP):
                some = z[:, at : at + STEP]
                x = buffers.array("x", some.shape)
                np.copyto(x, some)
                total[0] += np.matmul(x, ones[: some.shape[1]]).astype(np.int64)
                total[1] += np.vecdot(x, x).astype(np.int64)
        found = np.append(total, rows)[self._places]
        return np.stack([found, np.zeros_like(found)])

    @cached_property
    def _places(self) -> Ints:
        """Where each product is among the sums, the sums of squares, and the number of rows."""
        m, each = len(self.question.coordinates), [one.of for one in self.question.products]
        return np.array([(len(of) - 1) * m + of[0] if of else 2 * m for of in each], dtype=np.int64)

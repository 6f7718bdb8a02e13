"""Factors of products of a block of rows, each multiplied once by what several sums need.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.source.shared_blocks import Buffers

Floats = NDArray[Any]
Weight: TypeAlias = tuple[bool, int, int]
"""What factors are multiplied by: whether sizes stand in place of psi, their power, and that of the row's weight."""
UNWEIGHTED: Final[Weight] = (False, 0, 0)
ALONE: Final = 2**19 - 1
"""Multiplications of a product of matrices that BLAS does not share among threads of its own, one less than where it
begins to: these would wait for each other, and for those of `shared_blocks`, at every block."""
DOT: Final = 2**13
"""Rows of a sum of products of two factors at a time: of 10,000 BLAS would start threads of its own, which wait busily
for more to do and cost as much as all the rest."""
LONGEST: Final = 2**12
"""Rows of a product of matrices at most: some tens of factors of so many rows lie in a processor's cache."""
WHOLE: Final = 16
"""Numbers of float32 in a line of the processor's cache (`shared_blocks.LINE`)."""


@dataclass
class BlockFactors:
    """factors: entries of vectors, or coordinates, and 1, shape (entries + 1, rows).  psi, sizes, a: shape (rows,).

    a: the weights of rows, if any.  paired: weights for which `moments` are asked for.
    """

    factors: Floats
    psi: Floats
    sizes: Floats
    a: Floats | None
    buffers: Buffers
    paired: Collection[Weight]
    _powers: dict[Weight, Floats] = field(default_factory=dict[Weight, Floats])
    _times: dict[Weight, Floats] = field(default_factory=dict[Weight, Floats])
    _moments: dict[Weight, Floats] = field(default_factory=dict[Weight, Floats])

    def weight(self, by: Weight) -> Floats | None:
        """Return this weight of rows, shape (rows,), or None where it is 1; nobody changes it.

        Powers are products, which are exact.
        """
        size, power, times = by
        if not power and not times:
            return None
        if by not in self._powers:
            found: Floats | None = None
            for one, many in ((self.sizes if size else self.psi, power), (self.a, times)):
                for _ in range(many):
                    assert one is not None
                    found = one if found is None else found * one
            assert found is not None
            self._powers[by] = found
        return self._powers[by]

    def times(self, by: Weight) -> Floats:
        """Return factors times this weight, the last of them the weight; nobody changes it."""
        weight = self.weight(by)
        if weight is None:
            return self.factors
        if by not in self._times:
            made = self.buffers.array(f"times {by}", self.factors.shape)
            self._times[by] = np.multiply(self.factors, weight, out=made)
        return self._times[by]

    def moments(self, by: Weight) -> Floats:
        """Return sums of products of two entries, each times this weight, shape (entries, entries + 1).

        The last column is of entries times the weight alone.
        """
        if by not in self._moments:
            entries, rows = len(self.factors) - 1, self.factors.shape[1]
            step, found = step_of(entries * (entries + 1), rows), np.zeros((entries, entries + 1))
            weight = self.weight(by)
            for at in range(0, rows, step):
                some = self._weighted(slice(at, at + step), weight)
                # of two shapes: a product with itself takes BLAS twice as long where vectors are short
                found += some[:-1] @ some.T
            self._moments[by] = found
        return self._moments[by]

    def _weighted(self, rows: slice, weight: Floats | None) -> Floats:
        """Return entries of these rows times their weight, and 1."""
        some = self.factors[:, rows]
        if weight is None:
            return some
        made = self.buffers.array("moments", some.shape)
        np.multiply(some[:-1], weight[rows], out=made[:-1])
        made[-1] = 1.0
        return made


def step_of(many: int, rows: int) -> int:
    """Return how many rows a product of matrices has at a time, of so many multiplications for a row.

    All steps but the last are alike, of whole lines of the processor's cache where that is possible.
    """
    most = max(1, min(ALONE // max(many, 1), LONGEST))
    step = -(-rows // max(1, -(-rows // most)))
    return min(most, -(-step // WHOLE) * WHOLE)


def dots(left: Floats, right: Floats) -> Floats:
    """Return the sums of left times right over rows, the last axis, some rows at a time."""
    parts = [slice(at, at + DOT) for at in range(0, left.shape[-1], DOT)]
    return np.asarray(sum(np.vecdot(left[..., part], right[..., part]) for part in parts))


def matrix(left: Floats, right: Floats) -> Floats:
    """Return left right', some rows at a time."""
    step, found = step_of(len(left) * len(right), left.shape[1]), np.zeros((len(left), len(right)))
    for at in range(0, left.shape[1], step):
        found += left[:, at : at + step] @ right[:, at : at + step].T
    return found

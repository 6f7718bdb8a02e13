"""Factors of products of a block of rows, each multiplied once by what several sums need.  INSIDE the wall.

Vectors may be in float32, whose whole numbers below 2**24 are exact: NumPy then computes twice as many at a time.  Sums
of products are larger, and are of float64.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.source.shared_blocks import Buffers

Floats = NDArray[Any]
Weight: TypeAlias = tuple[bool, int, int]
"""What factors are multiplied by: whether sizes stand in place of psi, their power, and that of the row's weight."""


@dataclass
class BlockFactors:
    """factors: entries of vectors, or coordinates, and 1, shape (entries + 1, rows).  psi, sizes, a: shape (rows,).

    In float32 are factors and psi, where psi times a factor is exact there, too; a: the weights of rows, if any.
    """

    factors: Floats
    psi: Floats
    sizes: Floats
    a: Floats | None
    buffers: Buffers
    _powers: dict[Weight, Floats] = field(default_factory=dict[Weight, Floats])
    _weighted: dict[Weight, Floats] = field(default_factory=dict[Weight, Floats])

    def weight(self, by: Weight) -> Floats | None:
        """Return this weight of rows in float64, shape (rows,), or None where it is 1; nobody changes it.

        Powers are products, which are exact.
        """
        size, power, times = by
        if not power and not times:
            return None
        if by not in self._powers:
            found = self.a if times else np.asarray(self.sizes if size else self.psi, dtype=np.float64)
            assert found is not None
            one = found
            for _ in range((times or power) - 1):
                found = found * one
            if power and times:
                rest = self.weight((size, power, 0))
                assert rest is not None
                found = found * rest
            self._powers[by] = found
        return self._powers[by]

    def times(self, by: Weight) -> Floats:
        """Return factors times this weight in float64, which is the last row; nobody changes it."""
        if by not in self._weighted:
            self._weighted[by] = self._times(by)
        return self._weighted[by]

    def _times(self, by: Weight) -> Floats:
        weight, short = self.weight(by), self.factors.dtype == np.float32
        if weight is None and not short:
            return self.factors
        made = self.buffers.array(f"times {by}", self.factors.shape)
        if weight is None:
            np.copyto(made, self.factors)
        elif short and by == (False, 1, 0):
            some = self.buffers.array("short", self.factors.shape, np.float32)
            np.copyto(made, np.multiply(self.factors, self.psi, out=some))
        else:
            np.multiply(self.times((False, 0, 0)), weight, out=made)
        return made

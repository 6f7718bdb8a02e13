"""Bands of cumulative counts: which data sets are within a distance of the table.  Plain integers; no data of its own.

Notation of the whole room: cells 1 ... m in order; N_i rows (or weight of persons, A to a person) in the first i
cells, N in all; a data set z of k points has S_i points in the first i cells, S_m = k.  Its level is the distance of
Kolmogorov and Smirnov in rows, rounded up: L(z) = ceil(max_i |k N_i - N S_i| / (k A)), at most ceil(N / A).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
SAFE: Final = 2**61
"""Products of counts below it are computed in 64 bits, larger ones in Python's integers."""


@dataclass(frozen=True)
class Bands:
    """The bands of a table.  cumulative: N_1 ... N_m.  size: k.  share: A."""

    cumulative: tuple[int, ...]
    size: int
    share: int = 1

    @classmethod
    def of(cls, counts: Any, size: int, share: int = 1) -> Bands:
        """Return the bands of counts of cells.

        >>> Bands.of([3, 0, 1], 2).cumulative
        (3, 3, 4)
        """
        return cls(tuple(accumulate(map(int, counts))), size, share)

    @property
    def total(self) -> int:
        """N."""
        return self.cumulative[-1]

    @property
    def cells(self) -> int:
        """Number of cells, m."""
        return len(self.cumulative)

    @property
    def top(self) -> int:
        """The largest level that a data set can have: ceil(N / A)."""
        return -(-self.total // self.share)

    def level(self, points: Any) -> int:
        """Return the level of a data set, given its number of points in each cell.

        >>> Bands.of([3, 0, 1], 2).level([1, 0, 1])
        1
        """
        gaps = zip(self.cumulative, accumulate(map(int, points)), strict=True)
        most = max(abs(self.size * n - self.total * s) for n, s in gaps)
        return -(-most // (self.size * self.share))

    def ends(self, level: int) -> tuple[list[int], list[int]]:
        """Return the least and the most points in the first i cells of data sets of at most this level, i = 1 ... m-1.

        >>> Bands.of([3, 0, 1], 2).ends(1)
        ([1, 1], [2, 2])
        """
        k, N, inner = self.size, self.total, self.cumulative[:-1]
        if N == 0:
            return [0] * len(inner), [k] * len(inner)
        reach = level * k * self.share
        low = [max(0, -((reach - k * n) // N)) for n in inner]
        high = [min(k, (k * n + reach) // N) for n in inner]
        return low, high

    def ends_of_levels(self, levels: Integers) -> tuple[Integers, Integers]:
        """Return `ends` of several levels at once: two arrays of shape (m - 1, levels)."""
        k, N = self.size, self.total
        large = max(1, k) * (N + self.share) >= SAFE
        inner: Any = np.array(self.cumulative[:-1], dtype=object if large else np.int64)[:, None]
        if N == 0:
            shape = (len(inner), len(levels))
            return np.zeros(shape, dtype=np.int64), np.full(shape, k, dtype=np.int64)
        # beyond the top a band holds everything, as at the top
        reach: Any = np.minimum(levels, self.top).astype(object if large else np.int64)[None, :] * (k * self.share)
        low, high = -((reach - k * inner) // N), (k * inner + reach) // N
        return np.maximum(low, 0).astype(np.int64), np.minimum(high, k).astype(np.int64)

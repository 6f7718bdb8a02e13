"""Norm clipping of a row in integers: its vector w has sum of squares at most C**2, whatever the row.  No data here.

Of a row's integer coordinates z_j it computes

    w_i = clamp(floor(sum_j weights_ij z_j / 2**shift + 1/2), -WIDEST, WIDEST)              on public scales and axes
    N   = sum_i w_i**2
    w_i = sign(w_i) floor(|w_i| C / r),  r = floor(sqrt(N)) + 1,  where N > C**2            shortened, not turned
    w   = 0,  where then sum_i w_i**2 > C**2 all the same                                   never, and last

r is more than the root of N: sqrt of float64 is rounded to nearest, so that floor(sqrt(N)) is at least floor of the
root, for N below EXACT; hence |w| is at most C after the third line.  Sensitivities rest on the fourth alone, in 64-bit
integers.  The `numpy` method is the reference that every engine must equal, row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.rows.coordinates import EXACT, H

Ints = NDArray[np.int64]
WIDEST: Final = 2**15
"""Largest |w| before the vector is clipped: the sum of squares of MOST of them stays far below EXACT."""


@dataclass(frozen=True)
class NormClip:
    """The public constants of a norm-clipped vector of a row.

    weights: for each entry, one of every coordinate z.  most: C, at most H, so that a product of two entries is at most
    H**2.  Whatever the constants and the row, sum_i w_i**2 <= C**2.

    >>> clip = NormClip(((4, 0), (0, 4)), 2, 5)
    >>> clip.numpy(np.array([[3, 4], [-30, 40], [0, 700]])).tolist()
    [[3, 4], [-2, 3], [0, 4]]
    """

    weights: tuple[tuple[int, ...], ...]
    shift: int
    most: int

    def check(self, reach: int = H) -> None:
        """Raise ArithmeticError where a step could round or C is beyond H; reach: largest |z|."""
        largest = max((sum(map(abs, one)) for one in self.weights), default=0)
        if self.shift < 1 or largest * reach + 2**self.shift >= EXACT:
            raise ArithmeticError("an entry beyond exact integers")
        if not 1 <= self.most <= H or len(self.weights) * WIDEST**2 >= EXACT:
            raise ArithmeticError("a norm beyond exact integers")

    def numpy(self, z: Ints) -> Ints:
        """Reference: return w, shape (rows, entries), for z of shape (rows, coordinates)."""
        total = z @ np.array(self.weights, dtype=np.int64).T
        w = np.clip((total + 2 ** (self.shift - 1)) // 2**self.shift, -WIDEST, WIDEST)
        squares = (w * w).sum(axis=1)
        root = np.floor(np.sqrt(squares.astype(np.float64))).astype(np.int64) + 1
        shorter = np.sign(w) * (np.abs(w) * self.most // root[:, None])
        w = np.asarray(np.where((squares > self.most**2)[:, None], shorter, w), dtype=np.int64)
        return np.where(((w * w).sum(axis=1) <= self.most**2)[:, None], w, 0)

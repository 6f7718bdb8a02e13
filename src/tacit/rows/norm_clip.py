"""Norm clipping of a row in integers: its vector w has sum of squares at most C**2, whatever the row.  No data here.

Of a row's integer coordinates z_j it computes

    w_j = clamp(floor((factors_j z_j + offsets_j) / 2**shift + 1/2), -WIDEST, WIDEST)       on a public scale
    N   = sum_j w_j**2
    w_j = sign(w_j) floor(|w_j| C / r),  r = floor(sqrt(N)) + 1,  where N > C**2            shortened, not turned
    w   = 0,  where then sum_j w_j**2 > C**2 all the same                                   never, and last

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

    of: the coordinates z that it is made of.  factors, offsets: of each.  most: C, at most H, so that a product of two
    entries is at most H**2.  Whatever the constants and the row, sum_j w_j**2 <= C**2.

    >>> clip = NormClip((0, 1), (4, 4), (0, 0), 2, 5)
    >>> clip.numpy(np.array([[3, 4], [-30, 40], [0, 700]])).tolist()
    [[3, 4], [-2, 3], [0, 4]]
    """

    of: tuple[int, ...]
    factors: tuple[int, ...]
    offsets: tuple[int, ...]
    shift: int
    most: int

    def check(self, reach: int = H) -> None:
        """Raise ArithmeticError where a step could round or C is beyond H; reach: largest |z|."""
        sizes = (abs(f) * reach + abs(o) for f, o in zip(self.factors, self.offsets, strict=True))
        if self.shift < 1 or max(sizes, default=0) + 2**self.shift >= EXACT:
            raise ArithmeticError("a coordinate beyond exact integers")
        if not 1 <= self.most <= H or len(self.of) * WIDEST**2 >= EXACT:
            raise ArithmeticError("a norm beyond exact integers")

    def numpy(self, z: Ints) -> Ints:
        """Reference: return w, shape (rows, len(of)), for z of shape (rows, coordinates)."""
        total = z[:, list(self.of)] * np.array(self.factors, dtype=np.int64) + np.array(self.offsets, dtype=np.int64)
        w = np.clip((total + 2 ** (self.shift - 1)) // 2**self.shift, -WIDEST, WIDEST)
        squares = (w * w).sum(axis=1)
        root = np.floor(np.sqrt(squares.astype(np.float64))).astype(np.int64) + 1
        shorter = np.sign(w) * (np.abs(w) * self.most // root[:, None])
        w = np.where((squares > self.most**2)[:, None], shorter, w)
        return np.where(((w * w).sum(axis=1) <= self.most**2)[:, None], w, 0)

"""The bounded score of a row in a generalised linear model, in integers, the same on every engine.  No data here.

The curves of the link function are polygons (piecewise linear) on a public grid, so that no engine's exponential is
used.  Of a row with integer coordinates z_0, ..., z_m, z_m being the response, it computes

    e    = clamp(floor(sum_j weights_j z_j / 2**shift + 1/2), -L, L)                     the linear predictor
    psi  = clamp(floor((slope(e) (z_m + H) - middle(e)) / 2**FINE + 1/2), -clip, clip)   the score
    size = |psi|, or clamp(floor(weight(e) / 2**FINE + 1/2), 0, clip), or
           clip where |psi| < clip and 0 elsewhere                                       the weight of products

Whatever the row, |psi| and size are at most the public `clip`: that bounds the sensitivity of their sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.rows.coordinates import EXACT, H

Ints = NDArray[np.int64]
L: Final = 2**12
"""The linear predictor is on the grid -L, ..., L."""
PIECES: Final = 32
"""Number of linear pieces of a polygon."""
WIDTH: Final = 2 * L // PIECES
"""Grid steps of a piece; heights at its ends are multiples of WIDTH, so that slopes are integers."""
FINE: Final = 28
"""Heights of polygons are in units of 2**-FINE."""


@dataclass(frozen=True)
class PiecewiseScore:
    """The public constants of a piecewise linear score.

    They are fixed in advance or chosen from released integers.  Whatever their values, |psi| and size are at most
    `clip`.  weights: one for each coordinate, 0 for the response.  slope, middle, weight: heights of polygons at the
    PIECES + 1 ends of their pieces; `weight` is empty where size is |psi|.  inside: whether size is `clip` where the
    score is not clamped.
    """

    weights: tuple[int, ...]
    shift: int
    clip: int
    slope: tuple[int, ...]
    middle: tuple[int, ...]
    weight: tuple[int, ...] = ()
    inside: bool = False

    @property
    def polygons(self) -> tuple[tuple[int, ...], ...]:
        """The polygons that are given: slope, middle, and weight unless it is empty."""
        return (self.slope, self.middle, *((self.weight,) if self.weight else ()))

    def check(self, reach: int = H) -> None:
        """Raise ArithmeticError where an intermediate value could exceed EXACT, or a slope is not an integer.

        reach: largest |z| of a coordinate but the response, whose bound is H.
        """
        whole = all(len(one) == PIECES + 1 and not any(x % WIDTH for x in one) for one in self.polygons)
        # z + H lies in 0, ..., 2H, so that |slope (z + H)| <= 2 H max|slope|; 2**FINE is for the half added in rounding
        slope, *others = (max(map(abs, one)) for one in self.polygons)
        if not whole or 2 * H * slope + max(others) + 2**FINE >= EXACT:
            raise ArithmeticError("polygons beyond exact integers")
        if sum(map(abs, self.weights)) * reach + 2**self.shift >= EXACT or self.shift < 1 or self.weights[-1]:
            raise ArithmeticError("a predictor beyond exact integers")

    def place(self, z: Ints) -> Ints:
        """Reference: return the linear predictor e, shape (rows,), for z of shape (rows, coordinates)."""
        total = z @ np.array(self.weights, dtype=np.int64)
        # floor(x / 2**shift + 1/2): the half is added before the division
        return np.clip((total + 2 ** (self.shift - 1)) // 2**self.shift, -L, L)

    def numpy(self, z: Ints) -> Ints:
        """Reference: return psi, shape (rows,), for z of shape (rows, coordinates)."""
        e = self.place(z)
        total = height(self.slope, e) * (z[:, -1] + H) - height(self.middle, e)
        return np.clip((total + 2 ** (FINE - 1)) // 2**FINE, -self.clip, self.clip)

    def sizes(self, z: Ints, psi: Ints) -> Ints:
        """Reference: return size, the weight of products of regressors, shape (rows,)."""
        if self.inside:
            return np.where(np.abs(psi) < self.clip, self.clip, 0)
        if not self.weight:
            return np.abs(psi)
        return np.clip((height(self.weight, self.place(z)) + 2 ** (FINE - 1)) // 2**FINE, 0, self.clip)


def rises(polygon: tuple[int, ...]) -> tuple[int, ...]:
    """Return the slope of each piece: height = polygon[0] + Σ over pieces of slope * clamp(e + L - start, 0, WIDTH)."""
    # exact: `check` asks for heights that are multiples of WIDTH
    return tuple((b - a) // WIDTH for a, b in pairwise(polygon))


def height(polygon: tuple[int, ...], e: Ints) -> Ints:
    """Reference: return the height of a polygon at e, shape (rows,); each product is below EXACT.

    >>> height((0, 256, *[512] * 31), np.array([-L, -L + 3, -L + 300, L])).tolist()
    [0, 3, 300, 512]
    """
    # e = L is the end of the last piece, not the start of another
    piece = np.minimum((e + L) // WIDTH, PIECES - 1)
    within = e + L - piece * WIDTH
    return np.array(polygon, dtype=np.int64)[piece] + np.array(rises(polygon), dtype=np.int64)[piece] * within

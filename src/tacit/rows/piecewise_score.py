"""The bounded score of a row under a public link, in integers alone: the same on every engine.  No data here.

A link's curves are polygons on a public grid, so that no engine's exponential takes part:

    e   = clamp(floor(sum_j weights_j z_j / 2**shift + 1/2), -L, L)                 the linear predictor
    psi = clamp(floor((slope(e) (z_m + H) - middle(e)) / 2**FINE + 1/2), -clip, clip)   the score of response z_m
    size = |psi|, or clamp(floor(weight(e) / 2**FINE + 1/2), 0, clip)                   of products of regressors
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
"""Steps of the predictor's grid, up and down."""
PIECES: Final = 32
"""Pieces of a polygon."""
WIDTH: Final = 2 * L // PIECES
"""Steps of a piece: heights at its ends are multiples of it, so that slopes are integers."""
FINE: Final = 28


@dataclass(frozen=True)
class Bend:
    """What is summed: psi of a row.

    Public: constants at first, then chosen from released integers.  Whatever they say, |psi| and size are at most
    clip.  weights: one a coordinate, the response's 0.  slope, middle: heights of polygons at PIECES + 1 places; weight
    as well, or nothing.
    """

    weights: tuple[int, ...]
    shift: int
    clip: int
    slope: tuple[int, ...]
    middle: tuple[int, ...]
    weight: tuple[int, ...] = ()

    @property
    def polygons(self) -> tuple[tuple[int, ...], ...]:
        """Those that there are."""
        return (self.slope, self.middle, *((self.weight,) if self.weight else ()))

    def check(self) -> None:
        """ArithmeticError where a step could be inexact, or a slope is none."""
        whole = all(len(one) == PIECES + 1 and not any(x % WIDTH for x in one) for one in self.polygons)
        slope, *others = (max(map(abs, one)) for one in self.polygons)
        if not whole or 2 * H * slope + max(others) + 2**FINE >= EXACT:
            raise ArithmeticError("polygons beyond exact integers")
        if sum(map(abs, self.weights)) * H + 2**self.shift >= EXACT or self.shift < 1 or self.weights[-1]:
            raise ArithmeticError("a predictor beyond exact integers")

    def place(self, z: Ints) -> Ints:
        """Reference: z of shape (rows, coordinates) -> e, shape (rows,)."""
        total = z @ np.array(self.weights, dtype=np.int64)
        return np.clip((total + 2 ** (self.shift - 1)) // 2**self.shift, -L, L)

    def numpy(self, z: Ints) -> Ints:
        """Reference: psi, shape (rows,)."""
        e = self.place(z)
        total = height(self.slope, e) * (z[:, -1] + H) - height(self.middle, e)
        return np.clip((total + 2 ** (FINE - 1)) // 2**FINE, -self.clip, self.clip)

    def sizes(self, z: Ints, psi: Ints) -> Ints:
        """Reference: what products of regressors are weighted by, shape (rows,)."""
        if not self.weight:
            return np.abs(psi)
        return np.clip((height(self.weight, self.place(z)) + 2 ** (FINE - 1)) // 2**FINE, 0, self.clip)


def rises(polygon: tuple[int, ...]) -> tuple[int, ...]:
    """Slopes of the pieces: height = polygon[0] + sum over pieces of rise * clamp(e + L - start, 0, WIDTH)."""
    return tuple((b - a) // WIDTH for a, b in pairwise(polygon))


def height(polygon: tuple[int, ...], e: Ints) -> Ints:
    """Reference: a polygon at e, shape (rows,); each product is below EXACT.

    >>> height((0, 256, *[512] * 31), np.array([-L, -L + 3, -L + 300, L])).tolist()
    [0, 3, 300, 512]
    """
    piece = np.minimum((e + L) // WIDTH, PIECES - 1)
    within = e + L - piece * WIDTH
    return np.array(polygon, dtype=np.int64)[piece] + np.array(rises(polygon), dtype=np.int64)[piece] * within

"""Logarithms of bins' densities, their second differences, and which of these are clearly above 0.  Plain arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellAxis

TOLERATED: Final = 0.07
"""Difference of logarithms that is no sign of heaps: where the densities of skewed laws begin."""
FILLED: Final = 5.0
"""A bin is looked at if it and those beside it hold this many standard deviations of their counts, at least."""
HIDDEN: Final = 4.0
"""Rows that noise may hide in a bin that is not filled, in standard deviations of its noise."""
UNEVEN: Final = 2.0
"""Bins are compared whose widths are within this ratio."""


@dataclass(frozen=True)
class LogDensities:
    """Of K bins with these middles: logarithms of mean densities, of counts that hold rows well clear of noise.

    filled: which do; of the others `counts` and `log` are the most that noise may hide.  spread: variances of the
    logarithms by sampling and by noise, shape (2, K), 0 of the others.  alike: whether a bin and the one above it may
    be compared, shape (K - 1,).  Bins with a declared heap may be left out: the next one is then further away.
    """

    middles: Array
    widths: Array
    counts: Array
    filled: NDArray[np.bool_]
    log: Array
    spread: Array
    alike: NDArray[np.bool_]

    @classmethod
    def of(
        cls, axis: CellAxis, counts: Array, variance: float | Array, kept: NDArray[np.bool_] | None = None
    ) -> LogDensities:
        """Return those of noisy counts, with noise of a variance; kept: which bins, or all; shapes (axis.bins,)."""
        own = np.ones(axis.bins, dtype=np.bool_) if kept is None else kept
        counts, widths = counts[own], axis.widths[own]
        filled = counts > FILLED * np.sqrt(variance + np.maximum(counts, 1.0))
        m = np.where(filled, counts, np.maximum(counts, 0.0) + HIDDEN * np.sqrt(variance + 1.0))
        spread = np.where(filled, np.stack([1 / m, variance / m**2]), 0.0)
        alike = np.abs(np.diff(np.log(widths))) < np.log(UNEVEN) + 1e-9
        log = leveled(axis.centers[own], widths, np.log(m / widths), filled)
        return cls(axis.centers[own], widths, m, filled, log, spread, alike)

    @cached_property
    def beside(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether a bin has a filled one below it, and above it, that it may be compared with."""
        lower = np.append(False, self.filled[:-1] & self.alike)
        return lower, np.append(self.filled[1:] & self.alike, False)

    @cached_property
    def between(self) -> NDArray[np.bool_]:
        """Whether a bin and both beside it are filled."""
        return self.filled & self.beside[0] & self.beside[1]

    @cached_property
    def two_beside(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether the two bins below it are filled, and the two above it, for a line through them (`outwards`)."""
        low, high = (one & np.roll(one, at) for one, at in zip(self.beside, (1, -1), strict=True))
        return low & self.outwards[0].any(axis=1), high & self.outwards[1].any(axis=1)

    @cached_property
    def looked_at(self) -> NDArray[np.bool_]:
        """Whether a bin is held against both bounds that those beside it give."""
        return self.between & (self.two_beside[0] | self.two_beside[1])

    @cached_property
    def above(self) -> Array:
        """The matrix, shape (K, K), of what a bin has beyond a straight line through the two beside it."""
        x, K = self.middles, len(self.middles)
        D, own = np.zeros((K, K)), np.arange(1, K - 1)
        part = (x[2:] - x[1:-1]) / (x[2:] - x[:-2])
        D[own, own], D[own, own - 1], D[own, own + 1] = 1.0, -part, part - 1
        return D

    @cached_property
    def outwards(self) -> tuple[Array, Array]:
        """The same, from lines through the two bins below and the two above; rows without them are 0."""
        x, K = self.middles, len(self.middles)
        lower, upper = np.zeros((2, K, K))
        for r in range(K):
            for matrix, one, two in ((lower, r - 1, r - 2), (upper, r + 1, r + 2)):
                if 0 <= two < K and self.alike[min(r, one)] and self.alike[min(one, two)]:
                    part = (x[r] - x[one]) / (x[one] - x[two])
                    matrix[r, r], matrix[r, one], matrix[r, two] = 1.0, -1 - part, part
        return lower, upper

    def clear(self, matrix: Array, chance: float) -> NDArray[np.bool_]:
        """Return which linear functions of logarithms are clearly above TOLERATED; matrix: shape (functions, K)."""
        sampling, noise = self.spread @ (matrix**2).T
        far = -math.log(2 * chance) / math.sqrt(2)  # of Laplace noise, in standard deviations
        limit = np.sqrt(NormalDist().inv_cdf(1 - chance) ** 2 * sampling + far**2 * noise)
        return matrix @ self.log > TOLERATED + limit


def leveled(x: Array, widths: Array, log: Array, filled: NDArray[np.bool_] | None = None) -> Array:
    """Return logarithms of mean densities as of bins that are all as wide as the median one, shape (..., K).

    In a wider bin a steep density has a larger mean beside that in the middle; with unequal widths that is a scatter.
    x: middles.  filled: which bins say something of slopes, all if None.
    """
    if not widths.shape[-1]:  # every bin may have a declared heap: none is left to say anything
        return log
    usual = np.median(widths, axis=-1, keepdims=True)
    if (np.abs(widths - usual) <= 1e-9 * usual).all():
        return log
    own = np.ones(log.shape[-1], dtype=np.bool_) if filled is None else filled
    pairs = own[1:] & own[:-1]
    rise = np.where(pairs, np.diff(log, axis=-1) / np.diff(x, axis=-1), 0.0)
    none = np.zeros((*rise.shape[:-1], 1))
    before, after = np.concatenate([none, rise], axis=-1), np.concatenate([rise, none], axis=-1)
    low, high = np.append(False, pairs), np.append(pairs, False)
    slope = (before + after) / np.maximum(low.astype(np.float64) + high, 1.0)
    bend = np.where(low & high, (after - before) / widths, 0.0)
    return log - _above_middle(slope, bend, widths) + _above_middle(slope, bend, usual)


def _above_middle(slope: Array, bend: Array, width: Array) -> Array:
    """Return the logarithm of a bin's mean density over that in its middle; slope, bend: of the logarithm."""
    z = np.clip(np.abs(slope) * width / 2, 1e-3, 30.0)
    out: Array = np.log(np.sinh(z) / z) + np.clip(bend * width**2, -4.0, 4.0) / 24
    return out

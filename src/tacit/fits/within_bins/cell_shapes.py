"""A second opinion on curves that are fitted to counts of cells: the shape that the counts give each cell.

A kernel, a polynomial or a series averages over cells, and follows a density that changes much from one cell to the
next only in part.  What it is off by there is estimated by its difference to the shapes within cells
(`within_bin_shares`: exponentials between the densities at edges), less what of that difference is noise; where
they differ, or cells have many rows, what is not known of the shapes is added.  Where the density is smooth both
agree, and next to nothing is added.
Plain arrays; post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.base.simplex import nearest_with_sum
from tacit.fits.heaps.bin_heaps import HALF
from tacit.fits.within_bins.within_bin_shares import WithinBins, level_bins, within_bins

FEWEST: Final = 3
"""Fewest cells of which shapes are known."""
CHANCE: Final = 1.0
"""So many variances a squared difference is by chance."""
CROWDED: Final = 0.2
"""Part of all rows from which a cell may hide a peak, or an edge, that is next to nothing beside it: where so few cells
hold most rows a curve follows their counts whatever is within them, and no residual tells."""
FULL: Final = 0.7
"""Part of all rows from which a cell may be of any shape with one hill, whatever its neighbours are.  Of fewer rows as
much less as the square of the part."""
UNTOLD: Final = 0.5
"""So much of that leaves the density within a cell, which a peak makes as high as it likes, without limits."""
FLAT: Final = 1e-3
"""Added to shares where their densities are compared."""
LIMIT: Final = 1.96
"""So many standard deviations of what is not known reach as far as any such shape."""


@dataclass(frozen=True)
class CellShapes:
    """Shapes within cells.

    edges: shape (K + 1,), rising.  shares: of the rows, 0 or more, shape (K,).  inside: the shapes.  single: whether a
    cell is one value, which has no shape, shape (K,).
    """

    edges: Array
    shares: Array
    inside: WithinBins
    single: NDArray[np.bool_]

    @classmethod
    def of(cls, edges: Array, counts: Array, variance: float, unit: float = 0.0) -> CellShapes:
        """Return the shapes of noisy counts, shape (K,), each with noise of a variance.

        unit: distance of two values of the column, in units of edges; 0 of any real numbers.  Shares are the nearest
        that can be: counts each made positive would give cells without rows a large part of all.
        """
        K = len(counts)
        inside = within_bins(edges, counts, variance) if K >= FEWEST else level_bins(K)
        shares = nearest_with_sum(counts / max(float(counts.sum()), 1.0), 1.0)
        return cls(edges, shares, inside, np.diff(edges) < 1.5 * unit)

    def place(self, x: Array) -> tuple[NDArray[np.int64], Array]:
        """Return the cells of places and the fractions of these below them."""
        cell = np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, len(self.shares) - 1)
        return cell, np.clip((x - self.edges[cell]) / np.diff(self.edges)[cell], 0.0, 1.0)

    def density(self, x: Array) -> tuple[Array, Array]:
        """Return weights of shares for the density at places, shape (n, K), and what is not known of it, shape (n,)."""
        cell, u = self.place(x)
        width, single = np.diff(self.edges)[cell], self.single[cell]
        own = np.where(single, 1.0, np.maximum(self.inside.density(cell, u), 0.0))
        unknown = np.where(single, 0.0, self.inside.unknown_density(cell, u))
        weights = np.zeros((len(x), len(self.shares)))
        weights[np.arange(len(x)), cell] = own / width
        return weights, unknown * self.shares[cell] / width

    def below(self, x: Array) -> tuple[Array, Array]:
        """Return weights of shares for the share below places, shape (n, K), and what is not known of it, shape (n,).

        >>> CellShapes.of(np.arange(5.0), np.full(4, 100.0), 1.0).below(np.array([1.5]))[0]
        array([[1. , 0.5, 0. , 0. ]])
        """
        cell, u = self.place(x)
        K, single = len(self.shares), self.single[cell]
        part = np.where(single, u, self.inside.below(cell, u))
        weights = np.tri(K, K, -1)[cell]
        weights[np.arange(len(x)), cell] = part
        return weights, np.where(single, 0.0, self.inside.unknown(cell, u)) * self.shares[cell]

    def crowded(self, x: Array) -> NDArray[np.bool_]:
        """Return which places are in cells that hold so many rows that a curve's residuals do not tell of them."""
        cell = self.place(x)[0]
        return (self.shares[cell] >= CROWDED) & ~self.single[cell]

    def hidden(self, x: Array, unknown: Array, noise: Array) -> Array:
        """Return what is not known of the shapes at places in crowded cells beyond their noise, shape (n,).

        unknown: of all places.  noise: variances of the errors of what the shapes say there.

        >>> shapes = CellShapes.of(np.arange(5.0), np.array([400.0, 300.0, 200.0, 100.0]), 1.0)
        >>> shapes.hidden(np.array([0.5, 3.5]), np.array([0.5, 0.5]), np.array([0.09, 0.09])).round(2).tolist()
        [0.09, 0.0]
        """
        return self.full[self.place(x)[0]] * np.sqrt(np.maximum(unknown**2 - CHANCE * noise, 0.0))

    @cached_property
    def full(self) -> Array:
        """How far nothing is known of the shapes of cells, from 0 to 1, shape (K,); 0 of those that are not crowded."""
        log = np.log((self.shares + FLAT) / np.diff(self.edges))
        uneven = np.ptp(log) ** 2 / (1 + np.ptp(log) ** 2)
        found = uneven * np.minimum(self.shares / FULL, 1.0) ** 2
        return np.where((self.shares >= CROWDED) & ~self.single, found, 0.0)

    def hidden_below(self, x: Array, told: Array) -> Array:
        """Return what is not known of the share below places in crowded cells, as standard deviations, shape (n,).

        told: the share, by a curve.  A density with one hill in a cell, wherever it is, is nowhere below the lesser of
        its edges' densities (of 0 beyond the ends), so that a fraction u of the cell has from e u to 1 - e (1 - u) of
        its rows.  Nothing where all cells have the same density.

        >>> shapes = CellShapes.of(np.arange(5.0), np.array([900.0, 60.0, 30.0, 10.0]), 1.0)
        >>> shapes.hidden_below(np.array([0.5, 2.5]), np.array([0.6, 0.97])).round(2).tolist()
        [0.29, 0.0]
        """
        crowded = self.crowded(x)
        if not crowded.any():
            return np.zeros(len(x))
        (cell, u), K = self.place(x), len(self.shares)
        every = np.arange(K)
        left, right = (self.inside.density(every, np.full(K, end)) - self.inside.doubt / 2 for end in (0.0, 1.0))
        left[0] = right[-1] = 0.0
        e = np.clip(np.minimum(left, right), 0.0, 1.0)
        # of the first cell the right edge's density is known, and of the last one the left one's
        first, last = np.clip(right[0], 0.0, 1.0), np.clip(left[-1], 0.0, 1.0)
        least = np.where(cell == K - 1, last, e[cell]) * u
        most = 1 - np.where(cell == 0, first, e[cell]) * (1 - u)
        share, before = self.shares[cell], (np.cumsum(self.shares) - self.shares)[cell]
        reach = np.maximum(before + most * share - told, told - before - least * share)
        return self.full[cell] * np.maximum(reach, 0.0) / LIMIT

    def leaking(self, leaks: Array | None, x: Array) -> Array:
        """Return what densities at places may be off by for rows that are another cell's, shape (n,).

        leaks: so large a part of each cell may be, shape (K,), or None: of the largest density of it and those beside.
        """
        if leaks is None:
            return np.zeros(len(x))
        density = np.concatenate([[0.0], self.shares / np.diff(self.edges), [0.0]])
        most = np.maximum(np.maximum(density[:-2], density[1:-1]), density[2:])
        return np.asarray((HALF * leaks * most)[self.place(x)[0]])


def off_by(difference: Array, variance: Array, unknown: Array, noise: Array) -> Array:
    """Return what estimates may be off by, as standard deviations.

    difference: to the second opinion, of which `unknown` is not known and `noise` the variance.  variance: of the
    difference that is noise.  What the difference is beyond CHANCE times its variance counts; of what is not known of
    the second opinion as large a part, or what is beyond CHANCE times its noise: the shapes of cells with next to no
    rows say nothing against a curve.

    >>> off_by(np.array([1.0, 5.0]), np.array([4.0, 8.0]), np.array([3.0, 4.0]), np.array([9.0, 9.0])).round(3).tolist()
    [0.0, 4.939]
    """
    beyond = np.maximum(difference**2 - CHANCE * variance, 0.0)
    part = np.divide(beyond, difference**2, out=np.zeros_like(beyond), where=beyond > 0)
    return np.asarray(np.sqrt(beyond + np.maximum(unknown**2 - CHANCE * noise, (part * unknown) ** 2)))

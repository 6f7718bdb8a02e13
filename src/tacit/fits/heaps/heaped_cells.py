"""Shares below a place and moments of rows in cells, where a column declares heaps (`fits.heaps.bin_heaps`).

Of a cell's rows any share may be at its heaps, each as likely.  What none of them and what all of them there make is
known; half is taken, and the way to either end is not known.  A bias of at most one standard deviation of what is not
known is held by a 95% interval at least as often as no bias is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.fits.heaps.bin_heaps import HALF, DeclaredHeaps, declared_heaps


@dataclass(frozen=True)
class HeapedCells:
    """Cells with K + 1 edges, in a column's units, and its declared heaps in each."""

    edges: Array
    heaps: DeclaredHeaps

    @classmethod
    def of(cls, edges: Array, heaped_at: float | None) -> HeapedCells | None:
        """Return the cells; None where no heaps are declared."""
        heaps = declared_heaps(edges, heaped_at or 0.0)
        return None if heaps is None else cls(edges, heaps)

    @property
    def own(self) -> NDArray[np.bool_]:
        """Which cells have a heap."""
        return self.heaps.count > 0

    def below(self, cell: NDArray[np.int64], place: Array, smooth: Array) -> tuple[Array, Array]:
        """Return which share of each cell's rows is taken to be at or below a place in it, and what is not known of it.

        smooth: the share without heaps.  A heap at the place is at or below it, and on the way there; one at the last
        edge is in the last cell.

        >>> cells = HeapedCells.of(np.array([0.0, 5.0, 10.0, 20.0]), 5.0)
        >>> cells.below(np.array([1, 2]), np.array([5.0, 15.0]), np.array([0.0, 0.5]))
        (array([0.5, 0.5]), array([0.5       , 0.16666667]))
        """
        below, upto = self.heaps.shares(cell, place)
        inside = self.own[cell] & (place < self.edges[cell + 1])
        low = np.where(inside, np.minimum(smooth, below), smooth)
        high = np.where(inside, np.maximum(smooth, upto), smooth)
        return (low + high) / 2, (high - low) / 2

    def moments(self) -> Array:
        """Return mean and mean square of the heaps in each cell, shape (2, K); of a cell without one its middle's."""
        center = np.where(self.own, self.heaps.center, (self.edges[1:] + self.edges[:-1]) / 2)
        return np.stack([center, center**2 + np.where(self.own, self.heaps.variance, 0.0)])


def whole_heaps(edges: Array, heaped_at: float) -> tuple[NDArray[np.int64], Array]:
    """Return at which edges cells of whole heaps begin and end, and which part of each may be another's, shape (K,).

    A value is told as its nearest heap at most: cells from halfway before a heap to halfway behind one have the rows
    that they would have without heaps.  Edges are the nearest ones to such places; what is between is the part.

    >>> whole_heaps(np.array([0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0]), 5.0)
    (array([0, 1, 4, 6]), array([0.25 , 0.16666667, 0.125     ]))
    """
    low, high = edges[[0, -1]] / heaped_at - 0.5
    halves: Array = heaped_at * (np.arange(np.ceil(low), np.floor(high) + 1, dtype=np.float64) + 0.5)
    near = np.abs(edges[:, None] - halves).argmin(axis=0) if len(halves) else np.zeros(0, dtype=np.int64)
    at = np.unique(np.concatenate([[0], near, [len(edges) - 1]])).astype(np.int64)
    # of the inner edges
    off = np.abs(edges[at] / heaped_at - 0.5 - np.rint(edges[at] / heaped_at - 0.5)) * heaped_at
    off[[0, -1]] = 0.0
    return at, (off[:-1] + off[1:]) / np.diff(edges[at])


def unknown_heaps(away: Array) -> Array:
    """Return the covariance of what is not known of sums over cells, shape (p, p).

    away: by how much each cell's part of the sums would be larger with all of its rows at heaps than with none, shape
    (K, p).  Heaps may move all cells one way, and each on its own.
    """
    off = HALF * away
    return np.outer(off.sum(axis=0), off.sum(axis=0)) + off.T @ off

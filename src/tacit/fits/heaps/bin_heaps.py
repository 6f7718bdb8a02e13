"""Values at points within bins: heaps that a column declares, and those that its counts show (`hidden_heaps`).

A part of a bin's rows is at points, the rest lies as the density within the bin has it.  Of a declared heap the places
are known, the multiples of a number, and the part is anything from none to all: half is taken, and the way to either
end counts as not known.  Of rows that only the counts show the part is what a bin has beyond its neighbours, and the
place is anywhere in the bin: the middle is taken, and the way to either edge counts as not known.  A bias that is
at most one standard deviation of what counts as not known is held by a 95% interval at least as often as no bias is,
whatever the other errors.
Values told in multiples of one number are at like places in like bins, so that heaps move a statistic all one way; that
each bin is off on its own is allowed for, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellAxis

HALF = 0.5
"""Part of a bin's rows that is taken to be at declared heaps."""


@dataclass(frozen=True)
class DeclaredHeaps:
    """The multiples in each of K bins, shape (K,) each: the lowest, how many there are, and their distance.

    In units of the bins' edges; a multiple on an edge is in the bin above, the last edge's in the last bin.
    """

    first: Array
    count: Array
    unit: float

    @property
    def center(self) -> Array:
        """Their mean in each bin."""
        return self.first + self.unit * (self.count - 1) / 2

    @property
    def variance(self) -> Array:
        """Their variance in each bin, each as likely."""
        return self.unit**2 * np.maximum(self.count**2 - 1, 0.0) / 12

    def shares(self, at: NDArray[np.int64], place: Array) -> tuple[Array, Array]:
        """Return which shares of the multiples of bins `at` are below, and at or below, places; shapes (m,)."""
        steps = (place - self.first[at]) / self.unit
        near = np.rint(steps)
        exact = np.abs(steps - near) < 1e-9 * np.maximum(np.abs(steps), 1.0)
        below = np.where(exact, near, np.floor(steps) + 1)
        total = np.maximum(self.count[at], 1.0)
        return np.clip(below, 0.0, total) / total, np.clip(below + exact, 0.0, total) / total


def declared_heaps(bounds: Array, unit: float) -> DeclaredHeaps | None:
    """Return the multiples of `unit` in bins with these bounds, shape (K + 1,); None for unit 0.

    >>> found = declared_heaps(np.array([0.0, 5.0, 25.0, 30.0]), 10.0)
    >>> found.center.tolist(), found.count.tolist()
    ([0.0, 15.0, 30.0], [1.0, 2.0, 1.0])
    """
    if not unit:
        return None
    near = np.rint(bounds / unit)
    whole = np.abs(bounds / unit - near) < 1e-6
    begins = np.where(whole, near, np.ceil(bounds / unit))
    begins[-1] += whole[-1]
    return DeclaredHeaps(unit * begins[:-1], np.diff(begins), unit)


@dataclass(frozen=True)
class AtPoints:
    """How many rows of each bin are at points, and where: each of shape (..., K).

    part: of a bin's rows.  place: their mean minus the middle.  variance: about that.  lean: how much of the distance
    of the other rows' mean from the middle is theirs, too.
    """

    part: Array
    place: Array
    variance: Array
    lean: Array

    def mixed(self, shift: Array, variance: Array) -> tuple[Array, Array]:
        """Return mean minus middle, and variance, of all rows of a bin, from those of the rows at no point."""
        place = self.place + self.lean * shift
        first = (1 - self.part) * shift + self.part * place
        second = (1 - self.part) * (variance + shift**2) + self.part * (self.variance + place**2)
        return first, np.maximum(second - first**2, 0.0)


def at_points(axis: CellAxis, hidden: Array) -> AtPoints | None:
    """Return what is taken of a column; hidden: parts of bins that its counts show, shape (K,).  None for no point."""
    heaps = declared_heaps(axis.bounds, axis.heaped_at)
    if heaps is None and not hidden.any():
        return None
    zero = np.zeros(axis.bins)
    found = AtPoints(hidden, zero, axis.within**2, zero)
    if heaps is None:
        return found
    own = heaps.count > 0
    even = np.where(axis.within > 0, axis.within, 1.0) ** 2
    return AtPoints(
        np.where(own, HALF, hidden),
        np.where(own, heaps.center - axis.centers, 0.0),
        np.where(own, heaps.variance, found.variance),
        np.where(own, np.minimum(heaps.variance / even, 1.0), 0.0),
    )


def unknown_points(axis: CellAxis, taken: AtPoints, moved: Callable[[AtPoints], Array], here: Array) -> Array:
    """Return the covariance of what is not known of points, shape (p, p).

    moved: of points otherwise, parts and places of shape (K, K), one bin's in each row, where sums over rows come to,
    shape (K, p).  here: where they come to as taken, shape (p,).
    """
    K, p = axis.bins, len(here)
    heaps = declared_heaps(axis.bounds, axis.heaped_at)
    declared = np.zeros(K, dtype=np.bool_) if heaps is None else heaps.count > 0
    found = np.zeros((p, p))
    if declared.any():
        part = np.tile(taken.part, (K, 1)) + np.diag(np.where(declared, 1 - HALF, 0.0))
        off = moved(replace(taken, part=part)) - here
        found += np.outer(off.sum(axis=0), off.sum(axis=0)) + off.T @ off
    if (hidden := ~declared & (taken.part > 0)).any():
        each = [moved(_at(taken, np.diag(side * hidden * reach(axis)), hidden)) - here for side in (-1.0, 1.0)]
        tilt, bend = (each[1] - each[0]) / 2, (each[1] + each[0]) / 2
        alike = _held(tilt.sum(axis=0)[None], bend.sum(axis=0)[None])
        found += _larger(alike, _held(tilt, bend))
    return found


def reach(axis: CellAxis) -> Array:
    """Return how far the first and the last value of a bin are from its middle, shape (K,)."""
    return (axis.widths - axis.step) / 2


def _at(taken: AtPoints, place: Array, hidden: NDArray[np.bool_]) -> AtPoints:
    """Return points of one bin in each row at a place, shape (K, K), with no spread."""
    own = np.eye(len(hidden), dtype=np.bool_) & hidden
    return replace(taken, place=taken.place + place, variance=np.where(own, 0.0, taken.variance))


def _held(tilt: Array, bend: Array) -> Array:
    """Return a covariance for rows off by bend + tilt or bend - tilt, shape (rows, p): their size on its diagonal."""
    size = np.hypot(tilt, bend)
    grown = (np.abs(tilt) + np.abs(bend)) / np.where(size > 0, size, 1.0)
    one, two = tilt * grown, bend * grown
    return one.T @ one + two.T @ two


def _larger(one: Array, other: Array) -> Array:
    """Return the sum of two covariances, scaled to the larger of their variances."""
    total, most = np.diag(one + other), np.maximum(np.diag(one), np.diag(other))
    scale = np.sqrt(most / np.where(total > 0, total, 1.0))
    return (one + other) * np.outer(scale, scale)

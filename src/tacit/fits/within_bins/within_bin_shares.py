"""Distribution functions within bins: the share of a bin's rows below a place in it, and what is not known of that.

The density within a bin is that of fits (`bin_shapes`): an exponential between its edges' densities, and in inner
bins a parabola for edges that are both higher, or both lower, than the exponential has them.  Where rows are at points
(`bin_heaps`), the function is between what none of them and all of them at the points make: its middle is taken,
and half the way between is not known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.cells.exponential_bins import STEEPEST
from tacit.fits.heaps.bin_heaps import DeclaredHeaps, declared_heaps
from tacit.fits.heaps.hidden_heaps import heaped_rows
from tacit.fits.heaps.lattice_evidence import Lattices, lattices_of
from tacit.fits.within_bins.bin_doubts import hidden_means
from tacit.fits.within_bins.bin_errors import edge_doubts
from tacit.fits.within_bins.bin_rules import ROUGH
from tacit.fits.within_bins.bin_shapes import roughness

POINTS, ROUNDS = 65, 7
"""Points of a bin among which the place of a quantile is looked for, and how often: 64**7 is above 2**40."""


@dataclass(frozen=True)
class WithinBins:
    """Shapes of the densities within K bins, each of shape (K,).

    kappa: slope of the logarithm over the bin.  hollow: how much higher both edges are, in mean densities.  doubt: what
    is not known of kappa, as a standard deviation.  hidden: the same of the mean, in bins, whatever is known of edges.
    heaped: part of each bin's rows that its counts show to be at one point or few, anywhere.  heaps: bounds, and
    declared ones; None where there are none.  lattices: bounds, and lattices that counts leave plausible, or None.
    """

    kappa: Array
    hollow: Array
    doubt: Array
    hidden: Array
    heaped: Array
    heaps: tuple[Array, DeclaredHeaps] | None = None
    lattices: tuple[Array, Lattices] | None = None

    def below(self, at: NDArray[np.int64], u: Array) -> Array:
        """Return the share of bin `at` below its fraction u, shapes (m,): 0 at 0, 1 at 1, rising.

        >>> level_bins(3).below(np.array([0, 2]), np.array([0.25, 1.0]))
        array([0.25, 1.  ])
        """
        low, high = self.ends(at, u)
        return (low + high) / 2

    def smooth(self, at: NDArray[np.int64], u: Array) -> Array:
        """Return the share of rows at no point below the fraction u."""
        return _exponential(self.kappa[at], u) + self.hollow[at] * u * (1 - u) * (1 - 2 * u)

    def ends(self, at: NDArray[np.int64], u: Array) -> tuple[Array, Array]:
        """Return between which shares `below` is, for rows at points; a row at a point is below and not below it."""
        smooth = self.smooth(at, u)
        part = np.where(u < 1, self.heaped[at], 0.0)
        low, high = (1 - part) * smooth, (1 - part) * smooth + part
        if self.heaps is None:
            return low, high
        edges, heaps = self.heaps
        below, upto = heaps.shares(at, edges[at] + u * np.diff(edges)[at])
        own = (heaps.count[at] > 0) & (u < 1)
        return np.where(own, np.minimum(smooth, below), low), np.where(own, np.maximum(smooth, upto), high)

    def fractions(self, at: int, fine: int) -> Array:
        """Return `fine` fractions of a bin from 0 on, and those of its declared heaps, if these are no more."""
        even: Array = np.arange(fine) / fine
        if self.heaps is None or not 0 < self.heaps[1].count[at] <= fine:
            return even
        edges, heaps = self.heaps
        number = np.arange(int(heaps.count[at]), dtype=np.float64)
        found = (heaps.first[at] + heaps.unit * number - edges[at]) / (edges[at + 1] - edges[at])
        both: Array = np.sort(np.concatenate([even, found[found < 1]]))
        return both[np.diff(both, prepend=-1.0) > 1e-9]

    def density(self, at: NDArray[np.int64], u: Array) -> Array:
        """Return the density at the fraction u of bin `at`, in mean densities of the bin, of rows at no point.

        >>> level_bins(3).density(np.array([0, 2]), np.array([0.25, 1.0])).round(3).tolist()
        [1.0, 1.0]
        """
        return _density(self.kappa[at], u) + self.hollow[at] * (1 - 6 * u * (1 - u))

    def unknown_density(self, at: NDArray[np.int64], u: Array) -> Array:
        """Return the standard deviation of what is not known of `density`; rows at points left out."""
        k, d = self.kappa[at], self.doubt[at]
        middle = _density(k, u)
        tilted = np.maximum(np.abs(_density(k - d, u) - middle), np.abs(_density(k + d, u) - middle))
        # as of `below`: what a mean that is off, and both edges one way, move
        even = 6 * self.hidden[at] * (1 - 2 * u)
        return np.asarray(np.sqrt(tilted**2 + even**2 + (d / 2 * (1 - 6 * u * (1 - u))) ** 2))

    def unknown(self, at: NDArray[np.int64], u: Array) -> Array:
        """Return the standard deviation of what is not known of `below`."""
        low, high = self.ends(at, u)
        known = np.hypot(self._doubtful(at, u), (high - low) / 2)
        if self.lattices is None:
            return known
        bounds, lattices = self.lattices
        told: Array = np.hypot(known, lattices.stepped(bounds[at], bounds[at + 1], u, self.smooth(at, u)))
        return told

    def _doubtful(self, at: NDArray[np.int64], u: Array) -> Array:
        """Return the same of `smooth`."""
        k, d = self.kappa[at], self.doubt[at]
        middle = _exponential(k, u)
        tilted = np.maximum(_exponential(k - d, u) - middle, middle - _exponential(k + d, u))
        # a mean that moves by a part of a bin moves the function by six times that, times u (1 - u), in between; both
        # edges half as much off one way move the parabola
        even = 6 * self.hidden[at] * u * (1 - u)
        out: Array = np.sqrt(tilted**2 + even**2 + (d / 2 * u * (1 - u) * (1 - 2 * u)) ** 2)
        return out

    def place(self, at: int, share: float) -> float:
        """Return the fraction u of bin `at` below which a share of its rows lies."""
        low, high = 0.0, 1.0
        for _ in range(ROUNDS):
            # the first of some points at or above it, and the one before
            u = np.linspace(low, high, POINTS)
            first = int(np.searchsorted(self._taken(np.full(POINTS, at, dtype=np.int64), u), share))
            low, high = u[max(first - 1, 0)], u[min(first, POINTS - 1)]
        return float(low + high) / 2

    def _taken(self, at: NDArray[np.int64], u: Array) -> Array:
        """Return `below` with rows at points that are not declared as the others lie."""
        return np.where(self.heaped[at] > 0, self.smooth(at, u), self.below(at, u))


def level_bins(K: int) -> WithinBins:
    """Return the shapes of K bins of even densities."""
    zero = np.zeros(K)
    return WithinBins(zero, zero, zero, zero, zero)


def within_bins(
    bounds: Array, counts: Array, variance: float, heaped_at: float = 0.0, told: bool = False
) -> WithinBins:
    """Return the shapes from noisy counts, shape (K,), each with noise of a variance, in bins with K + 1 bounds.

    heaped_at: declared heaps are at its multiples.  told: whether values may be told in multiples of a number that
    nobody declared (`lattice_evidence`).
    """
    axis = CellAxis("", "continuous", bounds, heaped_at=heaped_at)
    heaped = heaped_rows(axis, counts, variance)
    smooth = counts - heaped.rows
    edges, doubt = edge_doubts(axis, smooth, variance)
    left, right = edges.used[:-1] / edges.mean, edges.used[1:] / edges.mean
    rough = roughness(axis, smooth, variance)
    # among heaps the neighbours of a bin say little, as for means
    kappa = np.clip(right - left, -STEEPEST, STEEPEST) / (1 + (rough / ROUGH) ** 2)
    size = np.maximum(np.abs(kappa), 1e-3)
    hollow = (left + right) / 2 - size / 2 / np.tanh(size / 2)
    # never so much that the density is negative where the exponential is least
    least = size / np.expm1(np.minimum(size, 500.0))
    hollow = np.clip(hollow, -least, least)
    hollow[[0, -1]] = 0.0
    off = np.sqrt((doubt[:-1] / edges.mean) ** 2 + (doubt[1:] / edges.mean) ** 2)
    hidden = hidden_means(axis, edges, rough) / axis.widths
    heaps = declared_heaps(bounds, heaped_at)
    part = np.maximum(np.where(heaped.rows > 0, heaped.rows / np.maximum(counts, 1.0), 0.0), heaped.anywhere)
    declared = None if heaps is None else (bounds, heaps)
    part = part if heaps is None else np.where(heaps.count > 0, 0.0, part)
    found = lattices_of(axis, counts, variance) if told else None
    lattices = None if found is None else (bounds, found)
    return WithinBins(kappa, hollow, np.minimum(off, STEEPEST), hidden, part, declared, lattices)


def _density(kappa: Array, u: Array) -> Array:
    """Return the density prop. to exp(kappa u) on [0, 1]."""
    k = np.where(np.abs(kappa) < 1e-6, 1e-6, np.clip(kappa, -500.0, 500.0))
    size = np.abs(k)
    # from the side where it is largest, against overflow
    return size * np.exp(-size * np.where(k > 0, 1 - u, u)) / -np.expm1(-size)


def _exponential(kappa: Array, u: Array) -> Array:
    """Return the distribution function of the density prop. to exp(kappa u) on [0, 1]."""
    small = np.abs(kappa) < 1e-6
    k = np.where(small, 1.0, np.clip(kappa, -500.0, 500.0))
    # from the side where the exponential is least, against overflow
    found = np.where(k > 0, np.exp(k * (u - 1)) * -np.expm1(-np.abs(k) * u), -np.expm1(-np.abs(k) * u))
    return np.where(small, u, found / -np.expm1(-np.abs(k)))

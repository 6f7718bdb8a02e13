"""Distribution functions of binned columns: values at edges, shape within bins, inversion.  Pure array functions.

A group has K bins with noisy counts, and possibly a cell below the bounds and one above.  Let S(t) be the noisy number
of rows at or below t and N the noisy number of all rows.  S(t) - tau N is linear in the noise and has mean 0 if
F(t) = tau, for any N; its sampling variance is then N tau (1 - tau).  A quantile's interval therefore holds all t at
which |S(t) - tau N| does not exceed the quantile of its error (theory §7).  If N is public and counts are projected, N
has no noise, and this is the inversion of F(t) - tau.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Error, Noise
from tacit.schema.logistic_bins import LogisticBins

Places: TypeAlias = NDArray[np.int64]
FINE: Final = 8
"""Points within a bin at which the inequality of an interval is evaluated."""
POINTS: Final = 16_384
"""Most points in all bins together; with many bins, each has fewer than `FINE`."""


@dataclass(frozen=True)
class GroupCurve:
    """The distribution function F of one group.

    edges: edges of the bins, shape (K + 1,), or if `discrete` the K numeric levels.  counts: shape (K,), signed.
    below, above: counts beyond the bounds, or None where such values are clamped into the first and last bin.
    sampling: whether the rows are a sample of a population.  map: logistic bins, or None; with these, interpolation
    within bins is on the logistic scale and results are mapped back, which keeps the order of quantiles.
    """

    edges: Array
    counts: Array
    noise: Noise
    below: float | None = None
    above: float | None = None
    sampling: bool = True
    discrete: bool = False
    map: LogisticBins | None = None

    @cached_property
    def line(self) -> Array:
        """Edges on the scale on which densities are taken as lines, shape (K + 1,)."""
        return self.edges if self.map is None else self.map.mapped(self.edges)

    def back(self, place: float) -> float:
        """Return the column's value for a place on the scale of `line`."""
        return place if self.map is None else float(self.map.back(place))

    @property
    def bins(self) -> int:
        """Number of bins, K."""
        return len(self.counts)

    @property
    def cells(self) -> int:
        """Number of cells whose counts add up to N."""
        return self.bins + (self.below is not None) + (self.above is not None)

    @cached_property
    def rows(self) -> float:
        """Number of rows N, noisy or public."""
        return float(self.counts.sum()) + (self.below or 0.0) + (self.above or 0.0)

    @cached_property
    def size(self) -> float:
        """N as a divisor: at least 1."""
        return max(self.rows, 1.0)

    @cached_property
    def sums(self) -> Array:
        """Cumulative counts S at the edges, shape (K + 1,)."""
        return (self.below or 0.0) + np.concatenate([[0.0], np.cumsum(self.counts)])

    @cached_property
    def rising(self) -> Array:
        """Isotonic estimate of F at the edges, within [0, 1] (pooled adjacent violators), shape (K + 1,)."""
        F = self.sums / self.size
        # F is known where no cell lies beyond a bound: 0 at the lower one, 1 at the upper one
        inner = slice(0 if self.below is not None else 1, None if self.above is not None else -1)
        out = np.zeros(len(F))
        out[-1] = 1.0
        out[inner] = np.clip(pooled(F[inner]), 0.0, 1.0)
        return out

    @cached_property
    def shape(self) -> tuple[Array, Array]:
        """Change of the density over each bin, and a bound on its error, both as fractions of rows, shape (K,).

        The slope is interpolated from the neighbours (extrapolated at both ends) and cut so that the density stays
        non-negative.  Its error is taken as half the difference of the slopes on either side, or all of it at the ends.
        """
        share = np.diff(self.rising)
        if not self.shaped:
            return np.zeros(self.bins), np.zeros(self.bins)
        width = np.diff(self.line)
        slope, off = slopes(share / width, (self.line[1:] + self.line[:-1]) / 2)
        # the density is 0 at an end of the bin where slope * width**2 is -+2 share; two such slopes differ by 4 share
        return np.clip(slope * width**2, -2 * share, 2 * share), np.minimum(off * width**2, 4 * share)

    @property
    def shaped(self) -> bool:
        """Whether there are enough bins (three) to estimate the slope of the density within each."""
        return not self.discrete and self.bins > 2

    def room(self, at: Places, within: Array) -> Array:
        """Return how far F may be off at the fraction `within` of bin `at`, as its slope there is uncertain."""
        # a slope off by d moves F at the fraction u of a bin by d u (1 - u) / 2, and not at all at the edges
        return self.shape[1][at] * within * (1 - within) / 2

    def error(self, at: Places, within: Array, tau: Array) -> Error:
        """Return the law of S(t) - tau N if F(t) = tau, for t at the fraction `within` of bin `at`; shapes (m,)."""
        # weight 1 - tau for cells below t, `within` - tau for the cell of t, -tau for those above
        first = at + (self.below is not None)
        weights = np.stack([1 - tau, within - tau, -tau], axis=-1)
        times = np.stack([first, np.ones_like(first), self.cells - first - 1], axis=-1).astype(np.float64)
        variance = self.size * tau * (1 - tau) if self.sampling else np.zeros_like(tau)
        return self.noise.error(weights, variance, times)

    def quantile(self, tau: float) -> tuple[float, int]:
        """Return the tau-quantile and the index of its bin: -1 below the bounds, K above."""
        at, u = self.placed(tau)
        if self.discrete or at < 0 or at == self.bins:
            return float(self.edges[max(at, 0)]), at
        if u in (0.0, 1.0):  # edges exactly, also on the logistic scale
            return float(self.edges[at + int(u)]), at
        return self.back(float(self.line[at] + u * (self.line[at + 1] - self.line[at]))), at

    def placed(self, tau: float) -> tuple[int, float]:
        """Return the bin of the tau-quantile and its place in it as a fraction, on the scale of `line`."""
        F = self.rising
        if self.below is not None and tau <= F[0]:
            return -1, 1.0
        if self.above is not None and tau > F[-1]:
            return self.bins, 0.0
        # the first bin whose upper edge has F >= tau
        at = int(np.clip(np.searchsorted(F, tau, side="left") - 1, 0, self.bins - 1))
        if self.discrete:
            return at, 0.0
        share, slope = F[at + 1] - F[at], self.shape[0][at]
        left = float(np.clip(tau - F[at], 0.0, share))
        start = share - slope / 2  # the root of start * u + slope * u**2 / 2 = left that lies in [0, 1]
        # the quadratic formula with the root in the denominator: no cancellation, and a slope of 0 is no special case
        root = start + np.sqrt(max(start**2 + 2 * slope * left, 0.0))
        return at, float(min(2 * left / root, 1.0)) if root > 0 else 0.5

    def interval(self, tau: float, level: float, smooth: bool = True) -> tuple[float, float]:
        """Return the ends of {t: |S(t) - tau N| <= error quantile}, as whole bins (levels) unless `smooth`."""
        smooth = smooth and self.shaped
        at, u = self._grid(smooth)
        # signed counts: linear in u, less the parabola of the sloped density, which vanishes at the edges
        curved = self.sums[at] + u * self.counts[at] - self.shape[0][at] * u * (1 - u) / 2 * self.size
        off = curved - tau * self.rows
        q = self.error(at, u, np.full(len(at), tau)).halfwidth(level) + self.room(at, u) * self.size
        high, low = off + q, off - q
        # accepted where low <= 0 <= high; from the first such point to the last, as signed sums need not rise
        first = int(np.argmax(high >= 0)) if (high >= 0).any() else len(at) - 1
        last = len(at) - 1 - int(np.argmax(low[::-1] <= 0)) if (low <= 0).any() else 0
        return self._ends(at + u, high, low, first, last, smooth)

    def _ends(self, x: Array, high: Array, low: Array, first: int, last: int, smooth: bool) -> tuple[float, float]:
        end = len(x) - 1
        start = -np.inf if self.below is not None else self.edges[0]
        stop = np.inf if self.above is not None else self.edges[-1]
        if self.discrete:  # x = j is F just before level j
            lower = start if first == 0 else self.edges[int(x[first]) - 1]
            upper = stop if last >= end else self.edges[int(x[last])]
            return float(lower), float(upper)
        if not smooth:
            lower = start if first == 0 else self.edges[int(x[first]) - 1]
            # an edge next to an accepted one is the end: the quantile may be anywhere in the bin between
            upper = stop if last >= end else self.edges[int(x[last]) + 1]
            return float(lower), float(upper)
        # between grid points the ends are where the inequality is an equality, by linear interpolation
        place = np.interp(x, np.arange(self.bins + 1), self.line)
        lower = start if first == 0 else self.back(_zero(place, high, first - 1))
        upper = stop if last >= end else self.back(_zero(place, low, last))
        return float(lower), float(upper)

    def _grid(self, smooth: bool) -> tuple[Places, Array]:
        """Return bins and fractions of them: every edge once, with points between the edges if `smooth`."""
        fine = max(1, min(FINE, POINTS // self.bins)) if smooth else 1
        at = np.append(np.repeat(np.arange(self.bins), fine), self.bins - 1)
        u = np.append(np.tile(np.arange(fine) / fine, self.bins), 1.0)
        return at, u


def pooled(values: Array) -> Array:
    """Return the nearest non-decreasing values (least squares): pooled adjacent violators [Ayer et al. 1955].

    >>> pooled(np.array([1.0, 3.0, 2.0, 4.0]))
    array([1. , 2.5, 2.5, 4. ])
    """
    means: list[float] = []
    sizes: list[int] = []
    for value in values:
        means.append(float(value))
        sizes.append(1)
        # invariant: the means of the blocks before the last do not fall; a violation merges the last two
        while len(means) > 1 and means[-2] > means[-1]:
            size = sizes[-2] + sizes[-1]
            means[-2:] = [(means[-2] * sizes[-2] + means[-1] * sizes[-1]) / size]
            sizes[-2:] = [size]
    return np.repeat(means, sizes)


def slopes(density: Array, middle: Array) -> tuple[Array, Array]:
    """Return slopes at the centres of three or more bins, extrapolated at both ends, and their errors, shape (K,).

    >>> slopes(np.array([1.0, 4.0, 9.0, 16.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    (array([2., 4., 6., 8.]), array([2., 1., 1., 2.]))
    """
    between = np.diff(density) / np.diff(middle)
    place = (middle[1:] + middle[:-1]) / 2
    # second differences: slopes are taken as a line through those between neighbouring bins
    turn = np.diff(between) / np.diff(place)
    inner = between[:-1] + turn * (middle[1:-1] - place[:-1])
    first, last = between[0] + turn[0] * (middle[0] - place[0]), between[-1] + turn[-1] * (middle[-1] - place[-1])
    off = np.abs(np.diff(between))
    return np.concatenate([[first], inner, [last]]), np.concatenate([off[:1], off / 2, off[-1:]])


def _zero(place: Array, values: Array, i: int) -> float:
    """Return the place at which `values` cross 0 between indices i and i + 1, by linear interpolation."""
    a, b = float(values[i]), float(values[i + 1])
    share = a / (a - b) if a != b else 0.5
    return float(place[i] + min(max(share, 0.0), 1.0) * (place[i + 1] - place[i]))

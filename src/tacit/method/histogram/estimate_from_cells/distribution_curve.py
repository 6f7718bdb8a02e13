"""Distribution functions of binned columns: steps at the edges, a shape within bins, inversion.  Pure array functions.

A group has K bins with noisy counts, maybe a cell below the bounds and one above.  With S(t) the noisy number of rows
at or below t and N that of all, S(t) - tau N is linear in the noise and has mean 0 where F(t) = tau, whatever N is;
its sampling variance is then N tau (1 - tau).  So a quantile's interval is where |S(t) - tau N| is within its law
(theory §7; where N is public and counts are projected, N has no noise, and this is F(t) - tau).
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
"""Points within a bin at which an interval's end may lie."""
POINTS: Final = 16_384
"""Points of all bins, at most: with more bins, fewer in each."""


@dataclass(frozen=True)
class GroupCurve:
    """One group's counts.

    edges: shape (K + 1,), of bins; of levels with numbers, K of them, and `discrete`.  counts: shape (K,), signed.
    below, above: counts beyond the bounds, or None where they are in the first and the last bin.  sampling: whether
    the rows are a sample.  map: of logistic bins; within bins everything is then on its scale, and values are mapped
    back: quantiles keep their order.
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
        """A place on that scale as a value of the column."""
        return place if self.map is None else float(self.map.back(place))

    @property
    def bins(self) -> int:
        """Number of bins, K."""
        return len(self.counts)

    @property
    def cells(self) -> int:
        """Cells that make the number of rows."""
        return self.bins + (self.below is not None) + (self.above is not None)

    @cached_property
    def rows(self) -> float:
        """Number of rows N, noisy or public."""
        return float(self.counts.sum()) + (self.below or 0.0) + (self.above or 0.0)

    @cached_property
    def size(self) -> float:
        """N where it is divided by."""
        return max(self.rows, 1.0)

    @cached_property
    def sums(self) -> Array:
        """Cumulative counts S at the edges, shape (K + 1,)."""
        return (self.below or 0.0) + np.concatenate([[0.0], np.cumsum(self.counts)])

    @cached_property
    def rising(self) -> Array:
        """F at the edges, in [0, 1] and nowhere falling (pooled adjacent violators), shape (K + 1,)."""
        F = self.sums / self.size
        inner = slice(0 if self.below is not None else 1, None if self.above is not None else -1)
        out = np.zeros(len(F))
        out[-1] = 1.0
        out[inner] = np.clip(pooled(F[inner]), 0.0, 1.0)
        return out

    @cached_property
    def shape(self) -> tuple[Array, Array]:
        """Of each bin, shape (K,): how much its density changes from start to end, in shares of rows, and how far off.

        The slope is that between the neighbours, extrapolated at both ends, kept where no density is negative; what is
        not known of it is taken as half the difference of the slopes on either side, the whole of it at the ends.
        """
        share = np.diff(self.rising)
        if not self.shaped:
            return np.zeros(self.bins), np.zeros(self.bins)
        width = np.diff(self.line)
        slope, off = slopes(share / width, (self.line[1:] + self.line[:-1]) / 2)
        return np.clip(slope * width**2, -2 * share, 2 * share), np.minimum(off * width**2, 4 * share)

    @property
    def shaped(self) -> bool:
        """Whether there are bins enough to know something of the density within one."""
        return not self.discrete and self.bins > 2

    def room(self, at: Places, within: Array) -> Array:
        """How far F may be off at the share `within` of bin `at`, in shares of rows: the density there is not known."""
        return self.shape[1][at] * within * (1 - within) / 2

    def error(self, at: Places, within: Array, tau: Array) -> Error:
        """Law of S(t) - tau N for t at the share `within` of bin `at`, where F(t) = tau; all of one shape (m,)."""
        first = at + (self.below is not None)
        weights = np.stack([1 - tau, within - tau, -tau], axis=-1)
        times = np.stack([first, np.ones_like(first), self.cells - first - 1], axis=-1).astype(np.float64)
        variance = self.size * tau * (1 - tau) if self.sampling else np.zeros_like(tau)
        return self.noise.error(weights, variance, times)

    def quantile(self, tau: float) -> tuple[float, int]:
        """The tau-quantile, and its bin: -1 below the bounds, K above."""
        at, u = self.placed(tau)
        if self.discrete or at < 0 or at == self.bins:
            return float(self.edges[max(at, 0)]), at
        if u in (0.0, 1.0):
            return float(self.edges[at + int(u)]), at
        return self.back(float(self.line[at] + u * (self.line[at + 1] - self.line[at]))), at

    def placed(self, tau: float) -> tuple[int, float]:
        """The bin of the tau-quantile, and at what share of it, on the scale of `line`."""
        F = self.rising
        if self.below is not None and tau <= F[0]:
            return -1, 1.0
        if self.above is not None and tau > F[-1]:
            return self.bins, 0.0
        at = int(np.clip(np.searchsorted(F, tau, side="left") - 1, 0, self.bins - 1))
        if self.discrete:
            return at, 0.0
        share, slope = F[at + 1] - F[at], self.shape[0][at]
        left = float(np.clip(tau - F[at], 0.0, share))
        start = share - slope / 2  # the root of start * u + slope * u**2 / 2 = left that lies in [0, 1]
        root = start + np.sqrt(max(start**2 + 2 * slope * left, 0.0))
        return at, float(min(2 * left / root, 1.0)) if root > 0 else 0.5

    def interval(self, tau: float, level: float, smooth: bool = True) -> tuple[float, float]:
        """Ends of {t: |S(t) - tau N| is within its law}: whole bins where not `smooth`, or of levels."""
        smooth = smooth and self.shaped
        at, u = self._grid(smooth)
        curved = self.sums[at] + u * self.counts[at] - self.shape[0][at] * u * (1 - u) / 2 * self.size
        off = curved - tau * self.rows
        q = self.error(at, u, np.full(len(at), tau)).halfwidth(level) + self.room(at, u) * self.size
        high, low = off + q, off - q
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
            upper = stop if last >= end else self.edges[int(x[last]) + 1]
            return float(lower), float(upper)
        place = np.interp(x, np.arange(self.bins + 1), self.line)
        lower = start if first == 0 else self.back(_zero(place, high, first - 1))
        upper = stop if last >= end else self.back(_zero(place, low, last))
        return float(lower), float(upper)

    def _grid(self, smooth: bool) -> tuple[Places, Array]:
        """Bins and shares of them: every edge once, and points between where there is a shape between."""
        fine = max(1, min(FINE, POINTS // self.bins)) if smooth else 1
        at = np.append(np.repeat(np.arange(self.bins), fine), self.bins - 1)
        u = np.append(np.tile(np.arange(fine) / fine, self.bins), 1.0)
        return at, u


def pooled(values: Array) -> Array:
    """The nearest values that do not fall: pooled adjacent violators [Ayer et al. 1955].

    >>> pooled(np.array([1.0, 3.0, 2.0, 4.0]))
    array([1. , 2.5, 2.5, 4. ])
    """
    means: list[float] = []
    sizes: list[int] = []
    for value in values:
        means.append(float(value))
        sizes.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            size = sizes[-2] + sizes[-1]
            means[-2:] = [(means[-2] * sizes[-2] + means[-1] * sizes[-1]) / size]
            sizes[-2:] = [size]
    return np.repeat(means, sizes)


def slopes(density: Array, middle: Array) -> tuple[Array, Array]:
    """Slopes at the centres of three bins or more, extrapolated to both ends, and what they may be off, shape (K,).

    >>> slopes(np.array([1.0, 4.0, 9.0, 16.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    (array([2., 4., 6., 8.]), array([2., 1., 1., 2.]))
    """
    between = np.diff(density) / np.diff(middle)
    place = (middle[1:] + middle[:-1]) / 2
    turn = np.diff(between) / np.diff(place)
    inner = between[:-1] + turn * (middle[1:-1] - place[:-1])
    first, last = between[0] + turn[0] * (middle[0] - place[0]), between[-1] + turn[-1] * (middle[-1] - place[-1])
    off = np.abs(np.diff(between))
    return np.concatenate([[first], inner, [last]]), np.concatenate([off[:1], off / 2, off[-1:]])


def _zero(place: Array, values: Array, i: int) -> float:
    """Return the indices i at which values change sign between i and i + 1."""
    a, b = float(values[i]), float(values[i + 1])
    share = a / (a - b) if a != b else 0.5
    return float(place[i] + min(max(share, 0.0), 1.0) * (place[i + 1] - place[i]))

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
from tacit.estimates.bins import nearest_multiples
from tacit.estimates.total_errors import error_laws as laws
from tacit.fits.within_bins.bin_shapes import positive
from tacit.fits.within_bins.within_bin_shares import WithinBins, level_bins, within_bins
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Error, Noise
from tacit.method.histogram.estimate_from_cells.cell_groups import size_thresholds
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
    within bins is on the logistic scale and results are mapped back, which keeps the order of quantiles.  step: spacing
    of the possible values of a column, between which edges lie, 0 for real numbers; quantiles are such values.
    heaped_at: a number at whose multiples any share of the rows is declared to be, 0 for none.
    """

    edges: Array
    counts: Array
    noise: Noise
    below: float | None = None
    above: float | None = None
    sampling: bool = True
    discrete: bool = False
    map: LogisticBins | None = None
    step: float = 0.0
    heaped_at: float = 0.0

    @cached_property
    def line(self) -> Array:
        """Edges on the scale on which densities are taken as lines, shape (K + 1,)."""
        return self.edges if self.map is None else self.map.mapped(self.edges)

    def back(self, place: float) -> float:
        """Return the column's value for a place on the scale of `line`."""
        if self.step:
            # a value holds what lies within half a step of it, its own upper end included
            number = max(np.ceil((place - self.edges[0]) / self.step - 1e-9) - 1, 0.0)
            return float(nearest_multiples(self.edges[0] + self.step * (number + 0.5), self.step))
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

    def chance(self, alpha: float) -> Array:
        """Chance of an answer if the rows are as few as they may be, shape () (`Thresholds.chance`)."""
        return size_thresholds(np.array([self.rows]), self.cells, self.noise).chance(alpha)[0]

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
    def inside(self) -> WithinBins:
        """The shapes of the densities within bins, on the scale of `line`; flat ones where there are few bins."""
        if not self.shaped:
            return level_bins(self.bins)
        told = self.plain and not self.step
        return within_bins(self.line, self.counts, self.noise.known, self.heaped_at if self.plain else 0.0, told)

    @property
    def plain(self) -> bool:
        """Whether bins are on the column's own scale."""
        return self.map is None

    @property
    def shaped(self) -> bool:
        """Whether there are enough bins (three) to estimate the slope of the density within each."""
        return not self.discrete and self.bins > 2

    def unknown(self, at: Places, within: Array) -> Array:
        """Return the standard deviation, in rows, of what is not known of S at the fraction `within` of bin `at`."""
        rows = positive(self.counts, self.noise.cell)
        # at a bin's lower edge only of rows that may be at it
        return np.where(within < 1, rows[at] * self.inside.unknown(at, within), 0.0)

    def error(self, at: Places, within: Array, tau: Array, drawn: bool = True) -> Error:
        """Return the law of S(t) - tau N if F(t) = tau, for t at the fraction `within` of bin `at`; shapes (m,).

        drawn: whether where in its bin chance put the table's rows is in it (`_drawn`).
        """
        # weight 1 - tau for cells below t, `within` - tau for the cell of t, -tau for those above
        first = at + (self.below is not None)
        weights = np.stack([1 - tau, within - tau, -tau], axis=-1)
        times = np.stack([first, np.ones_like(first), self.cells - first - 1], axis=-1).astype(np.float64)
        variance = self.size * tau * (1 - tau) if self.sampling else np.zeros_like(tau)
        if drawn and not self.sampling:
            variance = self._drawn(at, within)
        return self.noise.error(weights, variance, times)

    def _drawn(self, at: Places, within: Array) -> Array:
        """Return the variance of how many of a bin's rows are below the fraction `within`, each drawn from its density.

        The table's own rows are as many in each bin as they are, but where within it chance put them is not known.
        """
        if self.discrete or self.step:
            return np.zeros_like(within)
        below = self.inside.below(at, within)
        out: Array = positive(self.counts, self.noise.cell)[at] * below * (1 - below)
        return np.where((within > 0) & (within < 1), np.maximum(out, 0.0), 0.0)

    def quantile(self, tau: float) -> tuple[float, int]:
        """Return the tau-quantile and the index of its bin: -1 below the bounds, K above."""
        at, u = self.placed(tau)
        return self.value(at, u), at

    def value(self, at: int, u: float) -> float:
        """Return the value at the fraction u of bin `at`, as `placed` gives them; a bound beyond the bins."""
        if self.discrete or at < 0 or at == self.bins:
            return float(self.edges[max(at, 0)])
        if u in (0.0, 1.0) and not self.step:  # edges exactly, also on the logistic scale
            return float(self.edges[at + int(u)])
        return self.back(float(self.line[at] + u * (self.line[at + 1] - self.line[at])))

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
        share = float(F[at + 1] - F[at])
        left = float(np.clip(tau - F[at], 0.0, share))
        if left in (0.0, share):  # edges exactly; the middle of a bin without rows
            return at, 0.5 if share == 0 else float(left > 0)
        return at, self.inside.place(at, left / share)

    def interval(self, tau: float, level: float, smooth: bool = True) -> tuple[float, float]:
        """Return the ends of {t: |S(t) - tau N| <= error quantile}, as whole bins (levels) unless `smooth`.

        The quantile is that given an answer (`Thresholds`).
        """
        smooth = smooth and self.shaped
        at, u = self._grid(smooth)
        # of signed counts the share that the density within the bin has below u
        inside = u if self.discrete or not smooth else self.inside.below(at, u)
        off = self.sums[at] + inside * self.counts[at] - tau * self.rows
        q = self.error(at, u, np.full(len(at), tau)).given(1 - level, self.chance(1 - level))
        if smooth:
            q = np.hypot(q, laws.normal_quantile(level) * self.unknown(at, u))
        high, low = off + q, off - q
        # accepted where low <= 0 <= high; from the first such point to the last, as signed sums need not rise
        first = int(np.argmax(high >= 0)) if (high >= 0).any() else len(at) - 1
        last = len(at) - 1 - int(np.argmax(low[::-1] <= 0)) if (low <= 0).any() else 0
        return self._ends(at + u, high, low, first, last, smooth)

    def _ends(self, x: Array, high: Array, low: Array, first: int, last: int, smooth: bool) -> tuple[float, float]:
        end = len(x) - 1
        half = self.step / 2  # the first and the last value of a bin of whole numbers
        start = -np.inf if self.below is not None else self.edges[0] + half
        stop = np.inf if self.above is not None else self.edges[-1] - half
        if self.discrete:  # x = j is F just before level j
            lower = start if first == 0 else self.edges[int(x[first]) - 1]
            upper = stop if last >= end else self.edges[int(x[last])]
            return float(lower), float(upper)
        if not smooth:
            lower = start if first == 0 else self.edges[int(x[first]) - 1] + half
            # an edge next to an accepted one is the end: the quantile may be anywhere in the bin between
            upper = stop if last >= end else self.edges[int(x[last]) + 1] - half
            return float(lower), float(upper)
        # between grid points the ends are where the inequality is an equality, by linear interpolation
        place = np.interp(x, np.arange(self.bins + 1), self.line)
        lower = start if first == 0 else self.back(_zero(place, high, first - 1))
        upper = stop if last >= end else self.back(_zero(place, low, last))
        return float(lower), float(upper)

    def _grid(self, smooth: bool) -> tuple[Places, Array]:
        """Return bins and fractions of them: every edge once, with points between the edges if `smooth`."""
        fine = max(1, min(FINE, POINTS // self.bins)) if smooth else 1
        each = [self.inside.fractions(r, fine) for r in range(self.bins)] if smooth else [np.zeros(1)] * self.bins
        at = np.append(np.repeat(np.arange(self.bins), [len(one) for one in each]), self.bins - 1)
        return at, np.append(np.concatenate(each), 1.0)


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


def _zero(place: Array, values: Array, i: int) -> float:
    """Return the place at which `values` cross 0 between indices i and i + 1, by linear interpolation."""
    a, b = float(values[i]), float(values[i + 1])
    share = a / (a - b) if a != b else 0.5
    return float(place[i] + min(max(share, 0.0), 1.0) * (place[i + 1] - place[i]))

"""From the counts along one axis to weighted points within its bins: rules of integration, as matrices.

`shaped`: three points a bin at its middle and at the distances of Gauss, whose weights have the mean and the variance
of the density within the bin (`bin_shapes`), taken from the column's own counts.  Cells that share a bin (those of
people with another answer in another column) have that density times their share of the bin's people, which is taken
as a line in the column: its slope by differences of neighbouring bins' shares at these bins' means.  So what cells
share, however steep, is said by all rows together, and what differs between them is linear in their counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.heaps.bin_heaps import AtPoints, at_points, declared_heaps
from tacit.fits.heaps.hidden_heaps import HiddenHeaps, heaped_rows
from tacit.fits.within_bins.bin_shapes import NARROW_HEAP, BinShapes, Edges, edge_densities, roughness, shapes_of

ENDS: Final = 0.5
"""Part of what shares' curvature says of their slope in an end bin that is taken.

None of it biases slopes where an end bin has many rows (half of an even column in bins that double: 5 standard errors
at 100,000 rows); all of it is too much in wide tails, where shares level off.  The difference counts as not known
(`bin_errors`).
"""
ROUGH: Final = 0.5
"""Roughness at which the mean within a bin is taken halfway between the middle and what neighbours suggest."""


@dataclass(frozen=True)
class AxisRule:
    """Points of one axis: `offsets` from the middles of bins, shape (K, J), and matrices (K J, K) of their weights.

    matrix: corrected.  flat: densities taken as even within bins; no weight is negative.
    """

    offsets: Array
    matrix: Array
    flat: Array


@dataclass(frozen=True)
class Parts:
    """What a rule is made of: weights of a bin's three points, and of its neighbours' shares.

    base: shape (..., K, 3), the density within bins.  grow, bend: (..., K, 3), what a share adds that grows by 1 for a
    unit, and one whose growth does.  slope, curvature: (..., K, 3), weights of a cell's counts in the three bins of
    `nearby` for these.  halfway: (..., K), of an end bin how far its mean is from where its slope was found, else 0.
    """

    base: Array
    grow: Array
    slope: Array
    bend: Array
    curvature: Array
    halfway: Array


@dataclass(frozen=True)
class MarginRule:
    """The rule of one continuous axis from its noisy margin.

    axis: the axis.  counts: its margin, shape (K,).  variance: of the noise of each.
    """

    axis: CellAxis
    counts: Array
    variance: float

    @cached_property
    def heaped(self) -> HiddenHeaps:
        """Rows that the counts show to be at points."""
        return heaped_rows(self.axis, self.counts, self.variance)

    @cached_property
    def unseen(self) -> Array:
        """Part of each bin's rows that may be at a point of its own without being seen, none of declared heaps."""
        heaps = declared_heaps(self.axis.bounds, self.axis.heaped_at)
        return self.heaped.unseen if heaps is None else np.where(heaps.count > 0, 0.0, self.heaped.unseen)

    @cached_property
    def smooth(self) -> Array:
        """The other rows' counts, from which densities are made, shape (K,)."""
        return self.counts - self.heaped.rows

    @cached_property
    def points(self) -> AtPoints | None:
        """What is taken of rows at points."""
        return at_points(self.axis, self.heaped.parts(self.counts, self.axis.widths))

    @cached_property
    def edges(self) -> Edges:
        """Densities at edges, with what is not known of them."""
        return edge_densities(self.axis, self.smooth, self.variance)

    @cached_property
    def rough(self) -> Array:
        """Scatter of the mean densities about a smooth curve, shape (K,)."""
        return roughness(self.axis, self.smooth, self.variance)

    def parts(
        self,
        counts: Array,
        edges: Edges,
        pushed: Array | float = 0.0,
        shapes: BinShapes | None = None,
        points: AtPoints | None = None,
    ) -> Parts:
        """Return the parts of the rule for margins, shape (..., K), and densities at edges.

        pushed: what the means within bins are moved by, shape (..., K).  shapes: in the place of those of the edges.
        points: in the place of those taken.
        """
        found = shapes or shapes_of(self.axis, edges.mean, edges.used)
        # among heaps the neighbours of a bin say little of where its values lie
        shift = found.shift / (1 + (self.rough / ROUGH) ** 2) + pushed
        offset, v, third = outer(self.axis), found.variance, found.third
        used = points or self.points
        if used is not None:
            shift, v = used.mixed(shift, v)
        base = weights(offset, 1.0, shift, v + shift**2)
        # first and second moments about the middle of x - mean and of ((x - mean)**2 - v) / 2, without mass; the
        # fourth central moment is about that of an even density, 9/5 of the squared variance
        grow = weights(offset, 0.0, v, third + 2 * shift * v)
        bend = weights(offset, 0.0, third / 2, 0.4 * v**2 + shift * third)
        slope, curvature, halfway = shares(self.axis, counts, self.variance, shift)
        return Parts(base, grow, slope, bend, curvature, halfway)

    @cached_property
    def rule(self) -> AxisRule:
        """Points and weights."""
        K, made, offset = self.axis.bins, self.parts(self.counts, self.edges), outer(self.axis)
        matrix, flat, own = np.zeros((K, 3, K)), np.zeros((K, 3, K)), np.arange(K)
        matrix[own, :, own] = made.base
        for at, bins in enumerate(nearby(K).T):
            matrix[own, :, bins] += made.grow * made.slope[:, at, None] + made.bend * made.curvature[:, at, None]
        flat[own, :, own] = weights(offset, 1.0, np.zeros(K), self.axis.within**2)
        return AxisRule(offset[:, None] * np.array([-1.0, 0.0, 1.0]), matrix.reshape(3 * K, K), flat.reshape(3 * K, K))


def outer(axis: CellAxis) -> Array:
    """Distance of the outer points from the middle, shape (K,): Gauss's for real numbers, within whole ones."""
    # sqrt(3/5) h / 2; of few whole numbers not beyond the last
    return np.minimum(np.sqrt(9 / 5) * axis.within, (axis.widths - axis.step) / 2)


def weights(offset: Array, mass: float, first: Array, second: Array) -> Array:
    """Weights of points at -offset, 0 and offset, shape (..., K, 3), with these moments about the middle, (..., K)."""
    safe = np.where(offset > 0, offset, 1.0)
    one, two = np.where(offset > 0, first / safe, 0.0), np.where(offset > 0, second / safe**2, 0.0)
    return np.stack([(two - one) / 2, mass - two, (two + one) / 2], axis=-1)


def nearby(K: int) -> NDArray[np.int64]:
    """Return the three bins from whose shares those within a bin are taken, shape (K, 3); with repeats for K < 3."""
    first = np.clip(np.arange(K) - 1, 0, max(K - 3, 0))
    return np.minimum(first[:, None] + np.arange(3), K - 1)


def shares(axis: CellAxis, counts: Array, variance: float, shift: Array) -> tuple[Array, Array, Array]:
    """Return weights, shape (..., K, 3) each, of a cell's counts n_q in the bins q of `nearby`, for n_r p' and n_r p''.

    And `Parts.halfway`.

    p_q = n_q / m_q is the cell's share of its bin, and p', p'' its first and second derivative at the mean of bin r.
    counts: m, shape (..., K), noisy.  shift: means of bins minus their middles.  The slope is that of the parabola
    through three bins' shares where the neighbours are well filled; a neighbour with few rows counts for less.
    """
    K, near, h = axis.bins, nearby(axis.bins), axis.widths
    x = axis.centers + shift
    m = np.maximum(np.broadcast_to(counts, x.shape) if counts.ndim < x.ndim else counts, 0.0)
    x = np.broadcast_to(x, m.shape)
    own = near == np.arange(K)[:, None]
    distance = np.where(own, 1.0, x[..., near] - x[..., None])
    full = m[..., near]
    seen = ~own & (np.abs(near - np.arange(K)[:, None]) == 1) & (h[near] * NARROW_HEAP >= h[:, None]) & (full > 0)
    # the square: as a neighbour's count goes through 0, the weight of its cells' counts, beyond 1 / full, goes to 0
    safe = full**2 / (full**2 + variance + 1e-300)
    trust = np.where(seen, safe * full / (full + m[..., None] / 5 + np.sqrt(variance) + 1), 0.0)
    # each difference by the other's distance: exact for parabolas where both are trusted alike
    pull = trust / np.abs(distance)
    total = pull.sum(axis=-1, keepdims=True)
    # neighbours with hardly any rows beside the bin's, or beside the noise, are no ground for a slope
    some = np.where(trust > 0, full, 0.0).sum(axis=-1)
    kept = np.minimum(1.0, 2 * trust.max(axis=-1)) * some**2 / (some**2 + variance + 1e-300)
    part = kept[..., None] * pull / np.where(total > 0, total, 1.0) / distance
    ratio = m[..., None] / np.where(full > 0, full, 1.0)
    slope: Array = own * -part.sum(axis=-1, keepdims=True) + ~own * part * ratio
    halfway = np.zeros(m.shape)
    if K < 3:
        return slope, np.zeros(slope.shape), halfway
    # with one neighbour the difference is the slope halfway there
    halfway[..., 0], halfway[..., -1] = (x[..., 0] - x[..., 1]) / 2, (x[..., -1] - x[..., -2]) / 2
    curvature = _curvature(x[..., near], full, m, variance)
    return slope + ENDS * curvature * halfway[..., None], curvature, halfway


def _curvature(x: Array, full: Array, m: Array, variance: float) -> Array:
    """Return weights for n_r p'' from three bins' means, x, and counts, full, shape (..., K, 3) each; m: (..., K)."""
    a, b, c = x[..., 0], x[..., 1], x[..., 2]
    lagrange = 2 / np.stack([(a - b) * (a - c), (b - a) * (b - c), (c - a) * (c - b)], axis=-1)
    trust = full / (full + m[..., None] / 5 + np.sqrt(variance) + 1)
    kept = np.minimum(1.0, 2 * trust.min(axis=-1)) * (full**2 / (full**2 + 4 * variance + 1e-300)).prod(axis=-1)
    return lagrange * (kept * m)[..., None] / np.where(full > 0, full, 1.0)

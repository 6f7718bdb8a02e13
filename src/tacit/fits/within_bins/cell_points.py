"""From cells to points: the correction for binning, as a rule of integration that is linear in the counts.

Within a bin of centre a and width h the density is taken as linear, f + f'(x - a), the slope f' by finite differences
of the counts (central; to the only neighbour at the ends); the integral of any score against it is that of Gauss on the
two points a -+ h / (2 sqrt 3), exact for cubics.  So sum_r n_r g~_r = sum over points of weight * g, where

    weight(a -+ h / (2 sqrt 3)) = n / 2 -+ f' h**2 / (4 sqrt 3),

which is theory §7's g~ = g + (h**2/24) g'' + (h**2/12) D' g' to the order h**4, for any score, with no derivative in x
and no point at an edge (where a logarithm may be infinite).  Bins of unequal widths are allowed (`slopes`).

A bin of whole numbers, or of days, holds h of them in a row, of variance (h**2 - 1) / 12 in the place of h**2 / 12: the
points move together, and into one where a bin is one value (`Axis.within`).

First-order differences at the end bins leave the order h**4, as an end bin has mass of order h.  Second-order ones
carry more noise, and more bias where residuals are narrow beside the bins.  The bias of the slope of a line (uniform x,
1e5 rows, 10 bins, normal residuals of .5, .75 and 1 bin widths) is 3.5, 1.1 and .5 standard errors with them, and 1.8,
.5 and .2 so; root mean square over random lines, `benchmarks/histogram_fits.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.within_bins.bin_rules import AxisRule, MarginRule

NARROW: Final = 2
"""Neighbours more than this many times narrower than a bin are not used for its slope."""


def slopes(edges: Array) -> Array:
    """Return D, shape (K, K): D @ f is the derivative of f at the centres of bins, by differences with neighbours.

    A neighbour that is far narrower is passed over, by its width alone, which is public: it is there for values heaped
    on one place (people without income), and the noise of its density is that many times larger.

    >>> slopes(np.array([0.0, 1.0, 2.0, 3.0])) @ np.array([1.0, 4.0, 9.0])
    array([3., 4., 5.])
    >>> slopes(np.array([0.0, 0.01, 1.0, 2.0])) @ np.array([1000.0, 4.0, 9.0])
    array([-1992.        ,     5.02512563,     5.02512563])
    """
    x, h = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    D = np.zeros((len(x), len(x)))
    for r in range(len(x)):
        near = [j for j in (r - 1, r + 1) if 0 <= j < len(x) and h[r] <= NARROW * h[j] * (1 + 1e-9)]
        if len(near) == 2:
            before, after = x[r] - x[r - 1], x[r + 1] - x[r]
            # the derivative at x_r of the parabola through three unevenly spaced points
            D[r, r - 1 : r + 2] = np.array([-after / before, after / before - before / after, before / after])
            D[r] /= before + after
        elif near:
            D[r, [r, near[0]]] = np.array([-1.0, 1.0]) / (x[near[0]] - x[r])
    return D


def spreading(axis: CellAxis, edges: bool = True) -> Array:
    """Return the matrix, shape (2K, K), from counts to weights of points; edges=False takes flat densities in bins."""
    h = axis.widths
    # slopes / h takes counts, divided by their widths into densities, to f'; half the weight moves by f' h within / 2,
    # so that the two points at -+ within have the first moment f' h within**2 of the line
    tilt = (h * axis.within / 2)[:, None] * (slopes(axis.bounds) / h if edges else 0.0)
    half = np.eye(axis.bins) / 2
    out = np.empty((2 * axis.bins, axis.bins))
    # rows 2 r and 2 r + 1: the lower and the upper point of bin r
    out[0::2] = half - tilt
    out[1::2] = half + tilt
    return out


@dataclass(frozen=True)
class Points:
    """Points that stand for the cells of `cells` in a fit.

    fine: whether continuous axes have several points a bin (corrected) or one (midpoints).  shaped: three points by the
    densities within bins that the column's own counts suggest (`bin_rules`), else two by lines (`slopes`), linear in
    the counts.  Points are in C order over the axes.
    """

    cells: CellCounts
    fine: bool = True
    shaped: bool = False

    @cached_property
    def margins(self) -> tuple[MarginRule | None, ...]:
        """Of each axis the counts from which its rule is made; None of one without a shaped rule."""
        if not (self.fine and self.shaped):
            return (None,) * len(self.cells.axes)
        found: list[MarginRule | None] = []
        for axis in self.cells.axes:
            one = self.cells.margin((axis.name,))
            made = MarginRule(axis, one.counts[: axis.bins], one.own_variance)
            found.append(made if axis.kind == "continuous" else None)
        return tuple(found)

    @cached_property
    def rules(self) -> tuple[AxisRule | None, ...]:
        """The rule of each axis; None of levels, and of midpoints."""
        return tuple(
            margin.rule if margin else (_lines(axis) if self.fine and axis.kind == "continuous" else None)
            for axis, margin in zip(self.cells.axes, self.margins, strict=True)
        )

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of points along each axis."""
        return tuple(
            axis.bins if rule is None else rule.offsets.size
            for axis, rule in zip(self.cells.axes, self.rules, strict=True)
        )

    @property
    def per_cell(self) -> int:
        """Points that each cell has."""
        return math.prod(self.shape) // self.cells.counts.size

    def position(self, axis: CellAxis) -> tuple[Array, Array]:
        """Coordinates along an axis, and distances from the middles of bins, both of shape (points along it,)."""
        rule = self.rules[self.cells.names.index(axis.name)]
        if rule is None:
            return axis.centers, np.zeros(axis.bins)
        return (axis.centers[:, None] + rule.offsets).reshape(-1), rule.offsets.reshape(-1)

    def along(self, name: str, values: Array) -> Array:
        """Values given along one axis, repeated at every point, shape (points,)."""
        at = self.cells.names.index(name)
        shaped = values.reshape([-1 if i == at else 1 for i in range(len(self.shape))])
        return np.broadcast_to(shaped, self.shape).reshape(-1)

    def spread(self, counts: Array, edges: bool = True) -> Array:
        """Weights of the points for counts of the cells, shape (points,); never negative for `edges` False."""
        out = counts
        for at, rule in enumerate(self.rules):
            if rule is not None:
                # axis by axis: a tensor product of one-dimensional rules; the shape grows from K to J K along each
                out = applied(rule.matrix if edges else rule.flat, out, at)
        return out.reshape(-1)

    def gather(self, values: Array) -> Array:
        """What each cell's count is multiplied with: values at points, shape (points, p), to cells, shape (cells, p).

        The transpose of `spread`: counts @ gather(g) == spread(counts) @ g.
        """
        return self.gathered(values).reshape(-1, values.shape[-1])

    def gathered(self, values: Array, but: int | None = None) -> Array:
        """As `gather`, of the cells' shape with p after it; axis `but`, if any, is left in points."""
        out = values.reshape(*self.shape, -1)
        for at, rule in enumerate(self.rules):
            if rule is not None and at != but:
                out = applied(rule.matrix.T, out, at)
        return out


def _lines(axis: CellAxis) -> AxisRule:
    """Return the rule of two points a bin by lines through neighbours' densities."""
    return AxisRule(axis.within[:, None] * np.array([-1.0, 1.0]), spreading(axis), spreading(axis, edges=False))


def applied(matrix: Array, values: Array, at: int) -> Array:
    """Matrix times values along one axis."""
    # tensordot puts the new axis first
    return np.moveaxis(np.tensordot(matrix, values, axes=(1, at)), 0, at)

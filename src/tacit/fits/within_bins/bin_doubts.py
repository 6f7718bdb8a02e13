"""What counts cannot tell of bins: how far a bin's mean may be off, and tails that are of another shape.

A density that a column's counts suggest (`bin_shapes`) is as good as the column is smooth beside its bins.  Three
things no count shows.  A bin with a large part of all rows may hold whatever a column can look like, as two humps, but
for a column that is even wherever it is looked at.  Where a density rises to an end of the column, a peak may be in the
end bin, or a heap at the end.  And a tail that bends as the bins before it did is one of several: one exponential over
the last two bins is another.  All count as not known.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.cells.bin_ends import UNKNOWN
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.cells.exponential_bins import common_slope, langevin
from tacit.fits.within_bins.bin_shapes import BinShapes, Edges, shapes_of

HEAPS: Final = 1.1
"""Standard deviation of the mean within a bin, in bins, for each unit of `roughness`: a heap is somewhere in it."""
MASS: Final = 1.0
"""The same for a bin with all rows, times the cube of its part of them, to UNKNOWN at most.

Less where densities of all bins are near each other.  Two humps in bins that double, of which one has .44 of the rows,
moved its mean by .2 bins.  The cube, so that a bin with a tenth of the rows, as fine ones have, hides a thousandth.
"""
RISE: Final = UNKNOWN
"""The same of an end bin to which a density rises steeply; half of it where its logarithm grows by 1 over the bin.

Spikes at zero beside laws that begin there were .09 to .22 of a bin nearer to the end than the bins beside suggest, and
humps within an end bin as much further inside.
"""


def hidden_means(axis: CellAxis, edges: Edges, rough: Array, unseen: Array | float = 0.0) -> Array:
    """Return what is not known of the bins' means whatever is known of edges, as standard deviations, shape (K,).

    rough: `bin_shapes.roughness`, for values heaped somewhere in the bins.  unseen: part of each bin's rows that may
    be at a point of its own without being seen (`HiddenHeaps`).
    """
    rows = edges.mean * axis.widths
    log = np.log(edges.mean)
    # of a column with the same density in all its bins nothing suggests that it has another within them
    uneven = np.ptp(log) ** 2 / (1 + np.ptp(log) ** 2)
    off = np.hypot(MASS * uneven * (rows / rows.sum()) ** 3, RISE * _rising(axis, log))
    # no further than values spread evenly over the bin
    even = np.sqrt(12) * axis.within
    heaps = np.minimum(np.maximum(HEAPS * np.sqrt(12) * rough, unseen), 1.0) * axis.within
    return np.hypot(np.minimum(off, UNKNOWN) * even, heaps)


def _rising(axis: CellAxis, log: Array) -> Array:
    """Return r / (1 + r), of the growth r of logarithms of densities over an end bin as the two beside it suggest."""
    found = np.zeros(axis.bins)
    if axis.bins < 3:
        return found
    for at, one, two in ((0, 1, 2), (-1, -2, -3)):
        slope = (log[one] - log[two]) / abs(axis.centers[one] - axis.centers[two])
        rise = max(slope * axis.widths[at], 0.0)
        found[at] = rise / (1 + rise)
    return found


def other_tails(axis: CellAxis, edges: Edges, up: Edges, down: Edges, step: Array, spread: Array) -> list[BinShapes]:
    """Return the shapes within bins with one end bin each of one exponential with the bin beside it.

    up, down: densities at edges after a small step of each count, shape (K,), up and down.  spread: variances of the
    counts; what of the difference is noise is left out.
    """
    if axis.bins < 2:
        return []
    here, higher, lower = (shapes_of(axis, one.mean, one.used) for one in (edges, up, down))
    found: list[BinShapes] = []
    for at, inside in ((0, 1), (-1, -2)):
        other = _common(axis, edges.mean, at, inside)
        gap = other[0] - here.shift[at]
        above = _common(axis, up.mean, at, inside)[0] - higher.shift[:, at]
        below = _common(axis, down.mean, at, inside)[0] - lower.shift[:, at]
        noise = spread @ ((above - below) / (2 * step)) ** 2
        part = np.sqrt(max(gap**2 - noise, 0.0)) / max(abs(gap), 1e-300)
        moved = [one.copy() for one in (here.shift, here.variance, here.third)]
        for own, new in zip(moved, other, strict=True):
            own[at] += part * (new - own[at])
        found.append(BinShapes(*moved))
    return found


def _common(axis: CellAxis, mean: Array, at: int, inside: int) -> tuple[Array, Array, Array]:
    """Return the moments, as in `BinShapes`, of an end bin in one exponential with that beside; mean: (..., K)."""
    width, beside, sign = float(axis.widths[at]), float(axis.widths[inside]), 1.0 if at else -1.0
    slope = common_slope(np.log(mean[..., at] * width / (mean[..., inside] * beside)), width, beside)
    shift, variance, third = langevin(slope * width)
    # bins of whole numbers: as in `shapes_of`
    part = 12 * float(axis.within[at]) ** 2 / width**2
    return sign * width * shift * part, width**2 * variance * part, sign * width**3 * third * part

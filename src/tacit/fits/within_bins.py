"""Notes on bins so wide that the unknown density within them may matter, from public widths and noisy counts.

The correction for binning takes the density within a bin as a line whose slope is estimated from its neighbours
(`cell_points`).  Other neighbours give another slope.  Where the density is smooth the two agree up to the order of the
error: a central difference is wrong by a third of its distance from the derivative of a parabola that ends at the bin,
a difference to one side by the whole of it.  Where they disagree (values heaped on few numbers, a bin much wider than
its neighbours) the mean of the values within the bin is not known, and no standard error includes that.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.cell_arrays import CellAxis, CellCounts
from tacit.fits.cell_points import NARROW, slopes

PART: Final = 1 / 3
"""A note is made where the mean may be off by more than this part of its standard error."""


def notes(cells: CellCounts) -> list[str]:
    """One sentence for each binned column whose bins may move its mean by more than a third of its standard error.

    >>> heaped = CellAxis("income", "continuous", np.linspace(0, 300_000, 11))
    >>> counts = np.array([6500.0, 2000, 800, 350, 150, 80, 50, 30, 20, 20])
    >>> [one[:41] for one in notes(CellCounts((heaped,), counts, 8.0))]
    ['income: where values lie within its bins ']
    >>> notes(CellCounts((heaped,), np.full(10, 1000.0), 8.0))
    []
    """
    found: list[str] = []
    for axis in cells.axes:
        if axis.kind != "continuous":
            continue
        one = cells.margin((axis.name,))
        off, error = unknown(axis, one.counts[: axis.bins], one.variance)
        if off > PART * error:
            found.append(
                f"{axis.name}: where values lie within its bins may move its mean by {off:,.2g} or more, and no "
                f"standard error has that in it (its own is {error:,.2g}); narrower bins, or edges around heaps, help"
            )
    return found


def unknown(axis: CellAxis, counts: Array, variance: float) -> tuple[float, float]:
    """Return how far the mean may be off by the unknown density within bins, and its standard error; in column units.

    counts: shape (K,).  variance: of the noise of each count.
    """
    x, h, size = axis.centers, axis.widths, max(float(counts.sum()), 1.0)
    # Poisson variance of a count, and its noise
    spread = np.maximum(counts, 0.0) + variance
    density, noise = counts / h, spread / h**2
    D = slopes(axis.bounds)
    off = np.zeros(axis.bins)
    for r in range(axis.bins):
        others = _others(x, h, r) - D[r]
        inner = 0 < r < axis.bins - 1 and D[r, r - 1] != 0 and D[r, r + 1] != 0
        if len(others):
            # the squared difference of two noisy slopes is too large by its variance, which is subtracted
            more = np.maximum((others @ density) ** 2 - others**2 @ noise, 0.0)
            off[r] = np.sqrt(more.max()) / (3 if inner else 1)
        else:  # no usable neighbours: a non-negative line rises or falls by at most twice its mean over the bin
            off[r] = 2 * max(density[r] - np.sqrt(noise[r]), 0.0) / h[r]
    mean = float(counts @ x) / size
    squares = (x - mean) ** 2
    error = np.sqrt(max(float(counts @ squares), 0.0) + variance * float(squares.sum())) / size
    # a slope wrong by `off` moves the first moment of a bin by off h within**2 (`cell_points`); worst signs add
    return float(off @ (h * axis.within**2)) / size, float(error)


def _others(x: Array, h: Array, r: int) -> Array:
    """Return weights, shape (0 to 2, K), of the derivatives at x_r of parabolas through bins r - 2..r and r..r + 2."""
    found: list[Array] = []
    for triple in ([r - 2, r - 1, r], [r, r + 1, r + 2]):
        near = all(0 <= j < len(x) and h[r] <= NARROW * h[j] * (1 + 1e-9) for j in triple)
        if near:
            a, b = (j for j in triple if j != r)
            row = np.zeros(len(x))
            # derivatives at x_r of Lagrange's polynomials of the three centres; they add up to 0
            row[a] = (x[r] - x[b]) / ((x[a] - x[r]) * (x[a] - x[b]))
            row[b] = (x[r] - x[a]) / ((x[b] - x[r]) * (x[b] - x[a]))
            row[r] = -(row[a] + row[b])
            found.append(row)
    return np.array(found).reshape(-1, len(x))

"""How values of synthetic rows lie within bins: each column's own shape, leaning as the cell of other columns does.

The shape of a column within its bins is that of the release's quantiles (`fits.within_bins.within_bin_shares`): an
exponential between the densities at its edges, and a parabola.  In a cell of several columns it leans by as much more
as the density rises more from cell to cell there than in the margin (`fits.cells.within_cells`).

What bins do not tell of the densities at edges is known as a standard deviation.  Sets from what the truth may have
been draw them anew, so that analyses that hang on how values lie within bins have it in their errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.cells.exponential_bins import STEEPEST
from tacit.fits.cells.within_cells import BinShape, slopes_within
from tacit.fits.within_bins.bin_errors import edge_doubts
from tacit.fits.within_bins.within_bin_shares import WithinBins, within_bins


@dataclass(frozen=True)
class ColumnBins:
    """A column's bins.

    edges: shape (bins + 1,).  variance: of the noise in each bin's count of the column alone.
    """

    edges: Array
    variance: float


def shapes(
    probabilities: Array, bins: tuple[ColumnBins | None, ...], total: float, rng: np.random.Generator | None
) -> tuple[BinShape | None, ...]:
    """Return the shape in every cell along each column, arrays of the cells' shape; None for columns without bins.

    total: rows.  rng: draws what bins do not tell; None: the shape that they suggest.
    """
    widths = tuple(None if one is None else np.diff(one.edges) for one in bins)
    rises = slopes_within(probabilities, widths)
    found = list[BinShape | None]()
    for axis, (one, rise) in enumerate(zip(bins, rises, strict=True)):
        if one is None or rise is None:
            found.append(None)
            continue
        others = tuple(i for i in range(probabilities.ndim) if i != axis)
        margin = probabilities.sum(axis=others)
        (own,) = slopes_within(margin, (widths[axis],))
        count = len(one.edges) - 1
        counts = total * margin[:count]
        column = within_bins(one.edges, counts, one.variance)
        column = column if rng is None else drawn(column, one, counts, rng)
        wide = [-1 if i == axis else 1 for i in range(probabilities.ndim)]
        assert own is not None
        kappa, hollow = (np.append(x, np.zeros(len(margin) - count)) for x in (column.kappa, column.hollow))
        leans = np.clip(rise - own.reshape(wide), -STEEPEST, STEEPEST)
        found.append(BinShape(kappa.reshape(wide) + leans, np.broadcast_to(hollow.reshape(wide), rise.shape)))
    return tuple(found)


def drawn(column: WithinBins, bins: ColumnBins, counts: Array, rng: np.random.Generator) -> WithinBins:
    """Return shapes that the bins may have as well: densities at edges, moved at random by what is not known of them.

    An edge is moved for both bins that it parts, so that means of the column move by what its ends may be alone.
    """
    edges, doubt = edge_doubts(CellAxis("", "continuous", bins.edges), counts, bins.variance)
    moved = doubt * rng.standard_normal(len(doubt))
    left, right = moved[:-1] / edges.mean, moved[1:] / edges.mean
    kappa = column.kappa + right - left
    hollow = column.hollow + (left + right) / 2
    hollow[[0, -1]] = 0.0
    return replace(column, kappa=np.clip(kappa, -STEEPEST, STEEPEST), hollow=hollow)

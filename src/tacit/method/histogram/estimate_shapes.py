"""How values of synthetic rows lie within bins: each column's own shape, leaning as the cell of other columns does.

The shape of a column within its bins is that of the release's quantiles (`estimate_from_cells.within_bin_shares`): an
exponential between the densities at its edges, and a parabola.  In a cell of several columns it leans by as much more
as the density rises more from cell to cell there than in the margin (`fits.within_cells`).

What bins do not tell of the shape is known as a standard deviation: of the densities at edges, and of the means within
bins.  Sets from what the truth may have been draw both anew, so that analyses that hang on it have it in their errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.exponential_bins import STEEPEST
from tacit.fits.within_cells import BinShape, slopes_within
from tacit.method.histogram.estimate_from_cells.within_bin_shares import WithinBins, within_bins


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
        column = within_bins(one.edges, total * margin[:count], one.variance)
        column = column if rng is None else drawn(column, rng)
        wide = [-1 if i == axis else 1 for i in range(probabilities.ndim)]
        assert own is not None
        kappa, hollow = (np.append(x, np.zeros(len(margin) - count)) for x in (column.kappa, column.hollow))
        leans = np.clip(rise - own.reshape(wide), -STEEPEST, STEEPEST)
        found.append(BinShape(kappa.reshape(wide) + leans, np.broadcast_to(hollow.reshape(wide), rise.shape)))
    return tuple(found)


def drawn(column: WithinBins, rng: np.random.Generator) -> WithinBins:
    """Return shapes that the bins may have as well: slopes and hollows of edges, and means, moved at random."""
    z = rng.standard_normal((3, len(column.kappa)))
    # a mean that moves by a part of a bin moves the slope by twelve times that, to first order
    kappa = column.kappa + column.doubt * z[0] + 12 * column.hidden * z[1]
    return replace(column, kappa=np.clip(kappa, -STEEPEST, STEEPEST), hollow=column.hollow + column.doubt / 2 * z[2])

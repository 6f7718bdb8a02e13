"""What the density of a column with declared heaps is told from: the shares between places halfway from heap to heap.

A value is told as its nearest heap at most, so that the distribution function halfway between two heaps is what it
would be without them.  A polynomial that would show heaps as bumps has no limits; cells of whole heaps have, around the
shapes that those beside give each (`fits.within_bins.cell_limits`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.densities.column_values import distance_of_values
from tacit.estimates.densities.recorded_notes import hidden_by_heaps
from tacit.fits.heaps.heaped_cells import whole_heaps
from tacit.fits.within_bins.cell_limits import CellLimits, summed
from tacit.method.bernstein.estimate_lattice import LatticeFit
from tacit.method.shared.numeric_columns import support
from tacit.release.parts import Variable

FEWEST: Final = 4
"""Fewest cells of whole heaps that tell a density."""
SAID: Final = (
    "the density by the shapes that cells of whole heaps beside give each other (a band: its averages over these)"
)
"""What limits are of."""


@dataclass(frozen=True)
class WholeHeaps:
    """Cells of whole heaps, which begin and end at some places of the lattice.  limits: of the density by them."""

    degree: int
    at: NDArray[np.int64]
    limits: CellLimits

    def weights(self, t: Array) -> Array:
        """Return weights of the lattice's values for the density at places t of [0, 1], shape (n, k + 1)."""
        ends = np.eye(self.degree + 1)[self.at]
        return np.asarray(self.limits.shapes.density(t)[0] @ (ends[1:] - ends[:-1]))

    def unknown(self, t: Array) -> Array:
        """Return what is not known of it beside both errors, shape (n,)."""
        return self.limits.unknown(t)


def between_heaps(fit: LatticeFit, one: Variable) -> tuple[WholeHeaps | None, str | None]:
    """Return what limits of the density are around instead of the polynomial, or None, and why none are told, or None.

    one: the column, which may declare heaps.
    """
    low, high = support(one)
    hidden = hidden_by_heaps(one.name, one, (high - low) / fit.degree, "a lower degree, or wider bins of a Histogram")
    if hidden is None or one.heaped_at is None or fit.reason is not None:
        return None, hidden
    at, leaks = whole_heaps(np.linspace(low, high, fit.degree + 1), one.heaped_at)
    if len(at) <= FEWEST:
        return None, hidden
    unit = distance_of_values(one.kind, one.multiple_of)
    return WholeHeaps(fit.degree, at, CellLimits(summed(fit.shares, at), fit.size, unit / (high - low), leaks)), None

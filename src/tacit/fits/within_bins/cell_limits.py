"""What limits are around where no curve resolves what cells count: the shapes that the counts give each cell.

Plain arrays; post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.densities.chosen_terms import DRAWS, ErrorsOfValues
from tacit.estimates.densities.series_coefficients import Shares
from tacit.fits.within_bins.cell_shapes import CellShapes

MORE: Final = 7.0
"""Rows more than are counted in each cell, half the square of 3.7: limits of so many standard errors are nearly those
of a count whose variance is its mean [Wilson 1927], of which a small one has a small variance, too."""


def summed(shares: Shares, at: NDArray[np.int64]) -> Shares:
    """Return the shares of cells that begin and end at some of the edges, whose places `at` are.

    >>> fine = Shares(np.array([0, 0.2, 0.4, 1.0]), np.array([0.3, 0.3, 0.4]), np.zeros((3, 3)), np.eye(3), 1.0)
    >>> summed(fine, np.array([0, 2, 3])).values.tolist()
    [0.6, 0.4]
    """
    over: Array = np.add.reduceat(np.eye(len(shares.values)), at[:-1], axis=0)
    facts = (shares.edges[at], over @ shares.values, over @ shares.sampling @ over.T, over @ shares.noises)
    return Shares(*facts, shares.variance)


@dataclass(frozen=True)
class CellLimits:
    """The density of noisy shares of cells by the shapes within them, and what is not known of these.

    rows: their number, above 0.  unit: distance of two values, as part of the range; 0 of any.  leaks: which part of
    each cell may be another's (`fits.heaped_cells.whole_heaps`), shape (cells,), or None.
    laplace: whether each noise is a Laplace variable.
    """

    shares: Shares
    rows: float
    unit: float = 0.0
    leaks: Array | None = None
    laplace: bool = False

    @cached_property
    def shapes(self) -> CellShapes:
        """The shapes within cells."""
        noise = self.shares.variance * float((self.shares.noises**2).sum(axis=1).mean())
        return CellShapes.of(self.shares.edges, self.shares.values * self.rows, noise * self.rows**2, self.unit)

    @cached_property
    def covariance(self) -> Array:
        """Covariance of both errors of the shares."""
        return self.shares.sampling + self.shares.variance * self.shares.noises @ self.shares.noises.T

    def center(self, t: Array) -> Array:
        """Return the density of the shapes at places t."""
        return np.asarray(self.shapes.density(t)[0] @ self.shares.values)

    def errors(self, t: Array) -> Array:
        """Return its standard errors, what is not known of the shapes among them."""
        weights = self.shapes.density(t)[0]
        both = np.sqrt(np.maximum(((weights @ self.covariance) * weights).sum(axis=1), 0.0))
        return np.maximum(np.hypot(both, self.unknown(t)), np.finfo(np.float64).tiny)

    def unknown(self, t: Array) -> Array:
        """Return what is not known of it beside both errors."""
        return np.hypot(self.shapes.density(t)[1], self.shapes.leaking(self.leaks, t))

    def factor(self, level: float) -> float:
        """Return infinity: no band is known to hold a whole curve that nothing resolves."""
        return np.inf

    @property
    def at_once(self) -> CellAverages:
        """The averages over cells, which a band is of."""
        return CellAverages(self.shares, self.rows, self.laplace)


@dataclass(frozen=True)
class CellAverages:
    """The averages of the density over cells, whose limits hold at once for all.  Fields: those of `CellLimits`."""

    shares: Shares
    rows: float
    laplace: bool = False

    @cached_property
    def variances(self) -> Array:
        """Variances of both errors of the shares."""
        return np.diag(self.shares.sampling) + self.shares.variance * (self.shares.noises**2).sum(axis=1)

    def center(self, t: Array) -> Array:
        """Return the averages over the cells of places t, those of a few rows more."""
        return np.asarray(((self.shares.values + self._more) / np.diff(self.shares.edges))[self._cell(t)])

    def errors(self, t: Array) -> Array:
        """Return their standard errors, with those of a few rows more."""
        variances = self.variances + self._more / 2 / self.rows
        return np.asarray((np.sqrt(variances) / np.diff(self.shares.edges))[self._cell(t)])

    def factor(self, level: float) -> float:
        """Return the quantile of the largest standardised error of all cells."""
        errors = ErrorsOfValues(self.shares.sampling, self.shares.noises, self.shares.variance, self.laplace)
        spread = np.maximum(np.sqrt(self.variances), np.finfo(np.float64).tiny)
        largest = np.abs(errors.drawn(DRAWS) / spread).max(axis=1)
        return float(np.quantile(largest, level, method="higher"))

    @property
    def at_once(self) -> CellAverages:
        """The same."""
        return self

    @property
    def _more(self) -> float:
        """The share of a few rows; 0 where the rows of a table are counted, which have no sampling error."""
        return MORE / self.rows if self.shares.sampling.any() else 0.0

    def _cell(self, t: Array) -> NDArray[np.int64]:
        edges = self.shares.edges
        return np.clip(np.searchsorted(edges, t, side="right") - 1, 0, len(edges) - 2)

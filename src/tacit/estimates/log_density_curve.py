"""A curve whose estimate is a penalised likelihood's, and whose limits are those of a series."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.log_density import log_density, middles
from tacit.estimates.series_coefficients import Shares
from tacit.estimates.smooth_density import SeriesCurve


@dataclass(frozen=True)
class LogDensityCurve(SeriesCurve):
    """The density of noisy shares of bins by `log_density`; bands are made of the terms of a series, as in SeriesCurve.

    shares: of the bins.  rows: their number, above 0.
    """

    shares: Shares | None = None
    rows: float = 1.0

    @classmethod
    def of(cls, curve: SeriesCurve, shares: Shares, rows: float) -> LogDensityCurve:
        """Return the curve with the limits of a series of the same shares."""
        return cls(curve.basis, curve.found, curve.band, curve.laplace, curve.variance, shares, rows)

    @cached_property
    def cells(self) -> Array:
        """The density on even cells."""
        assert self.shares is not None
        noise = self.shares.variance * (self.shares.noises**2).sum(axis=1)
        return log_density(self.shares.edges, self.shares.values, self.rows, noise)

    def series(self, t: Array) -> Array:
        """Return the density at places t, straight between the middles of cells."""
        return np.interp(t, middles(), self.cells)

"""The density of noisy shares of bins by penalised likelihood, as an estimate between its cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.density_models import middles
from tacit.estimates.log_density import log_density
from tacit.estimates.series_coefficients import Shares


@dataclass(frozen=True)
class LogDensityCurve:
    """The density of noisy shares of bins by `log_density`.

    shares: of the bins.  rows: their number, above 0.
    """

    shares: Shares
    rows: float

    @cached_property
    def cells(self) -> Array:
        """The density on even cells."""
        noise = self.shares.variance * (self.shares.noises**2).sum(axis=1)
        return log_density(self.shares.edges, self.shares.values, self.rows, noise)

    def series(self, t: Array) -> Array:
        """Return the density at places t, straight between the middles of cells."""
        return np.interp(t, middles(), self.cells)

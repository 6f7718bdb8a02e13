"""The density of noisy shares of bins by penalised likelihood, as an estimate between its cells; where it may jump."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.densities.density_models import middles
from tacit.estimates.densities.log_density import BinnedLikelihood, Fitted, density_of, of_models, possible_jumps
from tacit.estimates.densities.series_coefficients import Shares


@dataclass(frozen=True)
class LogDensityCurve:
    """The density of noisy shares of bins by `log_density`.

    shares: of the bins.  rows: their number, above 0.  laplace: whether each noise has Laplace's law.
    """

    shares: Shares
    rows: float
    laplace: bool = False

    @cached_property
    def cells(self) -> Array:
        """The density on even cells."""
        return density_of(self.models, self.data)

    @cached_property
    def models(self) -> list[Fitted]:
        """The models that are averaged."""
        return of_models(self.data)

    @cached_property
    def data(self) -> BinnedLikelihood:
        """The shares with the variances of their noise."""
        noise = self.shares.variance * (self.shares.noises**2).sum(axis=1)
        return BinnedLikelihood(self.shares.edges, self.shares.values, self.rows, noise, self.laplace)

    @property
    def jumps(self) -> Array:
        """Where there may be a jump: ends of ranges, and of ranges about these that show both sides, shape (n, 4).

        A jump that is seen at an end of bins may be within either of the bins beside it.
        """
        edges, at = self.shares.edges, self._possible
        beside = np.clip(at[:, None] + np.array([-1, 1, -2, 2]), 0, len(edges) - 1)
        return np.asarray(edges[beside])

    @cached_property
    def _possible(self) -> NDArray[np.int64]:
        return possible_jumps(self.models, self.data)

    def series(self, t: Array) -> Array:
        """Return the density at places t, straight between the middles of cells."""
        return np.interp(t, middles(), self.cells)

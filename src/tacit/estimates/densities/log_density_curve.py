"""The density of noisy shares of bins by penalised likelihood, as an estimate between its cells; where it may jump."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.densities.density_jumps import StepScores
from tacit.estimates.densities.density_models import middles
from tacit.estimates.densities.log_density import BinnedLikelihood, Fitted, density_of, may_jump, of_models, step_scores
from tacit.estimates.densities.series_coefficients import Shares


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
        return density_of(self.models, self.data)

    @cached_property
    def models(self) -> list[Fitted]:
        """The models that are averaged."""
        return of_models(self.data)

    @cached_property
    def data(self) -> BinnedLikelihood:
        """The shares with the variances of their noise."""
        noise = self.shares.variance * (self.shares.noises**2).sum(axis=1)
        return BinnedLikelihood(self.shares.edges, self.shares.values, self.rows, noise)

    def may_jump(self, values: Array) -> NDArray[np.bool_]:
        """Return at which inner edges of bins there may be a jump by shares of bins like these, shape (..., edges)."""
        return may_jump(self._scores, values)

    @cached_property
    def _scores(self) -> list[StepScores]:
        return step_scores(self.models, self.data)

    def series(self, t: Array) -> Array:
        """Return the density at places t, straight between the middles of cells."""
        return np.interp(t, middles(), self.cells)

"""Curves that are made densities: lowered by a constant, cut off at 0, adding up to 1; their distribution functions."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.simplex import lowered_by

GRID: Final = 2_048
"""Cells of the grid on which a curve is made a density."""


@dataclass(frozen=True)
class ProjectedCurve:
    """An estimate of a density on [0, 1] that is nearly one: negative in places, adding up to about 1.

    basis: of what it is made, in a word.
    """

    basis: str

    @abstractmethod
    def series(self, t: Array) -> Array:
        """Return the estimate at places t in [0, 1], before it is made a density."""

    @abstractmethod
    def limits(self, t: Array, level: float, *, simultaneous: bool) -> Array:
        """Return the limits of a band at places t, shape (places, 2)."""

    @cached_property
    def projected(self) -> tuple[float, Array]:
        """The constant by which the series is lowered before its negative part is cut off, and the density on the grid.

        Of all densities the nearest in mean square.
        """
        t = (np.arange(GRID) + 0.5) / GRID
        series = self.series(t)
        low = lowered_by(series, GRID)
        return low, np.maximum(series - low, 0.0)

    def density(self, t: Array) -> Array:
        """Return the density at places t in [0, 1]."""
        return np.maximum(self.series(t.reshape(-1)) - self.projected[0], 0.0).reshape(t.shape)

    def cdf(self, t: Array) -> Array:
        """Return the distribution function at places t."""
        shares = self._cumulative
        return np.asarray(np.interp(t, np.linspace(0, 1, GRID + 1), shares))

    def quantile(self, p: Array) -> Array:
        """Return the places at which the distribution function is p."""
        shares = self._cumulative
        # the first place of each value, so that places of no density do not count
        kept = np.concatenate([[True], np.diff(shares) > 0])
        return np.asarray(np.interp(p, shares[kept], np.linspace(0, 1, GRID + 1)[kept]))

    @property
    def _cumulative(self) -> Array:
        """The distribution function at the ends of the grid's cells, shape (GRID + 1,)."""
        total = np.concatenate([[0.0], np.cumsum(self.projected[1])])
        return total / total[-1]

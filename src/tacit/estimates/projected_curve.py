"""Densities on [0, 1] from estimates that are nearly ones: lowered by a constant, cut off at 0, adding up to 1; bands.

An estimate and what its limits are around are values of their own: limits of one kind may go with any estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Final, Protocol

import numpy as np

from tacit.base.arrays import Array
from tacit.base.simplex import lowered_by

GRID: Final = 2_048
"""Cells of the grid on which an estimate is made a density."""


class NearDensity(Protocol):
    """An estimate of a density on [0, 1] that may be negative in places, and adds up to about 1."""

    def series(self, t: Array) -> Array:
        """Return the estimate at places t in [0, 1]."""
        ...


class BandTerms(Protocol):
    """What limits are around: an estimate without shrinkage, its errors, and how many of them hold everywhere."""

    def center(self, t: Array) -> Array:
        """Return what limits are around at places t, shape (places,)."""
        ...

    def errors(self, t: Array) -> Array:
        """Return its standard errors there."""
        ...

    def factor(self, level: float) -> float:
        """Return the quantile of the largest standardised error over [0, 1]."""
        ...

    @property
    def at_once(self) -> BandTerms:
        """What a band is around that holds in all of [0, 1] at once."""
        ...


@dataclass(frozen=True)
class ProjectedCurve:
    """A density on [0, 1] with limits.

    basis: of what it is made, in a word.  estimate: what is made a density.  around: what limits are around.
    """

    basis: str
    estimate: NearDensity
    around: BandTerms

    @cached_property
    def projected(self) -> tuple[float, Array]:
        """The constant by which the estimate is lowered before its negative part is cut off, and the density on a grid.

        Of all densities the nearest in mean square.
        """
        t = (np.arange(GRID) + 0.5) / GRID
        series = self.estimate.series(t)
        low = lowered_by(series, GRID)
        return low, np.maximum(series - low, 0.0)

    def density(self, t: Array) -> Array:
        """Return the density at places t in [0, 1]."""
        return np.maximum(self.estimate.series(t.reshape(-1)) - self.projected[0], 0.0).reshape(t.shape)

    def limits(self, t: Array, level: float, *, simultaneous: bool) -> Array:
        """Return the limits at places t, shape (places, 2): for each of them, or for all of [0, 1] at once."""
        low, high = _limits(self.around, t, NormalDist().inv_cdf(0.5 + level / 2))
        if simultaneous:
            # a band may be around another estimate than the limits of each place, which it holds
            at_once = self.around.at_once
            band, around = _limits(at_once, t, at_once.factor(level)), (low, high)
            low, high = np.minimum(band[0], around[0]), np.maximum(band[1], around[1])
        made = self.density(t)
        # limits hold the estimate, and a density is not negative
        return np.stack([np.maximum(np.minimum(low, made), 0.0), np.maximum(high, made)], axis=-1)

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


def _limits(around: BandTerms, t: Array, factor: float) -> tuple[Array, Array]:
    """Return so many standard errors below and above."""
    center, error = around.center(t), around.errors(t)
    # an estimate below 0 is as wrong as it is below; its error is not smaller for that
    return center - factor * error, np.maximum(center, 0.0) + factor * error

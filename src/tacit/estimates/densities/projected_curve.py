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
BESIDE: Final = 17
"""Places at which a band is looked at on either side of a possible jump."""


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


class PossibleJumps(Protocol):
    """Where a density may have a jump."""

    @property
    def jumps(self) -> Array:
        """Ends of ranges of [0, 1] in which one may be, and of those about them that show both sides, shape (n, 4)."""
        ...


@dataclass(frozen=True)
class ProjectedCurve:
    """A density on [0, 1] with limits.

    basis: of what it is made, in a word.  estimate: what is made a density.  around: what limits are around.
    possible: where there may be jumps, in which a band holds both sides, or None where nothing tells.
    """

    basis: str
    estimate: NearDensity
    around: BandTerms
    possible: PossibleJumps | None = None

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
        if simultaneous:
            return self._band(t, level)
        return self._holding(t, *_limits(self.around, t, NormalDist().inv_cdf(0.5 + level / 2)))

    def _band(self, t: Array, level: float) -> Array:
        """Return limits that hold at once, those on both sides of a possible jump where it may be."""
        jumps = np.zeros((0, 4)) if self.possible is None else self.possible.jumps
        beside = np.linspace(jumps[:, 2], jumps[:, 3], BESIDE, axis=1)
        every = np.concatenate([t, beside.reshape(-1)])
        # a band may be around another estimate than the limits of each place, which it holds
        at_once, around = self.around.at_once, _limits(self.around, every, NormalDist().inv_cdf(0.5 + level / 2))
        band = _limits(at_once, every, at_once.factor(level))
        limits = self._holding(every, np.minimum(band[0], around[0]), np.maximum(band[1], around[1]))
        made, sides = limits[: len(t)], limits[len(t) :].reshape(*beside.shape, 2)
        for (first, last, _, _), side in zip(jumps, sides, strict=True):
            inside = (t >= first) & (t <= last)
            made[inside, 0] = np.minimum(made[inside, 0], side[:, 0].min())
            made[inside, 1] = np.maximum(made[inside, 1], side[:, 1].max())
        return made

    def _holding(self, t: Array, low: Array, high: Array) -> Array:
        """Return limits that hold the estimate, which is not negative, shape (places, 2)."""
        made = self.density(t)
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

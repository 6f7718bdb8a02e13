"""Densities on [0, 1] from estimates that are nearly ones: lowered by a constant, cut off at 0, adding up to 1; bands.

An estimate and what its limits are around are values of their own: limits of one kind may go with any estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

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


class PossibleJumps(Protocol):
    """Where a density may have a jump."""

    @property
    def edges(self) -> Array:
        """Edges of bins, from 0 to 1."""
        ...

    @property
    def places(self) -> Array:
        """Places of all bins, shape (places, bins)."""
        ...

    @property
    def flags(self) -> NDArray[np.bool_]:
        """At which inner edges there may be one."""
        ...

    @property
    def reach(self) -> int:
        """Within how many bins of a possible jump a band holds both sides."""
        ...

    def factor(self, level: float) -> float | None:
        """Return the standard errors of a band that holds both sides there; None where its own are to be taken."""
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
        if self.possible is None:
            return self._at_once(t, self.around.at_once.factor(level), level)
        places, factor, flags = self.possible.places, self.possible.factor(level), self.possible.flags
        factor = self.around.at_once.factor(level) if factor is None else factor
        made, bins = (self._at_once(at, factor, level) for at in (t, places.reshape(-1)))
        each = bins.reshape(*places.shape, 2)
        at = np.clip(np.searchsorted(self.possible.edges, t, side="right") - 1, 0, places.shape[1] - 1)
        reach = self.possible.reach
        low, high = (
            least_beside(each[..., 0].min(axis=0), flags, reach),
            -least_beside(-each[..., 1].max(axis=0), flags, reach),
        )
        return np.stack([np.minimum(made[:, 0], low[at]), np.maximum(made[:, 1], high[at])], axis=-1)

    def _at_once(self, t: Array, factor: float, level: float) -> Array:
        """Return limits of so many standard errors, which hold those of each place, that may be around another one."""
        around = _limits(self.around, t, NormalDist().inv_cdf(0.5 + level / 2))
        band = _limits(self.around.at_once, t, factor)
        return self._holding(t, np.minimum(band[0], around[0]), np.maximum(band[1], around[1]))

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


def least_beside(least: Array, flags: NDArray[np.bool_], reach: int = 1) -> Array:
    """Return of each bin the least of all bins within reach of a flagged edge that it is within reach of; or infinity.

    least: of bins, shape (..., bins).  flags: of inner edges, shape (..., bins - 1).

    >>> least_beside(np.array([2.0, 1.0, 4.0, 5.0]), np.array([True, False, False])).tolist()
    [1.0, 1.0, inf, inf]
    >>> least_beside(np.array([2.0, 1.0, 4.0, 0.0]), np.array([True, False, False]), reach=2).tolist()
    [1.0, 1.0, 1.0, inf]
    """
    bins = least.shape[-1]
    at_edges = np.full(flags.shape, np.inf)
    for shift in range(-reach + 1, reach + 1):
        # edge k is between bins k and k + 1
        inside = slice(max(0, -shift), min(bins - 1, bins - shift))
        at_edges[..., inside] = np.minimum(
            at_edges[..., inside], least[..., inside.start + shift : inside.stop + shift]
        )
    at_edges = np.where(flags, at_edges, np.inf)
    made = np.full((*at_edges.shape[:-1], bins), np.inf)
    for shift in range(-reach + 1, reach + 1):
        inside = slice(max(0, -shift), min(bins - 1, bins - shift))
        own = made[..., inside.start + shift : inside.stop + shift]
        np.minimum(own, at_edges[..., inside], out=own)
    return made


def _limits(around: BandTerms, t: Array, factor: float) -> tuple[Array, Array]:
    """Return so many standard errors below and above."""
    center, error = around.center(t), around.errors(t)
    # an estimate below 0 is as wrong as it is below; its error is not smaller for that
    return center - factor * error, np.maximum(center, 0.0) + factor * error

"""Bands that hold both sides of possible jumps: which bins they do so in, and how wide they are elsewhere.

A series is halfway where a density jumps, and its errors do not say so.  In the two bins beside an edge at which counts
say that there may be a jump, a band therefore reaches from its least to its most there.  Most of such edges are those
of smooth densities, whose noise looks like jumps now and then: where they are, a band is wider than it need be, and
elsewhere it may be narrower.  How many standard errors it takes is the quantile of what holds all of the estimated
density, from draws of both errors about that, in which possible jumps are found anew.
Plain arrays; post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.densities.log_density_curve import LogDensityCurve
from tacit.estimates.densities.series_curve import SeriesCurve
from tacit.rows.series_bases import functions

DRAWS: Final = 1_000
"""Draws of the joint error: the level of a band is then within .014 of what is said."""
PLACES: Final = 4
"""Places of a bin, both ends among them."""
TINY: Final = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class HeldJumps:
    """Where a density may jump, and the standard errors of a band that holds both sides there.

    curve: what tells of jumps.  series: what the band is around, or None where it is not a series.
    """

    curve: LogDensityCurve
    series: SeriesCurve | None

    @property
    def edges(self) -> Array:
        """Edges of bins, from 0 to 1."""
        return self.curve.shares.edges

    @property
    def flags(self) -> NDArray[np.bool_]:
        """At which inner edges there may be a jump."""
        return self._flags

    @cached_property
    def _flags(self) -> NDArray[np.bool_]:
        return self.curve.may_jump(self.curve.shares.values[None])[0]

    @property
    def places(self) -> Array:
        """Places of all bins, shape (PLACES, bins)."""
        return np.linspace(self.edges[:-1], self.edges[1:], PLACES)

    def factor(self, level: float) -> float | None:
        """Return the standard errors of a band of this level; None where its own are to be taken."""
        return None if self.series is None else float(np.quantile(self.needed, level, method="higher"))

    @cached_property
    def needed(self) -> Array:
        """What each draw of errors about the estimate needs, shape (DRAWS,)."""
        series, values = self.series, self.curve.data.binned(self.curve.cells) / len(self.curve.cells)
        if series is None:
            return np.zeros(1)
        drawn = values + series.errors_of.drawn(DRAWS)
        react = next(one.react for one in series.chosen if one.basis == series.basis)[: series.band]
        at = self.places.reshape(-1)
        true, over = self.curve.series(at), functions(series.basis, at, series.band)
        # coefficients are of shares less those of an even density
        coefficients = (drawn - np.diff(self.edges)) @ react.T
        center = np.stack([1 + coefficients @ each for each in np.split(over, PLACES, axis=1)])
        error, true = (one.reshape(PLACES, 1, -1) for one in (np.maximum(series.errors(at), TINY), true))
        flags = self.curve.may_jump(drawn)
        # the least at which lower limits are below the density, and that at which upper ones are above it
        return np.maximum(_below(center, error, true, flags), _below(-np.maximum(center, 0.0), error, -true, flags))


def _below(center: Array, error: Array, true: Array, flags: NDArray[np.bool_]) -> Array:
    """Return how many standard errors below each draw's center a band must reach that is nowhere above what is true.

    center: shape (places, draws, bins); those of a bin with a possible jump reach to the least of both bins.
    """
    alone, lowest = ((center - true) / error).max(axis=0), true.min(axis=0)
    # what a bin, and the bin beside it, need to reach down to the least that is true in it
    own = ((center - lowest) / error).min(axis=0)
    before = ((center[:, :, :-1] - lowest[:, 1:]) / error[:, :, :-1]).min(axis=0)
    after = ((center[:, :, 1:] - lowest[:, :-1]) / error[:, :, 1:]).min(axis=0)
    reach = alone.copy()
    for bins, other in ((slice(1, None), before), (slice(None, -1), after)):
        both = np.where(flags, np.minimum(own[:, bins], other), np.inf)
        reach[:, bins] = np.minimum(reach[:, bins], both)
    return reach.max(axis=1)

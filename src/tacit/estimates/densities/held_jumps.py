"""Bands that hold both sides of possible jumps: which bins they do so in, and how wide they are elsewhere.

A series is halfway where a density jumps, and its errors do not say so.  About an edge of bins at which counts say that
there may be a jump, a band therefore reaches from its least to its most, in as many bins as the series does not tell
apart.  Most of such edges are those of smooth densities, whose noise looks like jumps now and then: there a band is
wider than it need be, and elsewhere it may be narrower.  How many standard errors it takes is the quantile of what
holds all of the estimated density, from draws of both errors about that, in which possible jumps are found anew.
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

    @property
    def reach(self) -> int:
        """Within how many bins of a possible jump a band holds both sides: half of what the series resolves."""
        return 1 if self.series is None else -(-(len(self.edges) - 1) // (2 * self.series.band))

    def factor(self, level: float) -> float | None:
        """Return the standard errors of a band of this level; None where its own are to be taken.

        They are at least those in which the series misses twice as often, wherever there may be a jump: what is held
        there makes up for half of the misses at most.
        """
        if self.series is None:
            return None
        held, alone = self.needed
        return float(max(np.quantile(held, level, method="higher"), np.quantile(alone, 2 * level - 1, method="higher")))

    @cached_property
    def needed(self) -> tuple[Array, Array]:
        """What each draw of errors about the estimate needs, and the largest of its errors, shapes (DRAWS,)."""
        series, values = self.series, self.curve.data.binned(self.curve.cells) / len(self.curve.cells)
        if series is None:
            return np.zeros(1), np.zeros(1)
        errors = series.errors_of.drawn(DRAWS)
        react = next(one.react for one in series.chosen if one.basis == series.basis)[: series.band]
        at = self.places.reshape(-1)
        true, over = self.curve.series(at), functions(series.basis, at, series.band)
        error, true, middle = (
            one.reshape(PLACES, 1, -1)
            # coefficients are of shares less those of an even density
            for one in (np.maximum(series.errors(at), TINY), true, 1 + react @ (values - np.diff(self.edges)) @ over)
        )
        coefficients = errors @ react.T
        moved = np.stack([coefficients @ each for each in np.split(over, PLACES, axis=1)])
        center, flags = middle + moved, self.curve.may_jump(values + errors)
        # the least at which lower limits are below the density, and that at which upper ones are above it
        below = _below(center, error, true, flags, self.reach)
        above = _below(-np.maximum(center, 0.0), error, -true, flags, self.reach)
        return np.maximum(below, above), np.abs(moved / error).max(axis=(0, 2))


def _below(center: Array, error: Array, true: Array, flags: NDArray[np.bool_], reach: int) -> Array:
    """Return how many standard errors below each draw's center a band must reach that is nowhere above what is true.

    center: shape (places, draws, bins); those of a bin near a possible jump reach to the least of all bins about it.
    """
    need, lowest, bins = ((center - true) / error).max(axis=0), true.min(axis=0), center.shape[2]
    for shift in range(1 - 2 * reach, 2 * reach):
        # what the bin so far beside each reaches down to the least that is true in it, where an edge has both in reach
        inside = slice(max(0, -shift), bins - max(0, shift))
        other = slice(inside.start + shift, inside.stop + shift)
        common = _common(flags, shift, reach)
        if common.any():
            low = ((center[:, :, other] - lowest[:, inside]) / error[:, :, other]).min(axis=0)
            need[:, inside] = np.minimum(need[:, inside], np.where(common, low, np.inf))
    return need.max(axis=1)


def _common(flags: NDArray[np.bool_], shift: int, reach: int) -> NDArray[np.bool_]:
    """Return of which bins that have one so far beside them a flagged edge is within reach of both."""
    draws, bins = flags.shape[0], flags.shape[1] + 1
    found = np.zeros((draws, bins), dtype=bool)
    # edge k is between bins k and k + 1; it reaches bins k + 1 - reach to k + reach
    for ahead in range(max(1 - reach, 1 - reach - shift), min(reach, reach - shift) + 1):
        first, last = max(0, ahead), min(bins, bins - 1 + ahead)
        found[:, first:last] |= flags[:, first - ahead : last - ahead]
    return found[:, max(0, -shift) : bins - max(0, shift)]

"""The exponential mechanism over data sets as a mixture of layers: bounds on the weight of each.  No data of its own.

With rate c, q = exp(-c) and A(t) data sets of level at most t, c > 0,

    exp(-c L) = sum over t >= L of (q**t - q**(t + 1)),

so that a data set of level L has the weight exp(-c L) where a layer t is drawn with probability proportional to
A(t) q**t, t = 0, 1, 2, ..., and then one of its A(t) data sets evenly.  From the top M on all layers are equal: they
are one, of weight A(M) q**M / (1 - q).  Nothing is subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, log
from typing import Final

import numpy as np

from tacit.method.ks_dataset.bands import Bands, Integers
from tacit.method.ks_dataset.path_counts import Array, Enclosed, count, enclosed
from tacit.noise.tail_bounds import Bounds, exp_minus

GUARD: Final = 96
"""Bits of the weights beyond those of the smallest factor exp(-c t)."""
APART: Final = 1.1
"""Ratio of the levels beyond which layers are bounded together."""
FAR: Final = 80 * log(2.0)
"""Layers beyond the last one looked at have at most a part of about exp(-FAR) of all weights."""


@dataclass(frozen=True)
class Layers:
    """The layers of a table.  rate: c, exactly."""

    bands: Bands
    rate: Fraction

    @property
    def most(self) -> int:
        """The number of all data sets: k points in m cells."""
        return comb(self.bands.size + self.bands.cells - 1, self.bands.size)

    @cached_property
    def sparse(self) -> tuple[Integers, Enclosed]:
        """Some levels, and their numbers of data sets, up to one beyond which all layers together weigh next to nothing
        or to the top: enough to see where the weights are.
        """
        top, found, at = self.bands.top, [0], 0
        enough = (self.most.bit_length() + 2 * GUARD) / self.rate
        while at < min(top, enough):
            at = min(top, max(at + 1, round(at * APART)))
            found.append(at)
        levels = np.array(found, dtype=np.int64)
        return levels, enclosed(self.bands, levels)

    @cached_property
    def last(self) -> int:
        """The last layer that is looked at by itself, at first: those beyond it are most unlikely."""
        levels, found = self.sparse
        c, logs = float(self.rate), found.log
        # of the layers from one of these levels to the next there are at most those of the next
        beyond = logs[1:] - c * (levels[:-1] + 1) - np.log1p(-np.exp(-c))
        rest = np.logaddexp.accumulate(beyond[::-1])[::-1] - (logs - c * levels).max()
        far = np.flatnonzero(rest < -FAR)
        return int(levels[far[0]] if len(far) else levels[-1])

    @cached_property
    def dense(self) -> Enclosed:
        """The numbers of data sets of the layers up to `last`."""
        return enclosed(self.bands, np.arange(self.last + 1))

    def weights(self, stage: int) -> tuple[list[Bounds], int]:
        """Return bounds on the weights of the first layers, and an upper bound on the weight of all further ones.

        Stage 0 has numbers of data sets by their enclosures; later ones have exact ones, of more and more layers.
        """
        return self._first if stage == 0 else self._weights(stage)

    @cached_property
    def _first(self) -> tuple[list[Bounds], int]:
        """The bounds of stage 0, which nearly all draws need alone."""
        return self._weights(0)

    def _weights(self, stage: int) -> tuple[list[Bounds], int]:
        last = self.last if stage == 0 else min(self.bands.top, (self.last + 1) << (stage - 1))
        bits = GUARD + 64 * stage + int(self.rate * (last + 1) * 3 / 2)
        found = list[Bounds]()
        for level in range(last + 1):
            if stage == 0:
                low, high = self.dense.bounds(level)
            else:
                low = high = count(self.bands, level)
            found.append(self._times(low, high, level, bits))
        if last == self.bands.top:
            found[last] = self._through(found[last], bits)
            return found, 0
        return found, self._beyond(last, bits)

    def _times(self, low: int, high: int, level: int, bits: int) -> Bounds:
        """Return bounds on a number times exp(-c level)."""
        below, above = exp_minus(self.rate * level, bits)
        return low * below, high * above

    def _through(self, weight: Bounds, bits: int) -> Bounds:
        """Return bounds on a weight divided by 1 - q."""
        below, above = exp_minus(self.rate, bits)
        one = 1 << bits
        return (weight[0] << bits) // (one - below), -(-(weight[1] << bits) // (one - above))

    def _beyond(self, last: int, bits: int) -> int:
        """Return an upper bound on the weight of all layers beyond `last`."""
        levels, numbers = self.sparse
        rest, before = 0, last
        for i in np.flatnonzero(levels > last):
            # layers before + 1 to levels[i] have no more data sets than the last of them
            rest += self._at_most(min(self.most, numbers.bounds(int(i))[1]), before + 1, bits)
            before = int(levels[i])
        if before < self.bands.top:
            rest += self._at_most(self.most, before + 1, bits)
        # of each group a geometric series: its first term divided by 1 - q
        return self._through((0, rest), bits)[1]

    def _at_most(self, high: int, level: int, bits: int) -> int:
        """Return an upper bound on a number times exp(-c level), however small that factor is."""
        own = bits + int(self.rate * level * 3 / 2)
        return (high * exp_minus(self.rate * level, own)[1] >> (own - bits)) + 1

    def logs(self) -> Array:
        """Return the natural logarithms of the weights of the layers up to `last`, in floats: for simulations."""
        logs = self.dense.log - float(self.rate) * np.arange(self.last + 1)
        if self.last == self.bands.top:
            logs[-1] -= np.log1p(-np.exp(-float(self.rate)))
        return logs

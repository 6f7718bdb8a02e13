"""Heaps at irregular places, as counts show them: holes, gaps, and bins that stand alone.

Where values are told at few places, some bins have one of these and others none.  A bin without has fewer rows than
both neighbours suggest.  Of a density that bends one way over five bins, in logarithms, a bin's mean density is at
least the smaller of two bounds: the geometric mean of its neighbours' (it bends downwards), and the larger of the
straight lines through the logarithms of the two bins on each side (it bends upwards).  A bin clearly below both is a
hole.  Bins in which noise may hide next to no rows are a gap between two that have FAR times as many, and a bin between
two of them stands alone: whatever its density, it is narrower than the bin.
What holes and gaps lack is elsewhere, at points, and so may be the same part of the rows of all bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.fits.cells.log_densities import HIDDEN, LogDensities

FAR: Final = 15.0
"""A column ends abruptly where a bin has at least so many times the rows that noise may hide in the next."""
NEAR: Final = 5.0
"""So many times are enough with a hole: at a low price noise may hide a fifteenth of a bin in an empty one."""
BESIDE: Final = 60.0
"""A hole is found with so many times the chance where the column also ends abruptly: it takes both, which smooth
columns that end within their bounds hardly ever have."""
FALLEN: Final = 0.5
"""A bin with less than this part of the density of that beside it may be on the flank of a mode."""
RUNS: Final = 2
"""Holes and gaps, at least, from which something is concluded for all bins: two modes have one between them.

One is enough where the column also ends abruptly elsewhere within its bounds, without a flank, which modes have."""


@dataclass(frozen=True)
class Irregular:
    """What counts show of heaps at irregular places.

    alone: which bins stand alone, shape (K,).  share: the part of what they should have that holes and gaps lack, which
    is as much of the rows of any bin that may be at points; 0 where there are none.  apart: the widest hole or gap with
    the bins beside it, within which two places next to each other are.
    """

    alone: NDArray[np.bool_]
    share: float
    apart: float = np.inf


def irregular_heaps(
    counts: Array, variance: float, seen: LogDensities, spikes: NDArray[np.bool_], chance: float
) -> Irregular:
    """Return what is found of noisy counts.

    seen: their logarithms.  spikes: bins that are clearly higher than those beside, shape (K,): beside one a bin must
    be below the line to the bin behind it, too.  chance: that a column without heaps is found to have a hole, at most.

    >>> from tacit.fits.cells.cell_arrays import CellAxis
    >>> axis = CellAxis("x", "continuous", np.arange(8.0))
    >>> counts = np.array([400.0, 900, 2, 1_200, 0, -1, 700])
    >>> found = irregular_heaps(counts, 8.0, LogDensities.of(axis, counts, 8.0), counts < 0, 0.005)
    >>> found.alone.nonzero()[0].tolist(), round(found.share, 3)
    ([3], 0.999)
    """
    low, high = _abrupt(counts, variance, seen, FAR)
    gap, across = _gaps(counts, seen, low, high)
    hole, bound = _holes(seen, spikes, chance)
    lacking = gap | hole
    if _runs(lacking) < RUNS:
        lacking = gap | _holes(seen, spikes, BESIDE * chance)[0]
        if not (lacking.any() and _cut(counts, seen, *_abrupt(counts, variance, seen, NEAR), lacking)):
            return Irregular(low & high, 0.0)
    due = (np.where(gap, across, bound) * seen.widths)[lacking]
    lack = due - np.maximum(counts[lacking], 0.0)
    return Irregular(low & high, float(lack.sum() / due.sum()), _apart(seen, lacking))


def _apart(seen: LogDensities, lacking: NDArray[np.bool_]) -> float:
    """Return how far the widest run of such bins reaches with those beside it, of which there are two."""
    step = np.diff(lacking.astype(np.int64), prepend=0, append=0)
    first, last = np.flatnonzero(step == 1) - 1, np.flatnonzero(step == -1)
    low, high = seen.middles - seen.widths / 2, seen.middles + seen.widths / 2
    return float((high[last] - low[first]).max())


def _runs(found: NDArray[np.bool_]) -> int:
    """Return how many runs of bins are found."""
    return int(np.diff(found.astype(np.int64), prepend=0).clip(0).sum())


def _abrupt(
    counts: Array, variance: float, seen: LogDensities, times: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which filled bins end abruptly, at an empty bin below and at one above, shape (K,) each.

    times: how many times the rows that noise may hide in the empty bin a bin has, at least.
    """
    least = counts - HIDDEN * np.sqrt(variance + np.maximum(counts, 1.0))
    least, most = np.where(seen.filled, least, 0.0) / seen.widths, times * seen.counts / seen.widths
    empty = ~seen.filled
    low = np.append(False, (least[1:] > most[:-1]) & empty[:-1] & seen.alike)
    return low, np.append((least[:-1] > most[1:]) & empty[1:] & seen.alike, False)


def _cut(
    counts: Array, seen: LogDensities, low: NDArray[np.bool_], high: NDArray[np.bool_], lacking: NDArray[np.bool_]
) -> bool:
    """Return whether the column ends abruptly where it did not fall before, other than at a hole or a gap."""
    density = counts / seen.widths
    level = density[1:] > FALLEN * density[:-1], density[:-1] > FALLEN * density[1:]
    at_low = low & ~np.append(False, lacking[:-1]) & np.append(level[1], False)
    at_high = high & ~np.append(lacking[1:], False) & np.append(False, level[0])
    return bool((at_low | at_high).any())


def _gaps(
    counts: Array, seen: LogDensities, low: NDArray[np.bool_], high: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], Array]:
    """Return which bins are in gaps, and the density that the bins at both ends of a gap suggest, shape (K,) each."""
    K, widths = len(counts), seen.widths
    found, density = np.zeros(K, dtype=np.bool_), np.zeros(K)
    own = np.flatnonzero(seen.filled)
    for one, two in pairwise(own.tolist()):
        if two > one + 1 and high[one] and low[two]:
            found[one + 1 : two] = True
            density[one + 1 : two] = np.sqrt(counts[one] * counts[two] / (widths[one] * widths[two]))
    return found, density


def _holes(seen: LogDensities, spikes: NDArray[np.bool_], chance: float) -> tuple[NDArray[np.bool_], Array]:
    """Return which bins between filled ones are clearly below both bounds, and the smaller bound as a density."""
    each = chance / (2 * len(seen.log))
    below, above = seen.beside
    lines, line = np.zeros(len(seen.log), dtype=np.bool_), np.full(len(seen.log), -np.inf)
    for beside, matrix in zip(seen.beside, seen.outwards, strict=True):
        # of the second bin the most that noise may hide makes the line the lower
        there = beside & matrix.any(axis=1)
        lines |= there & seen.clear(-matrix, each)
        line = np.maximum(line, np.where(there, seen.log - matrix @ seen.log, -np.inf))
    found = below & above & seen.clear(-seen.above, each) & lines
    for at in (-1, 1):
        found &= ~np.roll(spikes, -at) | seen.clear(-_behind(seen.middles, at), each)
    return found, np.exp(np.minimum(seen.log - seen.above @ seen.log, line))


def _behind(x: Array, at: int) -> Array:
    """Return the matrix, shape (K, K), of what a bin has beyond the line through the one before and the second after.

    at: 1 for bins in rising order, -1 in falling; rows without these bins are 0.
    """
    K = len(x)
    found = np.zeros((K, K))
    for r in range(K):
        one, two = r - at, r + 2 * at
        if min(one, two) >= 0 and max(one, two) < K:
            part = (x[r] - x[one]) / (x[two] - x[one])
            found[r, r], found[r, one], found[r, two] = 1.0, part - 1, -part
    return found

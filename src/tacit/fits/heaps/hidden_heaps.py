"""Rows of a column that may be at single points, as its own counts show them: heaps that nobody declared.

Where the logarithm of a density bends one way over five bins of equal width, a bin's mean density is at most the larger
of two bounds: the geometric mean of its neighbours' (it bends upwards), and the smaller of the straight lines through
the logarithms of the two bins on each side (it bends downwards: mean densities of a log-concave density are
log-concave).  Bins that differ in width, by UNEVEN at most, are taken by their middles.  What a bin has beyond both,
clear of noise and of sampling error, is not a smooth density's: rows at one point, or at few.

Two things are looked for.  A single bin beyond its bounds; and, as values told in multiples of one number make it,
every second, third, ... bin higher than those beside it, all such bins added up.  Each finds something in a column of
either kind without heaps with a chance of ALARM at most: limits are those of as many tests as there are, the noise's
part of them is that of Laplace noise, and TOLERATED is left to densities that bend both ways.
Heaps at irregular places are looked for by what bins without them lack (`irregular_heaps`).  A bin that is not held
against its neighbours, as noise hides one of these or both, may have all its rows at one point; that counts by how
plausible the column's counts make heaps (`heap_evidence`).
Source: Prékopa 1973 (integrals of log-concave densities over intervals of one length are log-concave).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.cells.log_densities import LogDensities
from tacit.fits.heaps.bin_heaps import declared_heaps
from tacit.fits.heaps.heap_evidence import heaps_plausible
from tacit.fits.heaps.irregular_heaps import irregular_heaps

ALARM: Final = 0.005
"""Largest chance that one of the two tests finds heaps in a column without."""
SUSPECTED: Final = 0.05
"""The same of a single bin beyond its bounds, of which is concluded that others may have such rows."""
PERIODS: Final = range(2, 13)
"""Every so many bins are looked at together."""


@dataclass(frozen=True)
class HiddenHeaps:
    """What counts show of rows at points, and what they do not.

    rows: how many of each bin's, shape (K,), 0 in all bins where nothing is clear.  anywhere: part of the rows of any
    bin that may be at one.  Bins with two multiples, one, one and one have the counts of bins with one, none, none and
    none: where values are told in multiples, what higher bins have more may be in each of the others as well.  Means
    are the same either way (heaps that every bin has are at one place of the longer bins, further from the edges), but
    not what of a bin is below a place in it.  share: part of the rows of any bin that may be at one as holes and gaps
    between bins have it (`irregular_heaps`), where places differ from bin to bin, and means with them.  unseen: part of
    each bin's rows that may be at a point of its own without being seen, shape (K,): all of a bin that is not looked
    at; of the others as much as a bin that stands out has, for it may have two points where they have one; as a
    variance it is multiplied by the odds of heaps.  apart: how far two places next to each other are, at most, where
    holes and gaps are seen.
    """

    rows: Array
    unseen: Array
    anywhere: float = 0.0
    share: float = 0.0
    apart: float = np.inf

    def parts(self, counts: Array, widths: Array) -> Array:
        """Return which part of each bin's rows moves its mean, shape (K,)."""
        # many places of a long end bin are spread as its density is, not about its middle
        share = np.where(self.long(widths), 0.0, self.share)
        return np.maximum(self.rows / np.maximum(counts, 1.0), share)

    def long(self, widths: Array) -> NDArray[np.bool_]:
        """Return which bins are at an end and wider than two places are apart, shape (K,)."""
        return ~_inner(len(widths)) & (widths > self.apart)

    def off(self, widths: Array) -> Array:
        """Return how far places in such bins may move their means: by half of what they are apart, shape (K,)."""
        return np.where(self.long(widths), self.share * self.apart / 2 if self.share else 0.0, 0.0)


def heaped_rows(axis: CellAxis, counts: Array, variance: float) -> HiddenHeaps:
    """Return the rows that may be at points.

    counts: noisy, shape (K,).  variance: of the noise of each.  End bins are not looked at: see `bin_ends`.
    What bins with a declared heap have more than others is explained: of those without one no more is said than
    their own counts show.

    >>> axis = CellAxis("x", "continuous", np.arange(9.0))
    >>> found = heaped_rows(axis, np.array([300.0, 400, 500, 1_500, 500, 400, 300, 200]), 8.0)
    >>> found.rows.round(), found.unseen
    (array([   0.,    0.,    0., 1000.,    0.,    0.,    0.,    0.]), array([1., 1., 1., 1., 1., 1., 1., 1.]))
    """
    every = _found(counts, variance, LogDensities.of(axis, counts, variance), _inner(axis.bins))
    heaps = declared_heaps(axis.bounds, axis.heaped_at)
    if heaps is None or not (heaps.count > 0).any():
        return every
    own = heaps.count == 0
    seen = LogDensities.of(axis, counts, variance, own)
    others = _found(counts[own], variance, seen, _inner(axis.bins)[own])
    rows, unseen = np.where(own, 0.0, every.rows), np.zeros(axis.bins)
    # bins that are further apart show less: what all of them together exclude is excluded, too
    rows[own], unseen[own] = others.rows, np.minimum(others.unseen, every.unseen[own])
    return HiddenHeaps(rows, unseen, min(others.anywhere, every.anywhere), min(others.share, every.share), every.apart)


def _inner(K: int) -> NDArray[np.bool_]:
    """Return which bins are not at an end."""
    return (np.arange(K) > 0) & (np.arange(K) < K - 1)


def _found(counts: Array, variance: float, seen: LogDensities, inner: NDArray[np.bool_]) -> HiddenHeaps:
    """Return what counts show of bins that are next to each other but for some left out; inner: not at an end."""
    found = np.zeros(len(counts))
    unseen = (seen.filled & np.where(inner, ~seen.looked_at, _beside_none(seen.filled))).astype(np.float64)
    if len(counts) < 4 or seen.filled.sum() < 3:
        return HiddenHeaps(found, unseen)
    repeated = _repeated(seen)
    alone = _alone(seen, ALARM)
    heaped = repeated | alone
    apart = irregular_heaps(counts, variance, seen, alone, ALARM)
    # what the bin has above the geometric mean of its neighbours
    above = np.maximum(counts * -np.expm1(-(seen.above @ seen.log)), 0.0)
    found[heaped] = above[heaped]
    found[apart.alone] = counts[apart.alone]
    every, other = (_hidden(above, counts, one) for one in (repeated, _alone(seen, SUSPECTED)))
    unseen = np.maximum(unseen, other)
    # variances of places count by how plausible it is that there are any
    unseen = unseen * np.sqrt(heaps_plausible(seen)) if unseen.any() else unseen
    return HiddenHeaps(found, unseen, max(every, apart.share), apart.share, apart.apart)


def _beside_none(filled: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which bins have none beside them, shape (K,): in an end bin with rows nothing says where these are.

    Of a column in one bin the mean is not known by a rule of its own (`bin_doubts`).
    """
    return ~(np.append(False, filled[:-1]) | np.append(filled[1:], False)) & (filled.sum() > 1)


def _hidden(found: Array, counts: Array, high: NDArray[np.bool_]) -> float:
    """Return the part of other bins' rows that is at one heap each if the high ones have two."""
    own = high & (found > 0)
    # q of B + 2 q rows in bins with two heaps are q of B + q in those with one
    part = float(found[own].sum() / max(counts[own].sum(), 1.0))
    return min(part / max(1 - part, 1e-9), 1.0)


def _alone(seen: LogDensities, alarm: float) -> NDArray[np.bool_]:
    """Return which bins are clearly beyond both bounds; alarm: the largest chance of one in a column without heaps."""
    # two lines may be the bound that a density bent downwards is below
    chance = alarm / (2 * max(int(seen.between.sum()), 1))
    lines = np.zeros(len(seen.log), dtype=np.bool_)
    for there, matrix in zip(seen.two_beside, seen.outwards, strict=True):
        lines |= there & seen.clear(matrix, chance)
    return seen.between & seen.clear(seen.above, chance) & lines


def _repeated(seen: LogDensities) -> NDArray[np.bool_]:
    """Return which bins are of a class, every so many from one on, that is clearly above the bins beside, together."""
    K, above, between = len(seen.log), seen.above, seen.between
    # above the neighbours by more than these are above theirs: 0 for logarithms that are quadratic; as `above` has
    # three diagonals, no product of matrices
    twice = above.copy()
    twice[1:] += np.diagonal(above, -1)[:, None] * above[:-1]
    twice[:-1] += np.diagonal(above, 1)[:, None] * above[1:]
    inner = between & np.append(False, between[:-1]) & np.append(between[1:], False)
    found = np.zeros(K, dtype=np.bool_)
    periods = [P for P in PERIODS if inner.sum() >= 2 * P]
    chance = ALARM / max(sum(periods), 1)
    for P in periods:
        for first in range(P):
            own = inner & (np.arange(K) % P == first)
            if own.sum() > 2:
                # the bin that says most is left out: one sharp peak is not told in multiples
                weight = np.where(own, seen.counts, 0.0)
                weight[np.argmax(weight * (twice @ seen.log))] = 0.0
                if seen.clear((weight / weight.sum() @ twice)[None], chance)[0]:
                    found |= between & (np.arange(K) % P == first)
    return found

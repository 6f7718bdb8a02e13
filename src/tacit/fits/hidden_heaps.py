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
Source: Prékopa 1973 (integrals of log-concave densities over intervals of one length are log-concave).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.fits.cell_arrays import CellAxis

ALARM: Final = 0.005
"""Largest chance that one of the two tests finds heaps in a column without."""
TOLERATED: Final = 0.07
"""Difference of logarithms that is no sign of heaps: where the densities of skewed laws begin."""
FILLED: Final = 5.0
"""A bin is looked at if it and those beside it hold this many standard deviations of their counts, at least."""
UNEVEN: Final = 2.0
"""Bins are compared whose widths are within this ratio."""
PERIODS: Final = range(2, 13)
"""Every so many bins are looked at together."""


@dataclass(frozen=True)
class HiddenHeaps:
    """What counts show of rows at points.

    rows: how many of each bin's, shape (K,), 0 in all bins where nothing is clear.  anywhere: part of the rows of any
    bin that may be at one.  Bins with two multiples, one, one and one have the counts of bins with one, none, none and
    none: where values are told in multiples, what higher bins have more may be in each of the others as well.  Means
    are the same either way (heaps that every bin has are at one place of the longer bins, further from the edges), but
    not what of a bin is below a place in it.
    """

    rows: Array
    anywhere: float = 0.0


def heaped_rows(axis: CellAxis, counts: Array, variance: float) -> HiddenHeaps:
    """Return the rows that may be at points.

    counts: noisy, shape (K,).  variance: of the noise of each.  End bins are not looked at: see `bin_ends`.

    >>> axis = CellAxis("x", "continuous", np.arange(9.0))
    >>> heaped_rows(axis, np.array([300.0, 400, 500, 1_500, 500, 400, 300, 200]), 8.0).rows.round()
    array([   0.,    0.,    0., 1000.,    0.,    0.,    0.,    0.])
    """
    K, x = axis.bins, axis.centers
    found = np.zeros(K)
    filled = counts > FILLED * np.sqrt(variance + np.maximum(counts, 1.0))
    if K < 4 or filled.sum() < 4:
        return HiddenHeaps(found)
    # whether a bin and the one above it may be compared
    alike = np.abs(np.diff(np.log(axis.widths))) < np.log(UNEVEN) + 1e-9
    m = np.where(filled, counts, 1.0)
    log, spread = np.log(m / axis.widths), np.stack([1 / m, variance / m**2])
    above = _above(x)
    lower, upper = np.append(False, filled[:-1] & alike), np.append(filled[1:] & alike, False)
    seen = filled & lower & upper
    repeated = _repeated(above, m, log, spread, seen)
    heaped = repeated | _alone(above, x, log, spread, seen, (lower, upper))
    # what the bin has above the geometric mean of its neighbours
    found[heaped] = np.maximum(m * -np.expm1(-(above @ log)), 0.0)[heaped]
    high = repeated & (found > 0)
    # q of B + 2 q rows in bins with two heaps are q of B + q in those with one
    part = float(found[high].sum() / max(counts[high].sum(), 1.0))
    return HiddenHeaps(found, min(part / max(1 - part, 1e-9), 1.0))


def _above(x: Array) -> Array:
    """Return the matrix, shape (K, K), of what a bin has beyond a straight line through the two beside it."""
    K = len(x)
    D, own = np.zeros((K, K)), np.arange(1, K - 1)
    part = (x[2:] - x[1:-1]) / (x[2:] - x[:-2])
    D[own, own], D[own, own - 1], D[own, own + 1] = 1.0, -part, part - 1
    return D


def _outwards(x: Array) -> tuple[Array, Array]:
    """Return the same, from lines through the two bins below and the two above; rows without them are 0."""
    K = len(x)
    lower, upper = np.zeros((2, K, K))
    for r in range(K):
        for matrix, one, two in ((lower, r - 1, r - 2), (upper, r + 1, r + 2)):
            if 0 <= two < K:
                part = (x[r] - x[one]) / (x[one] - x[two])
                matrix[r, r], matrix[r, one], matrix[r, two] = 1.0, -1 - part, part
    return lower, upper


def _alone(
    above: Array,
    x: Array,
    log: Array,
    spread: Array,
    seen: NDArray[np.bool_],
    beside: tuple[NDArray[np.bool_], NDArray[np.bool_]],
) -> NDArray[np.bool_]:
    """Return which bins are clearly beyond both bounds; beside: whether a bin has one below, and above, to look at."""
    # two lines may be the bound that a density bent downwards is below
    chance = ALARM / (2 * max(int(seen.sum()), 1))
    found = _clear(above, log, spread, chance)
    lines = np.zeros(len(x), dtype=np.bool_)
    for at, one, matrix in zip((1, -1), beside, _outwards(x), strict=True):
        there = one & np.roll(one, at) & matrix.any(axis=1)
        lines |= there & _clear(matrix, log, spread, chance)
    return seen & found & lines


def _repeated(above: Array, m: Array, log: Array, spread: Array, seen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which bins are of a class, every so many from one on, that is clearly above the bins beside, together."""
    K = len(log)
    # above the neighbours by more than these are above theirs: 0 for logarithms that are quadratic; as `above` has
    # three diagonals, no product of matrices
    twice = above.copy()
    twice[1:] += np.diagonal(above, -1)[:, None] * above[:-1]
    twice[:-1] += np.diagonal(above, 1)[:, None] * above[1:]
    inner = seen & np.append(False, seen[:-1]) & np.append(seen[1:], False)
    found = np.zeros(K, dtype=np.bool_)
    periods = [P for P in PERIODS if inner.sum() >= 2 * P]
    chance = ALARM / max(sum(periods), 1)
    for P in periods:
        for first in range(P):
            own = inner & (np.arange(K) % P == first)
            if own.sum() > 2:
                # the bin that says most is left out: one sharp peak is not told in multiples
                weight = np.where(own, m, 0.0)
                weight[np.argmax(weight * (twice @ log))] = 0.0
                if _clear((weight / weight.sum() @ twice)[None], log, spread, chance)[0]:
                    found |= seen & (np.arange(K) % P == first)
    return found


def _clear(matrix: Array, log: Array, spread: Array, chance: float) -> NDArray[np.bool_]:
    """Return which linear functions of logarithms are clearly above TOLERATED; matrix: shape (functions, K)."""
    sampling, noise = spread @ (matrix**2).T
    far = -math.log(2 * chance) / math.sqrt(2)  # of Laplace noise, in standard deviations
    limit = np.sqrt(NormalDist().inv_cdf(1 - chance) ** 2 * sampling + far**2 * noise)
    return matrix @ log > TOLERATED + limit

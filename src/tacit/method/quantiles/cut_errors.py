"""What noisy numbers of rows between cuts tell of a distribution function: limits of steps.  Pure array functions.

An edge e_j is compared with a probability p by T = S_j - w S - (p - w) n, S_j the noisy number of rows at or below it
and S the noisy total; n is public, and w its part of the cells, which takes the noise that the total is seen to have
away; or n is unknown, and w = p.  Where F(e_j) = p, T has mean 0, the variance n p (1 - p) of sampling, if it is of a
population, and that of the noise.

An interval reaches from the last edge below which all edges are surely below the quantile, e_1, e_2, ... being tested
in this order until one is not, to the first edge from which on all are surely at or above it, in the reverse order.
Its lower end errs only if the first edge with F >= p is found to be below, one test at (1 - level) / 2; its upper end
only if the last edge with F < p is not.  Nothing is assumed of the rows between two edges, nor of their ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.noise.laws import DiscreteLaplace, Law

Integers = NDArray[np.int64]

DRAWS: Final = 4_000
"""Draws of the joint error of all edges for a band: its level is then within .007 of what is said."""
STEEPEST: Final = 8.0
"""Largest change of the logarithm of the density within a cell."""
SEED: Final = 20_251
"""Of these draws, which are post-processing."""


@dataclass(frozen=True)
class CutCounts:
    """Noisy numbers of rows between edges.

    counts: shape (J + 1,).  rows: the public number of rows, or None.  law: of the noise.  samples: whether the
    distribution is that of a population, of which the rows are a sample.
    """

    counts: Array
    rows: int | None
    law: Law
    samples: bool

    @property
    def size(self) -> float:
        """The number of rows, at least one, public or noisy."""
        return max(1.0, float(self.counts.sum()) if self.rows is None else float(self.rows))

    def part(self, p: Array) -> Array:
        """Return w of edges and probabilities, shape (J, probs)."""
        edges = len(self.counts) - 1
        if self.rows is None:
            return np.broadcast_to(p, (edges, len(p)))
        own = np.arange(1, edges + 1) / (edges + 1)
        return np.broadcast_to(own[:, None], (edges, len(p)))

    def distances(self, p: Array) -> Array:
        """Return T, shape (J, probs)."""
        w, total = self.part(p), float(self.counts.sum())
        return np.cumsum(self.counts)[:-1, None] - w * total - (p - w) * self.size

    def cumulants(self, p: Array) -> tuple[Array, Array, Array]:
        """Return variance, third and fourth cumulant of T where F(e_j) = p, each of shape (J, probs)."""
        w, edges = self.part(p), len(self.counts) - 1
        before = np.arange(1, edges + 1)[:, None]
        after = edges + 1 - before
        n, spread = (self.size if self.samples else 0.0), p * (1 - p)
        noise = float(self.law.variance())
        second = n * spread + noise * ((1 - w) ** 2 * before + w**2 * after)
        third = np.broadcast_to(n * spread * (1 - 2 * p), second.shape)
        tails = excess(self.law) * noise**2 * ((1 - w) ** 4 * before + w**4 * after)
        return second, third, n * spread * (1 - 6 * spread) + tails

    def cdf(self) -> Array:
        """Return the estimated distribution function at the edges, rising within 0 and 1, shape (J,)."""
        edges = len(self.counts) - 1
        sums = np.cumsum(self.counts)
        if self.rows is not None:
            sums = sums - np.arange(1, edges + 2) / (edges + 1) * (sums[-1] - self.rows)
        found = np.clip(sums[:-1] / self.size, 0.0, 1.0)
        # between the least that rises above it, and the largest below it
        above = np.maximum.accumulate(found)
        return (above + np.minimum.accumulate(found[::-1])[::-1]) / 2


def excess(law: Law) -> float:
    """Return the excess kurtosis of a law of noise.

    >>> from fractions import Fraction
    >>> round(excess(DiscreteLaplace(Fraction(50))), 2)
    3.0
    """
    if not isinstance(law, DiscreteLaplace):
        return 0.0
    # the difference of two geometric variables, whose fourth cumulant is q (1 + 4 q + q**2) / (1 - q)**4
    q = float(np.exp(-1 / float(law.scale)))
    return (1 + 4 * q + q * q) / (2 * q)


def quantile(z: float, variance: Array, third: Array, fourth: Array) -> Array:
    """Return the quantile of a law with mean 0 and these cumulants where a normal's is z [Cornish & Fisher 1938].

    >>> one = np.ones(1)
    >>> quantile(1.96, 4 * one, 0 * one, 0 * one).tolist(), quantile(1.96, one, 0 * one, 3 * one).round(2).tolist()
    ([3.92], [2.17])
    """
    deviation = np.sqrt(np.maximum(variance, 1e-12))
    skew, tails = third / deviation**3, fourth / deviation**4
    far = z + (z * z - 1) * skew / 6 + (z**3 - 3 * z) * tails / 24 - (2 * z**3 - 5 * z) * skew**2 / 36
    return deviation * far


def pointwise(found: CutCounts, p: Array, level: float) -> tuple[Integers, Integers]:
    """Return the edges between which each quantile lies at a level, each for itself, as `ends` does."""
    z = NormalDist().inv_cdf(0.5 + level / 2)
    cumulants = found.cumulants(p)
    return ends(found.distances(p), quantile(-z, *cumulants), quantile(z, *cumulants))


def together(found: CutCounts, p: Array, level: float) -> tuple[Integers, Integers]:
    """Return the edges between which all quantiles lie at once, as `ends` does."""
    z = critical(found, p, level)
    deviation = np.sqrt(np.maximum(found.cumulants(p)[0], 1e-12))
    return ends(found.distances(p), -z * deviation, z * deviation)


def ends(distances: Array, low: Array, high: Array) -> tuple[Integers, Integers]:
    """Return the last edge surely below each quantile, -1 for none, and the first surely at it or above, J for none.

    All of shape (J, probs).

    >>> far = np.array([[-9.0], [-5.0], [-1.0], [2.0], [7.0]])
    >>> [one.tolist() for one in ends(far, np.full((5, 1), -2.0), np.full((5, 1), 2.0))]
    [[1], [4]]
    """
    below = np.logical_and.accumulate(distances < low, axis=0).sum(axis=0) - 1
    above = np.logical_and.accumulate((distances > high)[::-1], axis=0).sum(axis=0)
    return below.astype(np.int64), (len(distances) - above).astype(np.int64)


def critical(found: CutCounts, p: Array, level: float) -> float:
    """Return the quantile of the largest absolute standardised error of the edges near the probabilities.

    Simulated at the estimated distribution function: rows by the multinomial law, noise by its own.
    """
    rng, cdf = np.random.default_rng(SEED), found.cdf()
    cells = len(found.counts)
    n = round(found.size)
    noise = found.law.sample(DRAWS * cells, rng).reshape(DRAWS, cells).astype(np.float64)
    if found.samples:
        chances = np.diff(cdf, prepend=0.0, append=1.0)
        noise += rng.multinomial(n, chances / chances.sum(), DRAWS)
    else:
        noise += n * np.diff(cdf, prepend=0.0, append=1.0)
    sums = np.cumsum(noise, axis=1)
    own = np.arange(1, cells) / cells if found.rows is not None else cdf
    errors = sums[:, :-1] - own * sums[:, -1:] - (cdf - own) * n
    before = np.arange(1, cells)
    spread = (n * cdf * (1 - cdf) if found.samples else 0.0) + float(found.law.variance()) * (
        (1 - own) ** 2 * before + own**2 * (cells - before)
    )
    # edges beside the probabilities: no other is tested where they matter
    first = max(0, int((cdf < p.min()).sum()) - 2)
    last = min(cells - 1, int((cdf <= p.max()).sum()) + 2)
    scaled = np.abs(errors[:, first:last]) / np.sqrt(np.maximum(spread[first:last], 1e-12))
    return float(np.quantile(scaled.max(axis=1), level, method="higher"))


def values(found: CutCounts, last: Array, p: Array, G: int) -> Array:
    """Return the step of each quantile; last: the edges' steps.

    Between two edges the logarithm of the density is taken to be a line, as steep as between the cells on either side:
    a cell of a tail, far wider than those before it, has most of its rows near them.

    >>> from tacit.noise.laws import DiscreteLaplace
    >>> from fractions import Fraction
    >>> found = CutCounts(np.array([50.0, 40.0, 10.0]), 100, DiscreteLaplace(Fraction(1)), samples=True)
    >>> values(found, np.array([9.0, 19.0]), np.array([0.25, 0.95]), 99).tolist()
    [4.0, 28.0]
    """
    at = np.concatenate([[-1.0], last, [float(G)]])
    cdf = np.concatenate([[0.0], found.cdf(), [1.0]])
    steep = steepness(np.diff(cdf), np.diff(at), np.sqrt(float(found.law.variance())) / found.size)
    # the first edge at or above the quantile
    j = np.clip(np.searchsorted(cdf, p, "left"), 1, len(at) - 1)
    part = np.clip((p - cdf[j - 1]) / np.maximum(cdf[j] - cdf[j - 1], 1e-300), 0.0, 1.0)
    change = steep[j - 1]
    flat = np.abs(change) < 1e-6
    safe = np.where(flat, 1.0, change)
    inside = np.where(flat, part, np.log1p(part * np.expm1(safe)) / safe)
    return np.clip(np.rint(at[j - 1] + 0.5 + inside * (at[j] - at[j - 1])), at[j - 1] + 1, at[j])


def steepness(shares: Array, widths: Array, noise: float) -> Array:
    """Return by how much the logarithm of the density changes over each cell, shape (cells,).

    shares, widths: of the cells.  noise: standard deviation of a share, below which none is taken to be.
    """
    if len(shares) < 2:
        return np.zeros(len(shares))
    density = np.log(np.maximum(shares, noise) / widths)
    middles = np.cumsum(widths) - widths / 2
    return np.clip(np.gradient(density, middles) * widths, -STEEPEST, STEEPEST)

"""Cuts of a column by halving, and the cells between them: which there are, and how many.  Public arithmetic.

The definition, its symbols and the proof are in `mechanism_cuts`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import ceil, exp, log
from statistics import NormalDist
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.quantiles.many_steps import Halving
from tacit.privacy import Cost, noise_for
from tacit.privacy.bought import range_for

HALF: Final = Fraction(1, 2)
MOST_LEVELS: Final = 10
"""Most times that ranges are halved."""
MOST_CUTS: Final = 400
"""Most cuts: each is a selection in exact arithmetic."""
SHARES: Final = tuple(Fraction(k, 20) for k in range(3, 16, 2))
"""Parts of the price that cuts may have."""
EVEN: Final = (1, 2, 3, 4, 5)
"""Numbers of first levels that may have even weights."""
FAR: Final = 3.0
"""Standard deviations of the distribution function on either side of a probability in which ranges are halved."""
BESIDE: Final = 2
"""Cells that are halved beyond them."""
LIKELY: Final = 0.5
"""Standard deviations beyond its test by which a cut must be expected to be for an interval to be told (`tells`)."""
SURE: Final = 1.0
"""Standard deviations beyond its test from which a plan takes it that a cut ends an interval: a chance of 84%."""
UNEVEN: Final = log(3)
"""Logarithm of the mean squared size of cells, in squared even ones, above which what is expected is not relied on."""


@dataclass(frozen=True)
class CutPlan:
    """How cuts are chosen: the number of levels, how many have even weights, and the cuts' part of the price.

    reach: the number of cells on either side of that of a probability in which ranges are halved.
    widths: the expected widths of the intervals, in ranks.
    """

    levels: int
    even: int
    share: Fraction
    reach: int = 0
    widths: tuple[float, ...] = ()

    @property
    def width(self) -> float:
        """The mean of the widths."""
        return sum(self.widths) / len(self.widths)

    @property
    def weights(self) -> tuple[int, ...]:
        """The weights of the levels."""
        return weights(self.levels, self.even)


def weights(levels: int, even: int) -> tuple[int, ...]:
    """Return the weights of the levels in the price of the cuts: 1 for the first `even` of them, then 2, 3, 5, 8, ...

    A range of level l has n / 2**l rows, so that an error of its cut counts 2**l times as much in the size of its
    cells.  Their squares add up to the least at a given price where the weights grow by 2**(2/3) = 1.59 a level.  But
    an error of the first levels moves all cells of a range away from the probabilities that they are meant for: with
    that counted, too, the weights are (4**l + c)**(1/3), nearly equal for the first levels.

    >>> weights(6, 1), weights(6, 3)
    ((1, 2, 3, 5, 8, 13), (1, 1, 1, 2, 3, 5))
    """
    found = [1] * even
    while len(found) < levels:
        found.append(2 if len(found) == even else 3 if len(found) == even + 1 else found[-1] + found[-2])
    return tuple(found[:levels])


@lru_cache(maxsize=256)
def tree(probs: tuple[Fraction, ...], levels: int, reach: int) -> tuple[Halving, ...]:
    """Return the ranges that are halved, level by level; `at` is the cut in multiples of 2**-levels of the rows.

    low, high: those of the ends of the range, cuts of levels before it or 0 and 2**levels.  A range is halved where it
    holds one of the cells of 2**-levels of the rows that are at most `reach` cells from that of a probability.

    >>> [(one.low, one.at, one.high, one.level) for one in tree((Fraction(1, 10), Fraction(1, 2)), 3, 0)]
    [(0, 4, 8, 0), (0, 2, 4, 1), (4, 6, 8, 1), (0, 1, 2, 2), (4, 5, 6, 2)]
    """
    cells = 1 << levels
    near = np.zeros(cells + 1, dtype=np.int64)
    for p in probs:
        own = int(p * cells)
        near[max(0, own - reach) + 1 : own + reach + 2] = 1
    before = np.cumsum(near)
    made = list[Halving]()
    for level in range(levels):
        size = cells >> level
        made += [
            Halving(low + size // 2, low, low + size, level, HALF)
            for low in range(0, cells, size)
            if before[low + size] > before[low]
        ]
    return tuple(made)


def edges(cuts: Iterable[int], G: int) -> tuple[int, ...]:
    """Return the last step of each cell but the last one; cuts: steps from 0 to G, in any order.

    Two cuts at one step say that many rows are there: the step is then a cell of its own.

    >>> edges([3, 5, 5, 8, 9], 9), edges([0, 0], 9)
    ((3, 4, 5, 8), (0,))
    """
    held = sorted(cuts)
    twice = {one - 1 for one, other in pairwise(held) if one == other}
    return tuple(step for step in sorted({*held, *twice}) if 0 <= step < G)


def rate_for(cost: Cost, w: tuple[int, ...]) -> Fraction:
    """Return the rate r of the selections of cuts, of which level l has the rate r w_l; cost: that of all of them.

    >>> rate_for(Cost.of(epsilon=1), (1, 2, 3)), rate_for(Cost.of(rho=7), (1, 2, 3))
    (Fraction(1, 12), Fraction(1, 1))
    """
    if cost.noise == "laplace":
        assert cost.epsilon is not None
        return cost.epsilon / (2 * sum(w))
    squares = sum(one * one for one in w)
    return min(range_for(cost.share(Fraction(one * one, squares))) / (2 * one) for one in w)


def moved(replaces: bool) -> int:
    """Return M, by which utilities are divided: for halves, of all levels (`mechanism_cuts`, Sensitivity)."""
    return max(Halving(1, 0, 2, level, HALF).most(replaces=replaces) for level in (0, 1))


@lru_cache(maxsize=256)
def plan_of(
    probs: tuple[Fraction, ...], rows: float, cost: Cost, level: float, *, replaces: bool, sized: bool
) -> CutPlan | None:
    """Return the plan of the least expected width of the intervals at `level`; None where none can be relied on.

    rows: the number of rows, public or supposed.  sized: whether it is public.

    >>> made = plan_of(tuple(Fraction(i, 21) for i in range(1, 21)), 10_000, Cost.of(epsilon=1), 0.95,
    ...     replaces=True, sized=True)
    >>> (made.levels, made.share, round(made.width)) if made else None
    (8, Fraction(9, 20), 270)
    """
    best: CutPlan | None = None
    for levels in range(2, MOST_LEVELS + 1):
        for even, share in product(EVEN, SHARES):
            made = _plan(probs, rows, cost, level, CutPlan(levels, even, share), replaces, sized)
            best = made if made is not None and (best is None or made.width < best.width) else best
    return best


def _plan(
    probs: tuple[Fraction, ...],
    rows: float,
    cost: Cost,
    level: float,
    plan: CutPlan,
    replaces: bool,
    sized: bool,
) -> CutPlan | None:
    """Return the plan with its reach and its widths; None where its cells would be too many, or too uneven."""
    each = rows / 2**plan.levels
    rate = rate_for(cost.share(plan.share), plan.weights)
    uneven = unevenness(rows, rate, plan.weights, replaces=replaces)
    if plan.even > plan.levels or each < 2 or uneven > UNEVEN:
        return None
    sensitivity = 2 if replaces else 1
    noise = float(noise_for(sensitivity, sensitivity, cost.share(1 - plan.share)).variance())
    p = np.array([float(one) for one in probs])
    sampling = rows * p * (1 - p)
    # of all cells, so that no range is left whole that a smaller noise would need
    widest = np.sqrt(sampling + noise * 2**plan.levels * p * (1 - p))
    far = float(np.hypot(widest.max(), shift(rate, plan.weights, replaces=replaces)))
    reach = min(2**plan.levels, ceil(FAR * far / each) + BESIDE)
    if len(tree(probs, plan.levels, reach)) > MOST_CUTS:
        return None
    plan = replace(plan, reach=reach)
    return replace(plan, widths=widths_of(probs, rows, rate, noise, level, plan, replaces=replaces, sized=sized))


def widths_of(
    probs: tuple[Fraction, ...],
    rows: float,
    rate: Fraction,
    noise: float,
    level: float,
    plan: CutPlan,
    *,
    replaces: bool,
    sized: bool,
) -> tuple[float, ...]:
    """Return the expected widths of the intervals, in ranks: those of both errors, and of a cell for the cuts.

    rate: r of the cuts.  noise: the variance of a number of rows.
    """
    at, p = places(probs, plan), np.array([float(one) for one in probs])
    before = np.searchsorted(at, p, "right").astype(np.float64) + 1
    z = NormalDist().inv_cdf(0.5 + level / 2)
    uneven = min(UNEVEN, unevenness(rows, rate, plan.weights, replaces=replaces))
    own = rows * p * (1 - p) + noise * share_of_noise(before, len(at) + 1, p, sized=sized)
    widths = np.minimum(2 * z * np.sqrt(own) + rows / 2**plan.levels * exp(uneven), rows)
    told = tells(at, p, rows, rows * p * (1 - p), noise, level, sized=sized)
    return tuple(np.where(told, widths, rows).tolist())


def places(probs: tuple[Fraction, ...], plan: CutPlan) -> Array:
    """Return the parts of the rows at which the cuts are meant to be, rising, shape (cuts,)."""
    return np.sort([one.at for one in tree(probs, plan.levels, plan.reach)]) / 2**plan.levels


def tells(at: Array, p: Array, rows: float, sampling: Array, noise: float, level: float, *, sized: bool) -> Array:
    """Return of each probability whether an interval at `level` would likely have an end within the bounds.

    An end is a cut whose distance from the quantile, in ranks, is surely not 0.  Where the farthest cut is less than
    the test and half a standard deviation away (a chance of 69%), too many answers would be those that noise makes, of
    which the interval holds fewer than at its level: there is none then.
    at: parts of the rows, rising.  sampling: variance of the number of rows below each quantile.  noise: variance of a
    number of rows between two cuts.

    >>> at, p = np.arange(1, 8) / 8, np.array([0.5, 0.9])
    >>> [tells(at, p, n, n * p * (1 - p), 800.0, 0.95, sized=False).tolist() for n in (100, 250, 1_000)]
    [[False, False], [False, True], [True, True]]
    """
    far = np.abs(distances(at, p, rows, sampling, noise, sized=sized))
    return far.max(axis=0) >= NormalDist().inv_cdf(0.5 + level / 2) + LIKELY


def ended(at: Array, p: Array, rows: float, sampling: Array, noise: float, level: float, *, sized: bool) -> Array:
    """Return of each probability whether a cut likely ends the interval below, and above; else the bound may.

    Shape (probs, 2); arguments as of `tells`, with the chance of a side.

    >>> at, p, own = np.arange(1, 8) / 8, np.array([0.5, 0.9]), np.array([100.0, 36.0])
    >>> ended(at, p, 400, own, 100.0, 0.95, sized=False).tolist()
    [[True, True], [True, False]]
    """
    far = distances(at, p, rows, sampling, noise, sized=sized)
    z = NormalDist().inv_cdf(0.5 + level / 2) + SURE
    return np.stack([far.min(axis=0) < -z, far.max(axis=0) > z], axis=1)


def distances(at: Array, p: Array, rows: float, sampling: Array, noise: float, *, sized: bool) -> Array:
    """Return how far cuts are expected to be from quantiles, in standard deviations, shape (cuts, probs)."""
    before = np.arange(1.0, len(at) + 1)[:, None]
    own = sampling + noise * share_of_noise(before, len(at) + 1, np.broadcast_to(p, (1, len(p))), sized=sized)
    return rows * (at[:, None] - p) / np.sqrt(np.maximum(own, 1e-12))


def unevenness(rows: float, rate: Fraction, w: tuple[int, ...], *, replaces: bool) -> float:
    """Return the logarithm of the mean squared size of cells, in squared even ones.

    The two parts of a range of level l have 1/2 + d and 1/2 - d of its rows, d of variance 2 (s 2**l / rows)**2, s the
    scale of its selection in ranks: a Laplace error.  Their mean square is 1 + 4 d**2 times that of halves.
    """
    far = 0.0
    for level, weight in enumerate(w):
        scale = moved(replaces) / (2 * float(rate) * weight)
        far += 8 * (scale * 2**level / rows) ** 2
    return far


def shift(rate: Fraction, w: tuple[int, ...], *, replaces: bool) -> float:
    """Return how far, in ranks, cells are from where they are meant to be: a standard deviation.

    A cut's Laplace error, of variance 2 s**2, moves the cells of its range in proportion to how near they are to it:
    the square of that part is between 0 and 1, and taken to be 1/2.
    """
    scales = (moved(replaces) / (2 * float(rate) * weight) for weight in w)
    return sum(scale**2 for scale in scales) ** 0.5


def share_of_noise(before: Array, cells: int, p: Array, *, sized: bool) -> Array:
    """Return the variance of the noise of cumulative counts, in variances of a count's.

    before: the number of cells up to the edge.  p: the probability that the edge is compared with.  Where the number of
    rows is public, what noise the total is seen to have is taken away in proportion to the cells; else counts are
    compared with p times the noisy total.
    """
    part = before / cells if sized else p
    return (1 - part) ** 2 * before + part**2 * (cells - before)

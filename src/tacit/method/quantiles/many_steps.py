"""Many quantiles by halving: which is selected in which range, at what rate, and how far off.  Public arithmetic.

The definition, its symbols and the proof are in `mechanism_many`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.privacy import Cost

NEARER: Final = 0.6
"""Part of the equal split's expected error below which halving is used: among heaps of equal rows, which expectations
do not know, an equal split that is nearly as good is the better, as steps outside a heap are much less likely."""


@dataclass(frozen=True)
class Halving:
    """One selection: of quantile `at` between the quantiles `low` and `high`, which were selected before it.

    low, high: -1 and the number of quantiles stand for the ends of the grid.  level: 0 for the first selection.
    share: the part of the range's rows that is to be below the quantile.
    """

    at: int
    low: int
    high: int
    level: int
    share: Fraction

    def most(self, *, replaces: bool) -> int:
        """Return the change of utility that costs the price of a level.

        Where a row is replaced, twice the change by a row that leaves its range, as it may enter another of the level.

        >>> one = Halving(0, -1, 2, 1, Fraction(1, 4))
        >>> one.most(replaces=True), one.most(replaces=False)
        (6, 3)
        """
        a, b = self.share.numerator, self.share.denominator
        leaving = max(a, b - a)
        if not replaces:
            return leaving
        # all rows are in the only range of the first level, from which none can move to another
        return b if self.level == 0 else max(b, 2 * leaving)

    def scale(self, rate: Fraction, *, replaces: bool) -> float:
        """Return how many rows change the probability of a selected step by a factor e."""
        return float(self.most(replaces=replaces) / (self.share.denominator * rate))


def levels(quantiles: int) -> int:
    """Return the number of levels: each halves the quantiles that are left between two selected ones.

    >>> [levels(m) for m in (1, 2, 3, 4, 7, 20)]
    [1, 2, 2, 3, 3, 5]
    """
    return quantiles.bit_length()


@lru_cache(maxsize=256)
def halvings(probs: tuple[Fraction, ...]) -> tuple[Halving, ...]:
    """Return the selections of quantiles at rising `probs`, level by level.

    >>> [(one.at, one.level, str(one.share)) for one in halvings((Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)))]
    [(1, 0, '1/2'), (0, 1, '1/2'), (2, 1, '1/2')]
    """
    edges = (*probs, Fraction(1), Fraction(0))  # at len(probs), and at -1
    made, waiting = list[Halving](), [(-1, len(probs), 0)]
    for low, high, level in waiting:  # grows as it is read
        if high - low < 2:
            continue
        at = (low + high) // 2
        made.append(Halving(at, low, high, level, (edges[at] - edges[low]) / (edges[high] - edges[low])))
        waiting += [(low, at, level + 1), (at, high, level + 1)]
    return tuple(made)


def rate_for(cost: Cost, quantiles: int) -> Fraction:
    """Return the rate of selections whose utilities are divided by `most`: each level has an equal part of the price.

    cost: a pure price.

    >>> rate_for(Cost.of(epsilon=1), 20)
    Fraction(1, 10)
    """
    assert cost.epsilon is not None
    return cost.epsilon / (2 * levels(quantiles))


def rank_errors(probs: Sequence[Fraction], rate: Fraction, *, replaces: bool) -> Array:
    """Return the standard deviation, in ranks, of each quantile's error of selection, shape (probs,).

    Where rows are close together a selection errs by about a Laplace variable of its scale.  A range whose ends are off
    by e and f rows has its quantile off by (1 - share) e + share f, and by the error of its own selection.

    >>> rank_errors([Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)], Fraction(1, 2), replaces=True).round(2).tolist()
    [3.16, 2.83, 3.16]
    """
    m = len(probs)
    # row i: the weights of the selections' own errors in the error of quantile i; the grid's ends have none
    weights = np.zeros((m + 2, m))
    own = np.zeros(m)
    for one in halvings(tuple(probs)):
        w = float(one.share)
        weights[one.at] = (1 - w) * weights[one.low] + w * weights[one.high]
        weights[one.at, one.at] = 1.0
        own[one.at] = 2 * one.scale(rate, replaces=replaces) ** 2
    return np.sqrt(weights[:m] ** 2 @ own)


def is_nearer(probs: Sequence[Fraction], cost: Cost, *, replaces: bool) -> bool:
    """Return whether quantiles by halving have much smaller rank errors, on average, than each at an equal part.

    Much: by the part NEARER.  cost: a pure price.

    >>> twenty = [Fraction(i, 21) for i in range(1, 21)]
    >>> is_nearer(twenty, Cost.of(epsilon=1), replaces=True), is_nearer(twenty[:2], Cost.of(epsilon=1), replaces=True)
    (True, False)
    """
    halved = rank_errors(probs, rate_for(cost, len(probs)), replaces=replaces)
    assert cost.epsilon is not None
    rate = cost.epsilon / (2 * len(probs))
    # the first selection of a quantile alone is of all rows
    alone = [Halving(0, -1, 1, 0, p).scale(rate, replaces=replaces) * sqrt(2) for p in probs]
    return float(np.mean(halved)) < NEARER * float(np.mean(alone))

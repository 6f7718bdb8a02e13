"""Errors of combinations on either side: each term reaches as far as its own interval does.

An interval of one term may be asymmetric (a share near 0, a mean near a bound, a count), or account for more than its
standard error does (the decision to answer).  A combination then has on either side the law of its terms' errors, each
stretched such that its quantile is the distance to the term's own limit there: for normal errors the square root of the
sum of squared distances.  Terms with symmetric intervals keep the exact law of their total error.  Limits of shares are
taken without what their own intervals allow for counting in whole rows (`interval_inversion.of_sums`).

A limit that is a bound of the parameter says nothing of how far the error reaches: there the law stays as it is.  Such
a term lies within its bound for certain, so that a second limit is the bounds of these terms and the errors of the
others alone; the nearer of the two counts.
Source: [Zou & Donner 2008], [Newcombe 1998] for differences of shares; theory §1.5 for the laws.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.terms import ColumnTerms
from tacit.estimates.total_errors import error_laws as laws

USUAL: Final = 0.95
"""Level of the intervals that p-values go with: p < .05 just where the 95% interval leaves out the hypothesis."""
FARTHER: Final = 0.1
"""A limit that stays where it is when the interval may miss so many times as rarely is a bound."""


@dataclass(frozen=True)
class ReachOfTerms:
    """How far the terms' intervals reach on one side.

    stretch: distance of the limit from the estimate over the quantile of the law of the total error, shape (terms,); 1
    where the limit is a bound, and infinite where there is none.  bound: distance of the bound that is the limit, else
    infinite, shape (terms,).
    """

    stretch: Array
    bound: Array

    def of(self, chosen: NDArray[np.bool_]) -> ReachOfTerms:
        """Return the reach of some of the terms."""
        return ReachOfTerms(self.stretch[chosen], self.bound[chosen])


@dataclass(frozen=True)
class SidedErrors:
    """Errors of c combinations of t terms towards one of their limits.

    whole: weights of the errors, shape (c, t).  rest: those of terms that are not at a bound.  bounds: sum of the
    distances of the bounds of the others, shape (c,).
    """

    whole: Array
    rest: Array
    bounds: Array

    def ways(self, i: int) -> Iterator[tuple[float, Array]]:
        """Yield what is known for certain of combination i and the weights of the other errors: one way or two."""
        yield 0.0, self.whole[i]
        # without a term at a bound the second would be the first
        if (self.rest[i] != self.whole[i]).any() or self.bounds[i]:
            yield float(self.bounds[i]), self.rest[i]


def sides(matrix: Array, below: ReachOfTerms, above: ReachOfTerms) -> tuple[SidedErrors, SidedErrors]:
    """Return the errors of combinations, weights of shape (c, t), towards their lower and their upper limits."""
    return _side(matrix, below, above), _side(matrix, above, below)


def _side(matrix: Array, plus: ReachOfTerms, minus: ReachOfTerms) -> SidedErrors:
    """Return the errors where positive weights reach as `plus` and negative ones as `minus`."""
    up, used = matrix > 0, matrix != 0
    stretch, bound = np.where(up, plus.stretch, minus.stretch), np.where(up, plus.bound, minus.bound)
    whole = np.multiply(matrix, stretch, out=np.zeros_like(matrix), where=used)
    at = used & np.isfinite(bound)
    ends = np.multiply(np.abs(matrix), bound, out=np.zeros_like(matrix), where=at)
    return SidedErrors(whole, np.where(at, 0.0, whole), ends.sum(axis=1))


def reaches(
    blocks: tuple[ColumnTerms, ...], used: NDArray[np.bool_], level: float
) -> tuple[ReachOfTerms, ReachOfTerms]:
    """Return how far all terms reach below and above at one level; `used`: for which it matters, shape (terms,)."""
    lower, upper = zip(*_of_columns(blocks, used, level), strict=True)
    return _joined(lower), _joined(upper)


def _joined(parts: tuple[ReachOfTerms, ...]) -> ReachOfTerms:
    """Return the reach of all columns' terms one after the other."""
    return ReachOfTerms(np.concatenate([one.stretch for one in parts]), np.concatenate([one.bound for one in parts]))


def _of_columns(
    blocks: tuple[ColumnTerms, ...], used: NDArray[np.bool_], level: float
) -> Iterator[tuple[ReachOfTerms, ReachOfTerms]]:
    at = 0
    for block in blocks:
        m = len(block.value)
        # parameters of one fit are correlated, and what one of them may be depends on the others
        if block.joint is None and used[at : at + m].any():
            yield _of_column(block, level)
        else:
            lawful = ReachOfTerms(np.ones(m), np.full(m, np.inf))
            yield lawful, lawful
        at += m


def _of_column(block: ColumnTerms, level: float) -> tuple[ReachOfTerms, ReachOfTerms]:
    """Return how far the terms of one column reach, below and above."""
    s, b = laws.split(block.law, block.loadings)
    half = laws.halfwidth(level, np.sqrt(block.sampling_variance + s**2), b)
    near, far = (block.summed.limits(one) for one in (level, 1 - FARTHER * (1 - level)))
    below, above = block.value - near[0], near[1] - block.value
    return _reach(below, half, near[0] == far[0]), _reach(above, half, near[1] == far[1])


def _reach(distance: Array, half: Array, still: NDArray[np.bool_]) -> ReachOfTerms:
    """Return the reach of limits at a distance; still: where a higher level leaves them as they are."""
    bound = still & (half > 0) & np.isfinite(distance)
    made = np.divide(distance, half, out=np.ones_like(half), where=(half > 0) & ~bound)
    away = np.maximum(distance, 0.0)
    return ReachOfTerms(np.where(np.isinf(distance), np.inf, np.maximum(made, 0.0)), np.where(bound, away, np.inf))

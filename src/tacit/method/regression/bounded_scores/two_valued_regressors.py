"""Regressors of which one has two values: yes or no, a level or not, in known shares.  No data here.

Normal regressors of the released moments are no guess for rows of a level that few have, and where events are much
rarer, or much more frequent, than elsewhere: with a tenth of the rows in the level and 10% of events elsewhere, 0.4%
there, the curvature in the level's direction is an eighth of theirs, and a step from theirs far too short.  That a
column has two values is public, and its mean is released; given which of them a row has, the others are taken for
normal, of one covariance: a mixture of two normal laws that has the released moments.

A column splits rows in two.  Of several, each makes a mixture, and the guess is their average, weighted by the square
of skewness times correlation with the predictor, which is what a curvature of normal regressors is off by, to first
order (`guessed_curvature`).  What those of the other columns come to is added to the error of the guess.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.bounded_scores.normal_regressors import Regressors

LEAST_SHARE: Final = 0.002
"""Least share of the rows that one of two values is taken to have."""
LEAST_VARIANCE: Final = 1e-9
LEAST_PULL: Final = 1e-3
"""What is added to squares of skewness times correlation, so that columns of even halves have weights, too."""


@dataclass(frozen=True)
class Halves:
    """Parts of the rows whose regressors are taken for normal, weighted, and what of the skewness is left out."""

    parts: tuple[Regressors, ...]
    left: float = 0.0
    """Root of the mean sum of squares, over other columns, of skewness times correlation with the predictor."""

    def sums(self, b: Array, weights: Sequence[Array]) -> Array:
        """Return the sum over rows of a weight times x x', shape (u, u); weights: of each part at its nodes."""
        return np.sum([one.weighted_products(b, w) for one, w in zip(self.parts, weights, strict=True)], axis=0)

    def along(self, b: Array, step: Array, f: Callable[[Array, Array], tuple[Array, Array]]) -> tuple[Array, Array]:
        """Return two sums over rows of f(eta, eta after the step) x x'; f gives two weights of predictors."""
        sums = np.zeros((2, len(b), len(b)))
        for one in self.parts:
            eta = one.predictor_values(b)
            for total, weight in zip(sums, f(eta, eta + one.mean_change(b, step)), strict=True):
                total += one.weighted_products(b, weight)
        return sums[0], sums[1]


def halves(found: Regressors, b: Array) -> Halves:
    """Return the rows in two parts for each column of two values, weighted by how much it matters at b.

    >>> from tacit.method.regression.bounded_scores.normal_regressors import TwoValued
    >>> known = TwoValued(np.array([[0.0, 1.0]]), np.array([[0.0, 1.0]]))
    >>> mean, cov, constant = np.array([1.0, 0.1]), np.diag([0.0, 0.09]), np.array([1.0, 0.0])
    >>> made = halves(Regressors(100.0, mean, cov, constant, 0.5, two_valued=known), np.array([0.0, 1.0]))
    >>> [round(part.rows) for part in made.parts], [part.mean.round(2).tolist() for part in made.parts]
    ([90, 10], [[1.0, 0.0], [1.0, 1.0]])
    """
    sd, known = max(found.predictor_sd(b), 1e-9), found.two_valued
    if known is None:
        return Halves((found,))
    low, high = known.ends.T
    share = np.clip((known.along @ found.mean - low) / (high - low), LEAST_SHARE, 1 - LEAST_SHARE)
    with_x = known.along @ found.cov
    sds = np.sqrt(np.maximum((with_x * known.along).sum(axis=1), LEAST_VARIANCE))
    skewness = (1 - 2 * share) / np.sqrt(share * (1 - share))
    pulls = (skewness * (with_x @ b) / sds / sd) ** 2
    # a sum over columns, smooth in b, so that noise does not move it from one column to another
    weights = (pulls + LEAST_PULL) / (pulls + LEAST_PULL).sum()
    parts = list[Regressors]()
    for weight, p, moved in zip(weights, share, with_x / sds[:, None], strict=True):
        # rows with the column's lower and higher value: their means are as far apart as makes its variance 1
        cov = found.cov - np.outer(moved, moved)
        for part, at in ((1 - p, -math.sqrt(p / (1 - p))), (p, math.sqrt((1 - p) / p))):
            parts.append(replace(found, rows=found.rows * weight * part, mean=found.mean + at * moved, cov=cov))
    return Halves(tuple(parts), math.sqrt(float(weights @ (pulls.sum() - pulls))))

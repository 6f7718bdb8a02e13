"""What noise does to the covariance of coefficients, for joint tests.  Post-processing, at no further cost.

Coefficients are b1 = b0 + A^-1 g with A as it was released, noise and all: given A, the sums of scores and their noise
are multiplied by the very matrix that the covariance T = A^-1 (M + N) A^-1 has at its sides.  So T is wrong only where
M is, the products of squared residuals, shrunk towards s2 A (`sampling_variance`); N, the noise in g, is public.  The
noises of M are those of two sets of released integers, whose laws are known, and that of s2.  They add to T

    of the released M:      `kept` times A^-1 P A^-1, P the noise's pattern;
    of A in s2 A:           1 - kept times s2 A^-1 P A^-1;
    of s2:                  what it takes from A^-1, the plain covariance over s2.

Of persons, and of other models than the linear one, M is a noisy sum of products of scores that is shrunk towards a
bound or a guess, in one part for all entries (`NoisySquares`): of weight w, its noises add w A^-1 P A^-1, and those of
the bound 1 - w times what they add to that; where w follows from M's own noise, as for persons, that moves it, too.
Of other models A is the curvature.  Given that, noise and all, the rest of the covariance is known as well, or an
allowance, which follows from the step, and so from the noise in the curvature: of binary responses, where it can be
large, that counts as in single standard errors (`ScoreStep.moves_of`).

Single standard errors are widened for the same noises (`widening`); tests of several coefficients have
`NoisyCovariance`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.total_errors.noisy_covariance import NoisyCovariance
from tacit.method.regression.estimate_coefficients.sampling_variance import (
    CoefficientSampling,
    ErrorVariance,
    calm_excess,
)
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix

if TYPE_CHECKING:
    from tacit.method.regression.estimate_coefficients.linear_step import LinearStep

LEAST_CALM: Final = 0.1
"""Smallest eigenvalue of calm squares, relative to their bound times its mean share."""


@dataclass(frozen=True)
class NoisySquares:
    """Sums of products of scores, shape (u, u), with the law of their noise.

    moves: what each of e noises of variance 1 adds, shape (e, u, u).  calm: an estimate with hardly any noise.
    """

    matrix: Array
    moves: Array
    calm: Array

    def covariance(self, inverse: Array, total: Array, factor: float = 1.0) -> NoisyCovariance:
        """Return the law of the noise in `total`, which has factor times inverse @ matrix @ inverse' in it."""
        moves = factor * (inverse @ self.moves @ inverse.T)
        return NoisyCovariance(total, moves, total + factor * (inverse @ (self.calm - self.matrix) @ inverse.T))


def noisy_squares(
    matrix: Array, weight: float, meat: NoisyMatrix, bound: Array, of_bound: Array, of_weight: Array | float = 0.0
) -> NoisySquares:
    """Return sums that went 1 - weight of the way from `meat` to `bound`, with the law of their noise.

    matrix: those sums, shape (u, u).  of_bound: what noises of variance 1 add to the bound, shape (e, u, u).
    of_weight: what those of `meat` add to the weight, one for each.

    >>> one = NoisyMatrix(np.eye(2) * 60, np.eye(2)[None], np.array([100.0]))
    >>> made = noisy_squares(np.eye(2) * 80, 0.5, one, np.eye(2) * 100, np.eye(2)[None] * 4)
    >>> made.moves[:, 0, 0].tolist(), made.calm.round(9).tolist()
    ([5.0, 2.0], [[80.0, 0.0], [0.0, 80.0]])
    """
    own = weight * meat.patterns * np.sqrt(meat.variances)[:, None, None]
    turned = (np.zeros(len(own)) + of_weight)[:, None, None] * (meat.values - bound)
    moves = np.concatenate([own + turned, (1 - weight) * of_bound])
    # the mean share of the bound has less noise than any direction's
    even = bound * max(float(np.trace(np.linalg.solve(bound, matrix))) / len(bound), LEAST_CALM)
    calm = even + calm_excess(matrix - even, moves, even)
    root = np.linalg.cholesky(even)
    back = np.linalg.inv(root)
    low, sides = np.linalg.eigh(back @ calm @ back.T)
    held = root @ sides
    return NoisySquares(matrix, moves, np.asarray((held * np.maximum(low, LEAST_CALM)) @ held.T))


def noisy_covariance(
    step: LinearStep, errors: ErrorVariance, found: CoefficientSampling, total: Array
) -> NoisyCovariance:
    """Return the covariance of the coefficients with the law of its noise, in units of the step.

    total: with noise and what is allowed for clipping, shape (u, u).
    """
    u, inverse = step.u, step.inverse
    patterns = step.products.patterns[:, :u, :u] * np.sqrt(step.products.variances)[:, None, None]
    of_a = errors.value * (inverse @ patterns @ inverse)
    of_s2 = math.sqrt(errors.noise) * inverse[None]
    plain = np.concatenate([of_a, of_s2])
    longer = 1 / step.kept**2
    moves = longer * np.concatenate([found.moves, (1 - found.kept) * plain])
    return NoisyCovariance(total, moves, total + longer * (found.calm - found.covariance))

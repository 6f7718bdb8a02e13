"""What noise does to the covariance of linear coefficients, for joint tests.  Post-processing, at no further cost.

Coefficients are b1 = b0 + A^-1 g with A as it was released, noise and all: given A, the sums of scores and their noise
are multiplied by the very matrix that the covariance T = A^-1 (M + N) A^-1 has at its sides.  So T is wrong only where
M is, the products of squared residuals, shrunk towards s2 A (`estimate_variance`); N, the noise in g, is public.  The
noises of M are those of two sets of released integers, whose laws are known, and that of s2.  They add to T

    of the released M:      `kept` times A^-1 P A^-1, P the noise's pattern;
    of A in s2 A:           1 - kept times s2 A^-1 P A^-1;
    of s2:                  what it takes from A^-1, the plain covariance over s2.

Single standard errors are widened for the same noises (`widening`); tests of several coefficients have
`NoisyCovariance`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.noisy_covariance import NoisyCovariance
from tacit.method.regression.estimate_variance import CoefficientSampling, ErrorVariance

if TYPE_CHECKING:
    from tacit.method.regression.estimate_linear import LinearStep


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

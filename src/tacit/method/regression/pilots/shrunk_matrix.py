"""An average of a noisy matrix and a guess of it, weighted by their errors.  No data here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.bounded_scores.links import Link
from tacit.method.regression.bounded_scores.normal_regressors import Regressors
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix

GUESS_ERROR: Final = 0.15
"""Assumed relative error of squared scores that are guessed from released weights."""
GUESS_ERROR_OF_COUNTS: Final = 0.4
"""Assumed relative error of a curvature of counts computed for normal regressors; the curvature is released itself."""
MIN_RATIO: Final = 0.2
"""Smallest eigenvalue of a shrunk matrix relative to its guess."""


@dataclass(frozen=True)
class ShrunkMatrix:
    """An average of a noisy matrix and a guess, weighted by the inverse of their squared errors.

    matrix: shape (u, u).  weight: of the noisy matrix.  relative_noise: root mean square of the noise relative to the
    guess, in the worst direction.  transform: shape (u, u); an error E of the noisy matrix adds weight * transform E
    transform' to the matrix.  guess: shape (u, u).  guess_error: of the guess and relative to it, by its own, without
    noise in what it is computed from.
    """

    matrix: Array
    weight: float
    relative_noise: float
    transform: Array
    guess: Array
    guess_error: float = GUESS_ERROR

    def transform_of(self, other: Array) -> Array:
        """Return what makes an error of a matrix that the guess is proportional to, but for its scale, one of it."""
        return root_of(self.guess, 0.5) @ root_of(other, -0.5)


def shrunk(noisy: NoisyMatrix, guess: Array, wanted: Array, guess_error: float = GUESS_ERROR) -> ShrunkMatrix:
    """Return a positive definite matrix that stands to `wanted` as the noisy matrix stands to `guess`, after shrinkage.

    guess_error: relative error of the guess.
    """
    # between guess^-1/2 on both sides the guess is the identity, so noise and floor are relative to it
    back, root = root_of(wanted, 0.5), root_of(guess, -0.5)
    one = np.eye(len(guess))
    noise = NoisyMatrix(noisy.values, root @ noisy.patterns @ root, noisy.variances).noise_quadratic(one)
    loose = math.sqrt(max(float(np.linalg.eigvalsh(noise)[-1]), 0.0))
    # inverse squared errors of guess and noisy matrix
    weight = guess_error**2 / (guess_error**2 + loose**2)
    low, sides = np.linalg.eigh(one + weight * (root @ noisy.values @ root - one))
    inner = (sides * np.maximum(low, MIN_RATIO)) @ sides.T
    return ShrunkMatrix(back @ inner @ back, weight, loose, back @ root, wanted)


def root_of(matrix: Array, power: float) -> Array:
    """Return a power of a symmetric matrix whose eigenvalues are first raised to a small positive floor."""
    values, vectors = np.linalg.eigh(matrix)
    values = np.maximum(values, 1e-9 * max(float(values[-1]), 1e-9))
    return np.asarray((vectors * values**power) @ vectors.T)


def guess_error(link: Link, found: Regressors) -> float:
    """Return the relative error of squared scores guessed with the moments of the regressors, the noise in these
    included.
    """
    return GUESS_ERROR_OF_COUNTS if link.weighed else math.hypot(GUESS_ERROR, min(found.relative_noise, 1.0))

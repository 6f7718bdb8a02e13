"""Sandwich covariances with a part for the noise (theory §7), from the influence of each cell's count.

With counts n_r, noises z_r, corrected scores g~_r of cells r and B the weighted Hessian, the error of the estimate is
- B^{-1} sum_r (n_r + z_r) g~_r at the true parameter: counts contribute the sampling part, noises the privacy part.
B is not divided by the number of rows, which cancels, so that add-remove needs none.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellCounts
from tacit.fits.solvers.problem import Problem

LOOSEST: Final = 0.15
"""Largest relative noise in the Hessian under which the sandwich covers (theory §7: relA)."""


def inverted(hessian: Array) -> Array:
    """Return the inverse of a Hessian, shape (p, p), in units of its diagonal: regressors' sizes would cost digits."""
    scale = np.sqrt(np.abs(np.diag(hessian)))
    return np.linalg.inv(hessian / np.outer(scale, scale)) / np.outer(scale, scale)


def parts(cells: CellCounts, influence: Array) -> tuple[Array, Array]:
    """Return sampling and privacy covariances of sum over cells of count times influence, shape (p, p) each.

    The sampling part takes the mean influence as 0, as it is for scores at a solution.  Negative eigenvalues, which
    signed counts can cause, are set to 0.
    """
    counts = cells.counts.reshape(-1)
    # weighted by counts, scores add up to 0 at the solution: multinomial and Poisson variances agree
    sampling = (influence.T * counts) @ influence
    total = influence.sum(axis=0)
    # noise covariance variance * 1 - shared * ones (`CellCounts.project`), taken through the influences
    privacy = cells.variance * influence.T @ influence - cells.shared * np.outer(total, total)
    return floored(sampling), floored(privacy)


def floored(matrix: Array) -> Array:
    """Return the symmetric matrix, shape (p, p), with negative eigenvalues of its scaled form set to 0."""
    scale = np.sqrt(np.maximum(np.abs(np.diag(matrix)), 1e-300))
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2 / np.outer(scale, scale))
    if values[0] >= 0:
        return (matrix + matrix.T) / 2
    return (vectors * np.maximum(values, 0.0)) @ vectors.T * np.outer(scale, scale)


def relative_hessian_noise(problem: Problem, theta: Array, hessian: Array, variance: float, per_cell: int) -> float:
    """Return the relative noise in the Hessian B (relA in theory §7), the largest over directions.

    It is the root of the largest eigenvalue of E (R'NR)**2, where R'BR is the identity and N the noise in B.
    """
    if variance == 0:
        return 0.0
    scale = 1 / np.sqrt(np.abs(np.diag(hessian)))
    values, vectors = np.linalg.eigh(hessian * np.outer(scale, scale))
    # an indefinite Hessian has no root R
    if values[0] <= 0:
        return float("inf")
    # R' B R = 1; scaling first keeps the eigenvalues apart from the units of the regressors
    root = scale[:, None] * ((vectors / np.sqrt(values)) @ vectors.T)
    square = problem.curvature_noise(theta, root)
    # a cell's noise is divided among its points, whose Hessians are alike: the sum over cells of (R' H_cell R)**2 is
    # about the sum over points divided by the points of a cell
    return float(np.sqrt(variance / per_cell * np.linalg.eigvalsh((square + square.T) / 2)[-1]))

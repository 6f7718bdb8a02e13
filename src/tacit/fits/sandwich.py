"""Sandwich covariances with the noise's part (theory §7), from what each cell's count does to the estimate.

theta^ - theta* = - B^{-1} sum_r (n_r + z_r - ...) g~_r, B the weighted Hessian: counts contribute the sampling part,
noises the privacy part.  Written with B instead of B / n, the number of rows cancels: add-remove needs none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.cell_arrays import CellCounts
from tacit.fits.problem import Problem

LOOSEST: Final = 0.15
"""Largest relative noise in the Hessian under which the sandwich covers (theory §7: relA)."""


@dataclass(frozen=True)
class Sandwich:
    """Covariances of an estimate, shape (p, p), and what made them.

    influence: shape (cells, p), what one more row in a cell does to the estimate.
    """

    sampling: Array
    privacy: Array
    influence: Array


def sandwich(cells: CellCounts, gathered: Array, hessian: Array) -> Sandwich:
    """From the corrected scores of the cells, shape (cells, p), and the weighted Hessian, shape (p, p)."""
    scale = np.sqrt(np.abs(np.diag(hessian)))
    inverse = np.linalg.inv(hessian / np.outer(scale, scale)) / np.outer(scale, scale)
    influence = -gathered @ inverse
    sampling, privacy = parts(cells, influence)
    return Sandwich(sampling, privacy, influence)


def parts(cells: CellCounts, influence: Array) -> tuple[Array, Array]:
    """Sampling and privacy covariances of sums over cells of count times influence, shape (p, p) each.

    Sampling: of influences whose mean is 0.  Eigenvalues are floored at 0: signed counts can make them negative.
    """
    counts = cells.counts.reshape(-1)
    sampling = (influence.T * counts) @ influence
    total = influence.sum(axis=0)
    privacy = cells.variance * influence.T @ influence - cells.shared * np.outer(total, total)
    return floored(sampling), floored(privacy)


def floored(matrix: Array) -> Array:
    """The matrix with its scaled eigenvalues floored at 0, shape (p, p)."""
    scale = np.sqrt(np.maximum(np.abs(np.diag(matrix)), 1e-300))
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2 / np.outer(scale, scale))
    if values[0] >= 0:
        return (matrix + matrix.T) / 2
    return (vectors * np.maximum(values, 0.0)) @ vectors.T * np.outer(scale, scale)


def looseness(problem: Problem, theta: Array, hessian: Array, variance: float, per_cell: int) -> float:
    """How much the noise moves the Hessian, relative to it (theory's relA): the largest deviation over directions.

    The root of the largest eigenvalue of E (R'NR)**2, where R'BR = 1 and N is the noise in B.
    """
    if variance == 0:
        return 0.0
    scale = 1 / np.sqrt(np.abs(np.diag(hessian)))
    values, vectors = np.linalg.eigh(hessian * np.outer(scale, scale))
    if values[0] <= 0:
        return float("inf")
    # R' B R = 1; scaling first keeps the eigenvalues apart from the units of the regressors
    root = scale[:, None] * ((vectors / np.sqrt(values)) @ vectors.T)
    square = problem.curvature_noise(theta, root)
    return float(np.sqrt(variance / per_cell * np.linalg.eigvalsh((square + square.T) / 2)[-1]))

"""Covariances of sums over noisy cells, against simulated counts and noise.  All is seeded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.solvers.sandwich import inverted, parts

P = np.array([0.1, 0.3, 0.4, 0.2])
AXES = (CellAxis("g", "levels", labels=("a", "b", "c", "d")),)


def agrees(drawn: Any, truth: Any) -> None:
    """Products of deviations have the means stated: 5 standard errors, beyond with probability 6e-7 each."""
    each = drawn[:, :, None] * drawn[:, None, :]
    error = each.std(axis=0, ddof=1) / np.sqrt(len(each))
    assert (np.abs(each.mean(axis=0) - truth) < 5 * error).all(), (each.mean(axis=0), truth, error)


@pytest.mark.parametrize("projected", [False, True])
def test_noise_of_plain_and_of_projected_counts(projected: bool) -> None:
    """40,000 normal noises; projection takes the part that all cells have in common."""
    z = 7 * np.random.default_rng(1).standard_normal((40_000, 4))
    cells = CellCounts(AXES, 500 * P, variance=49.0, total=500.0)
    if projected:
        cells, z = cells.project(), z - z.mean(axis=1, keepdims=True)
    influence = np.array([[1.0, 0.2], [0.5, -0.4], [-0.3, 0.6], [0.8, 1.0]])
    agrees(z @ influence, parts(cells, influence)[1])


def test_sampling_covariance_of_influences_with_mean_0() -> None:
    influence = np.array([[1.0, 0.2], [0.5, -0.4], [-0.3, 0.6], [0.8, 1.0]])
    influence = influence - P @ influence
    drawn = np.random.default_rng(2).multinomial(500, P, 40_000) @ influence
    agrees(drawn, parts(CellCounts(AXES, 500 * P, variance=0.0), influence)[0])


def test_influences_are_scores_through_the_hessian() -> None:
    """Of a curvature that is not symmetric in its scales: what one more row in a cell does to two coefficients."""
    hessian = np.array([[200.0, 3.0], [3.0, 0.5]])
    scores = np.array([[1.0, 0.1], [-2.0, 0.0], [0.5, -0.3], [0.0, 0.2]])
    influence = -scores @ inverted(hessian)
    assert influence == pytest.approx(-scores @ np.linalg.inv(hessian))
    privacy = parts(CellCounts(AXES, 500 * P, variance=9.0), influence)[1]
    assert privacy == pytest.approx(9 * influence.T @ influence)

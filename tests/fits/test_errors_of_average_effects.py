"""Errors of average marginal effects, against differences of the effects themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cell_draws import levels

from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.effects import marginal_effects
from tacit.fits.regression_fits import fit_cells

STEP = 1e-2


def test_noise_of_effects_is_what_a_row_in_each_cell_does_to_them() -> None:
    """One more row in a cell moves coefficients and the rows that are averaged over: both are in the error.

    Covariances of noise are its variance times products of these slopes, of sampling the counts times them.
    """
    axes = (CellAxis("x", "continuous", np.linspace(0.0, 1.0, 4)), levels("s", "a", "b"), levels("z", "no", "yes"))
    counts = np.random.default_rng(5).integers(30, 90, (3, 2, 2)) + np.array([[[0.0, 9.0], [60.0, 0.0]]] * 3)
    cells = CellCounts(axes, counts, 25.0)
    made = marginal_effects(fit_cells(cells, "z ~ s + x", "logistic", "midpoint"))
    slopes = []
    for h in STEP * np.eye(12):
        high, low = (
            marginal_effects(
                fit_cells(
                    replace(cells, counts=counts + sign * h.reshape(3, 2, 2)), "z ~ s + x", "logistic", "midpoint"
                )
            ).values
            for sign in (1, -1)
        )
        slopes.append((high - low) / (2 * STEP))
    influence = np.array(slopes)
    assert made.cov_privacy == pytest.approx(25 * influence.T @ influence, rel=1e-3, abs=1e-9)
    assert made.cov_sampling == pytest.approx((influence.T * counts.reshape(-1)) @ influence, rel=1e-3, abs=1e-9)

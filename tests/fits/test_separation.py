"""Separated responses in noisy cells have a reason, and responses that overlap have none."""

from __future__ import annotations

import numpy as np
import pytest
from cell_draws import continuous, levels
from scipy.special import expit

from tacit.fits.cells.cell_arrays import CellCounts
from tacit.fits.regression_fits import fit_cells

Y = levels("y", "no", "yes")


def drawn(slope: float, n: int, seed: int) -> CellCounts:
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    y = rng.random(n) < (x > 0.43 if np.isinf(slope) else expit(slope * (x - 0.43)))
    counts = np.histogram2d(x, y, [np.linspace(0, 1, 11), [-0.5, 0.5, 1.5]])[0]
    return CellCounts((continuous("x", 10), Y), counts + rng.laplace(0, 2, counts.shape), 8.0, float(n))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("model", ["logistic", "probit"])
def test_a_step_within_a_bin_has_a_reason(seed: int, model: str) -> None:
    """The response is 1 above .43 and 0 below: estimates end where noise stops them (41.8 with error 25)."""
    fit = fit_cells(drawn(np.inf, 2_000, seed), "y ~ x", model)
    assert all(fit.reasons), (fit.values, fit.std_errors)


@pytest.mark.parametrize("slope", [0.0, 1.0, 4.0, 20.0])
def test_overlap_has_none(slope: float) -> None:
    for seed in range(4):
        fit = fit_cells(drawn(slope, 2_000, seed), "y ~ x", "logistic")
        assert fit.reasons == (None, None), (fit.values, fit.std_errors)


def test_a_level_with_one_response_says_so_of_its_own_term() -> None:
    """Level c is all yes; counts of its other cell are noise.  The intercept and the other level keep their errors."""
    counts = np.array([[400.0, 110.0], [260.0, 250.0], [3.0, 505.0]])
    fit = fit_cells(CellCounts((levels("s", "a", "b", "c"), Y), counts, 8.0), "y ~ s", "logistic")
    assert fit.reasons[:2] == (None, None)
    assert "s c" in (fit.reasons[2] or "")
    first = fit_cells(CellCounts((levels("s", "c", "b", "a"), Y), counts[::-1], 8.0), "y ~ s", "logistic")
    assert all(first.reasons)  # the reference level: all terms are differences from it

"""What bins hide is in the errors of fits, with the noise of the counts from which rules within bins are made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cell_draws import levels
from scipy import stats
from scipy.special import expit

from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.regression_fits import fit_cells

STEP = 1e-2
LAWS = {
    "lognormal": (stats.lognorm(0.7, scale=18), (0, 8, 12, 18, 28, 45, 70, 100)),
    "gamma": (stats.gamma(2, scale=11), (0, 5, 10, 18, 30, 45, 60, 100)),
    "normal": (stats.norm(50, 15), (0, 30, 40, 50, 60, 70, 80, 100)),
}
FINE = 4_000


def test_errors_are_what_a_row_in_each_cell_does_to_the_fit() -> None:
    """In smooth equal bins nothing is hidden: the noise's covariance is its variance times products of slopes."""
    axes = (CellAxis("x", "continuous", np.linspace(0.0, 1.0, 7)), levels("z", "no", "yes"))
    up = 200 + 90 * np.arange(6.0)
    counts = np.stack([up[::-1], up], axis=1)
    cells = CellCounts(axes, counts, 25.0)
    fit = fit_cells(cells, "z ~ x", "logistic")
    slopes = []
    for h in STEP * np.eye(12):
        high, low = (
            fit_cells(replace(cells, counts=counts + sign * h.reshape(6, 2)), "z ~ x", "logistic").values
            for sign in (1, -1)
        )
        slopes.append((high - low) / (2 * STEP))
    influence = np.array(slopes)
    assert fit.cov_privacy == pytest.approx(25 * influence.T @ influence, rel=2e-3)
    assert fit.cov_sampling == pytest.approx((influence.T * counts.reshape(-1)) @ influence, rel=2e-2)


def test_the_noise_of_rules_counts_in_skewed_columns() -> None:
    """In few uneven bins the rule depends on the counts: without its noise a variance would be a tenth too small."""
    axes = (CellAxis("x", "continuous", np.array([0.0, 10, 40, 100])), levels("z", "no", "yes"))
    counts = np.array([[2000.0, 300], [1900, 2500], [30, 500]])
    cells = CellCounts(axes, counts, 400.0)
    fit = fit_cells(cells, "z ~ x", "logistic")
    slopes = []
    for h in STEP * np.eye(6):
        high, low = (
            fit_cells(replace(cells, counts=counts + sign * h.reshape(3, 2)), "z ~ x", "logistic").values
            for sign in (1, -1)
        )
        slopes.append((high - low) / (2 * STEP))
    influence = np.array(slopes)
    assert fit.cov_privacy == pytest.approx(400 * influence.T @ influence, rel=1e-3)


@pytest.mark.parametrize("sign", [-1, 1])
def test_standard_errors_pass_smoothly_as_a_bin_is_empty(sign: int) -> None:
    """Noise leaves the margin of an empty bin at, above or below 0: that must not decide what a fit is worth.

    Shares of a bin whose people add up to 0 are not finite; errors were 30 times as large where its margin was 0.
    """
    axes = (CellAxis("x", "continuous", np.linspace(0.0, 1.0, 7)), levels("z", "no", "yes"))
    errors = list[np.ndarray]()
    for left in (-9.0, -1, -0.01, 0, 0.01, 1, 9):
        counts = np.array([[900.0, 300], [900, 700], [800, 1300], [300, 1100], [12, 90], [sign * 15, left - sign * 15]])
        errors.append(fit_cells(CellCounts(axes, counts, 100.0), "z ~ x", "logistic").std_errors)
    ratio = np.array(errors[1:]) / np.array(errors[:-1])
    assert ratio == pytest.approx(np.ones(ratio.shape), abs=0.1)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("model", ["linear", "logistic"])
def test_intervals_of_fits_to_uneven_bins_hold_the_truth_without_noise(name: str, model: str) -> None:
    """Exact shares of 100,000 rows: what is off is the bins' doing, and at most 1.5 standard errors.

    With lines through neighbours' densities it was 8 to 60 of them.  What bins hide makes errors larger than the
    sampling errors alone are.
    """
    law, edges = LAWS[name]
    middle = (np.arange(FINE) + 0.5) * 100 / FINE
    weight = law.pdf(middle) / law.pdf(middle).sum()
    at = np.repeat(np.arange(len(edges) - 1), np.diff(edges) * (FINE // 100))
    if model == "linear":
        y, slope = CellAxis("y", "continuous", np.linspace(0, 100, 13)), 0.5
        inner = stats.norm.cdf((y.bounds[None, 1:-1] - (25 + slope * middle)[:, None]) / 8)
        shares = np.diff(np.pad(inner, ((0, 0), (1, 1)), constant_values=(0.0, 1.0)), axis=1)
    else:
        y, slope = levels("y", "no", "yes"), 0.05
        shares = np.stack([1 - expit(slope * middle - 1.5), expit(slope * middle - 1.5)], axis=1)
    counts = np.zeros((len(edges) - 1, shares.shape[1]))
    np.add.at(counts, at, 1e5 * weight[:, None] * shares)
    x = CellAxis("x", "continuous", np.array(edges, dtype=float))
    fit = fit_cells(CellCounts((x, y), counts, 8.0), "y ~ x", model)
    assert fit.reasons == (None, None)
    assert abs(fit.values[1] - slope) < 1.5 * fit.std_errors[1]
    rows = np.sqrt(8**2 / 1e5 / (weight @ middle**2 - (weight @ middle) ** 2)) if model == "linear" else 0.0
    assert fit.std_errors[1] > 1.3 * rows
    assert any("where values may lie within their bins" in note for note in fit.notes)


def test_where_bins_hide_nearly_everything_the_error_is_what_they_hide() -> None:
    """Four bins of a lognormal column, 10 million rows: nobody knows the tail to that precision."""
    law, edges = stats.lognorm(0.9, scale=18), np.array([0.0, 10, 25, 50, 300])
    shares = np.diff(law.cdf(edges))
    p = np.array([0.2, 0.35, 0.5, 0.7])
    counts = 1e7 * shares[:, None] * np.stack([1 - p, p], axis=1)
    axes = (CellAxis("x", "continuous", edges), levels("z", "no", "yes"))
    fit = fit_cells(CellCounts(axes, counts, 8.0), "z ~ x", "logistic")
    assert fit.reasons == (None, None)
    assert fit.cov_sampling[1, 1] > 100 * fit.cov_privacy[1, 1]
    assert any("times as large for it" in note for note in fit.notes)


def test_losses_with_kinks_have_wide_intervals_in_bins_wider_than_residuals() -> None:
    """The slope of 0.6 lies within, as it does where bins are narrow."""
    x, y = (CellAxis(name, "continuous", np.linspace(0.0, 1.0, 9)) for name in "xy")
    ridge = stats.norm.pdf(y.centers[None, :], 0.2 + 0.6 * x.centers[:, None], 0.03)
    cells = CellCounts((x, y), 1e5 * ridge / ridge.sum(), 8.0)
    fit = fit_cells(cells, "y ~ x", "quantile")
    assert fit.reasons == (None, None)
    assert abs(fit.values[1] - 0.6) < 1.96 * fit.std_errors[1]
    assert fit.std_errors[1] > 0.01  # 0.0004 is sampling's and the noise's
    assert any("wide as the residuals" in note for note in fit.notes)

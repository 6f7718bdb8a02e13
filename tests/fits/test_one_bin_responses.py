"""Responses with nearly all rows in one bin: how far a slope may move within it is in its error, and only then."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tacit.fits import one_bin_responses, regression_fits
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.fit import Fit
from tacit.fits.regression_fits import fit_cells

X = CellAxis("x", "continuous", np.linspace(-2, 2, 9))


def expected(bins: int, model: str) -> Fit:
    """Return a fit to expected counts: x even, y = 0.8 x and a standard normal, in bins from -16 to 16."""
    y = CellAxis("y", "continuous", np.linspace(-16, 16, bins + 1))
    fine = np.linspace(-2, 2, 801)
    middle = (fine[1:] + fine[:-1]) / 2
    inner = stats.norm.cdf(y.bounds[None, :] - 0.8 * middle[:, None])
    counts = np.diff(inner, axis=1).reshape(8, 100, bins).sum(axis=1) * 10_000 / 800
    return fit_cells(CellCounts((X, y), counts, variance=10.0), "y ~ x", model)


@pytest.mark.parametrize("model", ["linear", "huber", "quantile"])
def test_one_wide_bin_hides_a_slope_and_the_error_says_so(model: str) -> None:
    """In 5 bins of 6.4, 96% of rows are in one: a slope of 0.8 is within two standard errors, which are no larger than
    half of what the bin hides: a deviation of 6.4 / sqrt(12) over the mean distance of x, 1, and its variance, 4 / 3.
    """
    found = expected(5, model)
    most = one_bin_responses.PART * 6.4 / np.sqrt(12) * 1.0 / (4 / 3)
    assert abs(found.values[1] - 0.8) < 1.96 * found.std_errors[1]
    assert 0.8 * most < found.std_errors[1] < 1.5 * most


def test_narrow_bins_hide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """In 32 bins the error is what it is without the rule."""
    found = expected(32, "linear")
    monkeypatch.setattr(regression_fits, "responses_moved", lambda *_: np.zeros((2, 2)))
    assert np.array_equal(found.std_errors, expected(32, "linear").std_errors)

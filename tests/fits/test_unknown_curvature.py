"""Coefficients whose regressor's rows are in two or three bins: how far apart these are there, no count says."""

from __future__ import annotations

import numpy as np
import pytest
from cell_draws import levels
from scipy import stats

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.effects import combined, marginal_effects, predict
from tacit.fits.fit import Fit
from tacit.fits.regression_fits import fit_cells

FINE = np.linspace(-50, 50, 20_001)
MIDDLE = (FINE[1:] + FINE[:-1]) / 2
Y = CellAxis("y", "continuous", np.linspace(-20, 20, 33))


def expected(spread: float, bins: int, formula: str, rows: float = 20_000) -> Fit:
    """Return a fit to expected counts: x normal between -50 and 50, two sexes, y = .5 x + sex + a standard normal."""
    x, sex = CellAxis("x", "continuous", np.linspace(-50, 50, bins + 1)), levels("sex", "f", "m")
    weight = np.diff(stats.norm(0, spread).cdf(FINE))
    at = np.searchsorted(x.bounds, MIDDLE) - 1
    counts = np.zeros((bins, 2, Y.bins))
    for s in (0, 1):
        inner = stats.norm.cdf(Y.bounds[None, 1:-1] - (0.5 * MIDDLE + s)[:, None])
        given: Array = np.diff(np.pad(inner, ((0, 0), (1, 1)), constant_values=(0.0, 1.0)), axis=1)
        np.add.at(counts[:, s], at, rows / 2 * weight[:, None] * given)
    return fit_cells(CellCounts((x, sex, Y), counts, 0.1, rows), formula)


def test_all_rows_in_two_bins_are_a_reason_and_in_more_they_are_none() -> None:
    """The slope is .3 of .5 where x spreads by a twelfth of its bins' width, and right where bins show its shape."""
    coarse, fine = expected(2, 4, "y ~ x"), expected(5, 40, "y ~ x")
    assert all(one is not None and "two or three bins of x" in one for one in coarse.reasons)
    assert coarse.values[1] < 0.3
    assert fine.reasons == (None, None)
    assert fine.values[1] == pytest.approx(0.5, abs=1.96 * float(fine.std_errors[1]))


def test_coefficients_of_other_columns_keep_their_answers() -> None:
    """The intercept, where x is 0, is as well known as the slope; the difference of sexes does not rest on x."""
    fit = expected(2, 4, "y ~ x + sex")
    said = dict(zip(fit.names, fit.reasons, strict=True))
    assert said["sex[T.m]"] is None
    assert said["Intercept"] == said["x"] != None  # noqa: E711
    assert fit.values[fit.names.index("sex[T.m]")] == pytest.approx(1.0, abs=0.1)


def test_numbers_made_of_a_coefficient_have_its_reason() -> None:
    fit = expected(2, 4, "y ~ x + sex")
    own = np.array([[name == "sex[T.m]" for name in fit.names]], dtype=float)
    assert combined(fit, own, ("difference",)).reason is None
    assert predict(fit, {"x": 3.0, "sex": "f"}).reason is not None
    assert marginal_effects(fit).reason is not None


def test_published_methods_know_nothing_of_it() -> None:
    """They take bins as their midpoints, and say so in a note."""
    x = CellAxis("x", "continuous", np.linspace(-50, 50, 5))
    counts = np.array([[0.0, 0.0], [600.0, 400.0], [400.0, 600.0], [0.0, 0.0]])
    cells = CellCounts((x, levels("y", "no", "yes")), counts, 0.1, 2_000)
    assert fit_cells(cells, "y ~ x", method="midpoint").reasons == (None, None)

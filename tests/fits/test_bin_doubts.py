"""What no count tells of bins: where rows of a wide bin lie, tails of another shape, residuals within bins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cell_draws import levels
from scipy import stats
from scipy.special import expit

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.cells.exponential_bins import common_slope
from tacit.fits.effects import marginal_effects
from tacit.fits.fit import Fit
from tacit.fits.regression_fits import fit_cells
from tacit.fits.solvers.sandwich import inverted
from tacit.fits.within_bins.bin_doubts import hidden_means, other_tails
from tacit.fits.within_bins.bin_shapes import edge_densities, shapes_of
from tacit.fits.within_residuals import CLEAR, PART, residuals_moved

FINE = np.linspace(0, 100, 20_001)
MIDDLE = (FINE[1:] + FINE[:-1]) / 2
TYPED = np.array([0.0, 18, 25, 35, 50, 65, 100])
DOUBLING = np.append(0.0, 100 / 2.0 ** np.arange(5, -1, -1))
EQUAL = np.linspace(0, 100, 13)


def expected(law: stats.rv_continuous, edges: Array, model: str, rows: float, slope: float, start: float) -> Fit:
    """Return the fit of "y ~ x" to the expected counts of rows of a law."""
    weight = np.diff(law.cdf(FINE))
    weight = rows * weight / weight.sum()
    if model == "logistic":
        y, p = levels("y", "no", "yes"), expit(start + slope * MIDDLE)
        given = np.stack([1 - p, p], axis=1)
    else:
        y = CellAxis("y", "continuous", EQUAL)
        inner = stats.norm(scale=8).cdf(EQUAL[None, 1:-1] - (start + slope * MIDDLE)[:, None])
        given = np.diff(np.pad(inner, ((0, 0), (1, 1)), constant_values=(0.0, 1.0)), axis=1)
    at = np.searchsorted(edges, MIDDLE) - 1
    counts = np.zeros((len(edges) - 1, given.shape[1]))
    np.add.at(counts, at, weight[:, None] * given)
    return fit_cells(CellCounts((CellAxis("x", "continuous", edges), y), counts, 8 / 9, rows), "y ~ x", model)


@pytest.mark.parametrize("slope", [-0.4, -1e-3, 0.0, 0.02, 0.7])
def test_the_exponential_of_two_bins_has_their_masses(slope: float) -> None:
    ends = np.exp(slope * np.array([-2.0, 0.0, 5.0]))
    inner, outer = np.diff(ends) / slope if slope else (2.0, 5.0)
    assert float(common_slope(np.log(outer / inner), 5.0, 2.0)) == pytest.approx(slope, abs=1e-6)


def test_a_normal_column_in_bins_that_double() -> None:
    """Three quarters of the rows in the last bin, a quarter in that before: within 1.2 standard errors (it was 1.5)."""
    fit = expected(stats.norm(54, 8), DOUBLING, "linear", 2_000, 0.3, 30.0)
    # of any two bins the distance of their rows is too little known for an answer
    assert all(one is not None and "two or three bins of x" in one for one in fit.reasons)
    assert abs(fit.values[1] - 0.3) <= 1.2 * fit.std_errors[1]


@pytest.mark.parametrize(("index", "least", "most"), [(1.2, 9.0, 0.8), (1.5, 6.0, 1.9), (2.5, 4.0, 1.9)])
def test_a_column_that_begins_abruptly_in_a_wide_first_bin(index: float, least: float, most: float) -> None:
    """Logistic slopes of Pareto laws, in standard errors of 100,000 rows; they were 1.37, 2.6 and 12."""
    fit = expected(stats.pareto(index, scale=least), TYPED, "logistic", 1e5, -0.06, 1.0)
    # all but 3% of the last law's rows are in one bin
    assert [one is None for one in fit.reasons] == [index < 2] * 2
    assert abs(fit.values[1] + 0.06) <= most * fit.std_errors[1]


def test_an_even_column_hides_nothing_and_one_in_a_single_bin_most() -> None:
    axis, none = CellAxis("x", "continuous", DOUBLING), np.zeros(6)
    even = hidden_means(axis, edge_densities(axis, 1e5 * axis.widths, 8.0), none)
    assert (even < 1e-3 * axis.widths).all()
    counts = np.array([10.0, 10, 20, 100, 1000, 9e4])
    one = hidden_means(axis, edge_densities(axis, counts, 8.0), none) / axis.widths
    # the last bin rises to the end as well: all that an end bin may hide
    assert one[-1] == pytest.approx(0.25)
    assert one[:-1].max() < 0.01


def test_heaps_are_hidden_wherever_they_are() -> None:
    axis = CellAxis("x", "continuous", np.linspace(0, 100, 21))
    edges = edge_densities(axis, np.full(20, 1e4), 8.0)
    assert hidden_means(axis, edges, np.full(20, 0.1)) == pytest.approx(np.full(20, 0.11 * 5), rel=1e-3)


@pytest.mark.parametrize(("law", "near"), [(stats.expon(scale=15), 1e-3), (stats.lognorm(0.9, scale=11), 0.05)])
def test_the_last_bin_in_one_exponential_with_the_bin_before(law: stats.rv_continuous, near: float) -> None:
    """Exact for an exponential law; of a lognormal one nearer than edges are, which are .05 of the bin off or more."""
    edges = np.array([0.0, 5, 9, 16, 28, 100])
    axis, counts = CellAxis("x", "continuous", edges), 1e7 * np.diff(law.cdf(edges))
    step = 1e-4 * counts
    here, up, down = (edge_densities(axis, counts + one, 8.0) for one in (0 * step, np.diag(step), -np.diag(step)))
    *_, last = other_tails(axis, here, up, down, step, counts)
    inside = MIDDLE > 28
    weight = np.diff(law.cdf(FINE))[inside]
    truth = weight @ MIDDLE[inside] / weight.sum() - 64
    plain = shapes_of(axis, here.mean, here.used)
    assert last.shift[-1] == pytest.approx(truth, abs=near * 72)
    assert abs(plain.shift[-1] - truth) > 0.05 * 72
    # other bins stay as they were
    assert (last.shift[:-1] == plain.shift[:-1]).all()


def quadratic(bins: int, rows: float = 24_000) -> CellCounts:
    """Cells of a regressor, a group and a response whose shares bend."""
    x = CellAxis("x", "continuous", np.linspace(0.0, 1.0, bins + 1))
    p = np.stack([0.1 + 0.7 * x.centers**4, 0.8 - 0.6 * x.centers**3], axis=1)
    counts = rows / 2 / bins * np.stack([1 - p, p], axis=2)
    return CellCounts((x, levels("s", "a", "b"), levels("y", "no", "yes")), counts, 2.0)


@pytest.mark.parametrize("formula", ["y ~ x + s", "y ~ x"])
def test_residuals_within_bins_as_a_model_has_them(formula: str) -> None:
    """By cells of the regressors one after another: rows count at the mean of the regressors in their cell."""
    fit = fit_cells(quadratic(4, rows=1e10), formula, "logistic")
    work = fit.work
    assert work is not None
    inverse = inverted(work.problem.local(fit.values, work.weights).hessian)
    regressors = ("x", "s") if "s" in formula else ("x",)
    made = residuals_moved(
        work.points, work.problem, regressors, fit.values, work.weights, inverse, np.zeros(len(inverse))
    )
    shape, names = work.points.shape, work.points.cells.names
    slope, w = (one.reshape(shape) for one in (work.problem.slope(fit.values), work.weights))
    X = work.problem.X.reshape(*shape, -1)
    y, x = names.index("y"), names.index("x")
    slope, w, X = (np.moveaxis(one, (y, x), (0, 1)) for one in (slope, w, X))
    slope, w = (one.reshape(2, 4, 3, -1) for one in (slope, w))
    X = X.reshape(2, 4, 3, w.shape[-1], -1)[0]
    total = np.zeros(len(inverse))
    for r in range(4):
        for s in range(w.shape[-1]):
            rows, residual = w[:, r, :, s].sum(axis=0), (w * slope)[:, r, :, s].sum(axis=0)
            center = rows @ X[r, :, s] / rows.sum()
            clear = rows.sum() ** 2 / (rows.sum() ** 2 + CLEAR * work.points.cells.variance * 2)
            total -= clear * (residual.sum() * center - residual @ X[r, :, s])
    whole = PART * total @ inverse
    # less its noise, which is a small part of it with so many rows
    assert np.sqrt(np.diag(made)) == pytest.approx(np.abs(whole), rel=0.02, abs=1e-4)
    assert np.sign(made[0, 1]) == np.sign(whole[0] * whole[1])


def test_narrow_bins_and_midpoints_leave_nothing_to_residuals() -> None:
    wide, narrow, middle = (
        fit_cells(quadratic(bins), "y ~ x", "logistic", method)
        for bins, method in ((4, "corrected"), (40, "corrected"), (4, "midpoint"))  # type: ignore[arg-type]
    )
    known = np.diag(narrow.cov_sampling + narrow.cov_privacy)
    assert (np.diag(narrow.work.residuals) < 1e-2 * known).all()  # type: ignore[union-attr]
    assert (middle.work.residuals == 0).all()  # type: ignore[union-attr]
    assert wide.work.residuals[1, 1] >= 0  # type: ignore[union-attr]


def test_average_effects_have_in_their_errors_what_residuals_may_move() -> None:
    """In a linear model the average effect is the slope, and so is its error."""
    x, y = (CellAxis(name, "continuous", np.linspace(0.0, 1.0, 9)) for name in "xy")
    ridge = stats.norm.pdf(y.centers[None, :], 0.2 + 0.6 * x.centers[:, None], 0.2)
    fit = fit_cells(CellCounts((x, y), 1e5 * ridge / ridge.sum(), 8.0), "y ~ x")
    assert fit.work is not None
    moved = np.diag([0.0, 0.04])
    before, after = (
        marginal_effects(replace(fit, work=replace(fit.work, residuals=one))).cov_sampling for one in (0 * moved, moved)
    )
    assert after - before == pytest.approx(np.array([[0.04]]))

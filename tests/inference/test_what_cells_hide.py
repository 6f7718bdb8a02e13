"""Curves of cells that hide a tail: limits reach further or are not told; what is estimated of declared multiples."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.estimates.densities.local_doubts import misfit
from tacit.estimates.densities.recorded_notes import hidden_by_heaps, recorded_as
from tacit.fits.within_bins.cell_limits import CellLimits
from tacit.fits.within_bins.cell_shapes import CellShapes, off_by
from tacit.method.bernstein import estimate as bernstein
from tacit.method.bernstein.estimate_lattice import RICHER
from tacit.method.kernel_density import estimate as kernel
from tacit.method.ks_dataset import estimate_points
from tacit.method.shared.iterated_operator import weights
from tacit.noise.laws import DiscreteLaplace
from tacit.release.parts import Variable

TAIL = stats.lomax(2.5, scale=1 / (2 ** (1 / 2.5) - 1))
PROBS = (0.1, 0.3, 0.5, 0.9)


def without_noise(query: Any, column: tc.Real, x: np.ndarray) -> Any:
    """A release with next to no noise: what is off is what cells hide."""
    curator = tc.Curator({"x": x}, tc.Schema({"x": column}), budget=tc.Budget(epsilon=900))
    return curator.release(query, epsilon=900)


@pytest.fixture(scope="module")
def tail() -> np.ndarray:
    """Quantiles of the law: rows without sampling error."""
    return np.minimum(TAIL.ppf((np.arange(20_000) + 0.5) / 20_000), 100)


@pytest.mark.parametrize(
    ("query", "cdf"),
    [(tc.KernelDensity("x", bandwidth=2.0), kernel.cdf), (tc.Bernstein("x", degree=40), bernstein.cdf)],
    ids=["kernel", "Bernstein"],
)
def test_shares_within_a_cell_that_holds_a_tail_s_beginning_are_within_the_errors(
    query: Any, cdf: Any, tail: np.ndarray
) -> None:
    at = np.quantile(tail, PROBS)
    found = cdf(without_noise(query, tc.Real(0, 100, missing=0.0), tail), at)
    off = np.abs(found.values - np.array(PROBS))
    assert off.max() > 0.02
    assert (off <= 2 * found.std_errors + 1e-3).all()


def test_limits_of_a_tail_in_wide_bins_are_around_their_shapes(tail: np.ndarray) -> None:
    release = without_noise(tc.Histogram("x", bins={"x": 12}), tc.Real(0, 100, missing=0.0), tail)
    curve = release.smooth_density("x")
    assert isinstance(curve.curves[0].around, CellLimits)
    assert any("too wide" in note for note in curve.notes)
    # bins beside tell of the second and later ones
    at = np.array([12.0, 20.0, 30.0])
    limits = curve.intervals(at)
    assert ((limits[:, 0] <= TAIL.pdf(at)) & (TAIL.pdf(at) <= limits[:, 1])).all()
    assert np.isfinite(limits).all()


@pytest.mark.parametrize("query", [tc.KernelDensity("x", bandwidth=0.03), tc.Histogram("x", bins={"x": 24})])
def test_no_limits_are_told_within_a_peak_in_doubt(query: Any) -> None:
    """A spike within one cell: how high it is no count tells; beside it limits are told."""
    x = np.concatenate([stats.beta(2, 2).ppf((np.arange(4_000) + 0.5) / 4_000), np.full(1_000, 0.315)])
    release = without_noise(query, tc.Real(0, 1, missing=0.0), x)
    curve = release.smooth_density() if isinstance(query, tc.KernelDensity) else release.smooth_density("x")
    assert np.isinf(curve.intervals([0.315])[0, 1])
    assert np.isinf(curve.intervals([0.315], simultaneous=True)[0, 1])
    assert np.isfinite(curve.intervals([0.7])).all()
    assert "at a peak of them no limits are told" in str(curve)
    if isinstance(query, tc.KernelDensity):
        assert "peak" in str(kernel.density(release, [0.315]).reasons[0])
        assert kernel.density(release, [0.7]).reasons == (None,)


def test_smooth_columns_keep_their_limits() -> None:
    """Quantiles of a Beta law, without noise: no doubt, and nothing is added."""
    x = stats.beta(3, 4).ppf((np.arange(5_000) + 0.5) / 5_000)
    column = tc.Real(0, 1, missing=0.0)
    for query in (tc.KernelDensity("x", bandwidth=0.05), tc.Bernstein("x", degree=30)):
        curve = without_noise(query, column, x).smooth_density()
        assert curve.untold == (None,)
        limits = curve.intervals([0.2, 0.5])
        assert (np.ptp(limits, axis=1) < 0.6).all()


def test_what_a_curve_may_be_off_by_is_what_is_beyond_noise() -> None:
    one = np.ones(1)
    assert off_by(0.5 * one, one, 0 * one, one) == 0
    assert off_by(3 * one, one, 0 * one, one) == pytest.approx(8**0.5)
    # of cells with many rows what is not known counts though both agree
    assert off_by(0 * one, one, 3 * one, one) == pytest.approx(8**0.5)


def test_shares_of_cells_are_not_moved_to_cells_without_rows() -> None:
    """Noise of 30 in each of 40 cells, one has all 1,000 rows: made positive each, counts left it 45%."""
    counts = np.random.default_rng(3).normal(0, 30, 40)
    counts[0] += 1_000
    assert CellShapes.of(np.arange(41.0), counts, 900.0).shares[0] > 0.8


@pytest.mark.parametrize("mode", [0.02, 0.4, 0.95])
def test_shares_within_a_cell_are_between_those_of_any_hill(mode: float) -> None:
    """A narrow hill anywhere in the first of five cells; wherever it is, its shares are within what is hidden."""
    at, u = np.linspace(0.01, 0.99, 50), np.array([0.8, 0.12, 0.05, 0.02, 0.01])
    shapes = CellShapes.of(np.arange(6.0), 1e4 * u, 1.0)
    law = stats.norm(mode, 0.03)
    true = 0.8 * (law.cdf(at) - law.cdf(0)) / (law.cdf(1) - law.cdf(0))
    over, _ = shapes.below(at)
    told = over @ u
    # the farthest of them, but for what the density of all cells says of the column
    assert 0.9 < shapes.full[0] < 1
    assert (np.abs(true - told) <= 1.96 * shapes.hidden_below(at, told) / shapes.full[0] + 1e-3).all()
    # of even cells nothing is hidden
    assert not CellShapes.of(np.arange(5.0), np.full(4, 1e4), 1.0).hidden_below(at, at / 4).any()


def test_limits_allow_for_any_shape_where_most_rows_are_in_one_cell_of_a_lattice() -> None:
    """Nine tenths of the rows in a tenth of the range: limits hold their shares, a density has none."""
    ranks = (np.arange(5_000) + 0.5) / 5_000
    x = np.sort(
        np.concatenate([stats.norm(7, 0.4).ppf(ranks[:4_500] / 0.9), 10 + stats.expon(0, 20).ppf(ranks[:500] / 0.1)])
    )
    x = np.minimum(x, 100)
    release = without_noise(tc.Bernstein("x", degree=10), tc.Real(0, 100, missing=0.0), x)
    at = np.array([2.0, 6.0, 7.0, 8.0, 9.5])
    true, found = (x[:, None] <= at).mean(axis=0), bernstein.cdf(release, at)
    assert np.abs(found.values - true).max() > 0.3
    limits = found.intervals()
    assert ((limits[:, 0] <= true) & (true <= limits[:, 1])).all()
    assert any("lie in one 10th of the range" in note for note in found.notes)
    assert np.isinf(release.smooth_density().intervals([3.0])[0, 1])
    fit, t = bernstein.fitted(release), at / 100
    off = fit.beside(weights(10, 2, t), weights(10, RICHER, t), *fit.shapes.below(t))
    assert (found.std_errors >= np.hypot(off, fit.hidden_below(t, found.values))).all()
    # so much noise that no residual tells
    law = DiscreteLaplace(Fraction(5_000))
    noisy = replace(fit, law=law, privacy=float(law.variance()) * fit.load @ fit.load.T)
    assert noisy.doubts(2).ranges == ()
    assert noisy.doubts(2).peaks == ((0.0, 0.1),)
    # whole numbers of which a cell holds one at most have no shape within it
    whole = tc.Schema({"k": tc.Integer(0, 9, missing=0)})
    few = tc.Curator({"k": np.repeat([0, 1, 2, 7], [900, 60, 30, 10])}, whole, budget=tc.Budget(epsilon=900))
    assert not any(
        "range" in note for note in bernstein.cdf(few.release(tc.Bernstein("k", degree=20), epsilon=900), [0.0]).notes
    )


def test_a_cell_of_one_value_has_no_shape() -> None:
    shapes = CellShapes.of(np.arange(6.0), np.array([90.0, 30, 10, 4, 1]), 1.0, unit=1.0)
    over, unknown = shapes.density(np.array([0.3, 1.5]))
    assert over[0, 0] == over[1, 1] == 1
    assert not unknown.any()
    assert not shapes.below(np.array([0.3]))[1].any()


def test_misfits_of_noise_are_rare() -> None:
    """400 draws of no misfit: two tests in one of ten each, so that at most 119 of 400 show one but once in 1e6."""
    rng = np.random.default_rng(0)
    drawn = rng.standard_normal((1_000, 30))
    found = sum(misfit(one, drawn, False) > 0 for one in rng.standard_normal((400, 30)))
    assert 10 < found < 119
    assert misfit(np.zeros(30), drawn, True) == 1


def test_words_say_that_a_declaration_is_taken_at_its_word() -> None:
    """What is told of values that are no multiples is of the nearest ones, and says so."""
    x = np.random.default_rng(1).normal(50, 15, 4_000).clip(0, 100)
    column = tc.Real(0, 100, multiple_of=5, missing=0.0)
    words = "rounded to multiples of 5, as is declared"
    release = without_noise(tc.KernelDensity("x"), column, x)
    found = kernel.cdf(release, [50.0])
    assert words in found.estimand
    assert words in kernel.moments(release).estimand
    assert words in release.smooth_density().estimand
    assert abs(found.values[0] - (np.rint(x / 5) * 5 <= 50).mean()) < 0.01
    assert words in bernstein.cdf(without_noise(tc.Bernstein("x"), column, x), [50.0]).estimand
    cells = without_noise(tc.Histogram("x", bins={"x": 10}), column, x)
    assert words in cells.moments("x").estimand
    assert words in cells.quantiles("x", [0.5]).estimand
    assert recorded_as("x", None) == "x"


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_limits_of_heaped_columns_hold_the_density_of_what_was_rounded(share: float) -> None:
    """Quantiles of a normal law, so many rounded: without noise limits hold the law's density, at heaps and between."""
    law, n = stats.norm(50, 15), 20_000
    x = law.ppf((np.arange(n) + 0.5) / n)
    x = np.where(np.random.default_rng(0).random(n) < share, np.rint(x / 10) * 10, x).clip(0, 100)
    column, at = tc.Real(0, 100, heaped_at=10, missing=0.0), np.array([20.0, 25.0, 50.0, 53.0, 70.0])
    for query in (tc.KernelDensity("x", bandwidth=1.5), tc.Histogram("x", bins={"x": 100})):
        release = without_noise(query, column, x)
        curve = release.smooth_density() if isinstance(query, tc.KernelDensity) else release.smooth_density("x")
        limits = curve.intervals(at)
        fine = 0.02 * law.pdf(50)
        assert ((limits[:, 0] <= law.pdf(at) + fine) & (law.pdf(at) <= limits[:, 1] + fine)).all()
        # the highest cell may be a peak in doubt
        assert np.isfinite(limits[[0, 1, 4]]).all()


def test_a_polynomial_that_shows_heaps_is_told_from_cells_of_whole_heaps() -> None:
    """Without noise, of 4,000 rows: the density is known to 6%, and half of that is rounding to cells."""
    x = np.random.default_rng(2).normal(50, 15, 4_000).clip(0, 100)
    column = tc.Real(0, 100, heaped_at=10, missing=0.0)
    narrow = without_noise(tc.Bernstein("x", degree=40), column, x)
    made = narrow.smooth_density()
    assert made.untold == bernstein.density(narrow, [50.0]).reasons == (None,)
    assert "whole heaps" in made.limits_of
    low, high = made.intervals([50.0])[0]
    assert low < stats.norm(50, 15).pdf(50) < high < 1.2 * low
    assert hidden_by_heaps("x", Variable("x", "real", 0, 9), 0.1, "") is None


def test_moments_of_two_modes_do_not_lean_towards_even_data_sets() -> None:
    """8 data sets: errors in standard errors have a deviation below 1.4, so that their mean has one below .5."""
    rng = np.random.default_rng(3)
    x = np.where(np.arange(2_000) < 1_240, rng.normal(0.28, 0.064, 2_000), rng.normal(0.74, 0.012, 2_000))
    curator = tc.Curator({"x": x}, tc.Schema({"x": tc.Real(0, 1)}), budget=tc.Budget(epsilon=100))
    z, taken = list[float](), list[float]()
    for _ in range(8):
        release = curator.release(tc.KSDataset("x"), epsilon=1, fresh=True)
        found = estimate_points.moments(release, "table")
        z.append(float((found.values[1] - x.var()) / found.std_errors[1]))
        taken.append(release.points.var() - release.moments().values[1])
    assert abs(np.mean(z)) < 2.5
    # the moments of the points themselves are further towards an even data set; the mean of eight is 6 deviations off 0
    assert np.mean(taken) > 0

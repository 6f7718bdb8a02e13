"""Bands of smooth densities: whichever series is chosen, averages over bins where none resolves the counts; jumps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.estimates.densities.chosen_terms import ErrorsOfValues, largest_error
from tacit.estimates.densities.density_jumps import StraightModel
from tacit.estimates.densities.density_models import CELLS, LogLinearModel
from tacit.estimates.densities.even_pieces import AveragedPieces
from tacit.estimates.densities.held_jumps import HeldJumps
from tacit.estimates.densities.log_density import (
    UNLIKELY,
    BinnedLikelihood,
    density_of,
    may_jump,
    of_models,
    step_scores,
)
from tacit.estimates.densities.series_coefficients import Shares, coefficients, reactions
from tacit.estimates.densities.series_curve import terms_of
from tacit.fits.cell_limits import CellAverages, CellLimits
from tacit.method.bernstein.estimate import smooth_density as of_lattice
from tacit.method.histogram.estimate_smooth import smooth_density
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.rows.series_bases import functions
from tacit.testing.simulate import add_noise, exact_integers, shaped

SCHEMA = tc.Schema({"x": tc.Real(0, 1, missing=0.0)})
LEVEL = 1e-6
"""False-alarm rate of each comparison."""
X = np.linspace(0, 1, 201)


def spiked(n: int, seed: int, bins: int = 32) -> tuple[Any, np.ndarray]:
    """Return a simulated histogram of a bed and a spike, at ε = 1, and what is true of its bins' shares."""
    rng = np.random.default_rng(seed)
    shape = shaped(tc.Histogram("x", bins={"x": bins}), SCHEMA, "replace-one", n, Cost.of(epsilon=1))
    edges = np.linspace(0, 1, bins + 1)
    chances = np.diff(0.7 * edges + 0.3 * stats.norm(0.4, 0.004).cdf(edges))
    chances = chances / chances.sum()
    counts = rng.multinomial(n, chances).astype(np.int64)
    return simulated(shape, add_noise(shape, (counts[:, None],), rng)), chances


@pytest.mark.parametrize("laplace", [False, True])
def test_the_largest_error_is_that_of_whichever_series_is_chosen(laplace: bool) -> None:
    """Of 400 draws of noise, the series that errs most stays within the factor in 95%, at least 89% (LEVEL)."""
    bins, edges = 24, np.linspace(0, 1, 25)
    errors = ErrorsOfValues(np.eye(bins) * 1e-6, np.eye(bins), 1e-4, laplace)
    chosen = tuple(terms_of(basis, reactions(basis, edges, 9)[1]) for basis in ("legendre", "cosine"))
    factor, rng, held = largest_error(errors, chosen, 0.95), np.random.default_rng(8), 0
    assert factor > largest_error(errors, chosen[:1], 0.95)
    for _ in range(400):
        noise = rng.laplace(size=bins) / np.sqrt(2) if laplace else rng.standard_normal(bins)
        values = np.diff(edges) + 1e-3 * rng.standard_normal(bins) + 1e-2 * noise
        shares = Shares(edges, values, errors.sampling, errors.noises, errors.variance)
        worst = 0.0
        for one in chosen:
            found = coefficients(one.basis, shares, len(one.react))
            for end in one.ends:
                over = functions(one.basis, X, end)
                spread = np.sqrt(np.einsum("jx,jk,kx->x", over, found.covariance[:end, :end], over))
                worst = max(worst, float(np.abs(found.values[:end] @ over / spread).max()))
        held += worst <= factor
    # a factor of 4,000 draws holds in 93.5% or more, but for one in a million
    assert stats.binom.isf(1 - LEVEL, 400, 0.935) <= held


def test_a_band_in_doubt_is_of_averages_over_bins_and_holds_them() -> None:
    """A spike in one bin, 60 releases; fewer than 43 hold with a probability below LEVEL where 93% do."""
    held, edges = 0, np.linspace(0, 1, 33)
    middles = (edges[1:] + edges[:-1]) / 2
    for seed in range(60):
        release, chances = spiked(3_000, seed)
        found = smooth_density(release, "x")
        assert isinstance(found.curves[0].around, CellLimits)
        assert found.averaged == (True,)
        assert "averages over bins" in found.limits_of
        band = found.intervals(middles, simultaneous=True)
        # how high the density is in the spike no count tells, and neither does the average
        assert np.isinf(band[12, 1])
        assert np.isfinite(band).mean() > 0.85
        held += bool(((band[:, 0] <= 32 * chances) & (32 * chances <= band[:, 1])).all())
    assert held >= stats.binom.isf(1 - LEVEL, 60, 0.93)


def test_averages_over_bins_have_the_variance_of_a_few_rows_more() -> None:
    edges, n = np.linspace(0, 1, 5), 100.0
    shares = Shares(edges, np.array([0.0, 0.5, 0.5, 0.0]), np.eye(4) * 1e-3, np.zeros((4, 4)), 1.0)
    one = CellAverages(shares, n)
    at = np.array([0.1, 0.4])
    assert one.center(at).tolist() == pytest.approx([4 * 0.07, 4 * 0.57])
    assert one.errors(at)[0] == pytest.approx(4 * np.sqrt(1e-3 + 3.5 / n**2))
    table = CellAverages(Shares(edges, shares.values, np.zeros((4, 4)), np.eye(4), 1e-4), n)
    assert table.center(at).tolist() == pytest.approx([0.0, 2.0])
    assert table.at_once is table


def test_a_polynomial_of_a_column_with_heaps_is_told_from_cells_of_whole_heaps() -> None:
    """Half of the rows at multiples of 0.1: limits everywhere; of cells of whole heaps the band holds the averages."""
    schema, rng, n, held = (
        tc.Schema({"x": tc.Real(0, 1, missing=0.0, heaped_at=0.1)}),
        np.random.default_rng(4),
        20_000,
        0,
    )
    shape = shaped(tc.Bernstein("x", degree=80), schema, "replace-one", n, Cost.of(rho=0.5))
    for _ in range(12):
        x = rng.beta(2, 2, n)
        x = np.where(rng.random(n) < 0.5, np.rint(10 * x) / 10, x)
        found = of_lattice(simulated(shape, add_noise(shape, exact_integers(shape, {"x": x}), rng)))
        assert found.untold == (None,)
        assert "whole heaps" in found.limits_of
        places = np.arange(1, 10) / 10
        limits = found.intervals(places)
        assert np.isfinite(limits).all()
        true = stats.beta(2, 2).pdf(places)
        held += int(((limits[:, 0] <= true) & (true <= limits[:, 1])).sum())
    # tables and noise are seeded: the same in every run; 108 limits, of which bumps read as smooth hold a few
    assert held > 70


def test_a_jump_is_found_and_a_smooth_density_has_none() -> None:
    """Thirty percent of 20,000 rows even in the first of eight parts, of 56 bins: the error falls to a third."""
    edges, n, rng = np.linspace(0, 1, 57), 20_000.0, np.random.default_rng(6)
    jumped = np.where(np.arange(CELLS) < CELLS / 8, 8 * 0.3, 0.7 / (1 - 1 / 8))
    chances = np.where(edges[1:] < 1 / 8 + 1e-9, 0.3 / 7, 0.7 / 49)
    counts = rng.multinomial(int(n), chances)
    data = BinnedLikelihood(edges, counts / n, n, np.full(56, 2 / n**2))
    models = of_models(data)
    without = [one for one in models if not one.steps and not isinstance(one.model, AveragedPieces)]
    old, new = (((density_of(each, data) - jumped) ** 2).mean() for each in (without, models))
    assert max(one.steps for one in models) == 1
    assert new < old / 3
    even = rng.multinomial(int(n), np.diff(stats.beta(2, 3).cdf(edges)))
    assert not any(one.steps for one in of_models(BinnedLikelihood(edges, even / n, n, np.full(56, 2 / n**2))))


def boxed(x: np.ndarray) -> np.ndarray:
    """Return the distribution function of half of the rows in a fifth of the range."""
    return 0.5 * x + 0.5 * np.clip((x - 0.405) / 0.2, 0, 1)


def curve_of(law: Any, bins: int, n: int = 10_000) -> Any:
    """Return the curve of n rows of a law at ε = 1; rows and noise are seeded."""
    rng = np.random.default_rng(21)
    shape = shaped(tc.Histogram("x", bins={"x": bins}), SCHEMA, "replace-one", n, Cost.of(epsilon=1))
    counts = rng.multinomial(n, np.diff(law(np.linspace(0, 1, bins + 1)))).astype(np.int64)
    (curve,) = smooth_density(simulated(shape, add_noise(shape, (counts[:, None],), rng)), "x").curves
    return curve


def test_a_band_reaches_both_sides_of_a_jump_within_a_bin() -> None:
    curve, at = curve_of(boxed, 50), np.linspace(0, 1, 1_001)
    band = curve.limits(at, 0.95, simultaneous=True)
    # a low and a high side of 0.5 and 3, each more than ten standard errors of a bin from their middle
    for end in (0.405, 0.605):
        around = np.abs(at - end) < 0.005
        assert band[around, 0].max() < 1.2
        assert band[around, 1].min() > 2.4


def test_a_band_is_narrower_where_there_is_no_possible_jump() -> None:
    """Beside the band of the series alone, which is for whichever number of terms is chosen."""
    curve, at = curve_of(stats.beta(2, 3).cdf, 50), np.linspace(0, 1, 1_001)
    now, alone = (one.limits(at, 0.95, simultaneous=True) for one in (curve, replace(curve, possible=None)))
    flags = np.concatenate([[False], curve.possible.flags, [False]])
    far = ~(flags[1:] | flags[:-1])[np.minimum((at * 50).astype(int), 49)]
    assert far.mean() > 0.5
    assert (now[far, 1] - now[far, 0]).mean() < (alone[far, 1] - alone[far, 0]).mean()
    assert curve.possible.factor(0.95) < curve.around.at_once.factor(0.95)


def test_what_a_draw_needs_is_the_least_at_which_its_band_holds_the_estimate() -> None:
    """Bands of ten draws, made anew by hand, hold at a little more, and not at a little less."""
    held = curve_of(stats.beta(2, 3).cdf, 40).possible
    assert isinstance(held, HeldJumps)
    curve, series = held.curve, held.series
    assert series is not None
    needed, largest = held.needed
    errors = series.errors_of.drawn(len(needed))
    drawn = curve.data.binned(curve.cells) / CELLS + errors[:10]
    assert held.factor(0.95) == pytest.approx(max(np.quantile(needed, 0.95), np.quantile(largest, 0.9)), abs=0.05)
    flags, at = curve.may_jump(drawn), held.places
    assert flags.any()
    assert not flags.all()
    for k, values in enumerate(drawn):
        shares = replace(curve.shares, values=values)
        found = coefficients(series.basis, shares, len(series.found.values)).values[: series.band]
        center = 1 + found @ functions(series.basis, at.reshape(-1), series.band)
        for more, holds in ((0.01, True), (-0.01, False)):
            wide = (needed[k] + more) * series.errors(at.reshape(-1))
            low, high = ((one.reshape(at.shape)) for one in (center - wide, np.maximum(center, 0) + wide))
            least, most = low.copy(), high.copy()
            for edge in np.flatnonzero(flags[k]):
                both = slice(max(0, edge + 1 - held.reach), edge + 1 + held.reach)
                least[:, both] = np.minimum(least[:, both], low[:, both].min())
                most[:, both] = np.maximum(most[:, both], high[:, both].max())
            true = curve.series(at.reshape(-1)).reshape(at.shape)
            assert ((least <= true) & (true <= most)).all() == holds


def test_scores_of_other_shares_are_those_of_a_model_fitted_to_them() -> None:
    """Shares a tenth of a standard error apart: modes found anew leave the scores that one step leaves."""
    edges, n = np.linspace(0, 1, 41), 10_000.0
    shares = np.diff(stats.beta(2, 3).cdf(edges))
    data = BinnedLikelihood(edges, shares, n, np.full(40, 8 / n**2))
    models = [one for one in of_models(data) if isinstance(one.model, LogLinearModel) and len(one.mode.theta) > 4]
    changed = shares + 0.1 * np.sqrt(data.variance(shares)) * np.cos(np.arange(40))
    best = max(one.evidence for one in models)
    likely = [one for one in models if one.evidence >= best - UNLIKELY]
    assert not any(one.steps for one in models)
    for one, score in zip(likely, step_scores(of_models(data), data), strict=True):
        anew = replace(data, values=changed).mode(one.model, one.mode.theta, score.variance)
        # a mode is found to within a gain of 0.001: scores to within its root, twice
        assert np.abs((changed - anew.shares) @ score.contrasts - score.of(changed)).max() < 0.1
        assert np.allclose(score.of(shares), (shares - one.mode.shares) @ score.contrasts)


def test_possible_jumps_are_at_edges_of_bins_that_show_one() -> None:
    edges, n = np.linspace(0, 1, 41), 10_000.0
    shares = np.where(edges[1:] < 0.5 + 1e-9, 0.3, 0.7) / 20
    data = BinnedLikelihood(edges, shares, n, np.full(40, 8 / n**2))
    assert may_jump(step_scores(of_models(data), data), shares)[19]
    even = BinnedLikelihood(edges, np.full(40, 1 / 40), n, data.noise)
    assert not may_jump(step_scores(of_models(even), even), even.values).any()


def test_a_straight_density_is_positive_and_its_slopes_are_derivatives() -> None:
    model = StraightModel()
    for c in (-0.5, 0.8, 1.4):
        theta = np.array([c])
        cells = model.cells(theta)
        assert cells.min() > 0
        assert cells.sum() == pytest.approx(1)
        step = (model.cells(theta + 1e-6) - model.cells(theta - 1e-6)) / 2e-6
        assert np.allclose(model.slopes(theta, cells)[:, 0], step, atol=1e-6)

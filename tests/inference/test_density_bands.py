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
from tacit.estimates.densities.density_models import CELLS
from tacit.estimates.densities.even_pieces import AveragedPieces
from tacit.estimates.densities.log_density import BinnedLikelihood, density_of, of_models, possible_jumps
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


def test_a_band_reaches_both_sides_of_a_jump_within_a_bin_and_is_as_before_elsewhere() -> None:
    """Half of 10,000 rows in a fifth of the range, at ε = 1, whose ends lie within bins; rows and noise are seeded."""
    first, last, bins, n, rng = 0.405, 0.605, 50, 10_000, np.random.default_rng(21)
    shape = shaped(tc.Histogram("x", bins={"x": bins}), SCHEMA, "replace-one", n, Cost.of(epsilon=1))
    edges = np.linspace(0, 1, bins + 1)
    chances = np.diff(0.5 * edges + 0.5 * np.clip((edges - first) / (last - first), 0, 1))
    counts = rng.multinomial(n, chances).astype(np.int64)
    (curve,) = smooth_density(simulated(shape, add_noise(shape, (counts[:, None],), rng)), "x").curves
    at = np.linspace(0, 1, 1_001)
    now, before = (one.limits(at, 0.95, simultaneous=True) for one in (curve, replace(curve, possible=None)))
    assert (now[:, 0] <= before[:, 0]).all()
    assert (now[:, 1] >= before[:, 1]).all()
    # a low and a high side of 0.5 and 3, each more than ten standard errors of a bin from their middle
    for end in (first, last):
        around = np.abs(at - end) < 0.005
        assert now[around, 0].max() < 1.2
        assert now[around, 1].min() > 2.4
    jumps = curve.possible.jumps
    far = ~((at[:, None] >= jumps[:, 0]) & (at[:, None] <= jumps[:, 1])).any(axis=1)
    assert far.any()
    assert (now[far] == before[far]).all()


def test_possible_jumps_are_at_edges_of_bins_that_show_one() -> None:
    edges, n = np.linspace(0, 1, 41), 10_000.0
    shares = np.where(edges[1:] < 0.5 + 1e-9, 0.3, 0.7) / 20
    data = BinnedLikelihood(edges, shares, n, np.full(40, 8 / n**2))
    assert 20 in possible_jumps(of_models(data), data).tolist()
    even = BinnedLikelihood(edges, np.full(40, 1 / 40), n, data.noise)
    assert possible_jumps(of_models(even), even).size == 0


def test_a_straight_density_is_positive_and_its_slopes_are_derivatives() -> None:
    model = StraightModel()
    for c in (-0.5, 0.8, 1.4):
        theta = np.array([c])
        cells = model.cells(theta)
        assert cells.min() > 0
        assert cells.sum() == pytest.approx(1)
        step = (model.cells(theta + 1e-6) - model.cells(theta - 1e-6)) / 2e-6
        assert np.allclose(model.slopes(theta, cells)[:, 0], step, atol=1e-6)

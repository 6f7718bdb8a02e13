"""Densities of penalised likelihood from noisy shares: what is not smoothed away, what is, bins, and their curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.estimates.densities.density_models import (
    CELLS,
    NORMAL,
    DensityModel,
    SquaredProcess,
    families_of,
    functions_of,
    process_of,
    spline,
)
from tacit.estimates.densities.log_density import LAMBDAS, log_density
from tacit.estimates.densities.log_density_curve import LogDensityCurve
from tacit.estimates.densities.series_curve import SeriesCurve
from tacit.estimates.densities.two_hills import TwoHills
from tacit.method.histogram.estimate_densities import density
from tacit.method.histogram.estimate_smooth import smooth_density
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, shaped

EVEN = np.linspace(0, 1, 49)
UNEVEN = np.concatenate([[0], np.sort(stats.beta(1, 2).ppf(np.arange(1, 60) / 60)), [1]])
MIDDLES = (np.arange(CELLS) + 0.5) / CELLS


def releases(law: Any, rows: int, bins: int, many: int, seed: int, **price: Any) -> list[Any]:
    """Simulated releases of histograms of a law on [0, 1]."""
    rng = np.random.default_rng(seed)
    schema = tc.Schema({"x": tc.Real(0, 1, missing=0.0)})
    shape = shaped(tc.Histogram("x", bins=bins), schema, "replace-one", rows, Cost.of(**price))
    chances = np.diff(law.cdf(np.linspace(0, 1, bins + 1)))
    counts = rng.multinomial(rows, chances / chances.sum(), many)
    return [simulated(shape, add_noise(shape, (one[:, None],), rng)) for one in counts]


@pytest.mark.parametrize("edges", [EVEN, UNEVEN])
@pytest.mark.parametrize("law", [stats.beta(2, 5), stats.norm(0.45, 0.08), stats.expon(scale=0.2), stats.beta(0.7, 1)])
def test_normal_exponential_and_beta_laws_are_not_smoothed(law: Any, edges: np.ndarray) -> None:
    whole = np.diff(law.cdf(edges))
    shares, bins = whole / whole.sum(), len(edges) - 1
    found = log_density(edges, shares, 1e7, np.full(bins, 1e-12))
    true = np.diff(law.cdf(np.linspace(0, 1, CELLS + 1))) * CELLS / whole.sum()
    # within the bins at the ends shares do not tell a pole, or a zero
    inner = slice(CELLS // 40, -CELLS // 40)
    assert np.abs(found - true)[inner].max() < 0.02 * true[inner].max()


def test_free_functions_have_no_penalty_and_the_others_theirs() -> None:
    over, free = functions_of(12, 1 / 48, 1 / 48)
    assert over.shape == (CELLS, free + 12)
    assert np.allclose(over.mean(axis=0), 0, atol=1e-9)
    assert np.allclose(over[:, :free].T @ over[:, :free] / CELLS, np.eye(free), atol=1e-9)
    third = np.diff(over, 3, axis=0) * CELLS**2.5
    # the logarithms are free: what is orthogonal to their third differences is penalised
    logs = third[:, 2:free]
    apart = third[:, free:] - logs @ np.linalg.lstsq(logs, third[:, free:], rcond=None)[0]
    assert np.allclose(apart.T @ apart, np.eye(12), atol=1e-3)
    assert (np.diff(LAMBDAS) < 0).all()


def _models() -> list[DensityModel]:
    over, free = functions_of(12, 1 / 48, 1 / 48)
    squared = SquaredProcess(over[:, :free], process_of(12, 0.15))
    families = families_of(1 / 48, 1 / 48)
    return [spline(over, 0.01), squared, *families[1:], TwoHills(families[NORMAL].over, 1 / 192)]


def test_slopes_are_derivatives() -> None:
    rng = np.random.default_rng(2)
    for model in _models():
        theta = rng.normal(0, 0.5, len(model.precision))
        cells = model.cells(theta)
        assert cells.sum() == pytest.approx(1)
        for i, own in enumerate(model.slopes(theta, cells).T):
            step = np.zeros(len(theta))
            step[i] = 1e-6
            apart = (model.cells(theta + step) - model.cells(theta - step)) / 2e-6
            assert np.allclose(apart, own, atol=1e-8)


def test_laws_of_few_parameters_have_few() -> None:
    """Seeds are constants: with four free functions the error of an exponential law is .0009."""
    at, law = (np.arange(1_000) + 0.5) / 1_000, stats.expon(scale=0.2)
    true = law.pdf(at) / law.cdf(1)
    found = releases(law, 10_000, 48, 8, 4, epsilon=1)
    assert np.mean([((smooth_density(one, "x")(at) - true) ** 2).mean() for one in found]) < 0.0005


def test_hills_add_up_without_noise_between_them() -> None:
    """Seeds are constants: of logarithms alone the error is .0015, and .0010 without the model of two hills."""
    at, hills = (np.arange(1_000) + 0.5) / 1_000, (stats.norm(0.3, 0.08), stats.norm(0.7, 0.1))
    true = sum(one.pdf(at) for one in hills) / 2

    class Hills:
        def cdf(self, x: np.ndarray) -> np.ndarray:
            return np.asarray(sum(one.cdf(x) for one in hills)) / 2

    found = releases(Hills(), 10_000, 64, 12, 7, epsilon=1)
    assert np.mean([((smooth_density(one, "x")(at) - true) ** 2).mean() for one in found]) < 0.0009


def test_noise_is_smoothed_and_a_narrow_peak_is_not() -> None:
    """Seeds are constants: mean squared errors beside those of a histogram of any number of bins, as on the page."""
    at = (np.arange(1_000) + 0.5) / 1_000
    beta, peak = stats.beta(2, 5), stats.norm(0.35, 0.03)
    # with noise taken for something the density has the second is .070
    laws = ((beta, 1_000, 1, 0.015), (beta, 1_000, "1/5", 0.055), (beta, 10_000, 1, 0.0012), (peak, 1_000, 1, 0.12))
    for (law, rows, price, most), seed in zip(laws, (0, 3, 1, 2), strict=True):
        errors = []
        for one in releases(law, rows, 48, 12, seed, epsilon=price):
            errors.append(((smooth_density(one, "x")(at) - law.pdf(at)) ** 2).mean())
            assert ((density(one, "x")(at) - law.pdf(at)) ** 2).mean() > errors[-1]
        assert np.mean(errors) < most


def test_rows_at_a_bound_make_no_pole() -> None:
    """Values beyond the bounds are in the first and the last bin: what is there is as even as a histogram says."""
    shares = 0.6 / 48 + np.zeros(48)
    shares[0], shares[-1] = shares[0] + 0.3, shares[-1] + 0.1
    found = log_density(EVEN, shares, 5_000.0, np.full(48, 1e-7))
    for one in (found, found[::-1]):
        assert np.ptp(one[:5]) == 0
    assert found[0] == pytest.approx(48 * shares[0], rel=0.2)


def test_empty_cells_and_noise_beyond_all_counts() -> None:
    for values in (np.eye(48)[7], np.random.default_rng(0).normal(1 / 48, 3, 48), np.full(48, 1 / 48)):
        found = log_density(EVEN, values, 50.0, np.full(48, 9.0))
        assert np.isfinite(found).all()
        assert (found >= 0).all()
        assert found.mean() == pytest.approx(1)


def test_the_curve_has_the_limits_of_a_series_and_its_own_density() -> None:
    (release,) = releases(stats.beta(2, 5), 2_000, 48, 1, 5, epsilon=1)
    found = smooth_density(release, "x")
    series = smooth_density(release, "x", basis=found.basis)
    one, other = found.curves[0].estimate, series.curves[0].estimate
    assert isinstance(one, LogDensityCurve)
    assert isinstance(other, SeriesCurve)
    x = np.linspace(0, 1, 41)
    center = 1 + other.found.values[: other.band] @ _functions(other, x)
    limits, own = found.intervals(x), series.intervals(x)
    assert np.allclose(found(x), np.interp(x, MIDDLES, one.cells), rtol=1e-3)
    # limits are of the series, and hold the estimate
    assert ((limits[:, 0] <= np.maximum(center, 0)) & (center <= limits[:, 1])).all()
    assert ((limits[:, 0] <= found(x)) & (found(x) <= limits[:, 1])).all()
    inside = (own[:, 0] < found(x)) & (found(x) < own[:, 1]) & (own[:, 0] < series(x)) & (series(x) < own[:, 1])
    assert inside.mean() > 0.5
    assert np.allclose(limits[inside], own[inside])
    assert found.cdf(1.0) == 1
    assert "penalised likelihood" in found.notes[0]


def test_tables_and_bases_asked_for_have_the_series() -> None:
    (release,) = releases(stats.beta(2, 5), 2_000, 48, 1, 6, epsilon=1)
    for found in (smooth_density(release, "x", target="table"), smooth_density(release, "x", basis="cosine")):
        assert isinstance(found.curves[0].estimate, SeriesCurve)
        assert "series of" in found.notes[0]


def _functions(curve: SeriesCurve, x: np.ndarray) -> np.ndarray:
    from tacit.rows.series_bases import functions

    return functions(curve.basis, x, curve.band)

"""The law of noise in shares of bins: its density and derivatives, and what it is worth to a density."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.estimates.densities.log_density import BinnedLikelihood, density_of, of_models, of_own_noise
from tacit.estimates.densities.log_density_curve import LogDensityCurve
from tacit.estimates.densities.share_errors import ShareErrors
from tacit.method.histogram.estimate_smooth import smooth_density
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.schema import Real, Schema
from tacit.testing.simulate import add_noise, shaped

DEVIATIONS = [(1.0, 1.0), (0.1, 4.0), (5.0, 4.0), (30.0, 1.0), (3.0, 200.0)]


def _each(deviation: float, scale: float, many: int) -> ShareErrors:
    return ShareErrors(np.full(many, deviation**2), np.full(many, scale))


def _loss(errors: ShareErrors, at: np.ndarray) -> np.ndarray:
    return np.array([ShareErrors(errors.variance[:1], errors.scale[:1]).loss(np.array([x])) for x in at])  # type: ignore[index]


@pytest.mark.parametrize(("deviation", "scale"), DEVIATIONS)
def test_the_density_is_that_of_a_sum_of_a_normal_and_a_laplace_variable(deviation: float, scale: float) -> None:
    whole = np.hypot(deviation, np.sqrt(2) * scale)
    at = np.linspace(-4, 4, 9) * whole
    noise = np.linspace(-14, 14, 400_001) * whole
    chances = stats.laplace.pdf(noise, scale=scale)
    expected = [np.trapezoid(chances * stats.norm.pdf(x - noise, scale=deviation), noise) for x in at]
    assert np.exp(-_loss(_each(deviation, scale, 1), at)) == pytest.approx(expected, rel=1e-3)
    assert _each(deviation, scale, 1).whole == pytest.approx([whole**2])


@pytest.mark.parametrize(("deviation", "scale"), DEVIATIONS)
def test_derivatives_of_losses_are_derivatives(deviation: float, scale: float) -> None:
    at = np.linspace(-6, 6, 41) * np.hypot(deviation, scale)
    errors, step = _each(deviation, scale, len(at)), 1e-4 * deviation
    slope, curvature = errors.derivatives(at)
    between = (_loss(errors, at + step) - _loss(errors, at - step)) / (2 * step)
    assert slope == pytest.approx(between, abs=1e-5 / deviation)
    further = (errors.derivatives(at + step)[0] - errors.derivatives(at - step)[0]) / (2 * step)
    assert curvature == pytest.approx(further, abs=1e-5 / deviation**2)
    assert (curvature >= 0).all()
    # noise pulls by no more than its own slope
    assert (np.abs(slope) <= 1 / scale + 1e-12).all()


def test_noise_that_is_next_to_none_leaves_normal_errors_and_none_warns() -> None:
    at = np.linspace(-8, 8, 33)
    little, normal = ShareErrors(np.ones(33), np.full(33, 1e-9)), ShareErrors(np.ones(33))
    # scales below a hundredth are taken as that: variances are 2e-4 larger
    assert little.loss(at) == pytest.approx(normal.loss(at), rel=1e-3)
    assert little.derivatives(at)[1] == pytest.approx(normal.derivatives(at)[1], rel=1e-3, abs=2e-4)
    far = ShareErrors(np.full(2, 1e-6), np.full(2, 1e3))
    # a Laplace density alone, to all digits
    assert far.loss(np.array([-1e6, 1e6])) == pytest.approx(2 * (1_000 + np.log(2_000)), rel=1e-9)
    assert far.derivatives(np.array([-1e6, 1e6]))[0] == pytest.approx([-1e-3, 1e-3])
    assert normal.below_normal(at) == pytest.approx(0, abs=1e-9)


def _data(law: object, n: int, bins: int, scale: float, seed: int) -> BinnedLikelihood:
    rng, edges = np.random.default_rng(seed), np.linspace(0, 1, bins + 1)
    counts = rng.multinomial(n, np.diff(law.cdf(edges))) + rng.laplace(scale=scale, size=bins)  # type: ignore[attr-defined]
    return BinnedLikelihood(edges, counts / n, float(n), np.full(bins, 2 * scale**2 / n**2), laplace=True)


def test_modes_by_the_law_of_noise_are_nearer() -> None:
    """Seeds are constants: over 24 releases the mean squared error of two far hills is smaller by an eighth."""
    law = stats.norm(0.3, 0.05)

    class Hills:
        def cdf(self, x: np.ndarray) -> np.ndarray:
            return np.asarray(0.75 * law.cdf(x) + 0.25 * stats.norm(0.8, 0.04).cdf(x))

    true = np.diff(Hills().cdf(np.linspace(0, 1, 257))) * 256
    errors = []
    for seed in range(24):
        data = _data(Hills(), 1_000, 40, 8.0, seed)
        models = of_models(data)
        normal = density_of(models, BinnedLikelihood(data.edges, data.values, data.rows, data.noise))
        errors.append([((one - true) ** 2).mean() for one in (normal, density_of(models, data))])
    before, after = np.mean(errors, axis=0)
    assert after < 0.95 * before


def test_either_law_has_the_variance_of_the_noise() -> None:
    data = _data(stats.beta(2, 5), 1_000, 20, 4.0, 8)
    shares = np.maximum(data.values, 0)
    for errors in (data.own(shares), data.normal(shares)):
        assert errors.whole == pytest.approx((shares + 0.0005) / 1_000 + 32 / 1_000**2)


def test_models_keep_their_order_and_normal_noise_leaves_them() -> None:
    data = _data(stats.beta(2, 5), 2_000, 40, 4.0, 3)
    models = of_models(data)
    made = of_own_noise(models, data)
    assert 0 < len(made) <= len(models)
    known = [one.model for one in models]
    at = [next(k for k, model in enumerate(known) if model is one.model) for one in made]
    assert at == sorted(at)
    normal = BinnedLikelihood(data.edges, data.values, data.rows, data.noise)
    assert of_own_noise(models, normal) is models


@pytest.mark.parametrize(("price", "laplace"), [({"epsilon": 1}, True), ({"epsilon": 1, "delta": 1e-6}, False)])
def test_estimates_know_which_law_their_release_has(price: dict[str, float], laplace: bool) -> None:
    rng, schema = np.random.default_rng(5), Schema({"x": Real(0, 1, missing=0.0)})
    shape = shaped(tc.Histogram("x", bins=40), schema, "replace-one", 2_000, Cost.of(**price))
    counts = rng.multinomial(2_000, np.diff(stats.beta(2, 5).cdf(np.linspace(0, 1, 41))))
    found = smooth_density(simulated(shape, add_noise(shape, (counts[:, None],), rng)), "x")
    estimate = found.curves[0].estimate
    assert isinstance(estimate, LogDensityCurve)
    assert estimate.laplace == laplace

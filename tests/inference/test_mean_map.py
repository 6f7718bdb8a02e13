"""Parameters from clamped means: the map and its inverse against closed forms, coverage, errors that are shared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit import families
from tacit.models.mean_map import mean_map

GAMMA = families.Gamma(shape=(0.5, 8), rate=(0.2, 8))
MAPS = [
    (families.Exponential(rate=(0.1, 10)), ((0.0, 1.0),), (2.0,)),
    (GAMMA, ((0.0, 3.0), (-2.0, 1.2)), (2.0, 1.5)),
    (families.Normal(), ((-1.5, 2.0), (0.0, 3.0625)), (0.5, 1.0)),
    (families.Beta(), ((-3.0, 0.0), (-0.8, 0.0)), (2.0, 5.0)),
    (families.Poisson(), ((0.0, 6.0),), (4.0,)),
    (families.Laplace(location=0.5, scale=(0.1, 10)), ((0.0, 2.0),), (1.0,)),
    (families.Lognormal(), ((-1.0, 2.0), (0.0, 2.25)), (0.3, 0.8)),
]


@pytest.mark.sample(4)
@pytest.mark.parametrize(("family", "boxes", "truth"), MAPS, ids=lambda one: type(one).__name__)
def test_the_inverse_finds_what_clamped_means_were_made_of(family: Any, boxes: Any, truth: Any) -> None:
    """Derivatives by differences; the inverse from the middle of the box; a million rows, sixty standard errors in all.

    Ten statistics in all, each within 5.4 standard errors: false alarms below 1e-6 together.
    """
    made = mean_map(family, boxes)
    theta = np.array(truth)
    at = made.at(theta)
    steps = 1e-5 * np.eye(len(theta))
    slope = np.stack([(made.at(theta + h).mean - made.at(theta - h).mean) / 2e-5 for h in steps], axis=1)
    assert np.allclose(slope, at.slope, rtol=1e-6, atol=1e-8)
    assert np.allclose(made.solve(at.mean, np.sqrt(np.diag(at.cov)) / 1e3).theta, theta, rtol=1e-6)
    x = family.sample(truth, 1_000_000, 3)
    for j, (one, own) in enumerate(zip(made.statistics, boxes, strict=True)):
        assert abs(one.values(x, own).mean() - at.mean[j]) < 5.4 * np.sqrt(at.cov[j, j] / 1e6)


def test_clamped_means_in_closed_form() -> None:
    """E min(X, b) = (1 - exp(-b rate)) / rate; a clamped normal by its distribution function."""
    exponential = mean_map(families.Exponential(rate=(0.1, 10)), ((0.0, 1.5),)).at(np.array([0.7]))
    assert np.isclose(exponential.mean[0], (1 - np.exp(-1.05)) / 0.7, rtol=1e-10)
    a, b, law = -1.5, 2.0, stats.norm(0.5, 1)
    inside = law.expect(lambda x: x, lb=a, ub=b) + a * law.cdf(a) + b * law.sf(b)
    normal = mean_map(families.Normal(), ((a, b), (0.0, 3.0625))).at(np.array([0.5, 1.0]))
    assert np.isclose(normal.mean[0], inside, rtol=1e-8)


def test_a_mean_beyond_all_laws_is_met_at_an_end_of_the_box() -> None:
    made = mean_map(families.Poisson(mean=(0.5, 4)), ((0.0, 6.0),))
    assert made.solve(np.array([6.0]), np.ones(1)).theta[0] == pytest.approx(4)
    two = mean_map(GAMMA, ((0.0, 3.0), (-2.0, 1.2)))
    found = two.solve(np.array([3.0, -2.0]), np.array([0.1, 0.1])).theta
    assert ((GAMMA.lower <= found) & (found <= GAMMA.upper)).all()


@pytest.mark.long
@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("family", "column", "bounds", "truth", "price"),
    [
        (families.Exponential(rate=(0.1, 10)), tc.Real(0, 2), {}, (1.0,), {"epsilon": 1}),
        (families.Normal(mean=(-5, 5), sd=(0.2, 5)), tc.Real(-1.5, 2), {}, (0.5, 1.0), {"rho": 0.05}),
    ],
    ids=["exponential", "normal"],
)
def test_intervals_cover(family: Any, column: Any, bounds: Any, truth: Any, price: Any) -> None:
    """Of 80 tables, 13% of the rows clamped; binom.ppf(1e-7, 80, .94) cover at least (published: 2,000 a line)."""
    found = tc.testing.coverage(
        tc.SufficientStatistics("x", family, bounds=bounds),
        lambda rng: {"x": family.sample(truth, 1_000, rng)},
        truth,
        schema=tc.Schema({"x": column}),
        repeats=80,
        **price,
    )
    assert (found.coverage * 80 >= stats.binom.ppf(1e-7, 80, 0.94)).all()
    assert (np.abs(found.bias) < 5.5 * found.bias_error + 0.1 * found.std_deviation).all()
    assert (np.abs(found.ratio - 1) < 5.5 / np.sqrt(2 * 80)).all()


def test_clamping_that_is_ignored_would_be_a_bias() -> None:
    """The same mean without the map: a rate too large by a fifth; the power of the coverage test."""
    x = np.random.default_rng(0).exponential(1, 200_000)
    naive = 1 / np.clip(x, 0, 2).mean()
    curator = tc.Curator({"x": x}, tc.Schema({"x": tc.Real(0, 2)}), budget=tc.Budget(epsilon=1))
    query = tc.SufficientStatistics("x", families.Exponential(rate=(0.1, 10)))
    found = curator.release(query, epsilon=1).estimate()
    assert naive > 1.13
    assert abs(found.value - 1) < 5.5 * found.std_error
    assert found.std_error < 0.01


def test_parameters_of_one_fit_share_their_errors() -> None:
    """Contrasts have the joint covariance, sampling and noise; it is that of the delta method."""
    x = GAMMA.sample((2.0, 1.5), 5_000, 0)
    curator = tc.Curator({"x": x}, tc.Schema({"x": tc.Real(0, 3)}), budget=tc.Budget(rho=1))
    release = curator.release(tc.SufficientStatistics("x", GAMMA, bounds={"log(x)": (-2, 1.2)}), rho=0.01)
    found = release.estimate()
    cov = found.cov.to_numpy()
    assert np.allclose(cov, found.sampling_cov.to_numpy() + found.privacy_cov.to_numpy())
    off = found.contrast("shape - rate")
    assert off.std_error**2 == pytest.approx(cov[0, 0] + cov[1, 1] - 2 * cov[0, 1])
    assert off.privacy_variances[0] == pytest.approx(np.array([1, -1]) @ found.privacy_cov.to_numpy() @ [1, -1])
    assert 0 < found.test("shape = 2, rate = 1.5").p_value <= 1
    low, high = found.intervals().T
    assert ((low < found.values) & (found.values < high) & (low > 0)).all()
    table = release.estimate("table")
    assert not table.sampling_variances.any()
    assert np.allclose(table.privacy_cov, found.privacy_cov)


def test_rows_that_vary_otherwise_than_the_family_says_are_told_of() -> None:
    """Second moments are free: counts five times as spread as Poisson's have their own standard error, and a note."""
    rng = np.random.default_rng(0)
    x = rng.poisson(rng.gamma(1, 4, 20_000))
    curator = tc.Curator({"x": x}, tc.Schema({"x": tc.Integer(0, 60)}), budget=tc.Budget(epsilon=1))
    found = curator.release(tc.SufficientStatistics("x", families.Poisson(mean=(0.5, 20))), epsilon=1).estimate()
    assert any("times as much as the family says" in note for note in found.notes)
    assert found.std_error == pytest.approx(np.sqrt(20 / 20_000), rel=0.1)


def test_a_plan_promises_about_what_a_release_has() -> None:
    """Rows of the family at the middle of its box."""
    schema = tc.Schema({"x": tc.Real(0, 3)})
    query = tc.SufficientStatistics("x", GAMMA, bounds={"log(x)": (-2, 1.2)})
    page = tc.plan(query, schema, rows=10_000, epsilon=1)
    x = GAMMA.sample(GAMMA.fallback, 10_000, 0)
    limits = tc.Curator({"x": x}, schema, budget=tc.Budget(epsilon=1)).release(query, epsilon=1).estimate().intervals()
    assert (limits[:, 1] - limits[:, 0]).max() == pytest.approx(page.width, rel=0.1)
    assert any("in the middle of its box" in one for one in page.cautions())

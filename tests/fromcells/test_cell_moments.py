"""Moments and correlations from cells: those of the rows where there is no noise, covering where there is."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_releases import LEAST, many, one
from scipy.stats import beta, multivariate_normal

import tacit as tc
from tacit.errors import InferenceError
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Error
from tacit.method.histogram.estimate_from_cells.cell_moments import moments
from tacit.method.histogram.estimate_from_cells.correlation import correlation
from tacit.method.histogram.estimate_from_cells.derived_numbers import TransformedDelta

UNIT = {"x": tc.Real(0, 1, missing=0)}
TWO = {"x": tc.Real(0, 1), "y": tc.Real(0, 1)}


def counted(*columns: np.ndarray, bins: int) -> np.ndarray:
    return np.histogramdd(np.stack(columns, axis=1), bins=bins, range=[(0, 1)] * len(columns))[0].astype(int)


def test_moments_are_those_of_the_rows() -> None:
    """Within 0.3 of h**2 / 12 = 8.3e-4, by which the variance of midpoints is off."""
    x = beta(2, 2).ppf((np.arange(20_000) + 0.5) / 20_000)
    found = moments(one(UNIT, {"x": 10}, counted(x, bins=10)), "x")
    assert np.abs(found.values - [x.mean(), x.var(), x.std()]) == pytest.approx(0, abs=0.3 * 8.3e-4)
    # narrower bins, of which nothing is hidden: errors are those of sampling
    found = moments(one(UNIT, {"x": 20}, counted(x, bins=20)), "x")
    assert found.std_errors[0] == pytest.approx(x.std() / np.sqrt(20_000), rel=0.02)
    fourth = ((x - x.mean()) ** 4).mean()
    assert found.std_errors[1] == pytest.approx(np.sqrt((fourth - x.var() ** 2) / 20_000), rel=0.1)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("law", "n", "epsilon", "neighbors"),
    [
        (beta(2, 2), 1_000, 0.3, "replace-one"),
        (beta(1, 1), 100_000, 0.02, "replace-one"),
        (beta(1, 3), 20_000, 1, "add-remove"),
    ],
)
def test_intervals_of_moments_cover(law, n: int, epsilon: float, neighbors: str) -> None:  # type: ignore[no-untyped-def]
    p = np.diff(law.cdf(np.linspace(0, 1, 21)))
    truth = np.array([law.mean(), law.var(), law.std()])
    held = np.zeros(3)
    for release in many(UNIT, {"x": 20}, p, n, epsilon, neighbors=neighbors):
        ends = moments(release, "x").intervals()
        held += (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    assert (held >= LEAST).all(), held


def test_moments_of_groups_and_levels() -> None:
    columns = {"k": tc.Integer(0, 3), "g": tc.Category(["a", "b"])}
    release = one(columns, {}, [[300, 100], [200, 200], [100, 300], [0, 400]])
    found = moments(release, "k", by="g")
    assert found.terms[0] == "a:mean"
    assert found.value["a:mean"] == pytest.approx(400 / 600)
    assert found.value["b:mean"] == pytest.approx(2.0)
    assert found.value["b:variance"] == pytest.approx(1.0)
    assert abs(found.cov.loc["a:mean", "b:mean"]) < 1e-12
    alone = moments(release, "k", by="g", target="table")
    assert alone.std_errors == pytest.approx(0, abs=1e-6)


def rows(n: int, seed: int = 1) -> np.ndarray:
    z = np.random.default_rng(seed).multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], n)
    return np.clip((z + 3) / 6, 0, 1)


def test_a_correlation_is_that_of_the_rows() -> None:
    """Less than a tenth of the error without the correction for 8 bins (0.57 against 0.60)."""
    xy = rows(50_000)
    found = correlation(one(TWO, {"x": 8, "y": 8}, counted(*xy.T, bins=8)), ["x", "y"])
    truth = np.corrcoef(xy.T)[0, 1]
    middle = (np.floor(np.minimum(xy, 0.999) * 8) + 0.5) / 8
    assert abs(found.value - truth) < abs(np.corrcoef(middle.T)[0, 1] - truth) / 10
    assert found.std_error == pytest.approx((1 - truth**2) / np.sqrt(50_000), rel=0.1)  # of normal columns
    assert found.matrix().loc["y", "x"] == found.value
    assert found.matrix("upper").loc["x", "x"] == 1.0


@pytest.mark.long
@pytest.mark.sample(3)
@pytest.mark.parametrize(("r", "n", "epsilon"), [(0.5, 5_000, 1), (0.5, 50_000, 0.1), (0.95, 10_000, 0.5)])
def test_intervals_of_correlations_cover(r: float, n: int, epsilon: float) -> None:
    """Noise near a correlation of 1 does not shrink as sampling does: there Fisher's scale would cover 90%."""
    z = (np.arange(320) + 0.5) / 320 * 6 - 3
    w = multivariate_normal([0, 0], [[1, r], [r, 1]]).pdf(np.stack(np.meshgrid(z, z), axis=-1))
    w /= w.sum()
    truth = float(z @ w @ z / (w.sum(axis=1) @ z**2))
    p = w.reshape(20, 16, 20, 16).sum(axis=(1, 3))
    held = 0
    for release in many(TWO, {"x": 20, "y": 20}, p, n, epsilon):
        low, high = correlation(release, ["x", "y"]).conf_int()
        held += low <= truth <= high
    assert held >= LEAST


def test_noise_alone_has_no_correlation() -> None:
    found = correlation(one(TWO, {"x": 20, "y": 20}, np.ones((20, 20)), 0.02), ["x", "y"])
    assert found.reasons[0]
    assert found.conf_int() == (-1.0, 1.0)
    assert found.std_error == 1.0


def test_what_moments_and_correlations_refuse() -> None:
    release = one({"x": tc.Real(0, 1), "g": tc.Category(["a", "b"])}, {"x": 3}, [[10, 20]] * 3)
    for code, ask in {
        "I50": [lambda: moments(release, "g"), lambda: correlation(release, ["x"]), lambda: correlation(release, "xg")],
        "I41": [lambda: moments(release, "y")],
        "I51": [lambda: correlation(one(TWO, {"x": 3, "y": 3}, np.ones((3, 3)) * 9), ["x", "y"]).matrix("p")],
    }.items():
        for one_ask in ask:
            with pytest.raises(InferenceError) as refused:
                one_ask()
            assert refused.value.code == code


def test_limits_are_in_order_and_within_the_bounds_wherever_the_number_is() -> None:
    """Of a mean of income that noise takes below 0, or above its bound: both limits are at the bound."""
    values = np.array([-50.0, 5.0, 150.0])
    error = Error(np.full(3, 1.0), np.zeros((3, 1)), np.ones(1))
    made = TransformedDelta(values, error, ("plain",) * 3, np.zeros(3), np.full(3, 100.0), (False,) * 3)
    low, high = made.interval(0.95)
    assert (low <= high).all()
    assert (low[0], high[0], low[2], high[2]) == (0, 0, 100, 100)
    assert low[1] == pytest.approx(5 - 1.96, abs=0.01)

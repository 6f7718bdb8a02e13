"""Simultaneous intervals of jointly normal estimates: the factor against exact laws, and how it is applied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.estimates.normal_estimate import NormalEstimate, Scale
from tacit.estimates.total_errors.simultaneous import simultaneous_factor
from tacit.testing.simulate import simulate


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_the_factor_is_the_quantile_of_the_largest_error(level: float) -> None:
    """Of 65,536 seeded draws, the exact probability at the factor is within 6 of their standard errors: 2e-9."""
    near = 6 * np.sqrt(level * (1 - level) / 2**16)
    for correlation in (0.0, 0.5, -0.9):
        covariance = np.array([[4.0, 2 * correlation], [2 * correlation, 1.0]])
        q = simultaneous_factor(covariance, level)
        law = stats.multivariate_normal(cov=[[1, correlation], [correlation, 1]])
        corners = [law.cdf([a, b]) * a * b / q**2 for a in (-q, q) for b in (-q, q)]
        assert sum(corners) == pytest.approx(level, abs=near)
        assert simultaneous_factor(covariance, level) == q
    one = stats.norm.ppf(0.5 + level / 2)
    # one term, no term, a term without error, and terms that are all one another's multiples
    assert simultaneous_factor(np.array([[9.0]]), level) == pytest.approx(one)
    assert simultaneous_factor(np.zeros((0, 0)), level) == pytest.approx(one)
    assert simultaneous_factor(np.diag([2.0, 0.0]), level) == pytest.approx(one)
    row = np.array([1.0, -2.0, 3.0])
    assert simultaneous_factor(np.outer(row, row), level) == pytest.approx(one, rel=0.02)
    # independent errors need the most of all [Sidak 1967]
    most = stats.norm.ppf(0.5 + level ** (1 / 40) / 2)
    rng = np.random.default_rng(2)
    root = rng.normal(size=(40, 6))
    assert one < simultaneous_factor(root @ root.T, level) < most
    assert simultaneous_factor(np.eye(40), level) == pytest.approx(most, rel=0.02)


def made(reasons: tuple[str | None, ...] = (None, None, None), scale: Scale | None = None) -> NormalEstimate:
    release: Any = simulate(
        tc.Mean("x"), {"x": np.arange(9.0)}, tc.Schema({"x": tc.Real(0, 9)}), rho=1, repeats=1
    ).release(0)
    sampling, privacy = np.diag([1.0, 4.0, 9.0]), np.full((3, 3), 0.5)
    values = np.array([1.0, 2.0, 3.0])
    return NormalEstimate(release, "", "", ("a", "b", "c"), values, sampling, privacy, reasons, scale=scale)


def test_the_factor_widens_every_interval_alike() -> None:
    one = made()
    q = simultaneous_factor(one.sampling + one.privacy, 0.9)
    limits = one.intervals(0.9, simultaneous=True)
    assert limits == pytest.approx(np.stack([one.values - q * one.std_errors, one.values + q * one.std_errors], 1))
    frame = one.to_frame(0.9, simultaneous=True)
    assert frame[["lower", "upper"]].to_numpy() == pytest.approx(limits)
    assert one.conf_int(0.9, simultaneous=True).to_numpy() == pytest.approx(limits)
    assert one["a"].conf_int(0.9, simultaneous=True) == one["a"].conf_int(0.9)
    # a term with a reason has no part in it
    other = made((None, "too few", None))
    kept = simultaneous_factor((one.sampling + one.privacy)[np.ix_([0, 2], [0, 2])], 0.9)
    limits = other.intervals(0.9, simultaneous=True)
    assert limits[1].tolist() == [-np.inf, np.inf]
    assert limits[2, 1] == pytest.approx(3 + kept * one.std_errors[2])
    # limits are formed on the scale of the predictor
    bent = made(scale=Scale(np.zeros(3), np.ones(3), np.exp))
    assert bent.intervals(0.9, simultaneous=True)[0] == pytest.approx([np.exp(-q), np.exp(q)])


@pytest.fixture(scope="module")
def model() -> Any:
    rng = np.random.default_rng(0)
    data = {"x": rng.uniform(0, 4, 5_000), "s": rng.choice(["f", "m"], 5_000)}
    data["y"] = 1 + data["x"] + rng.normal(0, 1, 5_000)
    schema = tc.Schema({"x": tc.Real(0, 4), "s": tc.Category(["f", "m"]), "y": tc.Real(-4, 9)})
    return tc.Curator(data, schema, budget=tc.Budget(rho=9)).release(tc.Regression("y ~ x + s"), rho=1).estimate()


def test_models_have_bands(model: Any) -> None:
    wide, narrow = (model.conf_int(simultaneous=one).to_numpy() for one in (True, False))
    assert (wide[:, 1] > narrow[:, 1] + 0.1 * model.std_errors).all()
    assert model.to_frame(simultaneous=True)["upper"].to_numpy() == pytest.approx(wide[:, 1])
    shown = model.summary(simultaneous=True)
    assert "95% simultaneous interval" in shown.columns
    assert "95% interval" in model.summary().columns
    assert shown.rows != model.summary().rows
    assert model["x"].summary(simultaneous=True).rows == model["x"].summary().rows  # of one term
    pytest.importorskip("matplotlib")
    band, line = (model.curve("x", simultaneous=one) for one in (True, False))
    assert (np.array(band.upper) > np.array(line.upper)).all()
    assert "95% simultaneous band" in [text.get_text() for text in band.axes.get_legend().get_texts()]
    # a line has two dimensions: no band of it is wider than Scheffe's
    half = (np.array(band.upper) - np.array(band.lower)) / (np.array(line.upper) - np.array(line.lower))
    assert half == pytest.approx(half[0])
    assert 1.1 < half[0] < np.sqrt(stats.chi2.ppf(0.95, 2)) / 1.959964

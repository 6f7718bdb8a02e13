"""Logistic and probit regressions: coverage with both errors, maximum likelihood, reasons, predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, ndtr

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.errors import InferenceError
from tacit.fits.effects import marginal_effects
from tacit.method.regression.bounded_scores.links import link
from tacit.method.regression.bounded_scores.normal_regressors import glm_coefficients, regressors_from_sums
from tacit.method.regression.estimate import fit_release
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import RegressionRows, rows_of

SCHEMA = tc.Schema(
    {
        "x": tc.Real(-1, 1, missing=0),
        "m": tc.Boolean(missing=False),
        "y": tc.Boolean(missing=False),
        "p": tc.Boolean(missing=False),
        "k": tc.Integer(0, 40, missing=0),
    }
)
QUERIES = {
    "logistic": tc.Regression("y ~ x + m", model="logistic"),
    "probit": tc.Regression("p ~ x + m", model="probit"),
    "poisson": tc.Regression("k ~ x + m", model="poisson"),
}
TRUTH = np.array([0.5, 1.5, -0.5])


def draw(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    x, m = rng.uniform(-1, 1, n), rng.random(n) < 0.5
    eta = TRUTH[0] + TRUTH[1] * x + TRUTH[2] * m
    y, p = rng.random(n) < expit(eta), rng.random(n) < ndtr(eta)
    return {"x": x, "m": m, "y": y, "p": p, "k": np.minimum(rng.poisson(np.exp(eta)), 40)}


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("model", "neighbors"), [("logistic", "replace-one"), ("probit", "add-remove"), ("poisson", "replace-one")]
)
def test_intervals_cover_with_both_errors(model: str, neighbors: str) -> None:
    """Three coefficients in 60 tables of 1,500 rows.

    Where 95 % of intervals cover, fewer than 45 of 60 do with probability 3e-8 (binomial).
    """
    rng = np.random.default_rng(21)
    query = QUERIES[model]
    rows = 1_500 if neighbors == "replace-one" else None
    shape = design(query, Public(SCHEMA, neighbors, rows), Cost.of(epsilon=3, delta="0.000001"))
    held, share, width = np.zeros(3), [], []
    for _ in range(60):
        base = rows_of(query, draw(rng, 1_500), SCHEMA, Cost.of(rho=1))
        found = RegressionRows(shape, base.layout, base.z, 1_500).fit(rng)
        assert found.reasons == (None,) * 3
        held += np.abs(found.values - TRUTH) <= 1.96 * found.std_errors
        share.append(np.diag(found.cov_privacy) / found.std_errors**2)
        width.append(found.std_errors / base.ordinary()[1])
    assert held.min() >= 45, held
    assert 0.05 < np.mean(share) < 0.65
    assert np.mean(width) < 1.4


@pytest.mark.parametrize("model", ["logistic", "probit"])
def test_with_little_noise_it_is_maximum_likelihood(model: str) -> None:
    """A cut that is wide (the price is large) loses little: the coefficients and standard errors of statsmodels."""
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(22)
    data = draw(rng, 30_000)
    rows = rows_of(QUERIES[model], data, SCHEMA, Cost.of(rho=900))
    found = rows.fit(rng)
    response = {"logistic": "y", "probit": "p"}[model]
    X = np.stack([np.ones(30_000), data["x"], data["m"]], axis=1)
    kinds = {"logistic": sm.Logit, "probit": sm.Probit}
    theirs = kinds[model](data[response].astype(float), X).fit(disp=0)
    assert found.values == pytest.approx(theirs.params, abs=0.25 * theirs.bse.max())
    assert found.std_errors == pytest.approx(theirs.bse, rel=0.08)
    values, errors = rows.ordinary()
    assert values == pytest.approx(theirs.params, abs=0.05 * theirs.bse.max())  # x is on a grid of 1 / 1024
    assert errors == pytest.approx(theirs.bse, rel=0.01)


def test_reasons_instead_of_numbers() -> None:
    rng = np.random.default_rng(24)
    cases: list[tuple[str, int, Any, str]] = [
        ("0.003", 400, "replace-one", "noise moves"),
        ("0.0001", 50, "add-remove", "complete rows"),
    ]
    for rho, rows, relation, words in cases:
        found = rows_of(QUERIES["logistic"], draw(rng, rows), SCHEMA, Cost.of(rho=rho), relation).fit(rng)
        assert all(words in (reason or "") for reason in found.reasons), found.reasons
        assert np.isnan(found.values).all()
    data = draw(rng, 5_000)
    data["y"] = data["x"] > 0.1  # separated
    found = rows_of(QUERIES["logistic"], data, SCHEMA, Cost.of(rho=5)).fit(rng)
    assert all(reason is not None for reason in found.reasons)


def test_predictions_stay_within_the_response_and_tests_know_columns() -> None:
    rng = np.random.default_rng(25)
    curator = tc.Curator(draw(rng, 8_000), SCHEMA, budget=tc.Budget(rho=9))
    model = curator.release(QUERIES["logistic"], rho=1).estimate()
    rows = {"x": [-1.0, 0.0, 1.0], "m": [True, False, False]}
    found = model.predict(rows)
    limits = found.intervals(1 - 1e-7)
    truth = expit(TRUTH[0] + TRUTH[1] * np.array(rows["x"]) + TRUTH[2] * np.array(rows["m"]))
    assert ((limits[:, 0] < truth) & (truth < limits[:, 1])).all()
    assert (limits > 0).all()
    assert (limits < 1).all()
    line = model.predict(rows, scale="link")
    assert expit(line.values) == pytest.approx(found.values)
    assert model.test(column="x").p_value < 1e-6
    assert model.test("x = 1.5").p_value > 1e-6
    linear = curator.release(tc.Regression("k ~ x + m"), rho=1).estimate()
    assert linear.predict({"x": [0.0], "m": [False]}).values[0] == pytest.approx(linear.values[0])
    for bad in ({"x": [0.0]}, {"x": ["a"], "m": [True]}, {"x": [0.0], "m": [7]}):
        with pytest.raises(InferenceError) as refused:
            model.predict(bad)
        assert refused.value.code == "I42"


@pytest.mark.long
@pytest.mark.sample(4)
@pytest.mark.parametrize("model", ["logistic", "probit", "poisson"])
def test_average_marginal_effects_cover(model: str) -> None:
    """In 50 tables of 4,000 rows; where 95 % of intervals cover, fewer than 36 of 50 do with probability 7e-8."""
    rng = np.random.default_rng(27)
    grid = np.linspace(-1, 1, 2_001)
    eta = np.stack([TRUTH[0] + TRUTH[1] * grid + TRUTH[2] * m for m in (0, 1)])
    slope = {"logistic": expit(eta) * expit(-eta), "probit": np.exp(-(eta**2) / 2) / np.sqrt(2 * np.pi)}
    truth = TRUTH[1] * float(slope.get(model, np.exp(eta)).mean())
    shape = design(QUERIES[model], Public(SCHEMA, "replace-one", 4_000), Cost.of(rho="0.15"))
    held = 0
    for _ in range(50):
        base = rows_of(QUERIES[model], draw(rng, 4_000), SCHEMA, Cost.of(rho=1))
        found = marginal_effects(RegressionRows(shape, base.layout, base.z, 4_000).fit(rng))
        assert found.names == ("x",)
        held += abs(found.values[0] - truth) <= 1.96 * found.std_errors[0]
    assert held >= 36, held


def test_average_marginal_effects_that_a_release_does_not_tell() -> None:
    """Of levels, powers and interactions; a linear model's are its coefficients."""
    rng = np.random.default_rng(28)
    curator = tc.Curator(draw(rng, 8_000), SCHEMA, budget=tc.Budget(rho=9))
    linear = curator.release(tc.Regression("k ~ x + m"), rho=1).estimate()
    found = linear.marginal_effects()
    assert found.terms == ("x",)
    assert (found.value, found.std_error) == pytest.approx((linear.value["x"], linear.std_error["x"]))
    assert "m" in found.notes[0]
    squared = curator.release(tc.Regression("y ~ x*m", model="logistic"), rho=2).estimate()
    with pytest.raises(InferenceError) as refused:
        squared.marginal_effects()
    assert refused.value.code == "I80"


def test_counts_that_vary_more_than_the_law_are_met_by_another_law() -> None:
    """Variance eight times the mean, of which bounds of 40 clamp little."""
    rng = np.random.default_rng(29)
    data = draw(rng, 8_000)
    data["k"] = np.minimum(rng.poisson(data["k"] * rng.gamma(0.2, 5, 8_000)), 40)
    release = rows_of(QUERIES["poisson"], data, SCHEMA, Cost.of(rho=1)).release(rng)
    found = fit_release(release)
    assert release.parts[-1].parameters["spread"] > 0
    assert found.reasons[0] is None


def test_a_plan_of_each_model_says_how_wide() -> None:
    for model, query in QUERIES.items():
        good = tc.plan(query, SCHEMA, rows=20_000, rho=0.5)
        assert 1 < good.width / good.width_without_privacy < 1.6, model
        assert tc.plan(query, SCHEMA, rows=100, rho=0.001).width == np.inf


def test_normal_regressors_have_their_own_coefficients_as_the_pilot() -> None:
    """Moments of a million normal rows, and least squares of a logistic response: within 5 standard errors, 0.02."""
    rng = np.random.default_rng(26)
    n, b = 1_000_000, np.array([0.4, 1.2, -0.6])
    X = np.concatenate([np.ones((n, 1)), rng.multivariate_normal([0.2, -0.1], [[1, 0.3], [0.3, 0.5]], n)], axis=1)
    y = rng.random(n) < expit(X @ b)
    slopes: Any = np.linalg.lstsq(X, y.astype(float), rcond=None)[0]
    found = regressors_from_sums(float(n), X.sum(axis=0), X.T @ X, 1e-6, np.eye(3)[0], float(y.mean()))
    assert glm_coefficients(link("logistic"), found, float(y.mean()), slopes * [0, 1, 1]) == pytest.approx(b, abs=0.02)

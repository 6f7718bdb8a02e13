"""Regressions of persons: coverage with both errors, cluster-robust ones of others, bounds where noise hides much."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, ndtr

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.fits.effects import marginal_effects
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.estimate_coefficients.variance_between_persons import shrunk_to_bound
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import RegressionRows, rows_of

SCHEMA = tc.Schema(
    {
        "who": tc.PrivacyUnit(12),
        "x": tc.Real(-1, 1, missing=0),
        "w": tc.Real(-3, 3, missing=0),
        "y": tc.Real(-4, 5, missing=0),
        "q": tc.Boolean(missing=False),
    }
)
QUERIES = {"linear": tc.Regression("y ~ x + w"), "logistic": tc.Regression("q ~ x + w", model="logistic")}
TRUTH = np.array([0.3, 1.0, -0.5])


def draw(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """Intraclass correlation 0.3; x of the row, w of the person; those with large effects have more rows, up to 12."""
    effect = rng.normal(0, 1, n)
    who = np.repeat(np.arange(n), 1 + np.minimum(rng.poisson(2.4 * np.exp(0.4 * effect)), 11))
    x, w = rng.uniform(-1, 1, len(who)), np.clip(rng.normal(0, 1, n), -3, 3)[who]
    error = math.sqrt(0.3) * effect[who] + math.sqrt(0.7) * rng.normal(0, 1, len(who))
    eta = TRUTH[0] + TRUTH[1] * x + TRUTH[2] * w
    return {"who": who, "x": x, "w": w, "y": eta + 0.7 * error, "q": ndtr(error) < expit(eta)}


def released(model: str, n: int, price: Cost, rng: np.random.Generator) -> RegressionRows:
    return rows_of(QUERIES[model], draw(rng, n), SCHEMA, price)


@pytest.mark.sample(2)
@pytest.mark.parametrize("model", ["linear", "logistic"])
def test_intervals_of_persons_cover_with_both_errors(model: str) -> None:
    """Three coefficients in 100 tables of 3,000 persons.

    Where 95 % of intervals cover, fewer than 79 of 100 do with probability 4e-9 (binomial), 3e-8 for all six.  Rows
    taken for people miss the intercept, which is that of persons, in nearly every table.
    """
    rng = np.random.default_rng(31)
    held, naive = np.zeros(3), 0
    for i in range(100):
        rows = released(model, 3_000, Cost.of(epsilon=3, delta="0.000001"), rng)
        found = rows.fit(rng)
        assert found.reasons == (None,) * 3
        held += np.abs(found.values - TRUTH) <= 1.96 * found.std_errors
        if i < 10:
            values, errors = RegressionRows(rows.shape, rows.layout, rows.z, rows.size).ordinary()
            naive += abs(values[0] - TRUTH[0]) <= 1.96 * errors[0]
    assert held.min() >= 79, held
    assert naive < 5


@pytest.mark.parametrize("model", ["linear", "logistic"])
def test_with_little_noise_errors_are_cluster_robust(model: str) -> None:
    """Coefficients and standard errors of statsmodels: weights 1 / rows of the person, clusters the persons."""
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(32)
    data = draw(rng, 20_000)
    rows = rows_of(QUERIES[model], data, SCHEMA, Cost.of(rho=900))
    found = rows.fit(rng)
    X = np.column_stack([np.ones(len(data["x"])), data["x"], data["w"]])
    y = data["y" if model == "linear" else "q"].astype(float)
    weights, clusters = 1 / np.bincount(data["who"])[data["who"]], {"groups": data["who"]}
    if model == "linear":
        theirs = sm.WLS(y, X, weights=weights).fit(cov_type="cluster", cov_kwds=clusters)
    else:
        family = sm.families.Binomial()
        theirs = sm.GLM(y, X, family=family, var_weights=weights).fit(cov_type="cluster", cov_kwds=clusters)
    assert found.values == pytest.approx(theirs.params, abs=0.25 * theirs.bse.max())
    assert found.std_errors == pytest.approx(theirs.bse, rel=0.06)
    values, errors = rows.ordinary()
    assert values == pytest.approx(theirs.params, abs=0.05 * theirs.bse.max())  # x is on a grid of 1 / 1024
    assert errors == pytest.approx(theirs.bse, rel=0.01)
    assert "between persons" in " ".join(found.notes)
    assert "Noise hides" not in " ".join(found.notes)


def test_where_noise_hides_how_alike_rows_are_errors_are_those_of_a_bound() -> None:
    """Nearly those of persons all of whose rows say the same, and never the smaller ones of rows as people."""
    rng = np.random.default_rng(33)
    rows = released("linear", 3_000, Cost.of(epsilon=1, delta="0.000001"), rng)
    # with what rows far out may say errors are larger
    found = fit_release(rows.release(rng), linear=True)
    assert "Noise hides how alike a person's rows are" in " ".join(found.notes)
    same = 0.7 * np.sqrt(np.diag(np.linalg.inv(np.diag([1, 1 / 3, 1.0]))) / 3_000)
    assert (np.sqrt(np.diag(found.cov_sampling)) > 0.8 * same).all()
    assert (np.sqrt(np.diag(found.cov_sampling)) < 1.6 * same).all()


def test_leaning_leaves_no_rough_variance_and_none_that_is_calm() -> None:
    """A matrix of three, noise of standard deviation sd in each entry: rough ones go towards the bound as far as the
    noise left is a share of what is said, calm ones not at all."""
    rng, bound, true = np.random.default_rng(34), np.diag([100.0, 50.0, 80.0]), np.diag([40.0, 25.0, 20.0])
    pairs = [(j, k) for k in range(3) for j in range(k + 1)]
    patterns = np.zeros((6, 3, 3))
    for e, (j, k) in enumerate(pairs):
        patterns[e, j, k] = patterns[e, k, j] = 1.0
    for sd, low, high in ((2.0, 1.0, 1.0), (30.0, 0.2, 0.8), (3_000.0, 0.0, 0.02)):
        weights, shown = [], []
        for _ in range(200):
            noise = np.einsum("e,eij->ij", rng.normal(0, sd, 6), patterns)
            made, weight = shrunk_to_bound(NoisyMatrix(true + noise, patterns, np.full(6, sd**2)), bound, np.eye(3))
            assert np.linalg.eigvalsh(made)[0] > 0
            weights.append(weight)
            shown.append(np.diag(made))
        assert low <= np.mean(weights) <= high
        assert (np.mean(shown, axis=0) > 0.97 * np.diag(true)).all()  # 200 means: off by 2.3 of 25 at 6 errors, sd 30


@pytest.mark.long
def test_average_marginal_effects_of_persons_cover() -> None:
    """In 50 tables of 4,000 persons; where 95 % of intervals cover, fewer than 36 of 50 do with probability 2e-8."""
    rng = np.random.default_rng(35)
    x, w = np.linspace(-1, 1, 401)[:, None], np.clip(rng.normal(0, 1, 20_000), -3, 3)
    eta = TRUTH[0] + TRUTH[1] * x + TRUTH[2] * w
    truth = TRUTH[1:] * float((expit(eta) * expit(-eta)).mean())
    shape = design(QUERIES["logistic"], Public(SCHEMA, "replace-one", 4_000), Cost.of(rho="0.15"))
    held: Any = np.zeros(2)
    for _ in range(50):
        base = released("logistic", 4_000, Cost.of(rho=1), rng)
        found = marginal_effects(RegressionRows(shape, base.layout, base.z, 4_000, base.who).fit(rng))
        assert found.names == ("x", "w")
        held += np.abs(found.values - truth) <= 1.96 * found.std_errors
    assert held.min() >= 36, held


def test_too_few_persons_is_a_reason_that_names_them() -> None:
    rng = np.random.default_rng(36)
    for model in QUERIES:
        found = released(model, 60, Cost.of(rho="0.0005"), rng).fit(rng)
        assert all("persons" in (reason or "") and "rows" not in (reason or "") for reason in found.reasons)
        assert np.isnan(found.std_errors).all()

"""Logistic, probit and Poisson regressions of norm-clipped rows: what is read, coverage, strange tables."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import special

import tacit as tc
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.estimate_coefficients.score_step import last_step
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.pilots.glm_pilot import link_of, regressor_moments
from tacit.method.regression.row_sums.noisy_norm_scores import norm_first, norm_terms, read_norm_scored
from tacit.method.regression.row_sums.noisy_norms import read_standardised, turned
from tacit.method.regression.row_sums.noisy_scores import FirstPart, ScaledTerms, ScorePart
from tacit.method.regression.row_sums.norm_scaling import Kept, kept_of
from tacit.method.regression.row_sums.released_columns import read_columns
from tacit.noise.laws import Law
from tacit.privacy import Cost
from tacit.release.digests import sealed
from tacit.release.document import release_from_dict
from tacit.release.parts import Part
from tacit.release.simulated import SimulatedRelease
from tacit.testing.simulated_regressions import RegressionRows, rows_of

MODELS = ["logistic", "probit", "poisson"]
COLUMNS: dict[str, Any] = {
    "a": tc.Real(-10, 10),
    "b": tc.Real(0, 40),
    "m": tc.Boolean(),
    "g": tc.Category(["p", "q", "r"]),
}
BINARY, COUNTS = tc.Schema({"y": tc.Boolean(), **COLUMNS}), tc.Schema({"y": tc.Integer(0, 60), **COLUMNS})
TRUTH = np.array([0.2, 0.6, -0.3, 0.5, -0.5, 0.4])


def draw(rng: np.random.Generator, n: int, model: str) -> dict[str, np.ndarray]:
    """Correlated numbers, one of them skewed, a rare Boolean, and a response by the model."""
    z = rng.normal(0, 1, n)
    a = 0.8 * z + 0.6 * rng.normal(0, 1, n)
    b = np.exp(0.6 * z)
    m, g = rng.random(n) < 0.08, rng.choice(["p", "q", "r"], n, p=[0.6, 0.3, 0.1])
    eta = np.column_stack([np.ones(n), a, b, m, g == "q", g == "r"]) @ TRUTH
    if model == "poisson":
        y: np.ndarray = np.minimum(rng.poisson(np.exp(eta)), 60)
    else:
        y = rng.random(n) < (special.expit(eta) if model == "logistic" else special.ndtr(eta))
    return {"y": y, "a": a, "b": b, "m": m, "g": g}


def made(model: str, n: int, cost: Cost, relation: Any = "replace-one", seed: int = 1) -> RegressionRows:
    query = tc.Regression("y ~ a + b + m + g", model=model)
    data = draw(np.random.default_rng(seed), n, model)
    return rows_of(query, data, COUNTS if model == "poisson" else BINARY, cost, relation)


def first_of(parts: Any, layout: Layout, rows: int | None) -> tuple[FirstPart, ScaledTerms]:
    return norm_first(read_columns(parts[0], layout, rows), *read_standardised(parts[1], layout), layout)


def kept_in(release: SimulatedRelease, layout: Layout) -> Kept:
    columns, made = read_columns(release.parts[0], layout, release.rows), release.parts[-1].parameters
    return kept_of(columns, layout, *read_standardised(release.parts[1], layout), turned(made, layout.size))


def read(release: SimulatedRelease, layout: Layout, model: str) -> tuple[FirstPart, ScorePart, ScaledTerms]:
    first, terms = first_of(release.parts, layout, release.rows)
    link, kept = link_of(model, layout), kept_in(release, layout)
    return first, read_norm_scored(release.parts[-1], release.parts[-1], layout, terms, link, kept), terms


@pytest.mark.parametrize("model", MODELS)
def test_without_noise_scores_are_those_of_the_rows(model: str) -> None:
    rows = made(model, 20_000, Cost.of(rho=100))
    release, layout = rows.expected(rows.size), rows.layout
    first, last, terms = read(release, layout, model)
    x = rows.z[:, :-1] / 1024 @ terms.matrix.T
    assert first.rows == 20_000
    size = np.sqrt(np.diag(x.T @ x))
    assert np.abs((first.moments.values - x.T @ x) / np.outer(size, size)).max() < 0.05
    # terms at right angles, each of about unit size
    assert np.linalg.cond(x.T @ x) < 60
    question = rows.shape.columns[-1].question
    facts = release.parts[-1].parameters
    score = replace(
        question.score,
        weights=tuple(facts[f"weight{j}"] for j in range(layout.size + 1)),
        shift=facts["shift"],
    )
    # scores at the coefficients that the part stored, whatever the polygons: the predictor is what they say
    link = last.link
    eta = x @ last.b
    place = score.place(rows.z) / 2**12 * link.reach + link.center
    inside = np.abs(eta - link.center) < 0.98 * link.reach
    assert np.abs(place - eta)[inside].max() < 0.01
    made_score = link.bounded(eta, last.cut)
    y = terms.response[0] + terms.response[1] * (rows.z[:, -1] + 1024)
    psi = np.clip(made_score.v * y - made_score.b, -1, 1)
    loss = np.sqrt((psi**2)[:, None] * x**2).sum(axis=0)
    # rows beyond the norm pull less; polygons are within a percent of the curves
    assert np.abs((last.score - x.T @ psi) / loss).max() < 0.02
    assert last.score_squares == pytest.approx(float((psi**2).sum()), rel=0.02)
    assert last.weight_sum == pytest.approx(
        float(made_score.size.sum() if model == "poisson" else abs(psi).sum()), rel=0.02
    )
    fit, ordinary = fit_release(release), rows.ordinary()
    # bounded scores are another estimator, up to 1.25 times as variable: apart by up to sqrt(1.25**2 - 1) on average
    assert np.abs((fit.values - ordinary[0]) / ordinary[1]).max() < (1.5 if model == "poisson" else 0.5)
    assert (fit.std_errors / ordinary[1]).max() < 1.25
    assert (fit.std_errors / ordinary[1]).min() > 0.95


def test_bounds_far_wider_than_the_values_are_not_taken_for_heavy_tails() -> None:
    """Noise hides the columns' variances, so that they are set too large, and products of rows find two thirds of them.

    Taken for tails, this made curvatures and squared scores 1.4 times too large, and standard errors 12% too small.
    """
    rng = np.random.default_rng(4)
    x = rng.normal(0, 1, (10_000, 3))
    y = rng.random(10_000) < special.expit(x @ np.array([0.6, -0.4, 0.3]))
    schema = tc.Schema({"y": tc.Boolean(), **{f"x{j}": tc.Real(-40, 40) for j in range(3)}})
    data = {"y": y, **{f"x{j}": x[:, j] for j in range(3)}}
    rows = rows_of(tc.Regression("y ~ x0 + x1 + x2", model="logistic"), data, schema, Cost.of(rho=0.1))
    release = rows.expected(rows.size)
    assert (read_columns(release.parts[0], rows.layout, release.rows).doubts[:3] > 0.5).all()
    first, last, terms = read(release, rows.layout, "logistic")
    step = last_step(first, last, regressor_moments(first, terms))
    told = rows.z[:, :-1] / 1024 @ terms.matrix.T
    size = last.link.bounded(told @ last.b, last.cut).curve
    actual = np.linalg.inv(terms.back.T) @ (told.T @ (size[:, None] * told)) @ np.linalg.inv(terms.back)
    ratio = np.diag(np.linalg.inv(actual)) / np.diag(terms.back @ np.linalg.inv(step.curve.matrix) @ terms.back.T)
    assert ratio[1:] == pytest.approx(np.ones(3), abs=0.05)


@pytest.mark.parametrize("model", ["logistic", "poisson"])
def test_what_is_read_has_the_noise_that_is_told(model: str) -> None:
    """600 noisy copies of the last part of one table; a variance of 600 normal draws is off by 5.8%: six of these."""
    rows = made(model, 5_000, Cost.of(rho=0.5))
    release, layout = rows.expected(rows.size), rows.layout
    _, exact, _ = read(release, layout, model)
    rng, (u, _) = np.random.default_rng(2), exact.noise.shape
    a, law = np.random.default_rng(3).normal(0, 1, u), rows.shape.columns[-1].law
    found: list[list[float]] = []
    for _ in range(600):
        part = release.parts[-1]
        noise = law.sample(len(part.integers[0]), rng)
        noisy = replace(part, integers=(tuple(int(x) for x in np.array(part.integers[0]) + noise),))
        _, last, _ = read(replace(release, parts=(*release.parts[:-1], noisy)), layout, model)
        assert last.meat is not None
        forms = [a @ last.score, a @ last.weighted_products.values @ a, a @ last.meat.values @ a]
        found.append([float(x) for x in (*forms, last.weight_sum, last.score_squares)])
    assert exact.meat is not None
    told = [a @ exact.noise @ a, exact.weighted_products.quadratic_variance(a), exact.meat.quadratic_variance(a)]
    told += [exact.weight_sum_noise**2, exact.score_squares_noise**2]
    assert np.var(found, axis=0) == pytest.approx(told, rel=0.35)


def with_noise(part: Part, law: Law, rng: np.random.Generator, start: int = 0, stop: int | None = None) -> Part:
    """A part with fresh noise in some of its integers."""
    integers = np.array(part.integers[0], dtype=object)
    integers[start:stop] += law.sample(len(integers[start:stop]), rng)
    return replace(part, integers=(tuple(int(x) for x in integers),))


@pytest.mark.parametrize("model", ["logistic", pytest.param("poisson", marks=pytest.mark.long)])
def test_noise_in_the_scores_is_in_privacy(model: str) -> None:
    """400 releases that differ in the noise of the last scores alone: six times 7.1% of a variance, and a little."""
    rows = made(model, 20_000, Cost.of(rho="0.3"))
    release, layout = rows.release(np.random.default_rng(4)), rows.layout
    found, rng, law = list[np.ndarray](), np.random.default_rng(7), rows.shape.columns[-1].law
    for _ in range(400):
        noisy = with_noise(release.parts[-1], law, rng, 0, layout.size)
        found.append(fit_release(replace(release, parts=(*release.parts[:-1], noisy))).values)
    part = np.var(found, axis=0) / np.diag(fit_release(release).cov_privacy)
    assert (part < 1.45).all()
    assert part.max() > 0.4


def test_noise_in_the_mean_of_counts_is_in_their_mean_slope() -> None:
    """600 releases that differ in the noise of the columns alone: six times 5.8% of a variance."""
    rows = made("poisson", 5_000, Cost.of(rho="0.3"), "add-remove")
    release, rng = rows.release(np.random.default_rng(4)), np.random.default_rng(8)
    found: list[float] = []
    for _ in range(600):
        parts = (with_noise(release.parts[0], rows.shape.columns[0].law, rng), *release.parts[1:])
        slope = fit_release(replace(release, parts=parts)).slope
        assert slope is not None
        found.append(slope.value)
    slope = fit_release(release).slope
    assert slope is not None
    assert np.var(found) == pytest.approx(slope.privacy, rel=0.35)


def test_noise_in_the_moments_that_a_curvature_is_guessed_from_is_in_privacy() -> None:
    """400 releases that differ in the noise of the products alone: the last score and its step are as they were.

    A variance of 400 normal draws is off by 7.1%; the second order and the rest of the guess leave a fifth.  Rows are
    taken for one part; where columns of two values split them, that noise is not told: less than a twentieth of all.
    """
    rows = made("logistic", 20_000, Cost.of(rho="0.3"))
    release, layout = rows.release(np.random.default_rng(4)), rows.layout
    first, last, split = read(release, layout, "logistic")
    terms = replace(split, two_valued=None)
    # a step long enough for the curvature to matter
    longer = replace(last, score=last.score + 0.3 * last.weighted_products.values @ np.ones(len(last.b)))
    found, parted, rng = list[np.ndarray](), list[np.ndarray](), np.random.default_rng(5)
    law = rows.shape.columns[1].law
    step = last_step(first, longer, regressor_moments(first, terms))
    for _ in range(400):
        noisy = with_noise(release.parts[1], law, rng)
        other, moved = first_of((release.parts[0], noisy), layout, release.rows)
        assert np.allclose(moved.matrix, terms.matrix)
        found.append(last_step(other, longer, regressor_moments(other, terms)).b)
        parted.append(last_step(other, longer, regressor_moments(other, split)).b)
    without = replace(step, moments=replace(step.moments, variances=0 * step.moments.variances))
    told = np.diag(step.first_order(longer)[1] - without.first_order(longer)[1])
    assert np.var(found, axis=0) == pytest.approx(told, rel=0.6)
    privacy = np.diag(last_step(first, longer, regressor_moments(first, split)).covariances(longer)[1])
    assert (np.var(parted, axis=0) < 0.05 * privacy).all()
    assert np.var(found, axis=0).sum() == pytest.approx(told.sum(), rel=0.35)


def test_noise_in_the_curvature_widens_intervals_as_far_as_it_moves_variances() -> None:
    """400 releases that differ in the noise of the curvature alone: the variances vary as `widening` takes them to."""
    rows = made("logistic", 20_000, Cost.of(rho="0.3"))
    release, layout = rows.release(np.random.default_rng(4)), rows.layout
    first, last, terms = read(release, layout, "logistic")
    found, rng, moments = list[np.ndarray](), np.random.default_rng(6), regressor_moments(first, terms)
    law, start, pairs = rows.shape.columns[-1].law, layout.size + 2, len(layout.all_pairs)
    link, kept = link_of("logistic", layout), kept_in(release, layout)
    for _ in range(400):
        noisy = with_noise(release.parts[-1], law, rng, start, start + pairs)
        other = read_norm_scored(noisy, noisy, layout, terms, link, kept)
        other = replace(other, score=0 * last.score, score_squares=last.score_squares)
        found.append(np.diag(sum(last_step(first, other, moments).covariances(other))))
    still = replace(last, score=0 * last.score)
    step = last_step(first, still, moments)
    # the moments of the regressors are the same in all
    step = replace(step, moments=replace(step.moments, variances=0 * step.moments.variances))
    total = sum(step.covariances(still))
    wider = step.widening(still, np.asarray(total), np.eye(len(last.b)))
    told = (wider**2 - 1) * 4 / (1.959964**2 + 1) * np.diag(total) ** 2
    assert np.var(found, axis=0) == pytest.approx(told, rel=0.45)
    assert wider.min() > 1


def test_terms_that_depend_on_each_other_have_no_axes() -> None:
    rows = made("logistic", 2_000, Cost.of(rho=1))
    release = rows.expected(rows.size)
    _, turn = read_standardised(release.parts[1], rows.layout)
    layout = rows.layout
    twice = replace(layout, names=(*layout.names[:-1], layout.names[0]), terms=layout.terms[[0, 1, 2, 3, 4, 0, 6]])
    with pytest.raises(ArithmeticError):
        norm_terms(twice, turn)


@pytest.mark.parametrize(
    ("model", "n", "cost", "relation"),
    [
        ("logistic", 20_000, Cost.of(rho=0.1), "replace-one"),
        pytest.param("poisson", 10_000, Cost.of(epsilon=3, delta=1e-6), "add-remove", marks=pytest.mark.long),
        pytest.param("probit", 20_000, Cost.of(rho=0.1), "add-remove", marks=pytest.mark.long),
        pytest.param("logistic", 50_000, Cost.of(epsilon=1, delta=1e-6), "replace-one", marks=pytest.mark.long),
        pytest.param("poisson", 50_000, Cost.of(epsilon=1, delta=1e-6), "replace-one", marks=pytest.mark.long),
    ],
)
def test_intervals_cover_and_standard_errors_are_deviations(model: str, n: int, cost: Cost, relation: str) -> None:
    """60 tables and releases.

    Where each interval covers 94%, fewer than 44 of the 60 of a term do with probability below 1e-6 (binomial).  The
    mean square of z over all terms is between .5 and 1.75: of 360 values, more than five deviations.
    """
    rng, z, nothing = np.random.default_rng(6), [], 0
    for seed in range(60):
        fit = made(model, n, cost, relation, seed).fit(rng)
        if any(fit.reasons):
            nothing += 1
            continue
        z.append((fit.values - TRUTH) / fit.std_errors)
    assert nothing <= 3
    assert (np.abs(z) <= 1.96).sum(axis=0).min() >= 44 - nothing
    assert 0.5 < np.mean(np.square(z)) < 1.75


@pytest.mark.parametrize("model", ["logistic", "poisson"])
def test_average_effects_are_those_of_the_rows(model: str) -> None:
    """At a high price the mean slope is that of the likelihood's fit, rare and far rows included."""
    rows = made(model, 20_000, Cost.of(rho=20))
    fit = rows.fit(np.random.default_rng(5))
    b = rows.ordinary()[0]
    eta = (rows.z / 1024 @ rows.layout.terms.T)[:, :-1] @ b
    slope = special.expit(eta) * special.expit(-eta) if model == "logistic" else np.exp(eta)
    assert fit.slope is not None
    assert fit.slope.value == pytest.approx(float(slope.mean()), rel=0.03)


def test_wide_bounds_cost_little() -> None:
    """Bounds four times as wide: standard errors hardly change."""
    data = draw(np.random.default_rng(7), 30_000, "logistic")
    wide = tc.Schema({**BINARY, "a": tc.Real(-40, 40), "b": tc.Real(-60, 100)})
    errors, query = list[np.ndarray](), tc.Regression("y ~ a + b + m + g", model="logistic")
    for schema in (BINARY, wide):
        found = [rows_of(query, data, schema, Cost.of(rho=0.2)).fit(np.random.default_rng(s)) for s in range(6)]
        errors.append(np.median([one.std_errors for one in found], axis=0))
    assert (errors[1] < 1.2 * errors[0]).all()


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", ["constant", "copies", "empty level", "few rows", "one answer", "separated"])
@pytest.mark.parametrize("model", ["logistic", "poisson"])
@pytest.mark.filterwarnings("error")
def test_strange_tables_have_an_answer_or_a_reason(model: str, kind: str) -> None:
    data = draw(np.random.default_rng(8), 3_000, model)
    if kind == "constant":
        data["a"] = np.full(3_000, 2.0)
    if kind == "copies":
        data["b"] = 10 + data["a"]
    if kind == "empty level":
        data["g"] = np.where(data["g"] == "r", "q", data["g"])
    if kind == "few rows":
        data = {name: column[:5] for name, column in data.items()}
    if kind == "one answer":
        data["y"] = np.zeros_like(data["y"])
    if kind == "separated":
        data["y"] = (data["a"] > 0) if model == "logistic" else np.where(data["a"] > 0, 60, 0)
    query = tc.Regression("y ~ a + b + m + g", model=model)
    for cost in (Cost.of(rho=0.01), Cost.of(epsilon="0.1"), Cost.of(epsilon=50), Cost.of(rho=5)):
        for seed in range(4 if cost.epsilon is None else 2):
            rows = rows_of(query, data, COUNTS if model == "poisson" else BINARY, cost)
            fit = fit_release(rows.release(np.random.default_rng(seed)))
            known = np.array([reason is None for reason in fit.reasons])
            assert np.isfinite(fit.values[known]).all()
            assert (np.diag(fit.cov_sampling + fit.cov_privacy)[known] > 0).all()
    assert kind not in ("constant", "copies", "few rows", "separated") or not known.all()


def test_a_release_is_stored_and_read_again() -> None:
    for model, schema in (("logistic", BINARY), ("poisson", COUNTS)):
        data = draw(np.random.default_rng(9), 4_000, model)
        query = tc.Regression("y ~ a + b + m + g", model=model)
        release = tc.Curator(data, schema, budget=tc.Budget(rho=30)).release(query, rho=20)
        again = release_from_dict(json.loads(release.to_json()))
        assert again == release
        assert again.fit().values == pytest.approx(release.fit().values, rel=1e-12)
        assert any("count whole" in note for note in release.fit().notes)
        assert "norm-clipped rows" in str(release)


@pytest.mark.parametrize(
    ("place", "change"),
    [
        (2, {"turn": 65}),
        (3, {"turn": None}),
        (3, {"size": 0}),
        (3, {"squares": 2}),
        (3, {"squares": 0}),
        (3, {"cut": -1}),
        (3, {"weight0": 2**53}),
        (3, {"weight7": 0}),
        (2, {"weight99": 3}),
    ],
)
def test_a_damaged_release_is_refused(place: int, change: dict[str, Any]) -> None:
    data = draw(np.random.default_rng(9), 500, "logistic")
    query = tc.Regression("y ~ a + b + m + g", model="logistic")
    words = json.loads(tc.Curator(data, BINARY, budget=tc.Budget(rho=2)).release(query, rho=1).to_json())
    facts = words["parts"][place]["parameters"]
    for name, value in change.items():
        facts.pop(name, None)
        if value is not None:
            facts[name] = value
    # with a digest of what it says: what is found is the damage
    with pytest.raises(tc.TacitError, match=rf"parts\[{place}\]") as refused:
        release_from_dict(sealed(words))
    assert refused.value.code == "R05"

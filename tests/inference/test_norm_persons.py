"""Regressions of norm-clipped rows of persons: what is read of the parts and its noise, coverage, average effects."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import tacit as tc
from tacit.fits.effects import marginal_effects
from tacit.method.regression.estimate import linear_parts
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.pilots.glm_pilot import link_of
from tacit.method.regression.row_sums.noisy_norm_scores import norm_first, read_last_scores
from tacit.method.regression.row_sums.noisy_norms import read_standardised
from tacit.method.regression.row_sums.noisy_scores import ScaledTerms, ScorePart
from tacit.method.regression.row_sums.released_columns import read_columns
from tacit.privacy import Cost
from tacit.release.simulated import SimulatedRelease
from tacit.testing.simulated_regressions import RegressionRows, rows_of

RESPONSES: dict[str, Any] = {"linear": tc.Real(-4, 5), "logistic": tc.Boolean(), "poisson": tc.Integer(0, 40)}
TRUTH = np.array([0.3, 1.0, -0.5, 0.6])
RHO, PURE, PAIR = Cost.of(rho=1), Cost.of(epsilon=12), Cost.of(epsilon=3, delta=1e-6)


def draw(rng: np.random.Generator, n: int, model: str) -> dict[str, np.ndarray]:
    """Rows of n persons, more of those with a larger effect; intraclass correlation of errors 0.3.

    x is of the row, w and b are of the person.  Responses that are no numbers follow from ranks of the errors, so that
    each has the model's law, whatever others of the person are.
    """
    effect = rng.normal(0, 1, n)
    who = np.repeat(np.arange(n), 1 + np.minimum(rng.poisson(2.4 * np.exp(0.4 * effect - 0.08)), 19))
    x, w = rng.uniform(-1, 1, len(who)), np.clip(rng.normal(0, 1, n), -3, 3)[who]
    b = (rng.random(n) < 0.4)[who]
    error = math.sqrt(0.3) * effect[who] + math.sqrt(0.7) * rng.normal(0, 1, len(who))
    eta = np.column_stack([np.ones(len(who)), x, w, b]) @ TRUTH
    if model == "linear":
        y = eta + 0.7 * error
    elif model == "logistic":
        y = special.ndtr(error) < special.expit(eta)
    else:
        y = np.minimum(stats.poisson.ppf(special.ndtr(error), np.exp(eta)), 40).astype(int)
    return {"who": who, "x": x, "w": w, "b": b, "y": y}


def made(model: str, n: int, cost: Cost, relation: Any = "replace-one", seed: int = 1) -> RegressionRows:
    columns = {"x": tc.Real(-1, 1), "w": tc.Real(-3, 3), "b": tc.Boolean(), "y": RESPONSES[model]}
    schema, query = tc.Schema({"who": tc.PrivacyUnit(20), **columns}), tc.Regression("y ~ x + w + b", model=model)
    return rows_of(query, draw(np.random.default_rng(seed), n, model), schema, cost, relation)


# What is read ---------------------------------------------------------------------------------------------------------


def read(release: SimulatedRelease, layout: Layout, model: str) -> tuple[ScorePart, ScaledTerms]:
    columns = read_columns(release.parts[0], layout, release.rows)
    products, turn = read_standardised(release.parts[1], layout)
    _, terms = norm_first(columns, products, turn, layout)
    return read_last_scores(release.parts, columns, products, turn, layout, terms, link_of(model, layout)), terms


def of_persons(rows: RegressionRows, values: np.ndarray) -> np.ndarray:
    """Means over each person's rows; values: of rows, shape (rows, …)."""
    assert rows.who is not None
    total = np.zeros((int(rows.who.max()) + 1, *values.shape[1:]))
    np.add.at(total, rows.who, values)
    return total / np.bincount(rows.who).reshape(-1, *[1] * (values.ndim - 1))


def apart(found: np.ndarray, exact: np.ndarray) -> float:
    """The largest difference of two matrices, in sizes of the second's diagonal."""
    size = np.sqrt(np.diag(exact))
    return float(np.abs((found - exact) / np.outer(size, size)).max())


LITTLE = [Cost.of(rho=100), Cost.of(epsilon=100)]
"""Prices at which hardly a row is shortened."""


@pytest.mark.parametrize("cost", LITTLE, ids=["normal", "pure"])
def test_without_noise_sums_of_residuals_are_those_of_persons(cost: Cost) -> None:
    rows = made("linear", 4_000, cost)
    _, scores, persons = linear_parts(rows.expected(rows.size), rows.layout)
    z = rows.z[:, :-1] / 1024
    psi = scores.residual.numpy(rows.z)
    means = of_persons(rows, psi[:, None] * z)
    assert persons == rows.size
    assert scores.persons
    assert scores.square == pytest.approx(of_persons(rows, psi**2.0).sum(), rel=1e-3)
    # of persons, not of rows: mean scores are smaller than scores
    meat = means.T @ means
    assert apart(scores.meat.values, meat) < 0.02
    assert (
        apart(scores.meat.values, of_persons(rows, (psi**2)[:, None, None] * z[:, :, None] * z[:, None]).sum(0)) > 0.1
    )
    assert np.abs((scores.score - means.sum(axis=0)) / np.sqrt(np.diag(meat))).max() < 0.2


@pytest.mark.parametrize("cost", LITTLE, ids=["normal", "pure"])
@pytest.mark.parametrize("model", ["logistic", "poisson"])
def test_without_noise_sums_of_scores_are_those_of_persons(model: str, cost: Cost) -> None:
    rows = made(model, 4_000, cost)
    last, terms = read(rows.expected(rows.size), rows.layout, model)
    x = rows.z[:, :-1] / 1024 @ terms.matrix.T
    bounded = last.link.bounded(x @ last.b, last.cut)
    y = terms.response[0] + terms.response[1] * (rows.z[:, -1] + 1024)
    psi = np.clip(bounded.v * y - bounded.b, -1, 1)
    size = bounded.size if model == "poisson" else abs(psi)
    means = of_persons(rows, psi[:, None] * x)
    meat, weighted = means.T @ means, of_persons(rows, size[:, None, None] * x[:, :, None] * x[:, None]).sum(axis=0)
    assert last.persons
    assert last.meat is not None
    assert apart(last.meat.values, meat) < 0.03
    assert apart(last.weighted_products.values, weighted) < 0.03
    assert np.abs((last.score - means.sum(axis=0)) / np.sqrt(np.diag(meat))).max() < 1
    assert last.weight_sum == pytest.approx(of_persons(rows, size).sum(), rel=0.02)
    assert last.score_squares == pytest.approx(of_persons(rows, psi**2).sum(), rel=0.02)


def noisy(release: SimulatedRelease, rows: RegressionRows, rng: np.random.Generator) -> SimulatedRelease:
    """A release with noise in its last part, and at a pure price in the scores before it."""
    parts = list(release.parts)
    for place in (-2, -1) if rows.shape.cost.noise == "laplace" else (-1,):
        exact = np.array(parts[place].integers[0], dtype=object)
        noise = rows.shape.columns[place].law.sample(len(exact), rng)
        parts[place] = replace(
            parts[place], integers=(tuple(int(k) + int(z) for k, z in zip(exact, noise, strict=True)),)
        )
    return replace(release, parts=tuple(parts))


@pytest.mark.parametrize("cost", [Cost.of(rho="0.5"), PURE], ids=["person-norm-scores", "person-score-matrices"])
def test_what_is_read_of_residuals_has_the_noise_that_is_told(cost: Cost) -> None:
    """600 noisy copies of the last part (at a pure price, of both parts that make it) of one table.

    A variance of 600 draws is off by 5.8%, of draws with the tails of spherical noise by 7%: five of these.
    """
    rows = made("linear", 3_000, cost)
    release, rng = rows.expected(rows.size), np.random.default_rng(2)
    _, exact, _ = linear_parts(release, rows.layout)
    a, found = np.random.default_rng(3).normal(0, 1, rows.layout.size), list[list[float]]()
    for _ in range(600):
        _, scores, _ = linear_parts(noisy(release, rows, rng), rows.layout)
        found.append([float(one) for one in (a @ scores.score, a @ scores.meat.values @ a, scores.square)])
    told = [float(exact.noise(a[None])[0, 0]), exact.meat.quadratic_variance(a), exact.square_variance]
    assert np.var(found, axis=0) == pytest.approx(told, rel=0.35)


@pytest.mark.parametrize(
    ("model", "cost"),
    [
        ("logistic", PURE),
        pytest.param("logistic", Cost.of(rho="0.5"), marks=pytest.mark.long),
        pytest.param("poisson", PURE, marks=pytest.mark.long),
        pytest.param("poisson", Cost.of(rho="0.5"), marks=pytest.mark.long),
    ],
)
def test_what_is_read_of_scores_has_the_noise_that_is_told(model: str, cost: Cost) -> None:
    """As of residuals."""
    rows = made(model, 3_000, cost)
    release, layout, rng = rows.expected(rows.size), rows.layout, np.random.default_rng(2)
    exact, _ = read(release, layout, model)
    a, found = np.random.default_rng(3).normal(0, 1, len(exact.b)), list[list[float]]()
    for _ in range(600):
        last, _ = read(noisy(release, rows, rng), layout, model)
        assert last.meat is not None
        forms = [a @ last.score, a @ last.weighted_products.values @ a, a @ last.meat.values @ a]
        found.append([float(one) for one in (*forms, last.weight_sum, last.score_squares)])
    assert exact.meat is not None
    told = [a @ exact.noise @ a, exact.weighted_products.quadratic_variance(a), exact.meat.quadratic_variance(a)]
    told += [exact.weight_sum_noise**2, exact.score_squares_noise**2]
    assert np.var(found, axis=0) == pytest.approx(told, rel=0.35)


# Coverage -------------------------------------------------------------------------------------------------------------


@cache
def simulated(model: str, n: int, cost: Cost, relation: str, repeats: int) -> tuple[np.ndarray, np.ndarray]:
    """Estimates and standard errors of tables that are drawn and released anew: of coefficients, then of effects.

    Each of shape (repeats, numbers), NaN where a release has a reason in place of numbers.
    """
    rng, found = np.random.default_rng(6), list[tuple[np.ndarray, np.ndarray]]()
    for seed in range(repeats):
        fit = made(model, n, cost, relation, seed).fit(rng)
        one = [(fit.values, fit.std_errors)]
        if model != "linear":
            effects = None if any(fit.reasons) else marginal_effects(fit)
            nothing = np.full(2, np.nan)
            one.append((nothing, nothing) if effects is None else (effects.values, effects.std_errors))
        found.append((np.concatenate([value for value, _ in one]), np.concatenate([error for _, error in one])))
    values, errors = (np.array(each) for each in zip(*found, strict=True))
    return values, errors


def deviation_limits(repeats: int) -> tuple[float, float]:
    """Limits of SE / SD beyond which it is, on either side, with probability 1e-7 where SE is SD (chi-squared)."""
    degrees = repeats - 1
    low, high = math.sqrt(degrees / stats.chi2.isf(1e-7, degrees)), math.sqrt(degrees / stats.chi2.ppf(1e-7, degrees))
    return low, high


LONG = [("replace-one", PAIR), ("add-remove", PAIR), ("replace-one", PURE)]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("model", "n", "cost", "relation", "repeats"),
    [
        ("linear", 1_000, RHO, "replace-one", 150),
        ("logistic", 1_000, RHO, "replace-one", 75),
        ("poisson", 1_000, RHO, "replace-one", 30),
        *(
            pytest.param(model, 3_000, cost, relation, 150, marks=pytest.mark.long)
            for model in RESPONSES
            for relation, cost in LONG
        ),
        pytest.param("logistic", 1_500, RHO, "replace-one", 300, marks=pytest.mark.long),
        pytest.param("poisson", 1_500, RHO, "replace-one", 300, marks=pytest.mark.long),
    ],
)
def test_intervals_cover_and_standard_errors_are_deviations(
    model: str, n: int, cost: Cost, relation: str, repeats: int
) -> None:
    """Four coefficients: the probability that chance alone fails one case is below 1e-6.

    Where each interval covers 94%, fewer than the number asked for do with probability below 1e-7 (binomial): of 150,
    fewer than 123.  Standard errors that are deviations are outside the limits with probability 1e-7 on either side
    (chi-squared): of 150, below 0.76 or above 1.40; they may be wider by a third, where noise hides how alike a
    person's rows are.
    """
    values, errors = (one[:, :4] for one in simulated(model, n, cost, relation, repeats))
    known = ~np.isnan(values).any(axis=1)
    assert known.sum() >= 0.95 * repeats
    values, errors, k = values[known], errors[known], int(known.sum())
    held = (np.abs(values - TRUTH) <= 1.959964 * errors).sum(axis=0)
    low, high = deviation_limits(k)
    ratio = np.sqrt((errors**2).mean(axis=0)) / values.std(axis=0, ddof=1)
    assert held.min() >= stats.binom.ppf(1e-7, k, 0.94)
    assert low < ratio.min()
    assert ratio.max() < high * 4 / 3


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("model", "n", "repeats"),
    [
        ("logistic", 1_000, 75),
        ("poisson", 1_000, 30),
        pytest.param("logistic", 1_500, 300, marks=pytest.mark.long),
        pytest.param("poisson", 1_500, 300, marks=pytest.mark.long),
    ],
)
def test_average_effects_have_standard_errors_that_are_not_too_small(model: str, n: int, repeats: int) -> None:
    """How mean |psi|, or a mean count, goes with mean scores is not told but bounded: errors may be larger, by 1.6.

    They are below the deviations over releases by more than chance with probability 2e-7, of both effects.
    """
    values, errors = (one[:, 4:] for one in simulated(model, n, RHO, "replace-one", repeats))
    assert not np.isnan(values).any()
    low, high = deviation_limits(repeats)
    ratio = np.sqrt((errors**2).mean(axis=0)) / values.std(axis=0, ddof=1)
    assert low < ratio.min()
    # over 300 tables; of fewer chance is allowed for
    assert ratio.max() < 1.6 * (high if repeats < 300 else 1)

"""What noise in the curvature of logistic models does to errors and joint tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacit as tc
from tacit.method.regression.bounded_scores.normal_regressors import Regressors
from tacit.method.regression.estimate import fit_release, layout_of
from tacit.method.regression.estimate_coefficients.score_coefficients import _read  # pyright: ignore[reportPrivateUsage]
from tacit.method.regression.estimate_coefficients.score_step import (
    OF_TAILS,
    USUAL_LOSS,
    ScoreStep,
    last_step,
    shortening_error,
)
from tacit.method.regression.pilots.glm_pilot import curvature, one_step, regressor_moments
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix
from tacit.method.regression.row_sums.noisy_scores import ScaledTerms, ScorePart
from tacit.privacy import Cost
from tacit.release.simulated import SimulatedRelease
from tacit.testing.simulated_regressions import rows_of


def released(rho: str, model: str = "logistic", seed: int = 1) -> SimulatedRelease:
    """4,000 rows with a skewed regressor in bounds ten times too wide; 6% of events."""
    rng = np.random.default_rng(seed)
    x, z = np.exp(0.5 * rng.normal(0, 1, 4_000)), rng.normal(0, 1, 4_000)
    y = rng.random(4_000) < 1 / (1 + np.exp(1.2 + 1.5 * x - 0.3 * z))
    schema = tc.Schema({"x": tc.Real(0, 60), "z": tc.Real(-40, 40), "y": tc.Boolean()})
    query = tc.Regression("y ~ x + z", model=model)
    return rows_of(query, {"x": x, "z": z, "y": y}, schema, Cost.of(rho=rho)).release(rng)


def read(release: SimulatedRelease) -> tuple[ScoreStep, ScorePart, Regressors, ScaledTerms]:
    """Return the last step, its scores, the moments of the regressors, and the terms."""
    first, last, terms = _read("logistic", layout_of(release), release.parts, release.rows)
    found = regressor_moments(first, terms)
    return last_step(first, last, found), last, found, terms


def test_the_way_to_the_truth_is_the_step_and_its_error() -> None:
    """With T their covariance and Q that of the curvature's error times a way, T = T0 + B^-1 Q(T) B^-1."""
    step, last, _, _ = read(released("0.5"))
    inverse, whole = np.linalg.inv(step.curve.matrix), sum(step.covariances(last))
    first = np.asarray(sum(step.first_order(last)))
    # Q is linear: of a way of covariance T it is the mean over ways, here of the columns of a root of T
    ways = np.linalg.cholesky(np.asarray(whole)).T
    none = replace(step, step=0 * step.step)
    error = sum(replace(none, step=one).first_order(last)[1] - none.first_order(last)[1] for one in ways)
    assert np.allclose(inverse @ last.noise @ inverse, none.first_order(last)[1])
    assert np.trace(error) > 0.02 * np.trace(first)
    assert np.diag(np.asarray(whole)) == pytest.approx(np.diag(first + error), rel=0.02)


def test_what_noise_in_a_curvature_does_to_a_covariance_is_its_derivative() -> None:
    step, last, _, terms = read(released("0.5"))
    middle, back = step.squares.matrix + last.noise, terms.back

    def covariance(curve: np.ndarray) -> np.ndarray:
        return back @ np.linalg.solve(curve, middle) @ np.linalg.inv(curve) @ back.T

    total = covariance(step.curve.matrix)
    told = step.moves_of(last, total, back)
    for move, one in zip(step.curvature_moves(last), told, strict=True):
        up, down = (covariance(step.curve.matrix + sign * 1e-4 * move) for sign in (1, -1))
        assert (up - down) / 2e-4 == pytest.approx(one, rel=1e-4, abs=1e-6 * np.abs(total).max())


def test_joint_tests_know_of_the_noise_in_a_curvature() -> None:
    """The dearer, the more degrees of freedom: at a low price a p-value is larger than that of chi-squared."""
    freedom = []
    for rho in ("0.2", "2", "200"):
        noisy = fit_release(released(rho)).noisy
        assert noisy is not None
        freedom.append(noisy.of([1, 2]).law()[1])
    assert freedom[0] < 40
    assert freedom[0] < freedom[1] < freedom[2]
    assert freedom[2] > 1_000


def test_a_guess_is_doubted_where_the_step_ends() -> None:
    """Scores at a slope of 0: the predictor does not vary there, and a guess would seem as good as any."""
    release = released("0.2", seed=3)
    first, last, terms = _read("logistic", layout_of(release), release.parts, release.rows)
    found = regressor_moments(first, terms)
    assert found.constant is not None
    flat = replace(last, b=found.constant * float(found.mean @ last.b))
    flat = replace(flat, score=flat.score + flat.weighted_products.values @ (last.b - flat.b))
    # nothing is told but by the prior: products are those of the guess
    guess = found.weighted_products(flat.b, flat.link.bounded(found.predictor_values(flat.b), flat.cut).size)
    hidden = replace(flat.weighted_products, values=guess, variances=1e6 * flat.weighted_products.variances)
    flat = replace(flat, weighted_products=hidden)
    end = one_step(flat, found)
    assert found.predictor_sd(end) > 0.4
    assert curvature(flat, found).guess_error == pytest.approx(0.15, abs=0.02)
    assert last_step(first, flat, found).curve.guess_error == curvature(flat, found, end).guess_error > 0.25


def test_rows_shortened_on_the_side_of_the_events_are_an_error_of_the_curvature() -> None:
    """The sign of the slope decides: events in the long tail of a regressor, or next to none of them there."""
    rng = np.random.default_rng(7)
    x = np.exp(rng.normal(0, 1, 30_000))
    schema = tc.Schema({"x": tc.Real(0, 200), "y": tc.Boolean()})
    errors: list[tuple[float, float]] = []
    for slope in (0.45, -0.45):
        y = rng.random(len(x)) < 1 / (1 + np.exp(3 - slope * (x - 1.6)))
        rows = rows_of(tc.Regression("y ~ x", model="logistic"), {"x": x, "y": y}, schema, Cost.of(rho="0.1"))
        step, last, found, _ = read(rows.expected(rows.size))
        assert shortening_error(last, found, one_step(last, found)) == pytest.approx(step.shortened)
        told = NoisyMatrix(last.weighted_products.values, np.zeros((0, len(step.b), len(step.b))), np.zeros(0))
        without = replace(last, weighted_products=told, weight_sum_noise=0.0)
        errors.append((step.shortened, shortening_error(without, found, one_step(last, found))))
    assert errors[0][1] > 0.2
    assert errors[1][1] == pytest.approx(0.0, abs=1e-6)
    # noise leaves open that rows on the other side are shortened, too, though it says nothing of it
    assert 0.02 < errors[1][0] < 0.2 < errors[0][0]
    more = replace(step, shortened=0.3)
    assert np.trace(more.first_order(last)[1]) > np.trace(step.first_order(last)[1])


def test_what_noise_hides_of_shortened_rows_counts_as_far_as_it_may_be_there() -> None:
    _, last, found, _ = read(released("0.5"))
    end, products = one_step(last, found), last.weighted_products

    def error(noise: float) -> float:
        """Return the error that is allowed for where the noise is so many times as large, and nothing else changes."""
        louder = NoisyMatrix(products.values, products.patterns, noise**2 * products.variances)
        return shortening_error(replace(last, weighted_products=louder), found, end)

    # with noise alone it is that of an exponential law: its root mean square, sqrt(2) of the mean
    assert error(1e4) == pytest.approx(OF_TAILS * np.sqrt(2) * USUAL_LOSS, rel=0.01)
    assert error(1e4) < 1

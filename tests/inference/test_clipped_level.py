"""The level of a linear regression whose clipped residuals lie on one side: moved back as far as a release tells it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacit as tc
from tacit.method.regression.bounded_scores.clipped_shares import UNSEEN
from tacit.method.regression.estimate import linear_parts
from tacit.method.regression.estimate_coefficients.clipped_level import LONGER, ClippedRows, told_level_of
from tacit.method.regression.estimate_coefficients.clipping_bias import clipped_tail, clipping_bias, told_level
from tacit.method.regression.estimate_coefficients.linear_coefficients import _covariances_of_rows
from tacit.method.regression.estimate_coefficients.linear_step import LinearStep, linear_step
from tacit.method.regression.estimate_coefficients.sampling_variance import error_variance
from tacit.method.regression.row_sums.noisy_crossproducts import ResidualScores
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import RegressionRows, rows_of

SCHEMA = tc.Schema({"y": tc.Real(-20, 150), "a": tc.Real(-4, 4)})
QUERY = tc.Regression("y ~ a")
QUERY_TERMS = "Intercept", "a"


def made(side: int, n: int = 20_000) -> RegressionRows:
    """One row in 50 has an error ten times as large, always on the same side or, where side is 0, on both."""
    rng = np.random.default_rng(1)
    large = rng.normal(0, 30, n)
    large = side * np.abs(large) if side else large
    a, errors = rng.normal(0, 1, n), np.where(rng.random(n) < 0.02, large, rng.normal(0, 3, n))
    return rows_of(QUERY, {"y": 50 + a + errors, "a": a}, SCHEMA, Cost.of(rho="0.5"))


def read(rows: RegressionRows) -> tuple[LinearStep, ResidualScores]:
    """Return the step and scores of a release without noise, as if it had some."""
    release = rows.expected(rows.size)
    crossed, scores, count = linear_parts(release, rows.layout)
    step = linear_step(rows.layout, crossed, scores, count)
    assert not isinstance(step, str)
    return step, replace(scores, side=0)


@pytest.mark.parametrize("side", [1, -1])
def test_the_level_is_moved_back_to_where_it_was(side: int) -> None:
    """No noise is drawn: what is left is half of the move (0.51 of it, upwards) or less, within two of the errors
    allowed, and no slope is moved.
    """
    rows = made(side)
    step, scores = read(rows)
    values = (rows.z / 2**10) @ step.terms.T
    residual, range_ = values[:, -1] - values[:, :-1] @ step.b1, scores.residual.clip / step.unit
    lost = (residual - np.clip(residual, -range_, range_)).mean()
    found = clipping_bias(step, scores, error_variance(step, scores))
    assert side * lost > 0
    # along the constant: what the fitted mean gains at the regressors' means
    moved = float(found.correction[0])
    assert moved / (lost / step.kept) == pytest.approx(1, abs=0.55)
    assert abs(moved - lost / step.kept) < 2 * found.covariance[0, 0] ** 0.5
    assert found.correction / moved == pytest.approx(step.constant)


def test_errors_on_both_sides_move_nothing() -> None:
    """Signs of so many rows are even but for chance."""
    step, scores = read(made(0))
    errors = error_variance(step, scores)
    tail = clipped_tail(step, scores, errors)
    assert tail is not None
    assert tail.rows > 50
    even = replace(scores, signed=(0.0, 1.0), means=None)
    found = clipping_bias(step, even, errors)
    assert np.abs(found.correction).max() < 0.01 * tail.mean
    # as many above as below may lose more above than below
    assert found.covariance[0, 0] >= 0.99 * (UNSEEN * tail.mean / step.kept) ** 2


def test_nothing_is_told_without_signs_or_an_intercept() -> None:
    step, scores = read(made(1))
    errors = error_variance(step, scores)
    tail = clipped_tail(step, scores, errors)
    assert tail is not None
    assert told_level(step, scores, tail, errors) is not None
    assert told_level(step, replace(scores, signed=None), tail, errors) is None
    assert told_level(replace(step, level=False), scores, tail, errors) is None
    assert told_level(step, scores, replace(tail, rows=0.0), errors) is None


def test_the_posterior_law_of_the_level_by_simulation() -> None:
    """200,000 draws from the law before, weighted by what is seen: mean and deviation within 3%, some ten of their
    Monte-Carlo errors.
    """
    rows, rng = ClippedRows(0.02, 2.0, 5.0, 1e3), np.random.default_rng(2)
    lost, signed, residual = (30.0, 400.0), (0.012, 0.01**2), (0.03, 0.03**2)
    tau, s = LONGER * 2.0 * rng.exponential(1, 200_000), 0.02 * rng.normal(size=200_000)
    seen = ((2 * tau * (tau + 5.0), lost), (s, signed), (tau * s, residual))
    weight = np.exp(-sum((at - value) ** 2 / (2 * noise) for at, (value, noise) in seen))
    mean = np.average(tau * s, weights=weight)
    found = told_level_of(rows, lost, signed, residual)
    assert found.value == pytest.approx(mean, rel=0.03)
    assert found.variance**0.5 == pytest.approx(np.average((tau * s - mean) ** 2, weights=weight) ** 0.5, rel=0.03)


def test_taking_back_a_known_level_has_the_sampling_error_of_residuals_that_are_not_clipped() -> None:
    """Exponential tails on one side, all known: var psi + chance is the variance of whole residuals, in each row.

    Of 4,000,000 rows; the relative error of such a variance is below .2%.
    """
    rng, range_, excess = np.random.default_rng(3), 3.0, 2.0
    errors = rng.normal(0, 0.5, 4_000_000)
    beyond = rng.random(len(errors)) < 0.01
    errors[beyond] = range_ + rng.exponential(excess, int(beyond.sum()))
    lost = 2 * excess * (excess + range_)
    told = told_level_of(ClippedRows(0.01, excess, range_, 1e3), (lost, 1e-6), (0.01, 1e-12))
    # second moments: of the mean nothing is subtracted, as in sums of squares
    whole, clipped = (errors**2).mean(), (np.clip(errors, -range_, range_) ** 2).mean()
    assert told.chance == pytest.approx(whole - clipped, rel=0.03)


def test_the_sampling_covariance_has_the_chance_of_what_is_taken_back() -> None:
    step, scores = read(made(1))
    errors = error_variance(step, scores)
    bias = clipping_bias(step, scores, errors)
    sampling, without = (
        _covariances_of_rows(step, scores, errors, one, QUERY_TERMS).sampling
        for one in (bias, replace(bias, chance=0.0))
    )
    assert np.asarray(bias.chance)[0, 0] > 0.02 * without[0, 0]
    assert sampling - without == pytest.approx(np.asarray(bias.chance), abs=1e-9 * float(sampling[0, 0]))

"""How far a curvature computed for normal regressors is off, and what of it is allowed for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

import tacit as tc
from tacit.method.regression.bounded_scores.guessed_curvature import assumed_error, left_in_step, told_error
from tacit.method.regression.bounded_scores.links import bounded, link
from tacit.method.regression.bounded_scores.normal_regressors import NODES, Regressors
from tacit.method.regression.estimate_coefficients.score_step import last_step
from tacit.method.regression.pilots.glm_pilot import curvature, link_of, regressor_moments
from tacit.method.regression.row_sums.noisy_norm_scores import norm_first, read_last_scores
from tacit.method.regression.row_sums.noisy_norms import read_standardised
from tacit.method.regression.row_sums.noisy_scores import FirstPart, ScorePart
from tacit.method.regression.row_sums.released_columns import read_columns
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import RegressionRows, rows_of


def symmetric(rng: np.random.Generator, many: int, u: int, error: float) -> np.ndarray:
    """Return symmetric matrices R whose law is the same on all axes, E |R v|**2 = error**2 |v|**2."""
    made = rng.normal(0, 1, (many, u, u))
    return error / np.sqrt(2 * (u + 1)) * (made + made.swapaxes(1, 2))


def test_what_is_left_in_a_step_is_the_mean_over_errors_that_are_alike_on_all_axes() -> None:
    rng = np.random.default_rng(1)
    root = rng.normal(0, 1, (4, 4)) + 3 * np.eye(4)
    curve, step = root @ root.T, np.array([0.3, -0.1, 0.2, 0.4])
    off = root @ symmetric(rng, 200_000, 4, 0.3) @ (root.T @ step)[:, None]
    mean = np.einsum("eik,ejk->ij", off, off) / len(off)
    assert left_in_step(curve, np.outer(step, step), 0.3) == pytest.approx(
        mean, rel=0.03, abs=0.02 * np.abs(mean).max()
    )


def test_the_error_of_a_guess_is_found_from_what_is_released_as_far_as_noise_allows() -> None:
    rng = np.random.default_rng(2)
    for error in (0.1, 0.4):
        off, noise = symmetric(rng, 200, 12, error), symmetric(rng, 200, 12, 1.0)
        clear, dim, hidden = (
            float(np.mean([told_error(one, size**2, 0.25) for one in off + size * noise])) for size in (0.05, 0.2, 4.0)
        )
        assert clear == pytest.approx(error, abs=0.03)
        # in between, the more so the more noise there is
        assert abs(error - clear) < abs(error - dim) < abs(error - 0.25)
        assert hidden == pytest.approx(0.25, abs=0.1)


@pytest.mark.parametrize("model", ["logistic", "probit"])
def test_a_guess_is_doubted_where_events_are_rare_and_vary(model: str) -> None:
    made = link(model)

    def error(mean: float, sd: float) -> float:
        return assumed_error(bounded(made, mean + sd * NODES, made.cuts()[-1]).curve)

    assert error(0.0, 1.0) == pytest.approx(0.15, abs=0.001)
    assert error(-1.5, 0.6) == pytest.approx(error(1.5, 0.6))
    assert 0.2 < error(-1.5, 0.6) < 0.6
    assert error(-1.5, 0.1) < 0.18


def test_skewed_regressors_change_a_curvature_to_first_order_as_the_module_says() -> None:
    """A gamma regressor of skewness 0.2 and a curvature exp(a x): R is about a times the skewness."""
    x = np.random.default_rng(3).gamma(100, 0.1, 2_000_000) - 10
    a, skewness = 0.2, 0.2
    curve = np.exp(a * x)
    normal = (1 + a * a) * np.exp(a * a / 2)  # E exp(a x) x**2
    off = np.mean(curve * x**2) / normal - 1
    assert off == pytest.approx(a * skewness, rel=0.25)


def table(n: int, seed: int) -> RegressionRows:
    """Skewed regressors and few events: the guess is far off."""
    rng = np.random.default_rng(seed)
    x = np.exp(0.8 * rng.normal(0, 1, (n, 3)))
    y = rng.random(n) < special.expit(-4 + x @ np.array([0.5, 0.3, 0.3]))
    schema = tc.Schema({"y": tc.Boolean(), **{f"x{j}": tc.Real(0, 20) for j in range(3)}})
    return rows_of(
        tc.Regression("y ~ x0 + x1 + x2", model="logistic"),
        {"y": y, **{f"x{j}": x[:, j] for j in range(3)}},
        schema,
        Cost.of(rho="0.5"),
    )


def read(rows: RegressionRows, seed: int) -> tuple[FirstPart, ScorePart, Regressors]:
    """Return the sums of a release and the moments of its regressors."""
    release, layout = rows.release(np.random.default_rng(seed)), rows.layout
    columns = read_columns(release.parts[0], layout, release.rows)
    products, turn = read_standardised(release.parts[1], layout)
    first, terms = norm_first(columns, products, turn, layout)
    model = link_of("logistic", layout)
    last = read_last_scores(release.parts, columns, products, turn, layout, terms, model)
    return first, last, regressor_moments(first, terms)


def test_what_is_allowed_for_the_guess_is_in_privacy_and_follows_its_error() -> None:
    first, last, found = read(table(10_000, 4), 5)
    step = last_step(first, last, found)
    assert step.curve.guess_error > 0.2
    inverse = np.linalg.inv(step.curve.matrix)
    # without it there is what noise does, and the moments
    without = replace(step, curve=replace(step.curve, guess_error=0.0))
    told = step.first_order(last)[1] - without.first_order(last)[1]
    left = left_in_step(step.curve.guess, np.outer(step.step, step.step), step.curve.guess_error)
    assert told == pytest.approx((1 - step.released_part) ** 2 * (inverse @ left @ inverse))


def test_the_error_of_a_guess_is_relative_to_the_guess_however_small_products_say_that_it_is() -> None:
    """The same guess beside products of a third: what it leaves is no less, but for its weight and the told error."""
    first, last, found = read(table(10_000, 4), 5)
    step = last_step(first, last, found)
    small = replace(step.curve, matrix=step.curve.matrix / 3)
    square = np.outer(step.step, step.step)
    none = np.zeros((0, *square.shape))
    told = [
        replace(step, curve=curve)._error_of_way(none, square) - left_in_step(curve.matrix, square, step.shortened)
        for curve in (step.curve, small)
    ]
    assert told[1] == pytest.approx(told[0])
    assert np.trace(told[0]) > 0
    noises = (
        replace(step, curve=one).curvature_moves(last)[len(last.weighted_products.variances) :]
        for one in (step.curve, small)
    )
    assert np.array_equal(*noises)


def test_released_products_count_more_where_they_contradict_the_guess() -> None:
    _, last, found = read(table(10_000, 4), 5)
    far = replace(last.weighted_products, values=1.8 * last.weighted_products.values)
    usual, contradicted = curvature(last, found), curvature(replace(last, weighted_products=far), found)
    assert contradicted.guess_error > usual.guess_error
    assert contradicted.weight > usual.weight

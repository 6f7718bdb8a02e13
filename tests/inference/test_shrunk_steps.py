"""Where scores of binary responses and of counts are taken: what leads there is shrunk as far as noise makes it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tacit.method.regression.bounded_scores.links import bounded, link
from tacit.method.regression.bounded_scores.normal_regressors import Regressors
from tacit.method.regression.pilots.glm_pilot import curvature, one_step, pilot_coefficients
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix
from tacit.method.regression.row_sums.noisy_scores import FirstPart, ScaledTerms, ScorePart
from tacit.rows.coordinates import H

ROWS = 10_000.0
FOUND = Regressors(ROWS, np.array([1.0, 0.0, 0.0]), np.diag([0.0, 1.0, 1.0]), np.array([1.0, 0.0, 0.0]), 0.5)
TERMS = ScaledTerms(np.eye(3), np.eye(3), (0.0, 0.5 / H), FOUND.constant)


def scored(score: np.ndarray, noise: float, model: str = "logistic") -> ScorePart:
    """Return a part of scores at coefficients 0 whose curvature is known, with noise of this variance in each sum."""
    made = link(model, (0.0, 20.0) if model == "poisson" else (0.0, 1.0))
    at = bounded(made, FOUND.predictor_values(np.zeros(3)), made.cuts()[-1])
    sizes = FOUND.weighted_products(np.zeros(3), at.size)
    known = NoisyMatrix(sizes, np.zeros((0, 3, 3)), np.zeros(0))
    return ScorePart(np.zeros(3), made, score, noise * np.eye(3), known, None, made.cuts()[-1])


@pytest.mark.parametrize("model", ["logistic", "probit", "poisson"])
def test_a_step_is_shrunk_as_far_as_noise_makes_it(model: str) -> None:
    score = np.array([100.0, -60.0, 30.0])
    curve = curvature(scored(score, 0.0, model), FOUND).matrix
    whole = np.linalg.solve(curve, score)
    assert one_step(scored(score, 0.0, model), FOUND) == pytest.approx(whole)
    # the mean of a squared step of noise alone, in the metric of the curvature
    alone = float(np.trace(np.linalg.inv(curve)))
    square = float(score @ whole)
    half = one_step(scored(score, square / alone / 2, model), FOUND)
    assert half == pytest.approx(whole / 2)
    assert one_step(scored(score, 2 * square / alone, model), FOUND) == pytest.approx(np.zeros(3))


def test_slopes_of_a_pilot_are_shrunk_as_far_as_noise_makes_them() -> None:
    def pilot(noise: float) -> np.ndarray:
        # of r = 2 y - 1, whose covariances with the regressors are 0.2 and -0.1
        products = ROWS * np.array([0.0, 0.2, -0.1])
        first = FirstPart(
            ROWS, ROWS * FOUND.mean, NoisyMatrix(np.eye(3), np.zeros((0, 3, 3)), np.zeros(0)), products,
            noise * np.eye(3), 0.0,
        )  # fmt: skip
        return pilot_coefficients(first, FOUND, TERMS, link("logistic"))

    plain, some, none = pilot(0.0), pilot(ROWS**2 * 0.05 / 4), pilot(ROWS**2)
    assert plain[1:] == pytest.approx(-2 * np.array([-plain[1] / 2, plain[1] / 4]))
    # noise is half of the squared length: half of the slopes, on the scale of the probability, are left
    assert 0.4 < float(np.linalg.norm(some[1:]) / np.linalg.norm(plain[1:])) < 0.55
    assert none == pytest.approx(np.zeros(3), abs=1e-6)


def test_scores_of_rare_counts_are_taken_where_they_are_unless_noise_hides_it() -> None:
    """A step that begins five times too high falls short; one that begins too low goes too far, by a factor."""
    made, rare = link("poisson", (0.0, 20.0)), replace(FOUND, response=0.004)
    # y = 10 + 10 r
    terms = replace(TERMS, response=(0.0, 10 / H))

    def mean(noise: float) -> float:
        """Return the mean count that a pilot assumes, with noise of this standard deviation in the mean count."""
        first = FirstPart(
            ROWS, ROWS * FOUND.mean, NoisyMatrix(np.eye(3), np.zeros((0, 3, 3)), np.zeros(0)),
            -0.9996 * ROWS * FOUND.mean, 1e-9 * np.eye(3), -0.9996 * ROWS, response_noise=noise / 10 * ROWS,
        )  # fmt: skip
        return float(np.exp(pilot_coefficients(first, rare, terms, made)[0]))

    assert mean(0.001) == pytest.approx(0.004, rel=1e-3)
    assert mean(0.004) == pytest.approx(0.008, rel=1e-3)
    assert mean(0.1) == pytest.approx(0.02, rel=1e-3)

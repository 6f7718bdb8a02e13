"""Steps that rely less on a guessed curvature, and intervals by inversion where curvatures are noisy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacit as tc
from tacit.method.regression.estimate import fit_release, layout_of
from tacit.method.regression.estimate_coefficients.released_curvature import farther_end, nearer_released
from tacit.method.regression.estimate_coefficients.sampling_variance import LEVEL
from tacit.method.regression.estimate_coefficients.score_coefficients import _read  # pyright: ignore[reportPrivateUsage]
from tacit.method.regression.estimate_coefficients.score_step import (
    _towards_released,  # pyright: ignore[reportPrivateUsage]
    last_step,
)
from tacit.method.regression.estimate_coefficients.tail_doubt import tail_reach, term_tails
from tacit.method.regression.pilots.glm_pilot import regressor_moments
from tacit.privacy import Cost
from tacit.release.simulated import SimulatedRelease
from tacit.testing.simulated_regressions import rows_of


def released(rho: str) -> SimulatedRelease:
    """4,000 rows with a skewed regressor in bounds ten times too wide; 6% of events."""
    rng = np.random.default_rng(1)
    x, z = np.exp(0.5 * rng.normal(0, 1, 4_000)), rng.normal(0, 1, 4_000)
    y = rng.random(4_000) < 1 / (1 + np.exp(1.2 + 1.5 * x - 0.3 * z))
    schema = tc.Schema({"x": tc.Real(0, 60), "z": tc.Real(-40, 40), "y": tc.Boolean()})
    query = tc.Regression("y ~ x + z", model="logistic")
    return rows_of(query, {"x": x, "z": z, "y": y}, schema, Cost.of(rho=rho)).release(rng)


def test_what_a_wrong_guess_leaves_in_a_step_is_of_second_order() -> None:
    """Products without noise: with D = 1 - B^-1 A a step B^-1 A way is off by D way, and one nearer to them by D D way.

    0.3 is the relative error of the guess, so that D is about a fifth of it.
    """
    release = released("0.5")
    first, last, terms = _read("logistic", layout_of(release), release.parts, release.rows)
    found = regressor_moments(first, terms)
    own = last_step(first, last, found).curve
    root = np.linalg.cholesky(own.guess)
    true = root @ np.diag([1.0, 0.7, 1.2]) @ root.T
    made = 0.8 * true + 0.2 * own.guess
    curve = replace(own, matrix=made, weight=0.8, transform=np.eye(3), guess_error=0.3)
    still = replace(last.weighted_products, values=true, variances=1e-12 * last.weighted_products.variances)
    way = np.array([0.3, -0.5, 0.4])
    step = np.linalg.solve(made, true @ way)
    known = replace(last, weighted_products=still), (curve, np.linalg.inv(made)), 0 * true, (first.moments, found)
    nearer, part = _towards_released(step, *known)
    assert part == pytest.approx(1.0)
    wrong = np.eye(3) - np.linalg.solve(made, true)
    assert step - way == pytest.approx(-wrong @ way)
    assert nearer - way == pytest.approx(-wrong @ wrong @ way)
    assert np.linalg.norm(nearer - way) < 0.15 * np.linalg.norm(step - way)


def test_less_of_a_guess_costs_at_most_a_tenth_of_the_variance() -> None:
    rng = np.random.default_rng(2)
    for weight, base, noise, guess in zip(rng.random(200), *(rng.exponential(1, (3, 200))), strict=True):
        part = nearer_released(weight, base, noise, guess)
        assert weight - 1e-9 <= part <= 1
        cost = [base + noise * one**2 + guess * (1 - one) ** 2 for one in (weight, part)]
        assert cost[1] <= 1.1 * cost[0] + 1e-9


def test_an_end_is_a_root_of_the_inverted_score() -> None:
    base, way, both, along = 1.0, 0.3, -0.1, 0.06
    end = LEVEL * farther_end(base, way, both, along)
    assert end**2 == pytest.approx(LEVEL**2 * (base + way + 2 * abs(both) * end + along * end**2))


def test_intervals_by_inversion_hold_for_a_ratio() -> None:
    """A way of 6, told as a score over a curvature with noise of 0.2: 20,000 intervals hold at least as often as said.

    5.2 standard deviations of the share that holds have a false-alarm rate of 1e-7.
    """
    rng = np.random.default_rng(3)
    score, curve = 6 + 0.2 * rng.normal(0, 1, 20_000), 1 + 0.2 * rng.normal(0, 1, 20_000)
    held = []
    for g, w in zip(score, curve, strict=True):
        here, there = 0.2 * g / w / w, 0.2 / w
        held.append(abs(g / w - 6) < LEVEL * farther_end((0.2 / w) ** 2, here**2, here * there, there**2))
    assert np.mean(held) > 0.95 - 5.2 * np.sqrt(0.95 * 0.05 / 20_000)


def test_errors_and_joint_tests_are_no_shorter_than_by_inversion() -> None:
    """At a low price the noise in the curvature counts, at a high one hardly."""
    most = []
    for rho in ("0.2", "200"):
        release = released(rho)
        layout = layout_of(release)
        first, last, terms = _read("logistic", layout, release.parts, release.rows)
        step = last_step(first, last, regressor_moments(first, terms))
        total = terms.back @ np.asarray(sum(step.covariances(last))) @ terms.back.T
        factors, fit = step.inverted(last, total, terms.back), fit_release(release)
        # times what the tail of x may hide
        tails = term_tails(layout, step.regressors, terms.back)
        factors = factors * tail_reach(step, last, tails, total, factors, terms.back)
        assert (fit.std_errors >= factors * np.sqrt(np.diag(total)) * (1 - 1e-9)).all()
        assert fit.noisy is not None
        assert np.diag(fit.noisy.total) == pytest.approx(np.diag(total) * factors**2)
        most.append(factors.max())
    assert most[0] > 1.05
    assert most[1] < 1.01

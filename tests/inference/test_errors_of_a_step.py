"""Errors of one step's parameters, against differences of the parameters themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit import families
from tacit.method.blocks import one_step_design
from tacit.method.blocks.estimate_one_step import estimate as stepped
from tacit.method.blocks.estimate_one_step import matched
from tacit.method.blocks.estimate_step_fit import fit_of_step
from tacit.method.blocks.mechanism_one_step import grid_of
from tacit.method.shared.measurement import Public
from tacit.method.shared.simulated_parts import simulated
from tacit.models import scores
from tacit.privacy import Cost
from tacit.testing.simulated_block_steps import AskedBlocks, release


def test_parameters_move_with_each_score_as_their_errors_say() -> None:
    """Shape and rate of a gamma law, whose scores go together: J diag(v) J' with J by differences."""
    model = families.Gamma(shape=(0.5, 5), rate=(0.2, 5))
    at = np.array([2.0, 1.2])
    law = scores.law(scores.scaling_at(model, at), scores.CLIP, at)
    mean, _, spread = law.mean(np.array([2.1, 1.15]))
    variance, noise = np.array([2e-4, 5e-4]), np.array([1e-4, 9e-4])
    found, reason = matched(model, at, mean, variance, noise)
    theta, sampling, privacy = found.theta, found.sampling, found.privacy
    assert reason is None
    assert theta == pytest.approx([2.1, 1.15], abs=1e-5)
    step = 1e-4 * np.eye(2)
    moved = [matched(model, at, mean + s * one, variance, noise)[0].theta for one in step for s in (1, -1)]
    J = np.stack([(moved[0] - moved[1]) / 2e-4, (moved[2] - moved[3]) / 2e-4], axis=1)
    assert privacy == pytest.approx(J @ np.diag(noise) @ J.T, rel=1e-3)
    r = spread[0, 1] / np.sqrt(spread[0, 0] * spread[1, 1])
    own = np.array([[2e-4, r * np.sqrt(1e-7)], [r * np.sqrt(1e-7), 5e-4]])
    assert sampling == pytest.approx(J @ own @ J.T, rel=1e-3)
    assert abs(J[0, 1] - J[1, 0]) > 0.01 * abs(J[0, 0])  # a transpose would be seen: ten times the tolerance


def release_of(x: np.ndarray, model: Any) -> Any:
    query = tc.SampleAndAggregate("x", model, one_step=True)
    asked = AskedBlocks(query, tc.Schema({"x": tc.Real()}), "replace-one", Cost.of(epsilon=1))
    return release(asked, {"x": x}, np.random.default_rng(3)).estimate()


def test_a_law_that_does_not_fit_is_said_and_its_errors_are_those_of_the_pilot_too() -> None:
    """Normal scores of exponential rows: standard errors of the spread were a half of what releases really differ by.

    SD 0.021 over releases of 20,000 rows at epsilon 1 (`benchmarks/wrong_laws.py`).
    """
    rng, model = np.random.default_rng(4), families.Normal((-3, 5), (0.3, 4))
    right = release_of(rng.normal(1.5, 1.5, 20_000), model)
    wrong = release_of(rng.exponential(1.5, 20_000), model)
    # the variance of a score is known to about 2%, and is 1.3 times that of the law
    assert any("rows follow another law" in note for note in wrong.notes)
    assert any("are those of the law" in note for note in right.notes)
    assert right.std_errors[1] < 0.012 < 0.017 < wrong.std_errors[1]


STUDENT = families.StudentT((-3, 5), (0.2, 4), 5.0)


def test_skewed_rows_in_a_symmetric_law_are_seen_by_products_of_scores() -> None:
    """Their mean product is 17 standard errors from the law's.  Files of former versions have none, and are read."""
    rng = np.random.default_rng(4)
    made = release_of(0.9 * rng.gumbel(0, 1, 20_000), STUDENT)
    assert any("the mean product of two scores" in note and "another law" in note for note in made.notes)
    alone = replace(made.release, parts=made.release.parts[:-1])
    assert len(alone.parts) == 4
    again = stepped(alone, STUDENT)
    assert again.values.tolist() == made.values.tolist()
    assert any("the variance of a score" in note for note in again.notes)
    assert not any("product" in note for note in again.notes)


def test_products_of_scores_are_tested_at_their_own_error() -> None:
    """Over 50 made-up releases of a law that holds: mean 0, and no further apart than the standard error says."""
    at, n, rng = np.array([0.5, 1.2]), 4_000, np.random.default_rng(6)
    law = scores.law(scores.scaling_at(STUDENT, at), scores.CLIP, at)
    query = tc.SampleAndAggregate("x", STUDENT, one_step=True, blocks=100)
    shape = one_step_design.design(query, Public(tc.Schema({"x": tc.Real()}), "replace-one", n), Cost.of(epsilon=1_000))
    forms, found = [one.form for one in one_step_design.split(shape)[1]], list[float]()
    for _ in range(50):
        psi = scores.clipped(law.scaling, 0.5 + 1.2 * rng.standard_t(5, n), scores.CLIP)
        v = grid_of(scores.with_products(psi)).T
        sums = [
            form.assemble(tuple(int(one.numpy(own).sum()) for one in form.polynomials))
            for form, own in zip(forms, v, strict=True)
        ]
        cells = (*(np.zeros((1, 3), dtype=np.int64) for _ in range(2)), *(np.array([one]) for one in sums))
        theta = scores.solve(law, psi.mean(axis=0))[0]
        fit = fit_of_step(simulated(shape, cells), law, theta, np.zeros((2, 2)))
        assert fit is not None
        assert len(fit.z) == 3
        found.append(float(fit.z[2]))
    # 5.5 standard errors of the mean and of the standard deviation, 10% of it
    assert abs(np.mean(found)) < 5.5 / np.sqrt(50)
    assert 0.3 < np.std(found) < 1 + 5.5 * 0.1


@pytest.mark.parametrize(("price", "chance"), [({"epsilon": 1}, 0.0144), ({"rho": 0.01}, 0.0027)])
def test_a_difference_is_as_rare_as_its_noise_has_it(price: dict[str, float], chance: float) -> None:
    """A product three standard errors off, nearly all of them noise: exp(-3 sqrt(2)) of Laplace, 0.27% of normal."""
    at, n, rng = np.array([0.5, 1.2]), 4_000, np.random.default_rng(7)
    law = scores.law(scores.scaling_at(STUDENT, at), scores.CLIP, at)
    query = tc.SampleAndAggregate("x", STUDENT, one_step=True, blocks=100)
    shape = one_step_design.design(query, Public(tc.Schema({"x": tc.Real()}), "replace-one", n), Cost.of(**price))
    psi = scores.clipped(law.scaling, 0.5 + 1.2 * rng.standard_t(5, n), scores.CLIP)
    v = grid_of(scores.with_products(psi)).T
    forms = [one.form for one in one_step_design.split(shape)[1]]
    sums = [
        list(form.assemble(tuple(int(one.numpy(own).sum()) for one in form.polynomials)))
        for form, own in zip(forms, v, strict=True)
    ]

    def fit(off: float) -> Any:
        cells = (*(np.zeros((1, 3), dtype=np.int64) for _ in range(2)), *(np.array([one]) for one in sums[:2]))
        last = np.array([[sums[2][0] + int(off), *sums[2][1:]]])
        return fit_of_step(simulated(shape, (*cells, last)), law, at, np.zeros((2, 2)))

    unit = 1e6 / float(fit(1e6).z[2] - fit(0).z[2])
    found = fit((3 - float(fit(0).z[2])) * unit)
    assert found.z[2] == pytest.approx(3, abs=0.03)
    assert found.chance[2] == pytest.approx(chance, rel=0.1)
    assert found.rejected == (found.chance.min() < 1e-3)


def test_the_variances_of_scores_are_tested_at_their_own_error() -> None:
    """Over 200 made-up releases without noise the differences have mean 0 and the standard deviation of theory.

    It is below 1: rows move the parameters, and with them the variance that the law has there, which the stated error
    leaves out.  What is left of psi**2 is what its regression on psi does not move.
    """
    model = families.Exponential(rate=(0.1, 10))
    at, n, rng = np.array([2.0]), 4_000, np.random.default_rng(5)
    law = scores.law(scores.scaling_at(model, at), scores.CLIP, at)
    shape = one_step_design.design(
        tc.SampleAndAggregate("x", model, one_step=True, blocks=100),
        Public(tc.Schema({"x": tc.Real()}), "replace-one", n),
        Cost.of(epsilon=1_000),
    )
    column, found = shape.columns[-1], list[float]()
    for _ in range(200):
        psi = scores.clipped(law.scaling, rng.exponential(0.5, n), scores.CLIP)
        v = grid_of(psi)[:, 0]
        sums = column.form.assemble(tuple(int(one.numpy(v).sum()) for one in column.form.polynomials))
        cells = (np.zeros((1, 3), dtype=np.int64), np.array([sums]))
        theta = scores.solve(law, psi.mean(axis=0))[0]
        fit = fit_of_step(simulated(shape, cells), law, theta, np.zeros((1, 1)))
        assert fit is not None
        found.append(float(fit.z[0]))
    h, psi = 1e-3, scores.clipped(law.scaling, rng.exponential(0.5, 100_000), scores.CLIP)[:, 0]
    expected, mean = (
        [float(of(at + sign * h)[0][0]) for sign in (-1, 1)] for of in (law.moments, law.mean)
    )  # the variance and the mean of psi at parameters nearby
    off = psi - psi.mean()
    left = np.std(off**2 - (expected[1] - expected[0]) / (mean[1] - mean[0]) * off) / np.std(off**2)
    # 5.5 standard errors of the mean and of the standard deviation, 5% of it
    assert abs(np.mean(found)) < 5.5 / np.sqrt(200)
    assert np.std(found) == pytest.approx(left, rel=5.5 * 0.05)
    assert left < 0.8

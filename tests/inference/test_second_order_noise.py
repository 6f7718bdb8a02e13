"""What noise in the sums of a linear regression does to second order, against simulated noise.  All is seeded."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from averages import agrees, covaries
from boxed_rows import boxed_rows

import tacit as tc
from tacit.method.regression.estimate_coefficients.linear_coefficients import _privacy_covariance, _repeated_noise  # pyright: ignore[reportPrivateUsage]
from tacit.method.regression.estimate_coefficients.linear_step import LinearStep, linear_step
from tacit.method.regression.estimate_coefficients.sampling_variance import error_variance
from tacit.method.regression.row_sums.noisy_crossproducts import (
    NoisyMatrix,
    ResidualScores,
    read_crossproducts,
    read_residual_scores,
)
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import RegressionRows

SCHEMA = tc.Schema({"y": tc.Real(-4, 8, missing=0), "a": tc.Real(0, 1, missing=0), "b": tc.Real(0, 1, missing=0)})


@cache
def rows(n: int = 400) -> RegressionRows:
    rng = np.random.default_rng(1)
    a, b = rng.uniform(0, 1, n), rng.uniform(0, 1, n)
    data = {"y": 1 + 2 * a - b + rng.normal(0, 0.5, n), "a": a, "b": b}
    return boxed_rows(tc.Regression("y ~ a + b"), data, SCHEMA, Cost.of(rho=900))


@cache
def calm(n: int = 400) -> tuple[NoisyMatrix, ResidualScores, LinearStep]:
    """Sums without noise, and the step from them."""
    made = rows(n)
    first, second = made.expected(made.size).parts
    sums = replace(
        read_crossproducts(first, made.layout, made.size), variances=np.full(len(made.layout.entries) - 1, 1e-9)
    )
    aimed = replace(read_residual_scores(second, made.layout), variance=1e-12, square_variance=1e-9)
    step = linear_step(made.layout, sums, aimed)
    assert not isinstance(step, str)
    return sums, aimed, step


def least_squares(made: RegressionRows, step: LinearStep) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and coefficients of the rows, in terms of size 1."""
    x = (made.z / 1024) @ step.terms.T
    return x[:, :-1], x[:, -1], np.linalg.lstsq(x[:, :-1], x[:, -1], rcond=None)[0]


def test_the_square_of_the_noise_in_a_has_the_mean_and_covariance_that_are_stated() -> None:
    """Of E A^-1 N a, both factors the same 14 noises: 60,000 draws."""
    rng, p = np.random.default_rng(3), 4
    places = [(i, j) for i in range(p) for j in range(i, p)]
    patterns = np.zeros((len(places), p, p))
    for e, (i, j) in enumerate(places):
        patterns[e, i, j] = patterns[e, j, i] = 1.0
    turned = np.eye(p) + 0.3 * rng.normal(size=(p, p))
    found = NoisyMatrix(np.zeros((p, p)), patterns, rng.uniform(0.5, 2, len(places))).transformed(turned)
    inverse = np.linalg.inv(np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.5], [0.5, -0.5, 2.0]]))
    a = np.array([-0.5, 1.0, -2.0, 1.0])
    z = rng.standard_normal((60_000, len(places))) * np.sqrt(found.variances)
    noise = np.einsum("re,eij->rij", z, found.patterns)
    first = (noise @ a)[:, :3]  # N a
    second = np.einsum("rij,jk,rk->ri", noise[:, :3, :3], inverse, first)
    covaries(first, found.covariance_times(a)[:3, :3])
    error = inverse @ found.covariance_times(a)[:3, :3] @ inverse
    covaries(second, found.leading(3).noise_quadratic(error) + _repeated_noise(found, inverse, a))
    agrees(np.einsum("rij,jk,rkl->ril", noise, np.eye(p), noise), found.noise_quadratic(np.eye(p)))
    agrees((noise @ a) @ a * ((noise @ a) @ a), found.quadratic_variance(a))


def aimed_at(made: RegressionRows, step: LinearStep, last: ResidualScores, b0: np.ndarray) -> ResidualScores:
    """What rows that no cut touches would release without noise, aimed by a first fit b0."""
    u, m = step.u, made.layout.size
    X, y, _ = least_squares(made, step)
    row = step.unit * np.append(step.terms[u, :m] - step.terms[:u, :m].T @ b0, step.terms[u, m])
    weights = row / (1024 / 2.0**last.residual.shift)
    score = (made.z[:, :m] / 1024).T @ (y - X @ b0) * step.unit
    return replace(last, score=score, residual=replace(last.residual, weights=tuple(weights)))


def test_coefficients_are_free_of_the_square_of_the_noise_and_vary_as_told() -> None:
    """1,200 times noise on the sums of the same rows, so wide that its square is all there is.

    The square itself, A^-1 E A^-1 N a, is a control: its mean is known from 200,000 draws, to 0.003 of its standard
    deviation, and what is left of an error beside it is of third order, a tenth: 0.06 of a standard deviation allows
    for that and for its mean.  Left in, the square's mean is 0.17 of one.  Variances of products of normal noises,
    whose kurtosis is at most 9, are known to sqrt(8 / 1,200) = 8%: five times that.
    """
    made, (sums, last, step) = rows(), calm()
    _, _, truth = least_squares(made, step)
    rng, wide = np.random.default_rng(4), np.full(len(sums.variances), 3.0**2)
    moved, a = sums.transformed(step.terms), np.append(-truth, 1.0)

    def square(z: np.ndarray) -> np.ndarray:
        first = (z @ (moved.patterns @ a)[:, :3]) @ step.inverse
        return np.einsum("re,eij,rj->ri", z, moved.patterns[:, :3, :3], first, optimize=True) @ step.inverse

    drawn = 3 * rng.standard_normal((1_200, len(wide)))
    found, told = [], []
    for z in drawn:
        noisy = NoisyMatrix(sums.values + np.einsum("e,eij->ij", z, sums.patterns), sums.patterns, wide)
        whole = noisy.transformed(step.terms).values
        b0 = np.linalg.solve(whole[:3, :3], whole[:3, 3])
        one = linear_step(made.layout, noisy, aimed_at(made, step, last, b0))
        assert not isinstance(one, str)
        assert one.b0 == pytest.approx(b0, abs=1e-6)
        found.append(one.b1 - truth)
        told.append(np.diag(_privacy_covariance(one, np.zeros((3, 3)))))
    control, mean = square(drawn), square(3 * rng.standard_normal((200_000, len(wide)))).mean(axis=0)
    slope, *_ = np.linalg.lstsq(control - control.mean(axis=0), np.array(found), rcond=None)
    off = (np.mean(found, axis=0) + (mean - control.mean(axis=0)) @ slope) / np.std(found, axis=0)
    assert np.abs(off).max() < 0.06, off
    ratio = np.var(found, axis=0) / np.median(told, axis=0)
    assert (ratio > 0.6).all(), ratio
    assert (ratio < 1.4).all(), ratio


def test_the_variance_of_errors_has_the_residual_degrees_of_freedom() -> None:
    """16 rows, three coefficients, no noise: the sum of squares over 13, by each of the two sums that tell it."""
    sums, aimed, step = calm(16)
    X, y, b = least_squares(rows(16), step)
    said = step.products.quadratic_variance(np.append(-step.b1, 1.0))
    for square_variance in (1e6 * said, 1e-6 * said):
        part = replace(aimed, square_variance=square_variance * step.unit**4)
        errors = error_variance(step, part)
        assert errors.value == pytest.approx(((y - X @ b) ** 2).sum() / 13, rel=0.005)
        assert errors.noise == pytest.approx(min(said, square_variance) / 13**2, rel=0.01)
    assert sums.values[0, 0] == 16

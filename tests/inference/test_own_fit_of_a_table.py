"""`target="table"` of a linear regression: the coefficients that least squares gives for the very table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from boxed_rows import boxed_rows

import tacit as tc
from tacit.errors import InferenceError
from tacit.method.regression.estimate import fit_release, layout_of
from tacit.method.regression.estimate_coefficients.errors_of_the_table import own_fit_errors
from tacit.method.regression.estimate_coefficients.linear_step import linear_step
from tacit.method.regression.estimate_coefficients.sampling_variance import clipped_squares, error_variance
from tacit.method.regression.row_sums.noisy_crossproducts import read_crossproducts, read_residual_scores
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import rows_of

SCHEMA = tc.Schema(
    {
        "y": tc.Real(-4, 8, missing=0),
        "a": tc.Real(0, 1, missing=0),
        "b": tc.Real(-3, 1, missing=0),
        "m": tc.Boolean(missing=False),
    }
)
QUERY = tc.Regression("y ~ a + b + m")


def draw(rng: np.random.Generator, n: int, errors: str = "normal") -> dict[str, np.ndarray]:
    a, b, m = rng.uniform(0, 1, n), rng.uniform(-3, 1, n), rng.random(n) < 0.4
    e = rng.normal(0, 0.4, n) if errors == "normal" else 0.25 * rng.standard_t(3, n)
    return {"y": np.clip(1 + 0.8 * a - 0.3 * b + 0.5 * m + e, -4, 8), "a": a, "b": b, "m": m}


@pytest.mark.sample(2)
@pytest.mark.parametrize("errors", ["normal", "heavy"])
def test_intervals_have_the_table_s_own_coefficients_in_them(errors: str) -> None:
    """150 releases of one table of 4,000 rows, whose own fit does not change: 600 intervals of 4 dependent terms.

    Where each covers 95%, fewer than 119 of the 150 of a term do with probability 5e-11 (binomial), 4e-10 for all 8.
    Standard errors that lack the step's noise, or take half of it, cover 67% and less: 101 of 150 on average.  The
    noise is not overstated by more than a half: the mean square of z is below 1/2.25 of itself with probability 1e-12.
    What is allowed for clipped residuals is a bound, most of all of the intercept's: there it is left aside.
    """
    rng = np.random.default_rng(8)
    made = rows_of(QUERY, draw(rng, 4_000, errors), SCHEMA, Cost.of(rho=0.2))
    own = made.ordinary()[0]
    z, of_noise, shorter = [], [], []
    for _ in range(150):
        release = made.release(rng)
        found, whole = fit_release(release, "table"), fit_release(release)
        assert (found.values == whole.values).all()
        z.append((found.values - own) / found.std_errors)
        of_noise.append((found.values - own) / np.sqrt(np.diag(found.cov_privacy)))
        # of the intercept, the population's standard error has no allowance for a shift of the level
        shorter.append(found.std_errors[1:] / whole.std_errors[1:])
    assert (np.abs(z) <= 1.96).sum(axis=0).min() >= 119
    assert np.mean(np.square(z)[:, 1:]) > 1 / 2.25
    assert np.mean(np.square(of_noise)) > 1 / 2.25
    # no sampling error: of the population's variance, what is left is the noise's and the allowance
    assert np.mean(shorter) < 0.9


def test_what_clipping_takes_is_bounded_by_the_two_sums_of_squares() -> None:
    """Without noise: the difference of both sums is that of squares before and after, and bounds the squares lost."""
    rng = np.random.default_rng(3)
    made = boxed_rows(QUERY, draw(rng, 6_000, "heavy"), SCHEMA, Cost.of(rho=1))
    release = made.expected(made.size)
    layout = layout_of(release)
    read, crossed = read_residual_scores(release.parts[1], layout), read_crossproducts(release.parts[0], layout, 6_000)
    # there is no noise, and the estimate is told so
    crossed = replace(crossed, variances=1e-12 * crossed.variances)
    scores = replace(
        read, variance=1e-9, square_variance=1e-9, meat=replace(read.meat, variances=0 * read.meat.variances)
    )
    step = linear_step(layout, crossed, scores)
    assert not isinstance(step, str)
    range_ = scores.residual.clip / step.unit
    values = (made.z / 2**10) @ step.terms.T
    residual = values[:, -1] - values[:, :-1] @ step.b0
    lost = np.maximum(np.abs(residual) - range_, 0.0)
    assert (lost > 0).sum() > 20
    # psi is rounded: a relative error of about 1e-4 of all squares
    wanted = np.maximum(np.abs(residual), range_) ** 2 - range_**2
    assert clipped_squares(step, scores) == pytest.approx(wanted.sum(), abs=1e-3 * (residual**2).sum())
    errors = own_fit_errors(step, scores, error_variance(step, scores))
    most = step.full_range - range_
    # the level can be shifted by no more than is allowed for
    level = wanted.sum() / (2 * range_)
    assert level > lost.sum()
    shift = step.constant * level / step.rows
    part = np.trace(step.products.values[:4, :4] @ (errors - np.outer(shift, shift))) / 4 * step.rows
    assert part > (lost**2).sum()
    assert part < wanted.sum() * most / (most + 2 * range_) * 1.3


def test_a_table_without_clipped_residuals_has_noise_alone() -> None:
    """A response of two values has residuals within its range: the step is least squares, up to rounding."""
    rng = np.random.default_rng(1)
    data = draw(rng, 30_000)
    schema = tc.Schema({**SCHEMA, "y": tc.Boolean(missing=False)})
    data["y"] = rng.random(30_000) < 0.2 + 0.5 * data["a"]
    curator = tc.Curator(data, schema, budget=tc.Budget(rho=9))
    release = curator.release(QUERY, rho=3)
    made = release.estimate(target="table")
    own = rows_of(QUERY, data, schema, Cost.of(rho=3)).ordinary()[0]
    # four terms beyond 6 standard errors: 1e-8
    assert (np.abs(made.values - own) < 6 * made.std_errors).all()
    assert (made.privacy_share > 0.97).all()
    assert "noise alone makes the errors" in str(made)
    assert made.coefficients.estimand == "coefficients, of the table itself"
    assert "only the noise is uncertain" in tc.methods(made)
    assert "both sampling and this noise" in tc.methods(release.estimate())
    assert (made.std_errors < 0.5 * release.estimate().std_errors).all()
    assert (
        made.predict({"a": 0.5, "b": 0, "m": True}).std_errors
        < release.estimate().predict({"a": 0.5, "b": 0, "m": True}).std_errors
    )


@pytest.mark.parametrize(
    ("question", "persons", "target", "words"),
    [
        (QUERY, False, "sample", "neither 'population' nor 'table'"),
        (tc.Regression("m ~ a", model="logistic"), False, "table", "scores of a logistic model are bounded"),
        (QUERY, True, "table", "of persons"),
    ],
)
def test_what_a_release_does_not_tell_of_its_table_is_refused(
    question: Any, persons: bool, target: Any, words: str
) -> None:
    data: dict[str, Any] = {**draw(np.random.default_rng(0), 900), "who": np.arange(900) // 2}
    schema = tc.Schema({**SCHEMA, "who": tc.PrivacyUnit(2)}) if persons else SCHEMA
    release = tc.Curator(data, schema, budget=tc.Budget(rho=9)).release(question, rho=3)
    with pytest.raises(InferenceError, match=words) as caught:
        release.estimate(target=target)
    assert caught.value.code == "I09"

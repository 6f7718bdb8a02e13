"""Standard errors of linear regressions where errors are unequal: against moments, the sandwich, and simulated noise.

Simulations are seeded; tolerances follow from the number of draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from boxed_rows import boxed_rows
from scipy import stats

import tacit as tc
from tacit.method.regression.estimate_coefficients.clipping_bias import cut_shift
from tacit.method.regression.estimate_coefficients.linear_step import LinearStep, linear_step
from tacit.method.regression.estimate_coefficients.sampling_variance import (
    _positive_definite,
    error_variance,
    positive_part,
    sampling_covariance,
    widening,
)  # pyright: ignore[reportPrivateUsage]
from tacit.method.regression.row_sums.noisy_crossproducts import (
    ResidualScores,
    read_crossproducts,
    read_residual_scores,
)
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import RegressionRows

SCHEMA = tc.Schema({"y": tc.Real(-4, 8, missing=0), "a": tc.Real(0, 1, missing=0), "b": tc.Real(0, 1, missing=0)})
QUERY = tc.Regression("y ~ a + b")


def table(rng: np.random.Generator, n: int, kind: str) -> dict[str, np.ndarray]:
    a, b = rng.uniform(0, 1, n), rng.uniform(0, 1, n)
    e = rng.normal(0, 1, n)
    if kind == "ends":
        e = e * (0.2 + 2 * np.abs(2 * a - 1))
    if kind == "skewed":
        e = (rng.exponential(1, n) - 1) * (0.2 + 1.2 * a)
    return {"y": 1 + a - b + e, "a": a, "b": b}


def rows_at(data: dict[str, np.ndarray], price: dict[str, object]) -> RegressionRows:
    return boxed_rows(QUERY, data, SCHEMA, Cost.of(**price))


def releases(rows: RegressionRows, number: int, seed: int) -> Iterator[tuple[LinearStep, ResidualScores]]:
    """What releases of the same rows come down to."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        parts = rows.release(rng).parts
        second = read_residual_scores(parts[1], rows.layout)
        step = linear_step(rows.layout, read_crossproducts(parts[0], rows.layout, rows.size), second)
        assert not isinstance(step, str)
        yield step, second


def exact(rows: RegressionRows, step: LinearStep) -> tuple[np.ndarray, np.ndarray]:
    """Least squares in terms of size 1, and the sandwich's diagonal."""
    x = (rows.z / 1024) @ step.terms.T
    X, y = x[:, :-1], x[:, -1]
    inverse = np.linalg.inv(X.T @ X)
    b = inverse @ X.T @ y
    half = X @ inverse * (y - X @ b)[:, None]
    return b, (half**2).sum(axis=0)


@pytest.mark.parametrize("at", [-12.0, -7.9, -1.0, 0.0, 3.0, 8.1])
def test_a_variance_is_above_zero(at: float) -> None:
    """Moments of a normal law cut off at 0; far below, those of the exponential law that it is like there."""
    value, noise = positive_part(0.3 * at, 0.09)
    law = stats.truncnorm(-at, np.inf, loc=at)
    near = 0.04 if abs(at) > 8 else 1e-6  # of 1 / at**2 = 1 / 64, three times: the next term of Mills's ratio
    assert value == pytest.approx(0.3 * law.mean(), rel=near)
    assert noise == pytest.approx(0.09 * law.var(), rel=5 * near)


def test_at_a_great_price_it_is_the_sandwich() -> None:
    rows = rows_at(table(np.random.default_rng(1), 20_000, "ends"), {"rho": 900})
    for step, second in releases(rows, 3, 2):
        made = sampling_covariance(step, second, error_variance(step, second))
        _, robust = exact(rows, step)
        assert made.kept_share.min() > 0.99
        assert np.diag(made.covariance) == pytest.approx(robust, rel=0.02)
        assert robust[1] / (error_variance(step, second).value * step.inverse[1, 1]) > 1.4  # not that of equal errors


def test_the_noise_in_the_variance_is_as_told() -> None:
    """250 releases of the same rows: variance of the estimated variance, against what `widened` makes of it.

    A variance of 250 nearly normal draws has a relative standard deviation of sqrt(2 / 250) = 0.09: 5 of these below,
    and 7 above, for tails that are somewhat heavier.
    """
    rows = rows_at(table(np.random.default_rng(3), 4_000, "ends"), {"rho": 0.3})
    totals, told = [], []
    for step, second in releases(rows, 250, 4):
        made = sampling_covariance(step, second, error_variance(step, second), math.inf)
        total = made.covariance + step.inverse @ step.noise @ step.inverse
        wider = widening(step, total, made.noise_variance)
        totals.append(np.diag(total))
        told.append((wider**2 - 1) * np.diag(total) ** 2 / ((1.959964**2 + 1) / 4))
    ratio = np.var(totals, axis=0, ddof=1) / np.mean(told, axis=0)
    assert np.all(ratio > 0.55), ratio
    assert np.all(ratio < 1.63), ratio


def test_the_noise_in_the_whole_covariance_is_as_told() -> None:
    """200 releases of the same rows: products of squared residuals vary as `moves` say, in all entries together.

    The sum of the squares of six entries, each a nearly normal draw, has a relative standard deviation of
    sqrt(2 / (200 * 3)) = .06 if half of them weigh most: .65 and 1.45 are six of these away.
    """
    rows = rows_at(table(np.random.default_rng(3), 4_000, "ends"), {"rho": 0.5})
    found, told = list[np.ndarray](), list[float]()
    for step, second in releases(rows, 200, 7):
        errors = error_variance(step, second)
        made = sampling_covariance(step, second, errors, math.inf)
        # on axes on which the plain covariance is the identity, so that the noise in A itself is left out
        around = np.linalg.cholesky(step.products.values[: step.u, : step.u]).T / math.sqrt(errors.value)
        found.append(around @ made.covariance @ around.T)
        told.append(float(((around @ made.moves @ around.T) ** 2).sum()))
    varied = float(np.var(found, axis=0, ddof=1).sum())
    assert 0.65 < varied / np.mean(told) < 1.45


def test_what_is_rough_is_shrunk_and_stays_a_covariance() -> None:
    rows = rows_at(table(np.random.default_rng(5), 1_500, "ends"), {"rho": 0.1})
    for step, second in releases(rows, 40, 6):
        errors = error_variance(step, second)
        whole, some = sampling_covariance(step, second, errors, math.inf), sampling_covariance(step, second, errors)
        plain = errors.value * np.diag(step.inverse)
        assert np.linalg.eigvalsh(some.covariance)[0] > 0
        assert np.all((some.kept_share > 0) & (some.kept_share < 1))
        far, near = np.diag(whole.covariance) - plain, np.diag(some.covariance) - plain
        open_ = np.diag(whole.covariance) > 0.11 * plain
        assert near[open_] == pytest.approx((some.kept_share * far)[open_], rel=1e-9, abs=1e-12)


def test_a_variance_far_above_the_plain_one_is_believed() -> None:
    """A level of one row in twenty, errors there three times as large.

    Shrunk as an ordinary departure it would keep 0.54 of the 4.6 plain variances that are beyond the plain one.  The
    mean of 40, each with a standard deviation below 0.6 (asserted), is known to 0.095: 0.65 is five of these above.
    """
    rng, n = np.random.default_rng(10), 3_000
    g = rng.choice(["a", "b", "c", "d"], n, p=[0.5, 0.3, 0.15, 0.05])
    schema = tc.Schema({"y": tc.Real(-10, 10), "g": tc.Category(["a", "b", "c", "d"])})
    data = {"y": (g == "d") + rng.normal(0, 1, n) * np.where(g == "d", 3.0, 1.0), "g": g}
    rows = boxed_rows(tc.Regression("y ~ g"), data, schema, Cost.of(epsilon=5, delta=1e-6))
    found = []
    for step, second in releases(rows, 40, 11):
        errors = error_variance(step, second)
        made = sampling_covariance(step, second, errors)
        found.append((made.covariance[3, 3], exact(rows, step)[1][3]) / (errors.value * step.inverse[3, 3]))
    shrunk, robust = np.mean(found, axis=0)
    assert robust > 4.5
    assert np.std(found, axis=0)[0] < 0.6
    assert shrunk - 1 > 0.65 * (robust - 1)


def test_a_covariance_keeps_its_diagonal() -> None:
    plain = np.array([[2.0, 0.5], [0.5, 1.0]])
    made = _positive_definite(np.array([[3.0, 5.0], [5.0, 0.02]]), plain)
    assert np.diag(made) == pytest.approx([3.0, 0.1])
    assert np.linalg.eigvalsh(made)[0] > 0
    kept = np.array([[3.0, 0.2], [0.2, 0.8]])
    assert _positive_definite(kept, plain) == pytest.approx(kept)


def test_the_cut_of_skewed_unequal_errors_is_allowed_for() -> None:
    """120 tables of 8,000 rows, errors that are exponential with a spread that goes with a.

    The cut moves the slope of a; what is allowed is about what such errors lose, 5/6 of it here.  The mean move is
    known to 7 % (its standard error, which is asserted to be below 10 %): 4 of these on either side of 5/6.
    """
    rng = np.random.default_rng(7)
    moved, allowed = [], []
    for _ in range(120):
        rows = rows_at(table(rng, 8_000, "skewed"), {"epsilon": 3, "delta": 1e-6})
        ((step, second),) = releases(rows, 1, int(rng.integers(2**31)))
        moved.append((step.b1 - exact(rows, step)[0])[1])
        allowed.append(cut_shift(step, second, error_variance(step, second))[1])
    assert np.mean(moved) < -10 * np.std(moved, ddof=1) / math.sqrt(120)
    assert 0.55 < -np.mean(allowed) / np.mean(moved) < 1.1


def test_equal_errors_are_hardly_widened_for_the_cut() -> None:
    rows = rows_at(table(np.random.default_rng(8), 8_000, "equal"), {"epsilon": 3, "delta": 1e-6})
    parts = [
        cut_shift(s, c, error_variance(s, c)) ** 2 / np.diag(error_variance(s, c).value * s.inverse)
        for s, c in releases(rows, 60, 9)
    ]
    assert np.mean(parts, axis=0)[1:].max() < 0.02

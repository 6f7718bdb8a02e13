"""Responses far from their mean: their signed number is exact but for noise, and widens the range of residuals."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as tc
from tacit.method.regression.bounded_scores.heavy_tails import FAR, Tail, side_of, wide_range
from tacit.method.regression.estimate import linear_parts
from tacit.method.regression.estimate_coefficients.clipping_bias import CENTRE, clipped_tail, clipping_bias
from tacit.method.regression.estimate_coefficients.linear_step import LinearStep, linear_step
from tacit.method.regression.estimate_coefficients.sampling_variance import error_variance
from tacit.method.regression.row_sums.noisy_norms import read_tail
from tacit.method.regression.row_sums.released_columns import read_columns
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import RegressionRows, rows_of

SCHEMA = tc.Schema({"y": tc.Real(-200, 200), "x": tc.Real(-4, 4)})
QUERY = tc.Regression("y ~ x")


def made(sign: float, cost: Cost, n: int = 20_000) -> RegressionRows:
    """A response with a log-normal tail on the side of `sign`; 0: normal errors."""
    rng = np.random.default_rng(1)
    x, e = rng.normal(0, 1, n), rng.normal(0, 1, n)
    return rows_of(QUERY, {"y": sign * np.exp(0.3 * x + e) if sign else 5 * x + e, "x": x}, SCHEMA, cost)


@pytest.mark.parametrize("sign", [1.0, -1.0, 0.0])
@pytest.mark.parametrize("cost", [Cost.of(rho=1), Cost.of(epsilon=4)], ids=str)
def test_far_responses_are_counted_on_their_side(sign: float, cost: Cost) -> None:
    rows = made(sign, cost)
    parts = rows.expected(rows.size).parts
    tail, columns = read_tail(parts[1]), read_columns(parts[0], rows.layout, rows.size)
    # a deviation that noise hides is taken to be larger
    far = (rows.z[:, -1] - columns.mean[-1]) / columns.sd[-1]
    assert tail is not None
    # a response within a step of q of FAR may be on either side of it
    step = 2 * FAR / 512
    near = int((np.abs(np.abs(far) - FAR) < step).sum())
    assert tail.signed == pytest.approx(int((far >= FAR).sum()) - int((far < -FAR).sum()), abs=near)
    assert np.sign(tail.signed) == sign
    assert side_of(tail) in (0, sign)


def test_a_heavy_tail_widens_the_range_and_part_of_its_bias_is_taken_back() -> None:
    rows = made(1.0, Cost.of(rho=1))
    crossed, scores, count = linear_parts(rows.expected(rows.size), rows.layout)
    step = linear_step(rows.layout, crossed, scores, count)
    assert isinstance(step, LinearStep)
    # in standard deviations of the response, which are hardly more than those of residuals
    range_ = scores.residual.clip / step.unit * step.scales[-1] / 200 * 1024 / rows.z[:, -1].std()
    assert range_ > 8
    errors = error_variance(step, scores)
    found, bias = clipped_tail(step, scores, errors), clipping_bias(step, scores, errors)
    assert found is not None
    A = step.products.values[:2, :2] / step.rows
    # the mean of the correction over rows is that of the level
    assert step.constant @ A @ bias.correction == pytest.approx(CENTRE * found.mean / step.kept, rel=0.1)
    assert np.linalg.eigvalsh(bias.covariance).min() > 0


def test_noise_and_exponential_tails_widen_nothing() -> None:
    assert wide_range(Tail(20, 9), 1e4, 10) == 0
    # what exponential errors have beyond 6 deviations
    assert wide_range(Tail(1e6 * np.exp(-7), 1), 1e6, 10) == 0
    assert wide_range(Tail(400, 9), 1e4, 10) > wide_range(Tail(100, 9), 1e4, 10) > wide_range(Tail(100, 9), 1e4, 40) > 0

"""Bias and variance of one block's answer beside the theory: corrected, uncorrected, by simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit import families as fam
from tacit.models.blocks import block_mle

T = 20
BLOCKS = 10_000

# model, truth, parameter looked at, leading bias of the maximum over its value, v2 of theory §2 (None: not stated)
CASES: dict[str, tuple[Any, list[float], int, float | None]] = {
    "exponential rate": (fam.Exponential(), [1.0], 0, 2.1),
    "normal sd": (fam.Normal(), [0.0, 1.0], 1, None),
    "Laplace scale": (fam.Laplace(), [0.0, 1.0], 1, None),
    "Pareto shape": (fam.Pareto(), [2.0], 0, 2.1),
    "correlation": (fam.MultivariateNormal(), [0.0, 0.0, 1.0, 1.0, 0.65], 4, None),
    "gamma shape": (fam.Gamma(), [2.0, 1.0], 0, 5.4),
    "Weibull shape": (fam.Weibull(), [2.0, 1.0], 0, 3.5),
    "Poisson log-mean": (fam.PoissonRegression(regressors=0), [1.0], 0, 0.3),
}


@pytest.mark.sample(9)
@pytest.mark.parametrize("name", CASES)
def test_what_a_block_s_answer_is_worth(name: str) -> None:
    """Bias after the correction is below a seventh of what it was, and variance 1 + v2/t of the bound.

    Tolerances: 5.5 standard errors (8 cases of two numbers: false alarms 6e-7 in all) and the next order in 1/t, for
    which twice the square of the first is taken.
    """
    model, truth, at, v2 = CASES[name]
    x = model.sample(truth, BLOCKS * T, 7).reshape(BLOCKS, T, *([model.columns] if model.columns > 1 else []))
    found = block_mle(model, x, np.full(BLOCKS, T)).values[:, at]
    off, spread = found.mean() - truth[at], found.std() / math.sqrt(BLOCKS)
    leading = abs(model.bias(truth)[at]) / T
    assert leading * 6 / 7 > 5.5 * spread  # so that an uncorrected answer would fail
    assert abs(off) < leading / 7 + 5.5 * spread
    if v2 is not None:
        ratio = found.var() * T / np.linalg.inv(model.fisher(truth))[at, at]
        fourth = ((found - found.mean()) ** 4).mean() / found.var() ** 2
        assert abs(ratio - 1 - v2 / T) < 5.5 * ratio * math.sqrt((fourth - 1) / BLOCKS) + 2 * (v2 / T) ** 2


@pytest.mark.sample(6)
@pytest.mark.parametrize("t", [4, 7, 20])
@pytest.mark.parametrize("model", [fam.Normal(sd=(0.01, 50)), fam.Laplace(scale=(0.01, 50))], ids=["normal", "Laplace"])
def test_where_the_expectation_of_a_maximum_is_known_nothing_of_its_bias_is_left(model: Any, t: int) -> None:
    """5.5 standard errors of 100,000 blocks, six cases: false alarms 2e-7; what Cox and Snell leave would be seen."""
    x = model.sample([0.0, 2.0], 100_000 * t, 3).reshape(-1, t)
    found = block_mle(model, x, np.full(100_000, t)).values[:, 1]
    error = found.std() / math.sqrt(len(found))
    assert abs(found.mean() - 2) < 5.5 * error
    plain = block_mle(model, x, np.full(100_000, t), bias="none").values[:, 1].mean()
    left = abs(plain - model.bias([0.0, plain])[1] / t - 2)
    assert left > 5.5 * error or t == 20


def test_the_distance_from_a_median_is_known_at_any_number_of_rows() -> None:
    """By hand for 2 and 4 rows (3/4 and 83/96); table and expansion meet."""
    from tacit.models import median_distance
    from tacit.models.jax_config import quiet

    with quiet():
        found = np.asarray(median_distance.expected(np.array([2, 3, 4, 5, 1_024, 1_026, 4_001])))
    assert found[:4] == pytest.approx([3 / 4, 3 / 4, 83 / 96, 83 / 96], abs=1e-12)
    exact = [median_distance._of(t) for t in (1_024, 1_026, 4_000)]  # pyright: ignore[reportPrivateUsage]
    assert found[4:] == pytest.approx(exact, abs=5e-8)


@pytest.mark.long
def test_expectations_are_sums_placed_by_the_rows_where_the_support_is_known() -> None:
    """Moments of counts are right; where a constant is left out of a density, the rows themselves stand in."""
    jax = pytest.importorskip("jax")
    from tacit.models import block_quadrature as located
    from tacit.models.jax_config import quiet

    model, theta = fam.NegativeBinomial(), np.array([60.0, 1.5])
    with quiet():
        x, w = np.arange(20.0), np.ones(20)
        points, weights = jax.jit(lambda v: located.expectations(model, x, w, v))(theta)
        points, weights = np.asarray(points), np.asarray(weights)
    assert weights.sum() == pytest.approx(1, abs=1e-3)
    assert (weights[-20:] == 0).all()
    assert weights @ points == pytest.approx(60, rel=1e-3)
    assert weights @ (points - 60) ** 2 == pytest.approx(60 + 1.5 * 60**2, rel=1e-3)
    own = tc.Model(lambda x, t: -0.5 * (x / t.sd) ** 2 - jax.numpy.log(t.sd), sd=(0.1, 10), support="real")
    with quiet():
        points, weights = located.expectations(own, x, w, np.array([1.0]))
    assert np.asarray(points)[-20:].tolist() == x.tolist()
    assert np.asarray(weights)[-20:].tolist() == w.tolist()
    assert not np.asarray(weights)[:-20].any()

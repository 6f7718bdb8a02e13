"""Tests, contrasts and intervals of labelled numbers with both parts of their covariance, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.testing.simulate import simulate

SAMPLING = np.array([[4.0, 1.0, 0.5], [1.0, 2.0, -0.5], [0.5, -0.5, 1.0]])
PRIVACY = np.array([[1.0, -0.6, 0.2], [-0.6, 3.0, 0.4], [0.2, 0.4, 0.5]])
VALUES = np.array([3.0, -2.0, 1.0])


def made() -> NormalEstimate:
    release = simulate(tc.Mean("x"), {"x": np.arange(9.0)}, tc.Schema({"x": tc.Real(0, 9)}), rho=1, repeats=1).release(
        0
    )
    return NormalEstimate(release, "made up", "three numbers", ("a", "b", "c"), VALUES, SAMPLING, PRIVACY, (None,) * 3)


def test_one_constraint_is_normal_and_two_sided() -> None:
    whole = SAMPLING + PRIVACY
    z = (3 + 2) / np.sqrt(whole[0, 0] + whole[1, 1] - 2 * whole[0, 1])
    found = made().test("a - b = 0")
    assert (found.statistic, found.df) == (pytest.approx(z), 1)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(z))


def test_several_are_wald_s_with_the_total_covariance() -> None:
    whole = (SAMPLING + PRIVACY)[1:, 1:]
    chi2 = VALUES[1:] @ np.linalg.solve(whole, VALUES[1:])
    found = made().test("b = 0, c = 0")
    assert (found.statistic, found.df) == (pytest.approx(chi2), 2)
    assert found.p_value == pytest.approx(stats.chi2.sf(chi2, 2))


def test_contrasts_keep_both_covariances() -> None:
    row = np.array([1.0, -1.0, 0.0])
    found = made().contrast("a - b")
    assert found.sampling_variances[0] == pytest.approx(row @ SAMPLING @ row)
    assert found.privacy_variances[0] == pytest.approx(row @ PRIVACY @ row)
    low, high = made().contrast("a - b").conf_int(0.9)
    assert (high - low) / 2 == pytest.approx(1.644854 * found.std_errors[0], rel=1e-6)
    assert made().p_values == pytest.approx(2 * stats.norm.sf(np.abs(VALUES) / np.sqrt(np.diag(SAMPLING + PRIVACY))))

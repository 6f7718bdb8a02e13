"""Errors of a law's parameters from means of statistics, against differences of the parameters themselves."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as tc
from tacit import families
from tacit.estimates.noisy_terms.column_terms import terms_of
from tacit.method.sufficient_statistics.estimate import fitted, map_of, means_of, sampling_of
from tacit.testing.simulate import simulate


def test_parameters_move_with_each_mean_as_their_errors_say() -> None:
    """Shape and rate of a gamma law: J S J' and J L, J by differences; neither is its own transpose."""
    x = np.random.default_rng(1).gamma(2, 1.5, 4_000)
    query = tc.SufficientStatistics("x", families.Gamma(shape=(0.5, 6), rate=(0.1, 4)))
    release = simulate(query, {"x": x}, tc.Schema({"x": tc.Real(0.05, 15)}), rho=1, repeats=1).release(0)
    found = map_of(release)
    blocks = [terms_of("Mean", part, rows=4_000, grouped=False, target="population") for part in release.parts]
    value = np.array([one.value[0] for one in blocks])
    at = found.solve(value, np.full(2, 1e-3))
    means = means_of(release, blocks, at, "population")
    slopes = []
    for h in 1e-4 * np.eye(2):
        high, low = (found.solve(value + sign * h, np.full(2, 1e-3), at.theta).theta for sign in (1, -1))
        slopes.append((high - low) / 2e-4)
    J = np.stack(slopes, axis=1)
    made = fitted(found, means, at, "population")
    assert abs(J[0, 1] - J[1, 0]) > 0.05 * abs(J).max()
    assert made.joint == pytest.approx(J @ sampling_of(means, at) @ J.T, rel=0.01)
    assert made.loadings == pytest.approx(J @ means.loadings, rel=0.01, abs=1e-3 * np.abs(made.loadings).max())

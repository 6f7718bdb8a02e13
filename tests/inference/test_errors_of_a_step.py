"""Errors of one step's parameters, against differences of the parameters themselves."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import families
from tacit.method.blocks.estimate_one_step import matched
from tacit.models import scores


def test_parameters_move_with_each_score_as_their_errors_say() -> None:
    """Shape and rate of a gamma law, whose scores go together: J diag(v) J' with J by differences."""
    model = families.Gamma(shape=(0.5, 5), rate=(0.2, 5))
    at = np.array([2.0, 1.2])
    law = scores.law(scores.scaling_at(model, at), scores.CLIP, at)
    mean, _, spread = law.mean(np.array([2.1, 1.15]))
    variance, noise = np.array([2e-4, 5e-4]), np.array([1e-4, 9e-4])
    theta, (sampling, privacy), reason = matched(model, at, mean, variance, noise)
    assert reason is None
    assert theta == pytest.approx([2.1, 1.15], abs=1e-5)
    step = 1e-4 * np.eye(2)
    moved = [matched(model, at, mean + s * one, variance, noise)[0] for one in step for s in (1, -1)]
    J = np.stack([(moved[0] - moved[1]) / 2e-4, (moved[2] - moved[3]) / 2e-4], axis=1)
    assert privacy == pytest.approx(J @ np.diag(noise) @ J.T, rel=1e-3)
    r = spread[0, 1] / np.sqrt(spread[0, 0] * spread[1, 1])
    own = np.array([[2e-4, r * np.sqrt(1e-7)], [r * np.sqrt(1e-7), 5e-4]])
    assert sampling == pytest.approx(J @ own @ J.T, rel=1e-3)
    assert abs(J[0, 1] - J[1, 0]) > 0.01 * abs(J[0, 0])  # a transpose would be seen: ten times the tolerance

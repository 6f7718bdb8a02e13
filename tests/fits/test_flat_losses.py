"""Newton steps where a loss has next to no curvature: a reason, and no warning of NumPy."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from tacit.fits.solvers.problem import Local
from tacit.fits.solvers.solver import newton


class NearlyFlat:
    """A slope of 1 with a curvature of 1e-310: the step to the minimum is longer than floats are."""

    def local(self, theta: np.ndarray, weights: np.ndarray) -> Local:
        return Local(float(theta[0]), np.ones(1), np.full((1, 1), 1e-310))


@pytest.mark.filterwarnings("error")
def test_a_step_without_end_is_a_reason_and_no_warning() -> None:
    found = newton(cast(Any, NearlyFlat()), np.ones(1), np.zeros(1))
    assert found.reason == "no step lowers the objective"
    assert np.isfinite(found.theta).all()

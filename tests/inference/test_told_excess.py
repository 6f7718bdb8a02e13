"""The mean excess of clipped residuals, as far as sums of squares with and without clipping tell it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacit as tc
from tacit.method.regression.estimate import linear_parts
from tacit.method.regression.estimate_coefficients.clipping_bias import TAIL, clipped_tail, told_excess
from tacit.method.regression.estimate_coefficients.linear_step import linear_step
from tacit.method.regression.estimate_coefficients.sampling_variance import error_variance
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import rows_of

RANGE = 3.0


def lost(excess: float) -> float:
    """Return what clipping takes from a sum of squares for each clipped row whose excess is exponential."""
    return 2 * excess * (excess + RANGE)


@pytest.mark.parametrize("excess", [0.2, 0.5, 1.0, 4.0])
def test_an_excess_is_found_where_noise_is_small(excess: float) -> None:
    assert told_excess(1.3, RANGE, lost(excess), 0.01) == pytest.approx(excess, rel=0.02)


def test_an_excess_is_that_of_usual_tails_where_noise_hides_it() -> None:
    assert told_excess(1.3, RANGE, 2.0, 1e5) == pytest.approx(1.3, rel=0.01)


def test_in_between_it_goes_with_what_is_found() -> None:
    found = [told_excess(1.3, RANGE, one, 4.0) for one in (-8.0, 0.0, 4.0, 12.0, 40.0)]
    assert found == sorted(found)
    assert 0.2 < found[0] < 0.8 < found[3] < found[4] < 4.0
    # less noise, a sharper error
    assert np.all(np.diff([told_excess(1.3, RANGE, lost(0.3), one) for one in (0.2, 1.0, 5.0, 25.0)]) > 0)


def test_what_is_clipped_of_normal_errors_is_known_where_noise_is_small() -> None:
    """Sums as without noise, with a hundredth of its deviation: the mean excess is about a third of a deviation, not
    TAIL ranges.
    """
    rng = np.random.default_rng(3)
    x = rng.normal(0, 1, 20_000)
    schema = tc.Schema({"x": tc.Real(-4, 4), "y": tc.Real(-8, 8)})
    rows = rows_of(tc.Regression("y ~ x"), {"x": x, "y": 0.5 * x + rng.normal(0, 1, len(x))}, schema, Cost.of(rho=1))
    crossed, scores, count = linear_parts(rows.expected(rows.size), rows.layout)
    step = linear_step(rows.layout, crossed, scores, count)
    assert not isinstance(step, str)
    products = replace(step.products, variances=step.products.variances * 1e-4)
    step, scores = replace(step, products=products), replace(scores, square_variance=scores.square_variance * 1e-4)
    errors = error_variance(step, scores)
    found = clipped_tail(step, scores, errors)
    assert found is not None
    range_ = scores.residual.clip / step.unit
    assert found.rows > 5
    assert found.excess < 0.5 * TAIL * range_
    assert found.excess == pytest.approx(0.3 * np.sqrt(errors.value), rel=0.6)

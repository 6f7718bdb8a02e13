"""Plans of quantiles that are told a mean and a standard deviation say a range: neither says how dense values are."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as tc
from tacit.method.shared.plan_shapes import laws_of, widths
from tacit.method.shared.plan_shares import Spread

SCHEMA = tc.Schema({"pay": tc.Real(0, 200_000)})
KNOWN = {"pay": {"mean": 45_000, "sd": 40_000}}


@pytest.mark.parametrize(("mean", "sd"), [(0.3, 0.1), (0.2, 0.25), (0.9, 0.1), (0.5, 0.45), (0.01, 0.02)])
def test_laws_have_the_mean_and_the_deviation(mean: float, sd: float) -> None:
    found = laws_of(mean, sd)
    assert found
    for one in found[:-2]:  # the last ones have a heap at a bound, and the mean alone where they are cut
        assert one.quantiles.min() >= 0
        assert one.quantiles.max() <= 1
        assert one.quantiles.mean() == pytest.approx(mean, abs=0.06 * sd)
        assert one.quantiles.std() == pytest.approx(sd, rel=0.06)


def test_a_plan_that_is_told_a_mean_and_a_deviation_says_a_range() -> None:
    plan = tc.plan(tc.Quantiles("pay", [0.25, 0.5]), SCHEMA, rows=4_000, epsilon=1, expect=KNOWN)
    for one, term in zip(plan.ranges[""], plan.parts[0].terms, strict=True):
        assert one.least <= term.width <= one.largest
        assert one.largest > 1.5 * one.least
    assert "from and to" in str(plan)
    assert "values are alike" in str(plan)
    untold = tc.plan(tc.Quantiles("pay", [0.5]), SCHEMA, rows=4_000, epsilon=1)
    assert untold.ranges == {}
    assert "with a mean and a deviation (expect) the plan says a range" in str(untold)


def test_many_zeros_make_an_interval_of_no_width_possible() -> None:
    """A deviation above the mean: a quarter of the rows or more may be zeros."""
    found = widths(Spread(0.1, 0.15), 0.1, 0.02)
    assert found is not None
    assert found[0] == 0


def test_a_release_of_clustered_values_is_within_the_range_and_not_near_the_plan() -> None:
    """Two clusters: at the median between the plan's law and the truth lies a factor of two or more."""
    rng = np.random.default_rng(4)
    n = 4_000
    x = np.clip(np.where(rng.random(n) < 0.7, rng.gamma(2, 4, n), rng.gamma(6, 20, n)), 0, 480)
    schema = tc.Schema({"x": tc.Real(0, 480)})
    known = {"x": {"mean": float(x.mean()), "sd": float(x.std())}}
    query = tc.Quantiles("x", [0.1, 0.25])
    found = np.asarray(
        tc.Curator({"x": x}, schema, budget=tc.Budget(epsilon=9)).release(query, epsilon=1).estimate().conf_int(0.95)
    )
    plan = tc.plan(query, schema, rows=n, epsilon=1, expect=known)
    for (low, high), one in zip(found, plan.ranges[""], strict=True):
        assert one.least / 3 <= high - low <= 3 * one.largest

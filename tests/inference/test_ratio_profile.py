"""Odds ratios from shares' own intervals: Woolf's where rows are many, one-sided at 0, both sides of a p-value."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

import tacit as tc
from tacit.estimates.verbs.ratio_profile import Reaches, reaches
from tacit.testing import simulate


def made(ok: list[bool], sex: list[str], rho: float) -> tc.Estimate:
    schema = tc.Schema({"ok": tc.Boolean(missing=False), "sex": tc.Category(["f", "m"])})
    return (
        simulate(tc.Mean("ok", by="sex"), {"ok": ok, "sex": sex}, schema, rho=rho, repeats=1, rng=0)
        .release(0)
        .estimate()
    )


def even(level: float) -> np.ndarray:
    z = NormalDist().inv_cdf(0.5 + level / 2)
    return np.array([[1 - z, 1 + z], [5 - 2 * z, 5 + 2 * z]])


def test_normal_reaches_are_those_of_the_difference() -> None:
    """Limits and p-values of a normal difference: errors 1 and 2 make sqrt(5), and 3 where they are not independent."""
    for apart, error in ((True, math.sqrt(5)), (False, 3.0)):
        found = reaches(even, lambda x: x, np.array([1.0, 5.0]), apart, 0.9)
        z = NormalDist().inv_cdf(0.95)
        # angles are a degree apart: the largest is within 2e-4 of the maximum
        assert np.allclose(found.limits(z), (-4 - z * error, -4 + z * error), atol=2e-3)
        assert found.p_value() == pytest.approx(2 * NormalDist().cdf(-4 / error), rel=2e-3)


def test_a_p_value_goes_on_beyond_the_last_level() -> None:
    """A difference of 20 standard errors of 1: extrapolated, not that of the last level."""
    z = np.array([0.0, 4.0])[:, None] * np.array([1.0, 0.0])
    found = Reaches(z[:, 0], np.array([20.0, 0.0]) - z, np.array([20.0, 0.0]) + z, True)
    assert found.p_value() == pytest.approx(2 * NormalDist().cdf(-20.0), rel=0.01)


def test_a_share_of_nought_has_an_upper_limit() -> None:
    """0 of 100 against 50 of 100, next to no noise: a ratio of 0, with an upper limit below 1 and no reason."""
    estimate = made([False] * 100 + [True, False] * 50, ["f"] * 100 + ["m"] * 100, 1_000)
    found = estimate.odds_ratio("f", "m")
    low, high = found.conf_int()
    assert (low, found.reason) == (0.0, None)
    assert found.value < 1e-2
    # 3 / n is the upper limit of a share with no event, by the rule of three
    assert 0.01 < high < 0.15
    assert found.p_value < 1e-4
    other = estimate.odds_ratio("m", "f")
    assert other.conf_int() == (pytest.approx(1 / high), math.inf)


def test_a_denominator_that_may_be_0_leaves_a_lower_limit() -> None:
    """1 event of 40 against 30 of 40: no upper end, and a lower limit above 1, which is an answer."""
    estimate = made([True] + [False] * 39 + [True] * 30 + [False] * 10, ["f"] * 40 + ["m"] * 40, 0.3)
    found = estimate.ratio("m", "f")
    low, high = found.conf_int()
    assert low > 0
    assert high == math.inf
    assert found.reason is None
    assert found.note is not None
    assert found.note in found.summary().to_text()


def test_a_ratio_has_no_upper_end_where_the_denominator_s_own_interval_holds_0() -> None:
    """Groups of 6 rows with large noise: Fieller's test of 0 alone takes as clear what may be any share."""
    rng = np.random.default_rng(8)
    levels = [f"{name}{i}" for name in "ab" for i in range(20)]
    group = np.repeat(levels, [47] * 20 + [6] * 20)
    ok = rng.random(len(group)) < np.repeat([0.15, 0.05], [47 * 20, 6 * 20])
    schema = tc.Schema({"ok": tc.Boolean(), "group": tc.Category(levels)})
    many = simulate(tc.Mean("ok", by="group"), {"ok": ok, "group": group}, schema, rho=0.1, repeats=8, rng=rng)
    unclear = 0
    for i in range(8):
        estimate = many.release(i).estimate()
        lower = dict(zip(estimate.terms, estimate.intervals()[:, 0], strict=True))
        for j, reason in enumerate(estimate.reasons[20:]):
            if reason is None and lower[f"b{j}"] <= 0:
                found = estimate.ratio(f"a{j}", f"b{j}")
                unclear += 1
                assert found.conf_int()[1] == math.inf
                assert found.reason or found.note
    assert unclear > 0

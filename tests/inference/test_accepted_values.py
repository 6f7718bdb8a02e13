"""Ends of accepted sets by interpolation, against plain bisection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import tacit as tc
from tacit.estimates.noisy_terms import interval_inversion, noisy_ratio
from tacit.estimates.total_errors import accepted_values
from tacit.estimates.total_errors.accepted_values import FINE, accepted, ends
from tacit.testing import simulate


def bisected(p_value: Callable[[Any], Any], inside: Any, low: float, high: float, alpha: Any) -> tuple[Any, Any]:
    """The same by halving: at each step the middle is asked."""
    out: list[Any] = []
    for bound in (low, high):
        outer, inner = np.full_like(inside, bound), inside.copy()
        whole = p_value(outer) >= alpha
        for _ in range(32):
            middle = 0.5 * (outer + inner)
            yes = p_value(middle) >= alpha
            outer, inner = np.where(yes, outer, middle), np.where(yes, middle, inner)
        out.append(np.where(whole, bound, inner))
    return out[0], out[1]


def normal(inside: Any, sd: Any, power: float, flat: float) -> Callable[[Any], Any]:
    """A test whose error grows with the parameter, and that sees nothing at less than `flat` standard deviations."""

    def p_value(m: Any) -> Any:
        distance = np.maximum(np.abs(m - inside) / (sd * (1 + np.abs(m)) ** power) - flat, 0.0)
        return 2 * norm.sf(distance)

    return p_value


@pytest.mark.parametrize("seed", range(40))
def test_ends_are_those_of_bisection(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 30))
    low, high = sorted(rng.normal(0, 10 ** rng.uniform(-3, 5), 2))
    inside = np.where(rng.random(m) < 0.2, low, rng.uniform(low, high, m))
    inside = np.where(rng.random(m) < 0.1, high, inside)
    sd = (high - low) * 10 ** rng.uniform(-7, 2, m)
    alpha = np.where(rng.random(m) < 0.5, 0.05, 10 ** rng.uniform(-8, -0.01, m))
    p_value = normal(inside, sd, float(rng.choice([0.0, 0.5])), float(rng.choice([0.0, 0.3])))
    calls = list[Any]()

    def counted(m: Any) -> Any:
        calls.append(m)
        assert np.shape(m) == np.shape(inside)
        assert ((m >= low) & (m <= high)).all()
        return p_value(m)

    found, wanted = accepted(counted, inside, low, high, alpha), bisected(p_value, inside, low, high, alpha)
    for one, other, bound in zip(found, wanted, (low, high), strict=True):
        assert np.abs(one - other).max() <= 2 * FINE * (high - low)
        assert ((p_value(one) >= alpha) | (one == inside)).all()
        assert ((one == bound) == (other == bound)).all()
    assert len(calls) < 100


def test_tests_that_jump_or_never_reject_have_ends() -> None:
    inside = np.array([0.25, 0.5, 0.75])
    jumps = accepted(lambda m: np.where(np.abs(m - inside) < 0.1, 1.0, 0.0), inside, 0.0, 1.0, 0.05)
    assert jumps[0] == pytest.approx(inside - 0.1, abs=1e-8)
    assert jumps[1] == pytest.approx(inside + 0.1, abs=1e-8)
    never = accepted(lambda m: np.full_like(m, 0.05), inside, 0.0, 1.0, 0.05)
    assert [end.tolist() for end in never] == [[0.0] * 3, [1.0] * 3]
    only = accepted(lambda m: np.where(m == inside, 1.0, 0.0), inside, 0.0, 1.0, 0.05)
    assert np.abs(np.array(only) - inside).max() <= FINE


def test_an_estimate_that_its_own_test_rejects_is_an_end_where_halving_meets_no_accepted_value() -> None:
    """The estimates 0 count as accepted; the accepted values are 0.2 to 0.6, which halves of [0, 1] meet, and none."""
    low, high = ends(lambda m: np.array([1.0, 1.0]) * (np.abs(m - 0.4) - [0.2, -1.0]), np.zeros(2), 0.0, 1.0)
    assert low.tolist() == [0.0, 0.0]
    assert high == pytest.approx([0.6, 0.0], abs=1e-8)


@pytest.mark.sample(3)
@pytest.mark.parametrize("query", [tc.Mean("x", by="g"), tc.Mean("yes", by="g"), tc.Variance("x")])
@pytest.mark.parametrize("price", [{"epsilon": 0.3}, {"rho": 0.02}])
def test_intervals_of_estimates_are_those_of_bisection(
    query: Any, price: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of small and large cells, some within their noise."""
    rng = np.random.default_rng(5)
    schema = tc.Schema({"x": tc.Real(0, 50), "yes": tc.Boolean(), "g": tc.Category(["a", "b", "c", "d"])})
    table = {
        "x": rng.gamma(1, 6, 900).clip(0, 50),
        "yes": rng.random(900) < 0.03,
        "g": rng.choice(["a", "b", "c", "d"], 900, p=[0.6, 0.33, 0.05, 0.02]),
    }
    made = simulate(query, table, schema, repeats=25, rng=1, **price)
    found = np.array([made.release(i).estimate().intervals() for i in range(25)])
    for place in (interval_inversion, noisy_ratio):
        assert place.accepted is accepted_values.accepted
        monkeypatch.setattr(place, "accepted", bisected)
    wanted = np.array([made.release(i).estimate().intervals() for i in range(25)])
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-7)

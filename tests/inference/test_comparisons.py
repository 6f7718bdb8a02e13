"""Ratios, odds, trends, independence and simultaneous intervals: exact where they are, covering where they are not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import InferenceError
from tacit.estimates.verbs.comparisons import studentised_maximum
from tacit.method.shared.simulated_parts import simulated
from tacit.release.simulated import SimulatedRelease
from tacit.testing.simulate import add_noise, exact_integers, shaped

SCHEMA = tc.Schema(
    {
        "x": tc.Real(0, 100),
        "ok": tc.Boolean(),
        "g": tc.Category(["a", "b", "c"], ordered=True),
        "h": tc.Category(["u", "v"]),
    }
)


def draw(rng: np.random.Generator, n: int, tie: float = 0.0) -> dict[str, Any]:
    """Means 30, 40, 50; shares 0.2, 0.3, 0.4; h independent of g but for `tie`."""
    g = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    return {
        "x": np.clip(rng.normal(30 + 10 * g, 12), 0, 100),
        "ok": rng.random(n) < 0.2 + 0.1 * g,
        "g": np.array(["a", "b", "c"])[g],
        "h": np.where(rng.random(n) < 0.4 + tie * (g - 1), "u", "v"),
    }


def releases(
    query: tc.Query, n: int, repeats: int, seed: int, tie: float = 0.0, **price: Any
) -> list[SimulatedRelease]:
    rng = np.random.default_rng(seed)
    shape = shaped(query, SCHEMA, price.pop("neighbors", "replace-one"), n, tc.Cost.of(**price))
    return [simulated(shape, add_noise(shape, exact_integers(shape, draw(rng, n, tie)), rng)) for _ in range(repeats)]


def truth() -> np.ndarray:
    big = draw(np.random.default_rng(0), 400_000)
    return np.array([big["x"][big["g"] == g].mean() for g in "abc"])


@pytest.mark.long
@pytest.mark.sample(2)
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.1}], ids=str)
def test_ratios_of_means_cover(price: dict[str, float]) -> None:
    """100 tables of 1,000 rows: below 0.79 with probability < 1e-6 where it is 0.95."""
    a, _, c = truth()
    held, over = 0, 0
    for release in releases(tc.Mean("x", by="g"), 1_000, 100, 1, **price):
        found = release.estimate().ratio("c", "a")
        low, high = found.conf_int()
        assert low <= found.value <= high
        held += low <= c / a <= high
        over += found.p_value < 0.05
    assert held / 100 > 0.79
    assert over == 100  # 1.67 is far from 1


@pytest.mark.long
def test_risk_and_odds_ratios_cover() -> None:
    """100 tables, shares 0.2 and 0.4: ratio 2, odds ratio 8/3; below 0.79 with probability < 1e-6."""
    held = np.zeros(2)
    for release in releases(tc.Mean("ok", by="g"), 2_000, 100, 2, epsilon=1, neighbors="add-remove"):
        made = release.estimate()
        for i, (found, true) in enumerate(((made.ratio("c", "a"), 2.0), (made.odds_ratio("c", "a"), 8 / 3))):
            low, high = found.conf_int()
            held[i] += low <= true <= high
    assert (held / 100 > 0.79).all()


def test_ratios_agree_with_the_tests_they_invert() -> None:
    (release,) = releases(tc.Mean("x", by="g"), 1_000, 1, 3, rho=0.1)
    made = release.estimate()
    found = made.ratio("b", "a")
    assert found.p_value == pytest.approx(made.test("b = a").p_value, rel=1e-9)
    low, high = found.conf_int()
    for end in (low, high):
        assert made.test(f"b - {end:.12f} * a = 0").p_value == pytest.approx(0.05, abs=1e-4)
    assert made.ratio("a", "b").conf_int() == pytest.approx((1 / high, 1 / low), rel=1e-6)
    low, high = found.conf_int(0.9)
    assert made.ratio("a", "b").conf_int(0.9) == pytest.approx((1 / high, 1 / low), rel=1e-6)
    assert made.test(f"b - {high:.12f} * a = 0").p_value == pytest.approx(0.1, rel=0.15)  # by 95% intervals


def test_a_denominator_that_may_be_zero_gives_a_reason() -> None:
    (release,) = releases(tc.Mean("ok", by="g"), 60, 1, 4, epsilon=0.3)
    found = release.estimate().ratio("a", "c")
    low, high = found.conf_int()
    assert found.reason is not None
    assert low >= 0
    assert high == math.inf
    assert "above" in str(found)


def test_trends() -> None:
    """Means 30, 40, 50: a slope of about 10 a step; the contrast is the least-squares slope."""
    a, _, c = truth()
    held = 0
    for release in releases(tc.Mean("x", by="g"), 1_000, 300, 5, rho=0.1):
        made = release.estimate()
        low, high = made.trend().conf_int()
        held += low <= (c - a) / 2 <= high
    assert held / 300 > 0.87
    assert made.trend().value == pytest.approx(np.polyfit([0, 1, 2], made.values, 1)[0])
    assert made.trend([1, 2, 10]).value == pytest.approx(np.polyfit([1, 2, 10], made.values, 1)[0])
    for scores in ([1, 2], [1, 1, 1], [1, 2, math.nan]):
        with pytest.raises(InferenceError):
            made.trend(scores)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("n", "price"), [(300, {"epsilon": 0.2}), (2_000, {"rho": 0.01}), (2_000, {"epsilon": 1})], ids=str
)
def test_independence_keeps_its_level(n: int, price: dict[str, float]) -> None:
    """400 independent tables: 5% tests reject more than 11% with probability < 1e-6.  Naive chi-square rejects most."""
    from scipy import stats

    p, naive = [], []
    for release in releases(tc.Count(by=["g", "h"]), n, 400, 6, **price):
        p.append(release.estimate().independence(draws=399).p_value)
        counts = np.maximum(np.array([float(cell[0]) for cell in release.parts[0].integers]).reshape(3, 2), 0.5)
        naive.append(stats.chi2_contingency(counts).pvalue)
    assert np.mean(np.array(p) < 0.05) < 0.11
    if price == {"epsilon": 0.2}:
        assert np.mean(np.array(naive) < 0.05) > 0.11


def test_independence_has_power() -> None:
    p = [
        release.estimate().independence(draws=399).p_value
        for release in releases(tc.Count(by=["g", "h"]), 2_000, 60, 7, tie=0.15, epsilon=1)
    ]
    assert np.mean(np.array(p) < 0.05) > 0.9
    with pytest.raises(InferenceError) as refused:
        releases(tc.Mean("x", by="g"), 100, 1, 7, epsilon=1)[0].estimate().independence()
    assert refused.value.code == "I12"


@pytest.mark.long
@pytest.mark.sample(2)
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.05}], ids=str)
def test_simultaneous_intervals(price: dict[str, float]) -> None:
    """All three pairs at once: in 300 tables below 0.87 with probability < 1e-6; narrower than Bonferroni's."""
    a, b, c = truth()
    true = np.array([a - b, a - c, b - c])
    held = 0
    (first,) = releases(tc.Mean("x", by="g"), 1_000, 1, 8, **price)
    made = first.estimate()
    q = float(np.quantile(studentised_maximum(made, made.pairwise(None).estimate), 0.95))
    assert 1.96 < q < 2.5  # one interval; Bonferroni's three with room for Laplace tails
    for release in releases(tc.Mean("x", by="g"), 1_000, 300, 8, **price):
        pairs = release.estimate().pairwise(None).estimate
        held += bool((np.abs(pairs.values - true) <= q * pairs.std_errors).all())
    assert held / 300 > 0.87
    both = made.pairwise(adjust="simultaneous"), made.pairwise(adjust="bonferroni")
    widths = [np.ptp(one.intervals(), axis=1) for one in both]
    assert (widths[0] < widths[1] * 1.001).all()
    assert (both[0].adjusted() >= np.array(both[0].p_values_raw)).all()


def test_terms_that_do_not_go_together() -> None:
    (release,) = releases(tc.Mean("x", by="g"), 200, 1, 9, epsilon=1)
    made = release.estimate()
    for call in (lambda: made.ratio("a", "a"), lambda: made.ratio("a", "z"), lambda: made.odds_ratio("a", "b")):
        with pytest.raises(InferenceError):
            call()


@pytest.mark.long
def test_ratios_of_means_that_may_be_negative() -> None:
    """-50 over 5 with a denominator near its noise: 120 tables; below 0.82 with probability < 1e-6 where it is 0.95."""
    schema = tc.Schema({"x": tc.Real(-100, 100), "g": tc.Category(["a", "b"])})
    rng = np.random.default_rng(11)
    for n, epsilon, b in ((300, 0.5, 5), (300, 0.5, 20), (2_000, 1, 20)):
        held, price = 0, tc.Cost.of(epsilon=epsilon)
        shape = shaped(tc.Mean("x", by="g"), schema, "replace-one", n, price)
        for _ in range(120):
            g = rng.integers(0, 2, n)
            data = {
                "x": np.clip(np.where(g == 0, -50, b) + rng.normal(0, 20, n), -100, 100),
                "g": np.array(["a", "b"])[g],
            }
            found = simulated(shape, add_noise(shape, exact_integers(shape, data), rng)).estimate().ratio("a", "b")
            low, high = found.conf_int()
            assert low < high
            held += low <= -50 / b <= high
            if found.reason is not None:
                assert (low, high) == (-math.inf, math.inf)
        assert held / 120 > 0.82

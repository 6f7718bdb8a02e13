"""Plans of Poisson regressions: what is expected of a count, or taken of one of which nothing is expected."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as tc
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import rows_of

SCHEMA = tc.Schema({"x": tc.Real(-2, 2), "k": tc.Integer(0, 100)})
QUERY = tc.Regression("k ~ x", model="poisson")
WORDS = "counts of a Poisson model are a tenth of their range"


def slope(expect: dict[str, dict[str, float]] | None) -> float:
    """Width of the slope's interval in a plan."""
    return tc.plan(QUERY, SCHEMA, rows=10_000, rho=0.2, expect=expect).parts[0].terms[1].width


def test_counts_that_are_expected_to_vary_more_have_wider_intervals() -> None:
    """The former plan took Poisson's variance whatever was said: a third of the width that real counts had."""
    x = {"mean": 0, "sd": 1}
    poisson = slope({"x": x, "k": {"mean": 3, "sd": 3**0.5}})
    assert slope({"x": x, "k": {"mean": 3, "sd": 1}}) == pytest.approx(poisson, rel=0.1)
    assert slope({"x": x, "k": {"mean": 3, "sd": 4.5}}) > 2 * poisson


def test_a_plan_told_mean_and_spread_is_what_such_counts_have() -> None:
    """Variance mean + 2 mean² of negative binomial counts; the median of nine seeded releases, within a third."""
    rng = np.random.default_rng(8)
    x = np.clip(rng.normal(0, 1, 10_000), -2, 2)
    k = np.minimum(rng.poisson(3 * rng.gamma(0.5, 2, 10_000) * np.exp(0.1 * x)), 100)
    rows = rows_of(QUERY, {"x": x, "k": k}, SCHEMA, Cost.of(rho=0.2))
    actual = 2 * 1.96 * float(np.median([rows.fit(rng).std_errors[1] for _ in range(9)]))
    planned = slope({"x": {"mean": 0, "sd": 0.9}, "k": {"mean": 3, "sd": 4.5}})
    assert 3 / 4 < actual / planned < 4 / 3


def test_width_without_privacy_has_the_spread_too() -> None:
    """Of negative binomial counts maximum likelihood for Poisson's law would tell too little: (1 + spread mean)**.5."""
    x = {"mean": 0, "sd": 1}
    made = [
        tc.plan(QUERY, SCHEMA, rows=10_000, rho=0.2, expect={"x": x, "k": {"mean": 3, "sd": sd}}).parts[0].terms[1]
        for sd in (3**0.5, 4.5)
    ]
    assert made[1].without / made[0].without == pytest.approx(4.5 / 3**0.5, rel=0.05)


def test_a_plan_that_is_told_nothing_of_a_count_says_what_it_takes() -> None:
    told = {"k": {"mean": 3, "sd": 4}}
    assert WORDS in tc.plan(QUERY, SCHEMA, rows=10_000, rho=0.2).to_text()
    assert WORDS not in tc.plan(QUERY, SCHEMA, rows=10_000, rho=0.2, expect=told).to_text()
    other = tc.plan(tc.Regression("k ~ x"), SCHEMA, rows=10_000, rho=0.2)
    assert WORDS not in other.to_text()

"""Plans of quantiles say a range, over laws that agree with what is told, and widths as values are recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import QueryError
from tacit.method.quantiles.plan_widths import Recorded, width_of
from tacit.method.shared.plan_matched import between, matched
from tacit.method.shared.plan_shapes import P, heaped, laws_of, shortest, weighted
from tacit.method.shared.plan_shares import Spread

SCHEMA = tc.Schema({"pay": tc.Real(0, 200_000), "age": tc.Integer(0, 100), "day": tc.Date("2024-01-01", "2024-12-31")})
KNOWN = {"pay": {"mean": 45_000, "sd": 40_000}}


def planned(column: str, told: dict[str, Any] | None, schema: tc.Schema = SCHEMA, rows: int = 4_000) -> tc.Plan:
    expect = None if told is None else {column: told}
    return tc.plan(tc.Quantiles(column, [0.25, 0.5]), schema, rows=rows, epsilon=1, expect=expect)


@pytest.mark.parametrize(("mean", "sd"), [(0.3, 0.1), (0.2, 0.25), (0.9, 0.1), (0.5, 0.45), (0.01, 0.02)])
def test_laws_have_the_mean_and_the_deviation(mean: float, sd: float) -> None:
    found = laws_of(mean, sd)
    assert found is not None
    assert found.weights.sum() == pytest.approx(1)
    assert found.quantiles.min() >= 0
    assert found.quantiles.max() <= 1
    assert (np.diff(found.quantiles, axis=1) >= 0).all()
    # the quantiles at 2,001 probabilities lack the ends of a law
    assert found.quantiles.mean(axis=1) == pytest.approx(mean, abs=0.06 * sd)
    assert found.quantiles.std(axis=1) == pytest.approx(sd, rel=0.06)


def test_a_plan_that_is_told_a_mean_and_a_deviation_says_a_range() -> None:
    plan = planned("pay", KNOWN["pay"])
    for one, term in zip(plan.ranges[""], plan.parts[0].terms, strict=True):
        assert one.least <= term.width <= one.largest
        assert 1.5 * one.least < one.largest
    assert "from and to" in str(plan)
    assert "values are alike" in str(plan)
    untold = planned("pay", None)
    # of values on a tenth of the bounds, or even ones
    for wide, term in zip(untold.ranges[""], untold.parts[0].terms, strict=True):
        assert wide.least < term.width <= wide.largest
    assert 'told more, the range is narrower: expect={"pay": {"mean": …, "sd": …}, …}' in str(untold)


def test_many_zeros_make_an_interval_of_no_width_possible() -> None:
    """A deviation above the mean: a quarter of the rows or more may be zeros."""
    made = laws_of(0.1, 0.15)
    assert made is not None
    found = width_of(made, 0.1, 0.02, 0.01, Recorded())
    assert found.between is not None
    assert found.between[0] == 0


@pytest.mark.parametrize("column", ["age", "day"])
def test_an_interval_of_whole_numbers_has_at_least_one_of_them(column: str) -> None:
    """Ends lie half a step beyond: many rows a unit make intervals of one or two, not of a part of it."""
    told = {"mean": "2024-07-01" if column == "day" else 45, "sd": 16}
    plan = planned(column, told, rows=100_000)
    for one, term in zip(plan.ranges[""], plan.parts[0].terms, strict=True):
        assert one.least == pytest.approx(1)
        assert one.largest == pytest.approx(2)
        assert 1 < term.width < 2
        assert term.without <= term.width


@pytest.mark.sample(2)
@pytest.mark.parametrize(("rows", "seed"), [(2_000, 1), (20_000, 2), (100_000, 3)])
def test_releases_of_ages_are_within_the_range(rows: int, seed: int) -> None:
    """Widths of 5 releases, whose median is one of a few whole numbers: beyond twice the range in none of 400 tables
    of other seeds."""
    rng = np.random.default_rng(seed)
    ages = np.clip(np.round(rng.gamma(6, 7.5, rows)), 0, 100)
    query = tc.Quantiles("age", [0.25, 0.5])
    curator = tc.Curator({"age": ages}, tc.Schema({"age": tc.Integer(0, 100)}), budget=tc.Budget(epsilon=9))
    found = [curator.release(query, epsilon=1, fresh=True).estimate().conf_int().to_numpy() for _ in range(5)]
    widths = np.median([np.diff(one)[:, 0] for one in found], axis=0)
    plan = planned("age", {"mean": 45, "sd": 18}, rows=rows)
    for width, one in zip(widths, plan.ranges[""], strict=True):
        assert one.least / 2 <= width <= 2 * one.largest


def test_declared_multiples_and_heaps_are_in_the_range() -> None:
    told = {"mean": 45_000, "sd": 25_000}
    plain = planned("pay", told).ranges[""][1]
    tens = planned("pay", told, tc.Schema({"pay": tc.Real(0, 200_000, multiple_of=10_000)})).ranges[""][1]
    assert tens.least < 100
    assert tens.largest == pytest.approx(10_000, rel=0.01)
    heaps = planned("pay", told, tc.Schema({"pay": tc.Real(0, 200_000, heaped_at=10_000)})).ranges[""][1]
    assert heaps.least < plain.least / 10
    assert heaps.largest >= plain.largest


def test_quantiles_that_are_told_are_those_of_every_law() -> None:
    told = ((0.25, 0.2), (0.5, 0.28), (0.75, 0.4))
    made = matched(0.3, 0.12, told)
    assert made.weights.sum() == pytest.approx(1)
    assert (np.diff(made.quantiles, axis=1) >= 0).all()
    for p, value in told:
        assert made.at(np.array([p])) == pytest.approx(value, abs=0.003)


def test_told_quantiles_make_the_range_narrower_and_say_where_many_values_are_alike() -> None:
    # of a log-normal law with that mean and deviation
    more = {**KNOWN["pay"], "quantiles": {"0.1": 13_000, "0.25": 20_000, "0.5": 33_500, "0.75": 56_000}}
    for one, other in zip(planned("pay", more).ranges[""], planned("pay", KNOWN["pay"]).ranges[""], strict=True):
        assert one.largest / one.least < other.largest / other.least
    heap = {"mean": 38_000, "sd": 20_000, "quantiles": {"0.1": 20_000, "0.3": 40_000, "0.7": 40_000}}
    assert planned("pay", heap).ranges[""][1].largest < 50


def test_quantiles_alone_tell_the_mean_and_the_deviation() -> None:
    alone = {"quantiles": {"0.1": 13_000, "0.25": 20_000, "0.5": 33_500, "0.75": 56_000}}
    mean = tc.plan(tc.Mean("pay"), SCHEMA, rows=4_000, epsilon=1, expect={"pay": alone})
    told = tc.plan(tc.Mean("pay"), SCHEMA, rows=4_000, epsilon=1, expect=KNOWN)
    assert mean.width == pytest.approx(told.width, rel=0.4)


def test_a_past_release_is_told_as_its_terms_and_values() -> None:
    rng = np.random.default_rng(5)
    table = {"pay": np.clip(rng.lognormal(10.4, 0.7, 4_000), 0, 200_000)}
    schema = tc.Schema({"pay": tc.Real(0, 200_000)})
    past = tc.Curator(table, schema, budget=tc.Budget(epsilon=9)).release(
        tc.Quantiles("pay", [0.1, 0.5, 0.9]), epsilon=1
    )
    found = past.estimate()
    plan = planned("pay", {"quantiles": dict(zip(found.terms, found.values.tolist(), strict=True))}, schema)
    assert plan.ranges[""][1].largest < 4 * plan.ranges[""][1].least


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"quantiles": {}}, "quantiles"),
        ({"quantiles": 3}, "quantiles is 3"),
        ({"quantiles": {"0.5": 30_000}}, "no mean"),
        ({"quantiles": {"1.5": 30_000, "0.5": 2}}, "no probability between 0 and 1"),
        ({"quantiles": {"half": 30_000, "0.5": 2}}, "no probability between 0 and 1"),
        ({"quantiles": {"0.5": 300_000, "0.2": 2}}, "outside the bounds"),
        ({"quantiles": {"0.5": 3_000, "0.2": 4_000}}, "above quantile 0.5"),
        ({"quantiles": {"0.5": 3_000, "0.50": 3_000}}, "told twice"),
        ({"quantiles": {"0.5": "much", "0.2": 4_000}}, "not a number"),
        ({"median": 3}, "not mean, sd, quantiles or missing"),
    ],
)
def test_quantiles_that_cannot_be_are_refused(told: dict[str, Any], words: str) -> None:
    with pytest.raises(QueryError, match=words) as problem:
        planned("pay", told)
    assert problem.value.code == "Q42"


def test_the_shortest_range_and_weighted_quantiles() -> None:
    values, weights = np.array([4.0, 1.0, 1.2, 100.0]), np.array([0.2, 0.3, 0.4, 0.1])
    assert shortest(values, weights, 0.7, 0.0) == (1.0, 1.2)
    assert shortest(values, weights, 1.0, 0.0) == (1.0, 100.0)
    assert weighted(values, weights, (0.0, 0.3, 0.31, 1.0)) == [1.0, 1.0, 1.2, 100.0]


def test_one_law_alone_has_a_range_only_where_values_are_recorded_in_units() -> None:
    even = Spread(0.5, 0.2887, uniform=True)
    assert width_of(even, 0.5, 0.1, 0.05, Recorded()).between is None
    found = width_of(even, 0.5, 0.1, 0.05, Recorded(unit=0.15, grid=0.15))
    assert found.middle == pytest.approx(0.35)
    assert found.between == pytest.approx((0.3, 0.45))


def test_heaps_hold_the_share_that_is_supposed() -> None:
    made = laws_of(0.4, 0.15)
    assert made is not None
    told = heaped(made, 0.1, 0.0, 0.5).quantiles
    at = np.isclose(told / 0.1, np.round(told / 0.1), atol=1e-9).mean(axis=1)
    # some laws have a few rows there anyway
    assert at == pytest.approx(0.5, abs=0.06)
    assert between(((0.2, 0.3), (0.6, 0.5)))[np.searchsorted(P, 0.4)] == pytest.approx(0.4, abs=0.001)

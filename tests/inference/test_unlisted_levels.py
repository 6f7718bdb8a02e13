"""Estimates of levels that nobody listed: coverage given that one is shown, exact for counts; shares; pictures."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.errors import InferenceError
from tacit.estimates.selected_counts import conditional
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.unlisted_levels.design import PARTS
from tacit.method.unlisted_levels.estimate import LevelsEstimate, estimate
from tacit.method.unlisted_levels.estimate_shares import LevelShares
from tacit.method.unlisted_levels.mechanism import released
from tacit.method.unlisted_levels.plan import expected, shown_count
from tacit.privacy import Cost, pld_total
from tacit.release.simulated import SimulatedRelease

ROWS = tc.Schema({"d": tc.Text(max_length=20)})
PERSONS = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), "d": tc.Text(max_length=20)})
PRICE = {"epsilon": 1, "delta": 1e-6}


def shaped(relation: str = "replace-one", schema: tc.Schema = ROWS, n: int = 10_000, **price: Any) -> Measurement:
    public = Public(schema, relation, n if relation == "replace-one" else None, n)
    return design(tc.UnlistedLevels("d"), public, Cost.of(**(price or PRICE)))


def found(
    shape: Measurement, counts: dict[str, int], rng: np.random.Generator | None, target: Any = "population"
) -> LevelsEstimate:
    def noisy(sums: Any, law: Any) -> Any:
        return sums if rng is None else sums + law.sample(len(sums), rng)

    parts = released(shape, counts, noisy)
    unit = None if shape.unit is None else shape.max_rows
    return estimate(
        SimulatedRelease(shape.query, "t", shape.neighbors, shape.rows, (), parts, shape.cost, unit), target
    )


@pytest.mark.parametrize("schema", [ROWS, PERSONS], ids=["rows", "persons"])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_counts_are_covered_given_that_they_are_shown(schema: tc.Schema, relation: str, level: float) -> None:
    """Exactly, by enumeration of the noise, whatever the true count is."""
    levels = shaped(relation, schema).columns[0]
    law, least = levels.law, levels.form.parameters["threshold"]
    sd = float(law.scale)
    for count in {1, 2, *(max(1, round(least + k * sd)) for k in (-5, -3, -2, -1, 0, 1, 2, 4, 8))}:
        y = np.arange(least, max(least, count) + int(9 * sd) + 2, dtype=np.float64)
        mass = law.pmf(y - count)
        low, high = conditional(law, least, y, level)
        # at most half of what the level leaves is spare, and what whole numbers leave
        covered = float(mass @ ((low <= count) & (count <= high))) / mass.sum()
        assert level - 1e-9 <= covered <= (1 + level) / 2 + 2 / sd
        if count < least - sd:
            naive = float(mass @ (np.abs(y - count) <= 1.96 * sd)) / mass.sum()
            assert naive < 0.95


def test_what_is_missed_is_the_law_of_the_noise() -> None:
    """Against draws of the law: 50,000 a count, each off by 5.5 standard errors once in 2e7."""
    shape, rng = shaped(), np.random.default_rng(0)
    levels = shape.columns[0]
    estimates = found(shape, {"a": 500}, None)
    for count in (20, 30, 35, 40, 50):
        y = count + levels.law.sample(50_000, rng)
        p = estimates.missed(count)
        assert abs((y < levels.form.parameters["threshold"]).mean() - p) < 5.5 * sqrt(max(p * (1 - p), 1e-4) / 50_000)
    assert estimates.missed(estimates.largest_missed(0.5)) > 0.5 >= estimates.missed(estimates.largest_missed(0.5) + 1)


@pytest.mark.parametrize(("target", "relation"), [("table", "replace-one"), ("population", "add-remove")])
def test_shares_and_the_rest_are_covered(target: Any, relation: str) -> None:
    """In 200 tables, where a level is shown; 95% is below 87.3% or so (5 standard errors) once in 3e6."""
    n, shares, rng = 2_000, (0.018, 0.05, 0.4), np.random.default_rng(1)
    shape = shaped(relation, n=n)
    held: dict[str, list[bool]] = {}
    for _ in range(200):
        drawn = rng.multinomial(n, [*shares, 1 - sum(shares)])
        counts = {f"level {j}": int(k) for j, k in enumerate(drawn[:-1])} | {
            f"rare {i}": 1 for i in range(int(drawn[-1]))
        }
        made = found(shape, counts, rng, target)
        limits = made.shares.intervals()
        for i, term in enumerate(made.terms):
            if term.startswith("level"):
                j = int(term[-1])
                truth = shares[j] if target == "population" else drawn[j] / n
                held.setdefault(term, []).append(bool(limits[i, 0] <= truth <= limits[i, 1]))
        low, high = made.rest.interval()
        held.setdefault("rest", []).append(
            low <= sum(k for name, k in counts.items() if name not in made.terms) <= high
        )
        low, high = made.every.interval()
        held.setdefault("every", []).append(low <= n <= high)
    assert len(held) == 5
    for term, own in held.items():
        assert len(own) > 40
        assert np.mean(own) > 0.95 - 5 * sqrt(0.05 * 0.95 / len(own)), term


def test_a_share_is_the_normal_interval_where_selection_does_not_matter() -> None:
    one = LevelShares(np.array([4_000.0]), 10_000.0, 6.0, 20.0, 34.5, 0.5, True)
    z, (low, high) = 1.959964, one.intervals()[0]
    assert (low, high) == pytest.approx((0.4 - z * one.std_errors[0], 0.4 + z * one.std_errors[0]), abs=2e-4)
    # without a sample only noise is uncertain
    table = LevelShares(np.array([4_000.0]), 10_000.0, 6.0, 20.0, 34.5, 0.5, False)
    assert table.std_errors[0] == pytest.approx(sqrt(6**2 + (0.4 * 20) ** 2) / 10_000)
    near = LevelShares(np.array([35.0]), 10_000.0, 6.0, 20.0, 34.5, 0.5, False)
    assert near.intervals()[0, 0] < 0.0005


def test_no_share_where_noise_hides_how_many_there_are() -> None:
    shape = shaped(n=40)
    made = found(shape, {"a": 37, "b": 3}, None)
    assert made.terms == ("a",)
    assert made.shares.reason is not None
    assert np.isnan(made.shares.intervals()).all()
    assert "not above its noise" in str(made)


def test_terms_are_by_count_then_text() -> None:
    made = found(shaped(), {"b": 90, "a": 90, "c": 400, "d": 1}, None)
    assert made.terms == ("c", "a", "b")
    assert made.to_frame().loc["a", "count"] == 90
    assert made.place("b") == 2
    assert list(made.conf_int().columns) == ["lower", "upper"]
    with pytest.raises(InferenceError):
        made.place("d")
    with pytest.raises(InferenceError):
        made.intervals(0.3)
    assert made.rest.value == 1
    assert made.every.value == 581


def test_persons_are_counted_in_parts() -> None:
    made = found(shaped(schema=PERSONS), {"a": PARTS * 100 + PARTS // 2}, None)
    assert made.values.tolist() == [100.5]
    assert made.threshold < 100
    assert "persons" in str(made)


def test_a_picture_has_a_bar_for_each_level_and_the_threshold() -> None:
    pytest.importorskip("matplotlib")
    made = found(shaped(), {"b": 90, "a": 900, "x" * 60: 300}, None)
    drawn = made.plot()
    assert drawn.values == (900.0, 300.0, 90.0)
    assert drawn.terms[1].endswith("…")
    lines = [line.get_xdata() for line in drawn.axes.lines]
    assert any(np.allclose(np.asarray(x, dtype=float), made.threshold) for x in lines)


def test_a_plan_says_which_counts_are_shown() -> None:
    shape = shaped()
    law, least = shape.columns[0].law, shape.columns[0].form.parameters["threshold"]
    for p in (0.05, 0.5, 0.95):
        count = shown_count(shape.columns[0], p)
        assert float(law.sf(least - 1 - count)) >= p > float(law.sf(least - count))
    terms = expected(shape, 10_000, 0.95)
    assert [one.term.split(":")[1].strip() for one in terms[:3]] == [
        f"shown with probability {k} %" for k in (5, 50, 95)
    ]
    assert str(tc.plan(tc.Count(by="d"), ROWS, rows=10_000, width=60, delta=1e-6).cost).startswith("ε = ")


def test_an_approximate_part_that_was_sold_as_a_pair_is_composed_as_that_pair() -> None:
    """Below the delta of the pair nothing is known of it, where normal noise at the same price would promise more."""
    table = {"d": ["a"] * 500, "x": [0.5] * 500}
    schema = tc.Schema({"d": tc.Text(max_length=20), "x": tc.Real(0, 1)})
    for query in (tc.Count(by="d"), tc.Bootstrap(tc.Mean("x"), replicates=10)):
        budget = tc.Budget(**PRICE, accounting="basic")
        release = tc.Curator(table, schema, budget=budget).release(query, **PRICE)
        assert float(pld_total([release], "1e-6")) == pytest.approx(1, abs=2e-3)
        with pytest.raises(tc.TacitError):
            pld_total([release], Fraction(1, 10**7) * 5)

"""Plans of regressions that are told nothing say over which widths they range, and what would be enough to answer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.planning.guessed_spreads import CHANCE, PART, RARE
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import rows_of

SCHEMA = tc.Schema(
    {
        "pay": tc.Real(0, 9_000),
        "age": tc.Real(0, 100),
        "works": tc.Boolean(),
        "region": tc.Category(["n", "e", "s"]),
    }
)
LINEAR = tc.Regression("pay ~ age + works")
HALF = {"works": {"true": 0.5}}


def ranges(query: tc.Query, expect: Any = None, rows: int = 20_000) -> Any:
    return tc.plan(query, SCHEMA, rows=rows, rho=1, expect=expect).ranges.get("", ())


def test_a_range_of_told_columns_is_over_tails_and_columns_that_go_together() -> None:
    told = {"pay": {"mean": 2_000, "sd": 900}, "age": {"mean": 40, "sd": 20}, **HALF}
    untold, known = ranges(LINEAR), ranges(LINEAR, told)
    widths = [one.width for one in tc.plan(LINEAR, SCHEMA, rows=20_000, rho=1, expect=told).parts[0].terms]
    for one, wide, width in zip(known, untold, widths, strict=True):
        assert one.least <= width <= one.largest
        assert one.largest / one.least < wide.largest / wide.least
    # regressors that go together tell less of each slope
    assert known[1].largest > 1.1 * widths[1]


def test_ranges_of_told_columns_hold_errors_of_columns_that_go_together() -> None:
    """Of 20,000 rows: standard errors are known to a few percent, and ranges are at least 1.2 times apart."""
    rng = np.random.default_rng(5)
    u = rng.normal(size=20_000)
    rows = {
        "pay": np.minimum(rng.gamma(2, 450, 20_000) * np.exp(0.3 * u), 9_000),
        "age": (40 + 15 * (0.6 * u + 0.8 * rng.normal(size=20_000))).clip(0, 100),
        "works": rng.random(20_000) < 1 / (1 + np.exp(-u)),
    }
    told = {name: {"mean": rows[name].mean(), "sd": rows[name].std()} for name in ("pay", "age")}
    told["works"] = {"true": rows["works"].mean()}
    found = rows_of(LINEAR, rows, SCHEMA, Cost.of(rho=1)).fit(rng)
    for error, one in zip(found.std_errors[1:], ranges(LINEAR, told)[1:], strict=True):
        assert one.least / 1.5 < 2 * 1.96 * error < one.largest * 1.5


def test_counts_of_a_poisson_model_range_up_to_the_middle_of_their_bounds() -> None:
    schema = tc.Schema({"visits": tc.Integer(0, 40), "age": tc.Real(0, 100)})
    query = tc.Regression("visits ~ age", model="poisson")
    found = tc.plan(query, schema, rows=20_000, rho=1, expect={"age": {"mean": 50, "sd": 25}}).ranges[""]
    told = {"age": {"mean": 50, "sd": 25}, "visits": {"mean": 20, "sd": 10}}
    (_, slope) = tc.plan(query, schema, rows=20_000, rho=1, expect=told).parts[0].terms
    # each width is that of one simulated release, whose errors noise moves by some percent
    assert 0.9 * found[1].least <= slope.width <= 1.1 * found[1].largest


def test_a_narrow_response_makes_intervals_as_much_narrower_and_a_narrow_regressor_wider() -> None:
    # ranges are longer by what a release's width may lie beyond those of simulated ones, either way
    age = {"age": {"mean": 50, "sd": 100 / math.sqrt(12)}}
    response = ranges(LINEAR, {**age, **HALF})[1]
    assert response.largest / response.least == pytest.approx(CHANCE**2 / PART, rel=0.25)
    even = {"pay": {"mean": 4_500, "sd": 9_000 / math.sqrt(12)}, **HALF}
    regressor = ranges(LINEAR, even)[1]
    assert regressor.largest / regressor.least == pytest.approx(CHANCE**2 / PART, rel=0.25)
    # both unknown: the product
    both = ranges(LINEAR, HALF)[1]
    assert both.largest / both.least == pytest.approx(CHANCE**2 / PART**2, rel=0.4)
    assert both.always


def test_a_rare_boolean_is_known_less() -> None:
    told = {"pay": {"mean": 4_500, "sd": 2_000}, "age": {"mean": 50, "sd": 25}}
    found = ranges(LINEAR, told)[2]
    # the slope's variance is as 1 / (p (1 - p))
    assert found.largest / found.least == pytest.approx(CHANCE**2 * math.sqrt(0.25 / (RARE * (1 - RARE))), rel=0.25)


def test_columns_of_expressions_are_guessed_too() -> None:
    found = ranges(tc.Regression("log1p(pay) ~ I(age ** 2) + region"), {"age": {"mean": 50, "sd": 25}})
    assert all(one.least < one.largest for one in found)


def test_where_a_guess_leaves_no_answer_the_plan_says_so() -> None:
    query = tc.Regression("works ~ age + region", model="logistic")
    made = tc.plan(query, SCHEMA, rows=3_000, epsilon=1)
    assert not any(one.always for one in made.ranges[""])
    page = made.to_text()
    assert "or no answer" in page
    assert "from and to" in page
    assert made.to_dict()["ranges"][""][1][2] is False


def test_the_page_lists_the_range_beside_each_width() -> None:
    table = tc.plan({"mean": tc.Mean("age"), "model": LINEAR}, SCHEMA, rows=20_000, rho=1).table_of_terms()
    at = table.columns.index("from and to")
    assert all(" to " in str(row[at]) for row in table.rows)
    assert any("columns fill their bounds or 10% of them" in note for note in table.notes)
    known = tc.plan(tc.Mean("age"), SCHEMA, rows=20_000, rho=1, expect={"age": {"mean": 40, "sd": 20}})
    assert "from and to" not in known.table_of_terms().columns


def test_actual_errors_of_skewed_columns_lie_in_the_range() -> None:
    rng = np.random.default_rng(0)
    rows = {
        "pay": np.minimum(rng.gamma(2, 500, 20_000), 9_000),
        "age": rng.normal(45, 15, 20_000).clip(0, 100),
        "works": rng.random(20_000) < 0.15,
    }
    found = rows_of(LINEAR, rows, SCHEMA, Cost.of(rho=1)).fit(rng)
    for error, one in zip(found.std_errors[1:], ranges(LINEAR)[1:], strict=True):
        assert one.least < 2 * 1.96 * error < one.largest


@pytest.mark.sample(2)
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "0.02"}], ids=str)
def test_what_a_plan_says_would_be_enough_is_planned_to_be(price: dict[str, Any]) -> None:
    query = tc.Regression("works ~ age + pay + region", model="logistic")
    made = tc.plan(query, SCHEMA, rows=300, **price)
    assert math.isinf(made.width)
    (said,) = [one for one in made.cautions() if "would be enough" in one]
    rows = int(said.split(" rows would be enough")[0].split(" ")[-1].replace(",", ""))
    assert math.isfinite(tc.plan(query, SCHEMA, rows=rows, **price).width)
    assert math.isinf(tc.plan(query, SCHEMA, rows=rows // 2, **price).width)


def test_a_share_may_be_that_of_nobody_in_a_group() -> None:
    """Told or not, the range begins with the width of a group in which nobody is: there noise alone is an error."""
    query, n = tc.Mean("works", by="region"), 50_000
    nobody = tc.plan(query, SCHEMA, rows=n, rho=1, expect={"works": {"true": 0.0}}).parts[0].terms[0].width
    for expect in (None, {"works": {"true": 0.4}}):
        found = ranges(query, expect or {}, rows=n)[0]
        assert found.least == pytest.approx(nobody, rel=0.2)
        assert found.least < found.largest / 5

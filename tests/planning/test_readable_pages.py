"""What a newcomer reads on a plan's page: terms that are alike on one line, advice that fits, one coefficient."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

import tacit as tc

SCHEMA = tc.Schema(
    {
        "age": tc.Integer(0, 99),
        "pay": tc.Real(0, 9_000),
        "town": tc.Category([f"t{i}" for i in range(12)]),
        "sex": tc.Category(["f", "m"]),
        "well": tc.Boolean(),
    }
)


def test_terms_of_the_same_widths_have_one_line() -> None:
    plan = tc.plan({"pay": tc.Mean("pay", by="town"), "by sex": tc.Mean("pay", by="sex")}, SCHEMA, rows=9_000, rho=0.1)
    terms = [str(row[1]) for row in plan.summary().rows]
    assert terms == ["t0 … t11 (12 alike)", "f", "m"]
    assert len(plan.to_dict()["terms"]) == 14  # all of them, for a program


def test_terms_that_differ_have_lines_of_their_own_and_none_is_left_out_unsaid() -> None:
    known = {"town": {f"t{i}": (i + 1) / 100 for i in range(12)}, "age": {"mean": 40, "sd": 17}}
    cells = tc.Histogram(["town", "age"], bins={"age": 3})
    asks = {"cells": cells, "pay": tc.Mean("pay", by="town"), "median": tc.Quantiles("age", [0.5])}
    plan = tc.plan(asks, SCHEMA, rows=9_000, rho=0.1, expect=known)
    table = plan.summary()
    assert len(table.rows) == 40
    assert "and 9 more terms, of pay, median" in table.notes


@pytest.mark.parametrize(
    ("query", "advice"),
    [
        (tc.Quantiles("pay", [0.1, 0.5, 0.9]), "more budget or fewer quantiles"),
        (tc.Quantiles("pay", [0.5]), "more budget"),
        (tc.Quantiles("pay", [0.5], by="sex"), "more budget or fewer groups"),
        (tc.Mean("pay", by="sex"), "more budget or fewer cells"),
        (tc.KernelDensity("age"), "more budget"),
    ],
    ids=str,
)
def test_advice_is_of_what_the_question_has(query: tc.Query, advice: str) -> None:
    found = [one for one in tc.plan(query, SCHEMA, rows=2_000, rho=0.0005).cautions() if "of the variance" in one]
    assert [one.partition("; ")[2] for one in found] == [advice]


def test_bins_of_a_density_are_no_groups() -> None:
    plan = tc.plan(tc.KernelDensity("age"), SCHEMA, rows=9_000, rho=0.1)
    assert plan.parts[0].other is None
    assert "equal shares" not in str(plan)


def test_a_small_group_widens_one_coefficient() -> None:
    """Coefficients have units of their own: the widest one with and without a small group may be two."""
    plan = tc.plan(tc.Regression("pay ~ age + sex"), SCHEMA, rows=20_000, rho=1)
    (part,) = plan.parts
    assert part.other is not None
    assert part.other.term == "sex[T.m]"
    assert part.other.planned == {one.term: one.width for one in part.terms}["sex[T.m]"]
    assert part.other.width > 2 * part.other.planned
    assert "sex[T.m]: from" in str(plan)


def test_a_regression_without_an_answer_says_how_often() -> None:
    known = {"well": {"true": 0.08}, "age": {"mean": 42, "sd": 17}, "sex": {"f": 0.8}}
    query = tc.Regression("well ~ age + sex", model="logistic")
    plan = tc.plan(query, SCHEMA, rows=1_200, rho=0.008, expect=known)
    assert math.isinf(plan.width)
    (part,) = plan.parts
    assert part.none is not None
    assert 0.5 < part.none < 1
    assert f"in {100 * part.none:.0f} % of simulated releases" in str(plan)
    answered = tc.plan(query, SCHEMA, rows=1_200, rho=2, expect=known)
    assert answered.parts[0].none is None


def test_what_may_be_told_is_one_line_in_the_words_of_where_one_is() -> None:
    schema = tc.Schema({"age": tc.Real(0, 90), "pay": tc.Real(0, 9_000), "married now": tc.Boolean()})
    asked = {"a": tc.Mean("age"), "b": tc.Mean("pay"), "c": tc.Mean(["pay", "married now"])}
    made = tc.plan(asked, schema, rows=5_000, rho=0.1)
    (line,) = [one for one in str(made).splitlines() if "told more" in one]
    assert line.endswith('expect={"age": {"mean": …, "sd": …}, …}')
    assert "Booleans are true" in line
    (line,) = [one for one in str(replace(made, in_files=True)).splitlines() if "told more" in one]
    assert line.endswith("age = { mean = …, sd = … } in [expect], or --expect")
    only = tc.plan(tc.Mean("married now"), schema, rows=5_000, rho=0.1)
    (line,) = [one for one in str(replace(only, in_files=True)).splitlines() if "told more" in one]
    assert line.endswith('"married now" = { true = 0.3 } in [expect], or --expect')


def test_a_plan_speaks_of_whole_persons() -> None:
    schema = tc.Schema({"id": tc.PrivacyUnit(max_rows=3), "town": tc.Text(20)})
    made = tc.plan(tc.UnlistedLevels("town"), schema, rows=5_000, epsilon=1, delta=1e-6)
    said = re.findall(r"a level of (\S+) persons", str(made))
    assert len(said) == 3
    assert all(one.replace(",", "").isdigit() for one in said)

"""Widths of plans are printed so that they lie in the ranges that are printed beside them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit as tc
from tacit.planning.printed_widths import percent_of, printed, printed_range, to_three

SIZES = st.floats(min_value=1e-14, max_value=1e14)
SCHEMA = tc.Schema({"pay": tc.Real(0, 9_000), "share": tc.Real(0, 1), "sex": tc.Category(["f", "m"])})


def number(text: str) -> float:
    return float(text.replace(",", ""))


@given(SIZES, st.floats(1, 1e6), st.floats(1, 1e6), st.integers(0, 9))
def test_a_printed_width_lies_in_its_printed_range(middle: float, down: float, up: float, decimals: int) -> None:
    least, largest = middle / down, middle * up
    low, high = map(number, printed_range(least, largest))
    assert low <= number(printed(middle, decimals)) <= high
    # outwards, by less than one in the second digit
    assert least * 0.9 <= low <= least
    assert largest <= high <= largest * 1.1


@given(SIZES)
def test_numbers_keep_two_digits(x: float) -> None:
    assert number(printed(x)) == pytest.approx(x, rel=0.051)
    assert number(to_three(x)) == pytest.approx(x, rel=0.051)
    assert number(to_three(x, up=True)) >= x or x < 1e-4


def test_a_share_that_is_not_all_is_not_printed_as_all() -> None:
    assert [percent_of(x) for x in (0.0, 1e-9, 0.5, 1 - 1e-9, 1.0)] == ["0 %", "< 1 %", "50 %", "> 99 %", "100 %"]


@pytest.mark.parametrize("expect", [None, {"pay": {"mean": 900, "sd": 800}, "share": {"mean": 0.02, "sd": 0.03}}])
@pytest.mark.parametrize("column", ["pay", "share"])
def test_tables_of_plans_hold_widths_in_ranges(column: str, expect: Any) -> None:
    query = tc.Quantiles(column, [0.1, 0.25, 0.5, 0.75, 0.9])
    for rows in (50, 777, 40_000):
        table = tc.plan(query, SCHEMA, rows=rows, epsilon=0.7, expect=expect).summary()
        at = table.columns.index("from and to")
        for row in table.rows:
            low, high = map(number, str(row[at]).split(" to "))
            assert low <= number(str(row[at - 1])) <= high


def test_a_group_that_is_wider_is_not_printed_as_equally_wide() -> None:
    for rows in np.geomspace(100, 1e6, 8).round().astype(int).tolist():
        plan = tc.plan(tc.Count(by="sex"), SCHEMA, rows=rows, rho=0.3)
        for words in re.findall(r"from (\S+) with equal shares to (\S+) for", str(plan)):
            assert number(words[0]) < number(words[1])

"""Columns given as plain Python lists may hold integers of any size: what a row counts for is declared, never an error.

A value beyond 64 bits is far beyond any bounds, and no level.  Exact integers are read from answers at a price at which
noise is 0 but for a chance below 1e-300.
"""

from __future__ import annotations

from typing import Any

import pytest

import tacit as tc

EXACT = 1_000
NEAR = 0.25
"""Noise of sums has a standard deviation of 0.014: beyond with probability 2e-11; other answers are off by 1."""
WIDE = [2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**30, 2**200, -(2**200), 10**300, 10**400, -(10**400)]
REAL, WHOLE = tc.Schema({"x": tc.Real(0, 10)}), tc.Schema({"x": tc.Integer(0, 9)})


def answer(table: dict[str, Any], schema: tc.Schema, query: Any, neighbors: str = "replace-one") -> Any:
    curator = tc.Curator(table, schema, budget=tc.Budget(epsilon=EXACT, neighbors=neighbors))
    return curator.release(query, epsilon=EXACT).estimate("table")


@pytest.mark.parametrize("wide", WIDE, ids=lambda k: f"{'-' if k < 0 else ''}2^{abs(k).bit_length()}")
def test_a_wide_integer_is_at_the_bound_or_no_level(wide: int) -> None:
    end = 1 if wide > 0 else 0
    assert answer({"x": [1, 2, 3, wide]}, REAL, tc.Sum("x")).value == pytest.approx(6 + 10 * end, abs=NEAR)
    assert answer({"x": [1, 2, 3, wide]}, WHOLE, tc.Sum("x")).value == pytest.approx(6 + 9 * end, abs=NEAR)
    levels = tc.Schema({"c": tc.Category([1, 2], missing="other")})
    found = answer({"c": [1, 2, 2, wide]}, levels, tc.Count(by="c"))
    assert found.values == pytest.approx([1, 2, 1], abs=NEAR)


def test_wide_persons_are_told_apart() -> None:
    schema = tc.Schema({"who": tc.PrivacyUnit(1), "x": tc.Real(0, 10)})
    table = {"who": [2**200, 2**200 + 1, 2**200, 1], "x": [5, 5, 5, 5]}
    assert answer(table, schema, tc.Count(), "add-remove").value == pytest.approx(3, abs=NEAR)


def test_persons_wider_than_any_type_are_told_apart_too() -> None:
    """As floats 10**80 and 10**80 + 1 are one person; the numbers that stand for them are nobody else's."""
    schema = tc.Schema({"who": tc.PrivacyUnit(1), "x": tc.Real(0, 10)})
    who = [10**80, 10**80 + 1, 10**80, -(10**400), 1 - 10**76, 10**76 - 1, 10**76]
    found = answer({"who": who, "x": [5] * len(who)}, schema, tc.Count(), "add-remove")
    assert found.value == pytest.approx(6, abs=NEAR)

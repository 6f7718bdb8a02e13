"""Means at a bound of their column: wrong units, or bounds that do not fit, are said."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as tc

SCHEMA = tc.Schema(
    {"stay": tc.Real(0, 30, units="days"), "dead": tc.Boolean(), "arm": tc.Category(["A", "B"]), "n": tc.Integer(0, 9)}
)


def summary(factor: float, asked: tc.Mean) -> str:
    rng = np.random.default_rng(0)
    table = {
        "stay": factor * rng.poisson(6, 2_000),
        "dead": np.zeros(2_000, dtype=bool),
        "arm": ["A", "B"] * 1_000,
        "n": np.full(2_000, 5),
    }
    owner = tc.Curator(table, SCHEMA, budget=tc.Budget(rho=100))
    return str(owner.release(asked, rho=50).summary())


def test_hours_in_a_column_of_days_are_seen() -> None:
    shown = summary(24, tc.Mean("stay", by="arm"))
    assert "A, B lie within 1% of the upper bound, 30 days: are the units and the bounds right?" in shown


def test_a_column_in_years_is_seen_at_the_lower_bound() -> None:
    assert "stay lies within 1% of the lower bound, 0 days" in summary(1 / 365, tc.Mean("stay"))


@pytest.mark.parametrize("asked", [tc.Mean("stay", by="arm"), tc.Mean("dead"), tc.Mean(["stay", "n"], by="arm")])
def test_others_are_not_remarked_on(asked: tc.Mean) -> None:
    """Shares near 0 are ordinary, and so are means within the bounds."""
    assert "within 1%" not in summary(1, asked)


def test_only_the_column_at_its_bound_is_named() -> None:
    shown = summary(24, tc.Mean(["stay", "n"]))
    assert "stay lies within 1% of the upper bound, 30 days" in shown
    assert "n lies" not in shown

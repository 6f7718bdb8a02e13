"""What combined answers cost a person, and which persons go together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import tacit as tc
from tacit.errors import InferenceError
from tacit.parties.combined_cost import largest_cost, sum_of_costs
from tacit.privacy import Cost

SCHEMA = tc.Schema({"x": tc.Real(0, 10), "who": tc.PrivacyUnit(max_rows=3)})


def released(name: str, *prices: str, where: Any = None) -> list[Any]:
    table = {"x": [1.0, 4.0, 7.0, 2.0] * 50, "who": list(range(100)) * 2}
    curator = tc.Curator(table, SCHEMA, name=name, ledger=where, budget=tc.Budget(epsilon=9))
    return [curator.release(tc.Mean("x"), epsilon=price) for price in prices]


def test_the_same_people_pay_for_each_of_their_releases(tmp_path: Any) -> None:
    """1 + 2 of one ledger and 2.5 of another: 3, the larger sum; 5.5 where somebody may be in both."""
    first = released("a", "1", "2", where=str(tmp_path / "a.ledger"))
    second = released("b", "2.5", where=str(tmp_path / "b.ledger"))
    assert tc.combine([*first, *second]).cost == Cost.of(epsilon=3)
    assert tc.combine([*first, *second], overlap=True).cost == Cost.of(epsilon="5.5")


def test_persons_with_other_numbers_of_rows_do_not_go_together() -> None:
    (one,), (other,) = released("a", "1"), released("b", "1")
    with pytest.raises(InferenceError, match=r"C12.*at most"):
        tc.combine([one, replace(other, unit=2)])


def test_prices_of_one_kind_add_in_their_own_measure() -> None:
    """Pure prices in ε, shares of pairs in μ², and everything else in ρ; the largest is one of them, or told in ρ."""
    assert sum_of_costs([Cost.of(epsilon=1), Cost.of(epsilon=2)]) == Cost.of(epsilon=3)
    assert sum_of_costs([Cost.of(rho="0.1"), Cost.of(epsilon=1)]) == Cost.of(rho="0.6")
    pair = Cost.of(epsilon=1, delta="1e-6")
    assert sum_of_costs([pair, pair]).gdp == 2 * pair.gdp
    assert largest_cost([Cost.of(epsilon=1), Cost.of(epsilon=2), Cost.of(epsilon=1)]) == Cost.of(epsilon=2)
    assert largest_cost([Cost.of(rho="0.1"), Cost.of(epsilon=1)]) == Cost.of(rho="0.5")

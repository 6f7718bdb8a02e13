"""Prices with long fractions: no price, and no sum of prices, makes a ledger that cannot be read again.

Two prices of a thousand bits each made a sum that was refused as a number when the ledger was read, for good.  The hint
of that error is to restore an older copy, which forgets charges.
"""

from __future__ import annotations

import random
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

import pytest

import tacit as tc
from tacit.errors import BudgetError
from tacit.ledger import Request, open_ledger
from tacit.privacy import Budget, Cost, Spend
from tacit.privacy.exact_numbers import LONGEST_SUM, MOST_BITS, SHORT, SMALL, chargeable, rational

BUDGETS = [
    Budget(epsilon=1),
    Budget(rho=1),
    Budget(epsilon=1, delta="1e-6"),
    Budget(epsilon=1, delta="1e-6", accounting="zcdp"),
    Budget(epsilon=1, delta="1e-6", accounting="basic"),
]


def long_number(bits: int, seed: int) -> Fraction:
    """About 1/10,000, as a fraction of so many bits."""
    q = random.Random(seed).getrandbits(bits) | 1 << (bits - 1) | 1
    return Fraction(q // 10_000, q)


@pytest.mark.parametrize("bits", [20, 1_000, MOST_BITS])
@pytest.mark.parametrize("budget", BUDGETS, ids=["pure", "rho", "pair", "pair-in-rho", "basic"])
def test_a_ledger_of_long_prices_is_read_again(budget: Budget, bits: int, tmp_path: Path) -> None:
    place = tmp_path / "l.ledger"
    ledger = open_ledger(place, budget=budget, unit=None)
    exact, analysts = Spend(), ("alice", "bob")
    for i in range(12):
        cost = Cost.of(epsilon=long_number(bits, i))
        ledger.charge(Request("t", (), f"question {i}", cost, analyst=analysts[i % 2]))
        exact += budget.exact_spend(cost)
    ledger.close()
    again = open_ledger(place, budget=budget, unit=None)
    again.verify()
    spent = again.spent()
    # rounded up, by less than anybody can see
    assert exact.within(spent)
    assert spent.less(exact).within(Spend(*[Fraction(1, 10**38)] * 4))
    assert again.standing("alice").own.less(spent) == Spend()


def test_a_hostile_price_leaves_the_answers_of_others(tmp_path: Path) -> None:
    def curator() -> tc.Curator:
        table: dict[str, Any] = {"x": [0.1, 0.5, 0.7]}
        return tc.Curator(table, tc.Schema({"x": tc.Real(0, 1)}), name="t", ledger=tmp_path / "l", budget=Budget(rho=1))

    first = curator().release(tc.Mean("x"), rho=0.1, name="mean")
    for i in range(3):
        curator().release(tc.Mean("x"), rho=str(long_number(1_000, i)))
    with pytest.raises(BudgetError, match="B01"):
        curator().release(tc.Mean("x"), rho=long_number(MOST_BITS + 1, 9))
    assert curator().releases["mean"].parts == first.parts


def test_what_is_accepted_is_accepted_as_text() -> None:
    ones = 2**MOST_BITS - 1
    for number in (Fraction(ones - 1, ones), Fraction(ones), Fraction(1, 10**499), Fraction(10**499)):
        assert rational(str(rational(number, "rho")), "rho") == number


def test_short_fractions_are_exact() -> None:
    for number in (
        Fraction(1, 3),
        Fraction(37, 300),
        Fraction("1e-300"),
        Fraction("0.1234567890123456789"),
        Fraction(5),
    ):
        assert chargeable(number) == number
    # thirds of a budget's own number, however long that is
    own = Fraction(1, 3_001 * 7_919)
    budget = Budget(rho=own)
    spent = Spend()
    for _ in range(3):
        assert budget.admits(spent, Cost.of(rho=own / 3))
        spent += budget.spend(Cost.of(rho=own / 3))
    assert spent == budget.limit


def test_no_sum_is_longer_than_what_is_read() -> None:
    """Every denominator divides one number, whose digits, twice, are fewer than those that are read."""
    least = SHORT * 2**MOST_BITS * lcm(*range(1, SMALL + 1))
    assert 2 * len(str(1_000 * least)) < LONGEST_SUM


def test_a_raise_does_not_change_how_a_price_is_rounded(tmp_path: Path) -> None:
    """A total whose own fraction is long admits what is recorded, not the exact price, and the audit takes it so."""
    place = tmp_path / "l.ledger"
    ledger = open_ledger(place, budget=Budget(rho=1), unit=None)
    ledger.charge(Request("t", (), "all", Cost.of(rho=1)))
    ledger.raise_budget(Budget(rho=1 + Fraction(1, 3_001)), note="board")
    with pytest.raises(BudgetError, match="B02"):
        ledger.charge(Request("t", (), "rest", Cost.of(rho=Fraction(1, 3_001))))
    ledger.charge(Request("t", (), "half", Cost.of(rho=Fraction(1, 6_002))))
    ledger.verify()

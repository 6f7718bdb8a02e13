"""Budgets of a pair (ε, δ) that reserve a part of δ for questions with a δ of their own."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit as tc
from tacit.errors import BudgetError, LedgerError
from tacit.ledger import open_ledger
from tacit.ledger.chain import Request
from tacit.meaning.promise import of_budget
from tacit.privacy import Budget, Cost, Spend, epsilon_delta_to_mu_squared, mu_squared_to_delta
from tacit.privacy.approximate_part import approximate_part
from tacit.study.curator_file import load

DELTA = Fraction(1, 10**6)
RESERVED = Fraction(1, 10**7)
PLAIN = Budget(epsilon=1, delta=DELTA)
BUDGET = Budget(epsilon=1, delta=DELTA, reserved_delta=RESERVED)
TABLE = {"x": [0.0, 1.0, 2.0, 3.0] * 100, "word": ["yes", "no"] * 200}
SCHEMA = tc.Schema({"x": tc.Real(0, 3), "word": tc.Text(max_length=8)})


def part(delta: Fraction, mu_squared: Fraction = Fraction(1, 10**4)) -> Cost:
    return Cost(mu_squared=mu_squared, delta=delta)


@given(
    st.lists(
        st.tuples(st.integers(1, 60), st.integers(0, 6)).map(
            lambda one: Spend(mu_squared=Fraction(one[0], 1000), delta=Fraction(one[1], 10**8))
        ),
        max_size=20,
    )
)
def test_sums_are_bounded_by_numbers_fixed_beforehand(charges: list[Spend]) -> None:
    """Whatever is asked in whatever order: δ of the noise at the largest μ² plus the reserved δ is at most δ."""
    spent = Spend()
    for charge in charges:
        if not BUDGET.late(spent, charge) and BUDGET.holds(spent + charge):
            spent += charge
    assert spent.mu_squared <= BUDGET.limit.mu_squared
    assert spent.delta <= RESERVED
    assert mu_squared_to_delta(BUDGET.limit.mu_squared, 1) + RESERVED <= DELTA


def test_parts_are_admitted_at_any_time_up_to_what_is_reserved() -> None:
    spent = BUDGET.spend(Cost.of(epsilon=0.3, delta=DELTA))
    assert not PLAIN.admits(spent, part(RESERVED))
    assert BUDGET.admits(spent, part(RESERVED))
    assert not BUDGET.admits(spent, part(RESERVED + Fraction(1, 10**12)))
    assert not BUDGET.admits(Spend(), part(RESERVED + Fraction(1, 10**12)))
    assert not BUDGET.admits(spent + Spend(delta=RESERVED), part(Fraction(1, 10**12)))


def test_noise_has_what_is_left_of_delta() -> None:
    most = epsilon_delta_to_mu_squared(1, DELTA - RESERVED)
    assert BUDGET.limit == Spend(mu_squared=most, delta=RESERVED)
    assert BUDGET.admits(Spend(), Cost(mu_squared=most))
    assert not BUDGET.admits(Spend(), Cost(mu_squared=most + Fraction(1, 10**9)))
    # the whole pair buys a part that fits exactly
    assert BUDGET.admits(Spend(), approximate_part(Cost.of(epsilon=1, delta=DELTA)))
    assert BUDGET.epsilon_left(Spend()) == 1
    assert BUDGET.epsilon_of(BUDGET.limit) == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"epsilon": 1, "reserved_delta": 1e-8}, "B05"),
        ({"rho": 1, "reserved_delta": 1e-8}, "B05"),
        ({"epsilon": 1, "delta": 1e-6, "accounting": "basic", "reserved_delta": 1e-8}, "B05"),
        ({"epsilon": 1, "delta": 1e-6, "accounting": "zcdp", "reserved_delta": 1e-8}, "B05"),
        ({"epsilon": 1, "delta": 1e-6, "reserved_delta": 1e-6}, "B01"),
        ({"epsilon": 1, "delta": 1e-6, "reserved_delta": 0}, "B01"),
        ({"epsilon": 1, "delta": 1e-6, "reserved_delta": -1e-9}, "B01"),
        ({"epsilon": 1, "delta": 1e-6, "reserved_delta": 2}, "B01"),
        ({"epsilon": 1, "delta": 1e-6, "reserved_delta": float("nan")}, "B01"),
        ({"epsilon": 1, "delta": 1e-6, "reserved_delta": "much"}, "B01"),
    ],
)
def test_what_cannot_be_reserved_is_refused(words: dict[str, object], code: str) -> None:
    with pytest.raises(BudgetError, match=f"{code}.*reserved_delta"):
        Budget(**words)  # pyright: ignore[reportArgumentType]


def test_it_is_stored_and_told_apart() -> None:
    again = Budget.from_dict(BUDGET.to_dict())
    assert again == BUDGET != PLAIN
    assert again.limit == BUDGET.limit
    assert "reserved_delta" not in PLAIN.to_dict()
    assert str(BUDGET) == "ε = 1, δ = 1e-06 (of it 1e-07 reserved)"
    larger = dict(BUDGET.to_dict(), mu_squared=str(PLAIN.limit.mu_squared))
    with pytest.raises(BudgetError, match="B07"):  # the μ² of all of δ does not imply the pair beside a reserve
        Budget.from_dict(larger)
    # a pair kept in ρ reserves nothing, so that a ledger of another budget is not opened by this one
    assert BUDGET.under(BUDGET.in_rho()) == BUDGET


def test_a_raise_keeps_the_share(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "a.ledger", budget=BUDGET, unit=None)
    ledger.charge(Request("t", ("a",), '{"question": "a"}', part(RESERVED)))
    assert BUDGET.like(epsilon=2, delta=2 * DELTA).reserved_delta == 2 * RESERVED
    for refused in (
        Budget(epsilon=2, delta=DELTA),
        Budget(epsilon=2, delta=DELTA, reserved_delta=RESERVED / 2),
        Budget(epsilon=1, delta=DELTA, reserved_delta=2 * RESERVED),  # less μ² than before
    ):
        with pytest.raises(BudgetError, match="B13"):
            ledger.raise_budget(refused, note="board 31")
    assert ledger.raise_budget(BUDGET.like(epsilon=2, delta=2 * DELTA), note="board 31") is not None
    ledger.charge(Request("t", ("b",), '{"question": "b"}', part(RESERVED)))
    with pytest.raises(BudgetError, match="B02"):
        ledger.charge(Request("t", ("c",), '{"question": "c"}', part(Fraction(1, 10**12))))
    ledger.verify()
    with pytest.raises(LedgerError, match="L01"):
        open_ledger(tmp_path / "a.ledger", budget=Budget(epsilon=2, delta=2 * DELTA), unit=None)
    unreserved = open_ledger(None, budget=PLAIN, unit=None)
    with pytest.raises(BudgetError, match="B13"):
        unreserved.raise_budget(Budget(epsilon=2, delta=DELTA, reserved_delta=RESERVED), note="board 31")


def test_a_curator_asks_late_and_refuses_with_a_price_that_fits() -> None:
    curator = tc.Curator(TABLE, SCHEMA, budget=BUDGET)
    curator.release(tc.Mean("x"), epsilon=0.2, delta=1e-6)
    curator.release(tc.Count(by="word"), epsilon=0.2, delta=5e-7)
    assert curator.remaining.endswith("at δ = 1e-06, and a reserved δ of 5e-08")
    too_much = {"epsilon": 0.3, "delta": 1e-6}
    assert not curator.plan(tc.Count(by="word"), **too_much).fits
    with pytest.raises(BudgetError, match=r"δ = 1e-07 of its own; 5e-08 of 1e-07.*delta=5e-07 fits, 50%"):
        curator.release(tc.Count(by="word"), **too_much)
    curator.release(tc.Count(by="word"), epsilon=0.1, delta=5e-7)
    with pytest.raises(BudgetError, match=r"0 of 1e-07.*no δ is left for questions with a δ of their own"):
        curator.release(tc.Count(by="word"), epsilon=0.1, delta=1e-7)
    curator.release(tc.Mean("x"), epsilon=0.1, delta=1e-6)


def test_a_limit_of_an_analyst_reserves_the_same_share() -> None:
    curator = tc.Curator(TABLE, SCHEMA, budget=BUDGET, analyst="alice")
    curator.limit("alice", epsilon=0.5, delta=5e-7, note="board 31")
    curator.release(tc.Mean("x"), epsilon=0.1, delta=5e-7)
    curator.release(tc.Count(by="word"), epsilon=0.1, delta=5e-7)
    with pytest.raises(BudgetError, match=r"B12.*5e-08"):
        curator.release(tc.Count(by="word"), epsilon=0.1, delta=5e-8)


def test_files_say_it_and_their_digest_has_it(tmp_path: Path) -> None:
    text = '[table]\nname = "t"\n[budget]\nepsilon = 1\ndelta = 1e-6\n{}[schema]\nx = {{ type = "Boolean" }}\n'
    found: list[str] = []
    for name, line in (("a", ""), ("b", "reserved_delta = 1e-7\n")):
        path = tmp_path / f"{name}.toml"
        path.write_text("tacit = 1\n" + text.format(line), encoding="utf-8")
        job = load(path)
        assert job.budget == (BUDGET if line else PLAIN)
        found.append(job.digest())
    assert found[0] != found[1]


def test_what_a_ledger_promises_has_the_reserve_as_its_slack() -> None:
    reserving, plain = of_budget(BUDGET), of_budget(PLAIN)
    assert reserving.delta(1.0) == pytest.approx(1e-6)
    assert float(RESERVED) < reserving.delta(0.9) < plain.delta(0.9)

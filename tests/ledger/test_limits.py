"""Limits of one analyst within the whole: both admit, or nothing is charged."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import pytest
from alone import alone
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import BudgetError, LedgerError
from tacit.ledger import Ledger, Limit, Request, open_ledger
from tacit.ledger.chain import linked
from tacit.privacy import Budget, Cost, Spend


def ask(i: int | str, rho: str = "0.01", analyst: str | None = None) -> Request:
    return Request("people", (), f'{{"question":"{i}"}}', Cost.of(rho=rho), "note", analyst)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "people.ledger"


@pytest.fixture(params=["file", "memory"])
def ledger(request: pytest.FixtureRequest, place: Path) -> Ledger:
    return open_ledger(place if request.param == "file" else None, budget=Budget(rho="0.1"), unit=None)


def test_both_the_whole_and_the_limit_admit(ledger: Ledger) -> None:
    ledger.limit("alice", Budget(rho="0.05"), note="board 31")
    ledger.charge(ask(1, "0.04", "alice"))
    with pytest.raises(BudgetError) as refused:
        ledger.charge(ask(2, "0.02", "alice"))
    assert refused.value.code == "B12"
    assert "ρ = 0.02; 0.01 of 0.05 of the limit of analyst 'alice' is left" in refused.value.message
    assert "(1 release)" in refused.value.message
    assert refused.value.hint == "rho=0.01 fits, 50% of this price"
    ledger.charge(ask(2, "0.02", "bob"))
    ledger.charge(ask(3, "0.03"))
    ledger.charge(ask(4, "0.01", "alice"))  # the last bit of both
    for who in (None, "bob", "alice"):
        with pytest.raises(BudgetError) as refused:
            ledger.charge(ask(5, "0.0001", who))
        assert refused.value.code == ("B12" if who == "alice" else "B02")
    assert [one.analyst for one in ledger.charges()] == ["alice", "bob", None, "alice"]
    assert ledger.standing("alice").own == Spend(rho=Fraction(5, 100))
    assert ledger.standing("bob").own == Spend(rho=Fraction(2, 100))
    assert ledger.standing("alice").describe() == "left 0.00 of 0.10 · alice: left 0.00 of 0.05"
    assert ledger.standing("bob").describe() == "left 0.00 of 0.10"
    ledger.verify()


def test_the_tighter_of_two_refusals_is_said(ledger: Ledger) -> None:
    """So that the price in the hint fits both."""
    ledger.limit("alice", Budget(rho="0.05"), note="board 31")
    ledger.charge(ask(1, "0.07"))
    with pytest.raises(BudgetError) as refused:
        ledger.charge(ask(2, "0.06", "alice"))
    assert refused.value.code == "B02"
    assert "rho=0.03" in (refused.value.hint or "")


def test_a_limit_goes_up_and_down_but_not_below_what_is_spent(ledger: Ledger) -> None:
    ledger.charge(ask(1, "0.04", "alice"))  # before there was any limit
    first = ledger.limit("alice", Budget(rho="0.06"), note="board 31")
    assert isinstance(first, Limit)
    assert (first.before, first.most, first.after) == (None, Budget(rho="0.06"), 1)
    assert ledger.limit("alice", Budget(rho="0.06"), note="board 31, again") is None
    with pytest.raises(BudgetError) as refused:
        ledger.limit("alice", Budget(rho="0.03"), note="board 32")
    assert refused.value.code == "B14"
    assert "ρ = 0.04" in refused.value.message
    ledger.limit("alice", Budget(rho="0.04"), note="board 32")
    with pytest.raises(BudgetError):
        ledger.charge(ask(2, "0.0001", "alice"))
    ledger.limit("alice", Budget(rho="0.09"), note="board 33")
    ledger.limit("bob", Budget(rho="0.09"), note="board 33")  # limits reserve nothing
    ledger.charge(ask(2, "0.05", "alice"))
    assert [(one.number, one.note) for one in ledger.acts()] == [
        (1, "board 31"),
        (2, "board 32"),
        (3, "board 33"),
        (4, "board 33"),
    ]
    ledger.verify()


def test_a_limit_above_the_total_would_limit_nothing(ledger: Ledger) -> None:
    with pytest.raises(BudgetError) as refused:
        ledger.limit("alice", Budget(rho="0.11"), note="board 31")
    assert (refused.value.code, refused.value.hint) == ("B17", "at most ρ = 0.1, or raise the total first")
    assert ledger.acts() == []
    assert ledger.limit("alice", Budget(rho="0.1"), note="board 31") is not None
    ledger.raise_budget(Budget(rho="0.2"), note="board 32")
    assert ledger.limit("alice", Budget(rho="0.11"), note="board 33") is not None


def test_a_limit_adds_as_the_whole_does(ledger: Ledger) -> None:
    for most in (Budget(epsilon=1), Budget(rho="0.05", neighbors="add-remove")):
        with pytest.raises(BudgetError) as refused:
            ledger.limit("alice", most, note="board 31")
        assert refused.value.code == "B13"
    held = open_ledger(None, budget=Budget(epsilon=1, delta="1e-6", accounting="zcdp"), unit=None)
    assert held.limit("alice", Budget(rho="0.01"), note="board 31") is not None
    pair = open_ledger(None, budget=Budget(epsilon=1, delta="1e-6"), unit=None)
    with pytest.raises(BudgetError) as refused:
        pair.limit("alice", Budget(rho="0.01"), note="board 31")
    assert refused.value.code == "B13"
    for one in (held, pair):
        assert one.limit("alice", Budget(epsilon="0.5", delta="1e-7"), note="board 32") is not None
        one.charge(Request("people", (), "1", Cost.of(epsilon="0.3", delta="1e-7"), "", "alice"))
        with pytest.raises(BudgetError, match=r"of 0\.5 at δ = 1e-07 of the limit of analyst 'alice'") as refused:
            one.charge(Request("people", (), "2", Cost.of(epsilon="0.45", delta="1e-7"), "", "alice"))
        assert refused.value.code == "B12"
        one.verify()
    basic = open_ledger(None, budget=Budget(epsilon=1, delta="1e-6", accounting="basic"), unit=None)
    basic.limit("alice", Budget(epsilon="0.5", delta="1e-7", accounting="basic"), note="board 31")
    basic.charge(Request("people", (), "1", Cost.of(epsilon="0.4"), "", "alice"))
    with pytest.raises(BudgetError) as refused:
        basic.charge(Request("people", (), "2", Cost.of(epsilon="0.01", delta="2e-7"), "", "alice"))
    assert refused.value.code == "B12"
    basic.verify()
    assert ledger.acts() == []


@pytest.mark.parametrize("name", ["", " ", " alice", "a\nb", "a" * 101, 7, None])
def test_names_that_are_none(ledger: Ledger, name: str) -> None:
    with pytest.raises(LedgerError) as refused:
        ledger.limit(name, Budget(rho="0.01"), note="board 31")
    assert refused.value.code == "L22"


def test_names_are_told_apart_letter_by_letter(ledger: Ledger) -> None:
    """Odd letters, and one name within another, in what the database searches."""
    names = ["alice", "Alice", "alic", "al%ce", "al_ce", 'a"b\\', "Ålice", "a,b", '","spent":']
    for i, name in enumerate(names):
        ledger.charge(ask(i, f"0.00{i + 1}", name))
    for i, name in enumerate(names):
        assert ledger.standing(name).own == Spend(rho=Fraction(i + 1, 1000))
    ledger.limit("A\u030alice", Budget(rho="0.02"), note="board 31")  # the same letters in another spelling
    assert ledger.standing("Ålice").limit == Budget(rho="0.02")
    ledger.verify()


def test_the_same_question_is_free_to_everybody(ledger: Ledger) -> None:
    ledger.limit("bob", Budget(rho="0.001"), note="board 31")
    bought = ledger.charge(ask(1, "0.05", "alice"))
    ledger.store(bought.number, "answer")
    again = ledger.charge(ask(1, "0.05", "bob"))
    assert (again.number, again.release, again.analyst) == (1, "answer", "alice")
    assert ledger.standing("bob").own == Spend()


def test_an_earlier_version_charges_as_nobody(ledger: Ledger) -> None:
    """It writes no analyst; the sums of analysts go on after it."""
    ledger.charge(ask(1, "0.01", "alice"))
    ledger.charge(ask(2, "0.02"))
    ledger.charge(ask(3, "0.03", "alice"))
    assert ledger.standing("alice").own == Spend(rho=Fraction(4, 100))
    assert [one.words["number"] for one in _charges(ledger)] == [1, 2, 3]
    assert [one.words.get("analyst", {}).get("number") for one in _charges(ledger)] == [1, None, 2]
    ledger.verify()


def _charges(ledger: Ledger):
    with ledger.store_.read() as tx:
        return [one for one in tx.all() if one.kind == "charge"]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("limit", {"number": 1, "before": None, "limit": "0.005", "note": "n"}),  # below what is spent
        ("limit", {"number": 2, "before": None, "limit": "0.05", "note": "n"}),
        ("limit", {"number": 1, "before": "0.02", "limit": "0.05", "note": "n"}),
        ("limit", {"number": 1, "before": None, "limit": "0.05", "note": ""}),
        ("charge", {"number": 1, "spent": "0.02"}),  # a sum that starts anew
        ("charge", {"number": 2, "spent": "0.02"}),
        ("charge", {"number": 3, "spent": "0.03"}),
    ],
)
def test_acts_that_do_not_fit_are_found(ledger: Ledger, kind: str, words: dict) -> None:
    ledger.charge(ask(1, "0.01", "alice"))
    with ledger.store_.write() as tx:
        if kind == "limit":
            budgets = {key: words[key] and Budget(rho=words[key]).to_dict() for key in ("before", "limit")}
            body = {**words, **budgets, "analyst": "alice", "date": "2026-11-21"}
            tx.append(linked(tx.last(), "limit", "1", body))
        else:
            request = ask(2, "0.02", "alice")
            body = ledger._body(tx, request, 2, Spend(rho=Fraction(1, 100)))
            body["analyst"] = {"name": "alice", "number": words["number"], "spent": {"rho": words["spent"]}}
            tx.append(linked(tx.last(), "charge", request.digest, body))
    with pytest.raises(LedgerError) as found:
        ledger.verify()
    assert found.value.code == "L10"


def test_a_charge_beyond_its_limit_is_found(ledger: Ledger) -> None:
    ledger.limit("alice", Budget(rho="0.01"), note="board 31")
    with ledger.store_.write() as tx:
        request = ask(1, "0.02", "alice")
        tx.append(linked(tx.last(), "charge", request.digest, ledger._body(tx, request, 1, Spend())))
    with pytest.raises(LedgerError) as found:
        ledger.verify()
    assert found.value.code == "L10"


steps = st.lists(
    st.tuples(
        st.sampled_from(["charge", "limit", "raise"]), st.sampled_from(["alice", "bob", None]), st.integers(1, 20)
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(steps)
def test_any_history_keeps_both(history: list[tuple[str, str | None, int]]) -> None:
    """Against a plain model with lists and sums."""
    ledger = open_ledger(None, budget=Budget(rho="0.2"), unit=None)
    total, limits = Fraction(20, 100), dict[str, Fraction]()
    charged: list[tuple[str | None, Fraction]] = []
    for i, (what, who, hundredths) in enumerate(history):
        rho = Fraction(hundredths, 100)
        own = sum((price for name, price in charged if name == who), Fraction(0))
        everything = sum((price for _, price in charged), Fraction(0))
        try:
            if what == "charge":
                fits = everything + rho <= total and (who is None or own + rho <= limits.get(who, total))
                ledger.charge(Request("people", (), f"{i}", Cost.of(rho=rho), "", who))
                charged.append((who, rho))
            elif what == "limit" and who is not None:
                fits = own <= rho
                ledger.limit(who, Budget(rho=rho), note="n")
                limits[who] = rho
            else:
                fits = total <= rho + Fraction(1, 5)
                ledger.raise_budget(Budget(rho=rho + Fraction(1, 5)), note="n")
                total = rho + Fraction(1, 5)
        except BudgetError:
            assert not fits
        else:
            assert fits
    assert ledger.spent().rho == sum((price for _, price in charged), Fraction(0))
    ledger.verify()


@alone
def test_many_processes_of_two_analysts(place: Path) -> None:
    ledger = open_ledger(place, budget=Budget(rho="0.5"), unit=None)
    ledger.limit("alice", Budget(rho="0.13"), note="board 31")
    ledger.close()
    children: list[int] = []
    for seed in range(6):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                mine, who = open_ledger(place, budget=None, unit=None), "alice" if seed % 2 else "bob"
                for i in range(12):
                    try:
                        mine.charge(ask(f"{seed}-{i}", analyst=who))
                    except BudgetError as refused:
                        if refused.code != "B12" or who != "alice":
                            raise
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 6
    ledger = open_ledger(place, budget=None, unit=None)
    ledger.verify()
    assert ledger.standing("alice").own.rho == Fraction(13, 100)
    assert ledger.standing("bob").own.rho == Fraction(36, 100)

"""Ledgers of a pair (ε, δ): what they hold, what they charge, and those of before, which keep their rule."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit as tc
from tacit.errors import BudgetError, LedgerError
from tacit.ledger import open_ledger
from tacit.ledger.chain import Entry
from tacit.ledger.sqlite import SqliteStore
from tacit.privacy import Budget, Cost, Spend, range_to_mu_squared
from tacit.privacy.bought import Bought, mu_squared_of, range_for

BEFORE = json.loads((Path(__file__).parent / "fixtures" / "ledgers_before_gdp.json").read_text(encoding="utf-8"))
SCHEMA = tc.Schema({"x": tc.Real(0, 4096, missing=0), "g": tc.Category(["a", "b"])})
PAIR: dict[str, Any] = {"epsilon": 0.5, "delta": 1e-6}
TOTALS = {
    "pair": Budget(epsilon=3, delta=1e-6),
    "basic": Budget(epsilon=4, delta=1e-5, accounting="basic"),
    "rho": Budget(rho=1),
}
MIXED = {"mean": tc.Mean("x"), "median2": tc.Quantiles("x", [0.25], level=0.9)}


def before(name: str, folder: Path) -> Path:
    """A ledger that the version before μ wrote."""
    path = folder / f"{name}.ledger"
    store = SqliteStore(path)
    store.create()
    with store.write() as tx:
        for words in BEFORE["ledgers"][name]:
            tx.append(Entry(*words))
    store.close()
    return path


def curator(ledger: Path | None, budget: Budget | None, **words: Any) -> tc.Curator:
    return tc.Curator(BEFORE["table"], SCHEMA, name="old", budget=budget, ledger=ledger, **words)


@pytest.mark.parametrize("name", TOTALS)
def test_ledgers_of_before_open_verify_and_answer(name, tmp_path):
    path = before(name, tmp_path)
    for budget in (TOTALS[name], None):
        opened = curator(path, budget)
        opened._ledger.verify()
        spent, count = opened.spent, len(opened._ledger.charges())
        opened.release(tc.Quantiles("x", [0.5]), **PAIR, name="median")
        opened.release(MIXED, **PAIR)
        opened.release(tc.Mean("x"), epsilon=0.1)
        if name != "basic":
            opened.release(tc.Mean("x", by="g"), rho=0.002)
        assert opened.spent == spent  # all of them stored answers
        assert len(opened._ledger.charges()) == count


def test_a_pair_of_before_keeps_rho(tmp_path):
    opened = curator(before("pair", tmp_path), TOTALS["pair"])
    assert (opened.budget.kind, opened.budget.accounting) == ("zcdp", "zcdp")
    spent = opened.spent
    opened.release(tc.Mean("x"), epsilon=0.25, delta=1e-6)
    assert opened.spent == spent + Spend(rho=Cost.of(epsilon=0.25, delta=1e-6).zcdp)
    assert opened.remaining.startswith("left ε = ")
    assert opened.remaining.endswith(" of 3 at δ = 1e-06")
    assert opened.raise_budget(epsilon=4, delta=1e-6, note="board 33") is not None
    assert opened._ledger.raise_budget(Budget(epsilon=5, delta=1e-6), note="board 34") is not None  # no word: its own
    assert opened.limit("alice", epsilon=2, delta=1e-6, note="board 35") is not None
    opened._ledger.verify()
    with pytest.raises(LedgerError) as caught:
        curator(Path(opened._ledger.where or ""), Budget(epsilon=3, delta=1e-6))
    assert caught.value.code == "L01"


def test_fresh_buys_anew(tmp_path):
    """An answer of before stays the answer; `fresh=True` is another charge, with one release, also after a crash."""
    opened = curator(before("pair", tmp_path), TOTALS["pair"])
    ask = tc.Quantiles("x", [0.5])
    old, spent = opened.release(ask, **PAIR, name="median"), opened.spent
    new = opened.release(ask, **PAIR, fresh=True)
    assert new.charge > old.charge
    # three selections then; one now, whose range costs less than theirs together: calibrated as a selection
    now, then = new.parts[0], old.parts[0]
    assert now.law.rate * 2 * 2 == pytest.approx(range_for(now.cost), rel=1e-9)
    assert now.law.rate**2 < 3 * then.law.rate**2
    assert opened.spent.rho > spent.rho
    assert opened.release(ask, **PAIR, name="median") == old
    third = opened.release(ask, **PAIR, fresh=True)
    assert third.charge == new.charge + 1
    before_, opened._source = opened._source, None  # type: ignore[assignment]
    with pytest.raises(tc.TacitError) as caught:
        opened.release(ask, **PAIR, fresh=True)
    assert caught.value.code == "M01"
    opened._source = before_
    charges = len(opened._ledger.charges())
    assert opened.release(ask, **PAIR, fresh=True).charge == charges  # the charge that stands is resumed
    assert len(opened._ledger.charges()) == charges
    both = opened.release(MIXED, **PAIR, fresh=True)  # names stay those of the first answers
    assert both["mean"].charge == charges + 1
    assert opened.releases["mean"].charge < both["mean"].charge
    with pytest.raises(LedgerError) as caught:
        opened.release(ask, **PAIR, fresh=True, name="median")
    assert caught.value.code == "L09"
    opened._ledger.verify()


def test_a_new_ledger_of_a_pair_admits_its_own_price(tmp_path):
    opened = curator(tmp_path / "new.ledger", Budget(epsilon=2, delta=1e-6))
    release = opened.release(MIXED, epsilon=2, delta=1e-6)
    assert opened.spent == opened.budget.limit
    assert opened.remaining == "left ε = 0 of 2 at δ = 1e-06"
    assert "left ε = 0 of 2 at δ = 1e-06" in str(release["mean"].estimate())
    with pytest.raises(BudgetError) as caught:
        opened.release(tc.Sum("x"), epsilon=0.01, delta=1e-6)
    assert caught.value.code == "B02"
    assert "ε = 0.01; 0 of 2 at δ = 1e-06 is left" in caught.value.message
    again = open_ledger(tmp_path / "new.ledger", budget=Budget(epsilon=2, delta=1e-6), unit=None)
    again.verify()
    words = again.first.to_dict()
    assert Fraction(words["mu_squared"]) == Cost.of(epsilon=2, delta=1e-6).gdp
    assert Cost.from_dict(release["mean"].to_dict()["cost"]) == release["mean"].cost


@pytest.mark.parametrize("budget", [Budget(epsilon=2, delta=1e-6), Budget(epsilon=2, delta=1e-6, accounting="zcdp")])
@pytest.mark.parametrize("price", [{"rho": Fraction(1, 100)}, PAIR])
def test_prices_are_charged_by_their_parts(budget, price):
    """Noise and selections, each as the ledger adds it, recorded so that the chain can be verified."""
    opened = curator(None, budget)
    parts = [one for release in opened.release(MIXED, **price).values() for one in release.parts]
    mean, median = parts
    if budget.kind == "gdp":
        noise = mean.cost.gdp if "delta" in price else 2 * mean.cost.zcdp
        chosen = range_to_mu_squared(range_for(median.cost))  # three steps are one selection
        assert float(opened.spent.mu_squared) == pytest.approx(float(noise + chosen), rel=1e-9)
    else:
        chosen = range_for(median.cost) ** 2 / 8
        assert float(opened.spent.rho) == pytest.approx(float(mean.cost.zcdp + chosen), rel=1e-9)
    opened._ledger.verify()
    assert opened.release(MIXED, **price) is not None
    assert len(opened._ledger.charges()) == 1


@pytest.mark.parametrize(("neighbors", "cells"), [("replace-one", 2), ("add-remove", 1)])
def test_selections_of_groups_are_charged_for_two_of_them(neighbors: Any, cells: int) -> None:
    """A row that is replaced may leave one group and enter another: both selections change."""
    opened = curator(None, Budget(epsilon=2, delta=1e-6, neighbors=neighbors))
    chosen, size = opened.release(tc.Quantiles("x", [0.5], by="g"), rho="1/100").parts
    both = [Bought(chosen.cost, 1, cells), Bought(size.cost)]
    assert opened.spent == Spend(mu_squared=mu_squared_of(both))
    assert mu_squared_of([Bought(chosen.cost, 1, 2)]) > mu_squared_of([Bought(chosen.cost, 1, 1)])


def test_plans_say_what_is_charged():
    opened = curator(None, Budget(epsilon=1, delta=1e-6))
    page = opened.plan(MIXED, epsilon=1, delta=1e-6)
    assert page.fits
    text = page.to_text()
    assert "before: left ε = 1 of 1 at δ = 1e-06" in text
    assert "after: left ε = 0 of 1 at δ = 1e-06" in text
    assert not opened.plan(tc.Quantiles("x", [0.5]), rho=opened.budget.limit.mu_squared / 2).fits
    assert opened.plan(tc.Mean("x"), rho=opened.budget.limit.mu_squared / 2).fits
    opened.release(tc.Mean("x"), rho=opened.budget.limit.mu_squared / 2)
    assert opened.remaining == "left ε = 0 of 1 at δ = 1e-06"


def test_a_width_is_priced_in_the_words_of_the_budget():
    opened = curator(None, Budget(epsilon=5, delta=1e-6))
    price = opened.plan(tc.Mean("x"), width=1_500).cost
    assert (price.kind, price.delta) == ("approximate", Fraction(1, 10**6))
    assert opened.plan(tc.Mean("x"), epsilon=price.epsilon, delta=price.delta).width <= 1_500

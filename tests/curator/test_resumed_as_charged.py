"""A charge without an answer is resumed as it was charged: not where what would now be measured costs more.

A ledger of μ² (or ρ) charges a price of the other kind by what it buys, noise or selections, and the size hint decides
which of them answers quantiles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.curator import purchase
from tacit.errors import LedgerError, MachineError

SCHEMA = tc.Schema({"x": tc.Real(0, 100)})
QUESTION = tc.Quantiles("x", [i / 10 for i in range(1, 10)])
PAIR: Any = {"epsilon": 1, "delta": "1e-6"}
CASES: list[Any] = [
    # cuts, which are noise in part, then selections: of a ρ these cost more in μ²
    (tc.Budget(**PAIR, neighbors="add-remove"), {"rho": "0.001"}, 10_000, 10**6),
    # selections, then cuts: of a pair these cost more in ρ
    (tc.Budget(rho=1, neighbors="add-remove"), PAIR, 10**6, 10_000),
]


def curator(folder: Any, budget: tc.Budget, hint: int) -> tc.Curator:
    table = {"x": np.random.default_rng(0).uniform(0, 100, 2_000)}
    return tc.Curator(table, SCHEMA, name="t", ledger=folder / "t.ledger", budget=budget, size_hint=hint)


def interrupted(asking: tc.Curator, price: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Charge the question and fail before its answer is stored."""

    def broken(*_: object) -> object:
        raise OSError

    with monkeypatch.context() as patched:
        patched.setattr(purchase, "measure", broken)
        with pytest.raises(MachineError):
            asking.release(QUESTION, **price)


@pytest.mark.parametrize(("budget", "price", "first", "second"), CASES)
def test_another_size_hint_does_not_resume_what_would_cost_more(
    budget: tc.Budget, price: Any, first: int, second: int, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = curator(tmp_path, budget, first)
    interrupted(asking, price, monkeypatch)
    charged = asking.spent
    with pytest.raises(LedgerError, match="L90") as refused:
        curator(tmp_path, budget, second).release(QUESTION, **price)
    assert "fresh=True" in str(refused.value)
    assert asking.spent == charged
    # as it was charged it is answered at no further cost, and then free whatever the hint is
    release = curator(tmp_path, budget, first).release(QUESTION, **price)
    assert release.charge == 1
    assert curator(tmp_path, budget, second).release(QUESTION, **price).charge == 1
    # paid for anew it is what the other hint makes it, at the larger cost
    again = curator(tmp_path, budget, second).release(QUESTION, **price, fresh=True)
    assert [one.form for one in again.parts] != [one.form for one in release.parts]
    spent = asking.spent
    assert (spent.mu_squared + spent.rho) > 2 * (charged.mu_squared + charged.rho)


@pytest.mark.parametrize(("budget", "price", "first", "second"), CASES)
def test_what_costs_no_more_is_resumed(
    budget: tc.Budget, price: Any, first: int, second: int, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = curator(tmp_path, budget, second)
    interrupted(asking, price, monkeypatch)
    charged = asking.spent
    assert curator(tmp_path, budget, first).release(QUESTION, **price).charge == 1
    assert asking.spent == charged

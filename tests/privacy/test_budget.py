"""Budgets: the filters of law 10, their limits, their words."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from tacit.errors import BudgetError
from tacit.privacy import Budget, Cost, Spend, mu_squared_to_delta, pure_to_mu_squared, zcdp_to_epsilon
from tacit.privacy.bought import Bought
from tacit.privacy.refusal import refusal

PURE, RHO = Budget(epsilon=1), Budget(rho=0.5)
PAIR = Budget(epsilon=1, delta=1e-6)
HELD, BASIC = (Budget(epsilon=1, delta=1e-6, accounting=word) for word in ("zcdp", "basic"))
BUDGETS = (PURE, RHO, PAIR, HELD, BASIC)

prices = st.one_of(
    st.integers(1, 400).map(lambda k: Cost.of(epsilon=Fraction(k, 300))),
    st.integers(1, 400).map(lambda k: Cost.of(rho=Fraction(k, 700))),
    st.sampled_from([Cost.of(epsilon=e, delta=d) for e in (0.1, 0.3) for d in (1e-8, "1/3000000")]),
)


@pytest.mark.parametrize("number", [0.1, "0.1"])
def test_ten_tenths_are_one(number):
    spent = Spend()
    for _ in range(10):
        cost = Cost.of(epsilon=number)
        assert PURE.admits(spent, cost)
        spent += PURE.spend(cost)
    assert spent == PURE.limit
    assert not PURE.admits(spent, Cost.of(epsilon="1e-30"))


@given(st.sampled_from(BUDGETS), st.lists(prices, max_size=30), st.randoms(use_true_random=False))
@settings(max_examples=200)
def test_no_adaptive_sequence_overspends(budget, offers, choice):
    """What is admitted never sums above the limit, whatever is asked next; what is refused would exceed it."""
    spent, taken = Spend(), []
    for cost in offers:
        if (
            choice.random() < 0.2 and budget.kind != "basic"
        ):  # an analyst who looks at what is left and asks for just that
            left = budget.left(spent)
            exact = left.epsilon + left.rho + left.mu_squared
            if exact > 0:
                words = {"pure": "epsilon", "zcdp": "rho", "gdp": "mu_squared"}
                cost = Cost(**{words[budget.kind]: exact})
        try:
            admitted = budget.admits(spent, cost)
        except BudgetError:
            assert cost.kind != "pure"  # B04: this budget never adds such a price
            continue
        if admitted:
            spent, taken = spent + budget.spend(cost), [*taken, cost]
        else:
            assert not (spent + budget.spend(cost)).within(budget.limit)
    assert spent.within(budget.limit)
    if budget.kind == "zcdp":
        assert sum((c.zcdp for c in taken), Fraction(0)) <= budget.limit.rho
        assert spent.epsilon == spent.delta == spent.mu_squared == 0
    elif budget.kind == "gdp":
        assert sum((c.gdp for c in taken), Fraction(0)) <= budget.limit.mu_squared
        assert spent.epsilon == spent.delta == spent.rho == 0
    else:
        assert sum((c.epsilon for c in taken), Fraction(0)) <= budget.epsilon
        assert sum((c.delta or 0 for c in taken), Fraction(0)) <= (budget.delta or 0)
    left = budget.left(spent)
    assert left + spent == budget.limit


def test_each_way_of_adding():
    e, r, ed = Cost.of(epsilon=0.2), Cost.of(rho=0.01), Cost.of(epsilon=0.2, delta=1e-7)
    assert PURE.spend(e) == Spend(epsilon=Fraction(1, 5))
    assert RHO.spend(e) == HELD.spend(e) == Spend(rho=Fraction(1, 50))
    assert RHO.spend(r) == HELD.spend(r) == Spend(rho=Fraction(1, 100))
    assert RHO.spend(ed) == HELD.spend(ed) == Spend(rho=ed.zcdp)
    assert PAIR.spend(ed) == Spend(mu_squared=ed.gdp) == Spend(mu_squared=2 * ed.zcdp)
    assert PAIR.spend(ed.share(Fraction(1, 3))) == Spend(mu_squared=ed.gdp / 3)
    assert PAIR.spend(e) == Spend(mu_squared=pure_to_mu_squared("0.2"))
    assert BASIC.spend(e) == Spend(epsilon=Fraction(1, 5))
    assert BASIC.spend(ed) == Spend(epsilon=Fraction(1, 5), delta=Fraction(1, 10**7))


def test_delta_alone_refuses():
    """Of a ledger that adds δ, and of approximate parts under a pair, when all else is far from its limit."""
    basic, price = Budget(epsilon=100, delta="1e-6", accounting="basic"), Cost.of(epsilon="0.001", delta="1e-7")
    spent = Spend()
    for _ in range(10):
        assert basic.admits(spent, price)
        spent += basic.spend(price)
    assert spent.delta == basic.delta
    assert not basic.admits(spent, price)
    assert basic.admits(spent, Cost.of(epsilon=1))
    part = Cost(mu_squared=Fraction(1, 10**9), delta=Fraction(6, 10**7))
    pair = Budget(epsilon=100, delta="1e-6")
    assert pair.admits(Spend(), part)
    assert not pair.admits(pair.spend(part), part)


@pytest.mark.parametrize(
    ("budget", "cost"),
    [
        (PURE, Cost.of(rho=0.01)),
        (PURE, Cost.of(epsilon=0.1, delta=1e-9)),
        (BASIC, Cost.of(rho=0.01)),
        (BASIC, Cost.of(epsilon=0.1, delta=1e-9).share(Fraction(1, 2))),
        *((one, Cost(mu_squared=Fraction(1, 100), delta=Fraction(1, 10**9))) for one in (PURE, RHO, HELD, BASIC)),
    ],
)
def test_prices_that_a_budget_cannot_add(budget, cost):
    with pytest.raises(BudgetError) as caught:
        budget.spend(cost)
    assert caught.value.code == "B04"
    assert str(cost) in str(caught.value)
    assert "epsilon" in (caught.value.hint or "")


def test_one_release_at_the_price_of_its_pair_fits_exactly():
    for epsilon, delta in ((2, "1e-6"), ("0.02", "0.001"), (1, "1e-9"), ("0.7", "1e-5")):
        budget, price = Budget(epsilon=epsilon, delta=delta), Cost.of(epsilon=epsilon, delta=delta)
        assert budget.spend(price) == budget.limit
        assert budget.admits(Spend(), price)
        assert not budget.admits(budget.spend(price), Cost.of(epsilon="1e-20"))
        thirds = [price.share(Fraction(1, 3))] * 3
        assert sum((budget.spend(one) for one in thirds), Spend()) == budget.limit


def test_prices_of_another_kind_cost_what_they_bought():
    """A ρ price under a pair, and a pair under ρ: by parts where these are known, otherwise the most there could be."""
    rho, pair = Cost.of(rho=0.01), Cost.of(epsilon=0.5, delta=1e-6)
    noise, picked = (Bought(rho),), (Bought(rho, selections=3),)
    assert PAIR.spend(rho, noise).mu_squared == Fraction(1, 50)
    most = PAIR.spend(rho).mu_squared
    assert Fraction(1, 50) < PAIR.spend(rho, picked).mu_squared <= most < Fraction("0.0314160")
    assert most * Fraction(99, 100) < PAIR.spend(rho, picked).mu_squared  # three small ones: nearly π/2
    for budget in (RHO, HELD):
        assert budget.spend(pair, (Bought(pair),)).rho == budget.spend(pair).rho == pair.zcdp
        chosen = budget.spend(pair, (Bought(pair, selections=1),)).rho
        assert pair.zcdp * Fraction(62, 100) < chosen < pair.zcdp * Fraction(65, 100)  # 2/π, a little more
        assert budget.spend(pair, (Bought(pair.share(Fraction(1, 2))), Bought(pair.share(Fraction(1, 2)), 1))).rho < (
            pair.zcdp * Fraction(83, 100)
        )
    two_cells = (Bought(rho, selections=3, cells=2),)
    assert PAIR.spend(rho, picked).mu_squared <= PAIR.spend(rho, two_cells).mu_squared <= most


def test_approximate_parts_take_of_delta():
    """Admitted while δ_μ(ε) + Σ δᵢ <= δ: against the sum itself, from enclosures."""
    for taken in range(1, 8):
        part = Cost(mu_squared=Fraction(taken, 100), delta=Fraction(taken, 10**7))
        total = mu_squared_to_delta(Fraction(taken, 100), 1) + Fraction(taken, 10**7)
        assert PAIR.admits(Spend(), part) == (total <= Fraction(1, 10**6)) == (taken <= 5)
    spent = PAIR.spend(Cost(mu_squared=Fraction(5, 100), delta=Fraction(5, 10**7)))
    assert PAIR.describe_left(spent) == "left ε = 0.1964 of 1 at δ = 1e-06"
    last = PAIR.left(spent).mu_squared
    assert PAIR.admits(spent, Cost(mu_squared=last))
    assert not PAIR.admits(spent, Cost(mu_squared=last + Fraction(1, 10**9)))
    assert not PAIR.admits(Spend(), Cost(mu_squared=Fraction(1, 10**60), delta=Fraction(1, 10**6)))
    assert not PAIR.holds(Spend(delta=Fraction(2, 10**6)))


def test_answers_do_not_choose_between_the_delta_of_parts_and_of_noise():
    """Half of μ² is spent; where the loss is low what is left of δ goes to a part, else what is left of μ² to noise.

    Both ends are within the sums, and the whole has nearly twice the δ of the promise: no part comes after a charge.
    """
    half, delta = PAIR.limit.mu_squared / 2, 1e-6
    # but for the roundings of conversions
    part = (Fraction(1, 10**6) - mu_squared_to_delta(half, 1)) * Fraction(99, 100)
    spent = Spend(mu_squared=half)
    assert PAIR.holds(spent + Spend(delta=part))
    assert PAIR.holds(spent + Spend(mu_squared=half))
    mu, limit = float(half) ** 0.5, 0.3

    def beyond(loss: float) -> float:
        rest = 1 - loss
        return float(norm.cdf(mu / 2 - rest / mu) - np.exp(rest) * norm.cdf(-mu / 2 - rest / mu))

    losses = norm(mu**2 / 2, mu)
    high = quad(lambda loss: losses.pdf(loss) * beyond(loss), limit, 3, epsabs=1e-12)[0]
    assert losses.cdf(limit) * float(part) + high > 1.8 * delta
    for charge in (part, Fraction(1, 10**12)):
        assert not PAIR.admits(spent, Cost(mu_squared=Fraction(1, 10**9), delta=charge))
        assert "came before it" in str(refusal(PAIR, spent, Cost(mu_squared=half, delta=charge), None, 1))
    # sums of ε and of δ may be chosen as one likes
    assert BASIC.admits(Spend(epsilon=Fraction(1, 2)), Cost.of(epsilon=0.5, delta=1e-6))


def test_a_ledger_keeps_the_rule_it_was_made_with():
    assert PAIR.under(HELD) == HELD
    assert PAIR.under(BASIC) == PAIR == PAIR.under(PAIR)
    assert HELD.under(PAIR) == HELD
    assert RHO.under(HELD) == RHO
    assert Budget(epsilon=1, delta=1e-6, accounting="gdp") == PAIR
    assert HELD.like(epsilon=2, delta=1e-6).accounting == "zcdp"
    before = {"delta": "1/1000000", "epsilon": "1", "held": HELD.to_dict()["held"], "neighbors": "replace-one"}
    assert HELD.to_dict() == before  # the words of ledgers made before there was μ
    assert Budget.from_dict(before) == HELD


def test_an_approximate_budget_holds_the_largest_rho():
    assert (PURE.kind, RHO.kind, HELD.kind, BASIC.kind, PAIR.kind) == ("pure", "zcdp", "zcdp", "basic", "gdp")
    rho = HELD.limit.rho
    assert zcdp_to_epsilon(rho, HELD.delta) <= 1
    assert zcdp_to_epsilon(rho * (1 + Fraction(1, 10**10)), HELD.delta) > 1
    assert BASIC.limit == Spend(epsilon=Fraction(1), delta=Fraction(1, 10**6))


@pytest.mark.parametrize("budget", [*BUDGETS, Budget(epsilon=2, neighbors="add-remove")])
def test_round_trip(budget):
    words = budget.to_dict()
    again = Budget.from_dict(words)
    assert again == budget
    assert again.to_dict() == words
    assert again.limit == budget.limit
    if budget.kind != "zcdp":
        assert Budget.from_dict({k: v for k, v in words.items() if k != "mu_squared"}) == budget


def test_a_recorded_rho_stands_unless_it_implies_less_than_the_promise():
    words = HELD.to_dict()
    lower = Budget.from_dict({**words, "held": "1/50"})
    assert lower == HELD
    assert lower.limit.rho == Fraction(1, 50)
    for held in ("1/40", "0", "-1"):
        with pytest.raises(BudgetError) as caught:
            Budget.from_dict({**words, "held": held})
        assert caught.value.code == "B07"
    for words in (
        {**RHO.to_dict(), "held": "1/50"},
        {**PAIR.to_dict(), "held": "1/50"},
        {**PAIR.to_dict(), "mu_squared": "1/17"},
        {**HELD.to_dict(), "mu_squared": "1/50"},
        {**PURE.to_dict(), "mu_squared": "1/50"},
    ):
        with pytest.raises(BudgetError):
            Budget.from_dict(words)
    assert Budget.from_dict({**PAIR.to_dict(), "mu_squared": "1/20"}).limit == Spend(mu_squared=Fraction(1, 20))


def test_budgets_are_equal_when_their_promises_are():
    assert Budget(rho=0.5) == Budget(rho="1/2")
    assert Budget(rho=0.5) != Budget(rho=0.5, neighbors="add-remove")
    assert HELD != BASIC != PAIR != HELD


@pytest.mark.parametrize(
    ("given_", "code"),
    [
        ({"rho": 0}, "B01"),
        ({"epsilon": float("nan")}, "B01"),
        ({"epsilon": 1e6}, "B01"),
        ({"epsilon": 1, "delta": 1}, "B01"),
        ({}, "B03"),
        ({"rho": 1, "epsilon": 1}, "B03"),
        ({"rho": 1, "neighbors": "add-remoev"}, "B05"),
        ({"rho": 1, "accounting": "basic"}, "B05"),
        ({"epsilon": 1, "delta": 1e-6, "accounting": "advanced"}, "B05"),
    ],
)
def test_malformed_budgets(given_, code):
    with pytest.raises(BudgetError) as caught:
        Budget(**given_)
    assert caught.value.code == code
    assert caught.value.hint


def test_unknown_entries_of_a_stored_budget():
    with pytest.raises(BudgetError, match="neighbor") as caught:
        Budget.from_dict({"rho": "1", "neighbours": "replace-one"})
    assert caught.value.code == "B07"


def test_a_budget_cannot_be_changed():
    with pytest.raises(AttributeError):
        RHO.rho = Fraction(1)  # type: ignore[misc]


def test_what_is_left_in_words():
    assert RHO.describe_left(Spend(rho=Fraction(1, 100))) == "left 0.49 of 0.50"
    assert PURE.describe_left(Spend(epsilon=Fraction(1))) == "left 0.00 of 1.00"
    assert HELD.describe_left(Spend()) == PAIR.describe_left(Spend()) == "left ε = 1 of 1 at δ = 1e-06"
    assert HELD.describe_left(Spend(rho=Fraction(1, 100))) == "left ε = 0.7538 of 1 at δ = 1e-06"
    assert PAIR.describe_left(Spend(mu_squared=Fraction(1, 50))) == "left ε = 0.7885 of 1 at δ = 1e-06"
    assert PAIR.describe_left(PAIR.limit) == "left ε = 0 of 1 at δ = 1e-06"
    assert PAIR.describe_spent(Spend(mu_squared=Fraction(1, 50))) == "ε = 0.5751 at δ = 1e-06 (μ = 0.1415)"
    assert BASIC.describe_left(Spend(epsilon=Fraction(1, 2))) == "left ε = 0.5, δ = 1e-06 of ε = 1, δ = 1e-06"
    assert str(PAIR) == "ε = 1, δ = 1e-06"
    assert str(HELD) == "ε = 1, δ = 1e-06 (added as ρ)"
    assert str(BASIC) == "ε = 1, δ = 1e-06 (added one by one)"


def test_spend_round_trip():
    spent = Spend(epsilon=Fraction(1, 3), delta=Fraction(1, 10**9))
    assert Spend.from_dict(spent.to_dict()) == spent
    assert Spend.from_dict({}) == Spend()
    assert str(Spend()) == "nothing"


def test_the_refusal_of_the_manual():
    error = refusal(RHO, Spend(rho=Fraction(37, 100)), Cost.of(rho=0.2), "people.ledger", 14, 5)
    assert str(error) == (
        "[B02] this request costs ρ = 0.20; 0.13 of 0.50 is left in people.ledger (14 releases).  "
        "Hint: rho=0.13 keeps all five, each with 65% of its share.  Nothing was read or spent."
    )


@pytest.mark.parametrize(
    ("budget", "spent", "cost", "says", "hint"),
    [
        (PURE, Spend(epsilon=Fraction(9, 10)), Cost.of(epsilon=0.3), "ε = 0.30; 0.10 of 1.00", "epsilon=0.1 fits"),
        (RHO, Spend(rho=Fraction(37, 100)), Cost.of(epsilon=1), "ρ = 0.50 (ε = 1); 0.13 of 0.50", "epsilon=0.5099"),
        (HELD, Spend(), Cost.of(epsilon=1, delta=1e-6), "ε = 1.078 (ε = 1, δ = 1e-06); 1 of 1 at", "epsilon=0.9273, "),
        (PAIR, Spend(), Cost.of(epsilon=1.5, delta=1e-6), "ε = 1.5; 1 of 1 at", "epsilon=1, delta=1e-06 fits, 47%"),
        (PAIR, Spend(), Cost.of(rho=1), "(ρ = 1); 1 of 1 at δ = 1e-06", "epsilon=1, delta=1e-06"),
        (PAIR, Spend(), Cost.of(epsilon=1), "(ε = 1, pure); 1 of 1 at δ = 1e-06", "epsilon=0.1889 fits"),
        (RHO, Spend(rho=Fraction(1, 2)), Cost.of(rho=0.1), "0.00 of 0.50", "nothing is left"),
        (
            BASIC,
            Spend(epsilon=Fraction(1, 2)),
            Cost.of(epsilon=1, delta=1e-7),
            "ε = 0.5, δ",
            "epsilon=0.5, delta=5e-08",
        ),
        (RHO, Spend(rho="0.37"), Cost.of(rho="0.1300000001"), "0.1300000001; 0.1300000000 of", "rho=0.13 fits, 99%"),
    ],
)
def test_refusals_show_what_would_fit(budget, spent, cost, says, hint):
    spent = Spend(Fraction(spent.epsilon), Fraction(spent.rho), Fraction(spent.delta), Fraction(spent.mu_squared))
    error = refusal(budget, spent, cost, None, 1)
    assert error.code == "B02"
    assert says in error.message
    assert "(1 release)" in error.message
    assert hint in (error.hint or "")


@given(st.sampled_from(BUDGETS), st.integers(0, 100), prices)
def test_the_price_in_the_hint_is_admitted(budget, percent, cost):
    limit, part = budget.limit, Fraction(percent, 100)
    spent = Spend(limit.epsilon * part, limit.rho * part, limit.delta * part, limit.mu_squared * part)
    try:
        if budget.admits(spent, cost):
            return
    except BudgetError:
        return
    hint = refusal(budget, spent, cost, "a.ledger", 3).hint or ""
    options = dict(re.findall(r"(\w+)=([\w.-]+)", hint))
    if not options:
        assert percent == 100 or budget.left(spent).delta == 0
        return
    assert budget.admits(spent, Cost.of(**options))

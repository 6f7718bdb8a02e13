"""Prices: what may be typed, exactness, shares, round trips."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import CODES, BudgetError
from tacit.privacy import Budget, Cost, gaussian_delta
from tacit.privacy.exact_numbers import aligned, plain, significant

epsilons = st.fractions(min_value=Fraction(1, 10**9), max_value=1000, max_denominator=10**12).filter(bool)
deltas = st.integers(1, 300).map(lambda k: Fraction(1, 10**k)) | st.fractions(
    min_value=Fraction(1, 10**9), max_value=Fraction(999, 1000), max_denominator=10**9
)
costs = (
    st.builds(lambda e: Cost.of(epsilon=e), epsilons)
    | st.builds(lambda r: Cost.of(rho=r), epsilons)
    | st.builds(lambda e, d: Cost(epsilon=e, delta=d), epsilons, deltas)
)


def test_a_large_delta_is_refused_where_it_is_typed_and_kept_where_it_is_stored():
    for make in (Cost.of, Budget):
        assert make(epsilon=1, delta=0.01).delta == Fraction(1, 100)
        for delta in (0.5, "0.02", Fraction(1, 99)):
            with pytest.raises(BudgetError, match="may be revealed") as caught:
                make(epsilon=1, delta=delta)
            assert (caught.value.code, caught.value.hint) == ("B01", "delta=1e-6")
    assert Cost.from_dict({"epsilon": "1", "delta": "1/2"}).delta == Fraction(1, 2)
    old = Budget.from_dict({"epsilon": "1", "delta": "1/2", "neighbors": "replace-one"})
    assert (old.delta, old.in_rho().kind, old.like(epsilon=2, delta=0.5).epsilon) == (Fraction(1, 2), "zcdp", 2)
    assert Budget.from_dict(old.to_dict()) == old


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (" 1e-3 ", Fraction(1, 1000)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Fraction(1, 7), Fraction(1, 7)),
        (2, Fraction(2)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int64(3), Fraction(3)),
    ],
)
def test_a_number_means_what_it_prints(typed, meant):
    assert Cost.of(rho=typed).rho == meant


NO_PRICES = {
    "not positive": [0, -1, -0.0, "-1e-3", Fraction(-1, 3)],
    "not finite": [float("nan"), float("inf"), -float("inf"), "nan", "inf", Decimal("NaN"), Decimal("sNaN"), np.nan],
    "not numbers": ["one", "", "1/0", "1/3/5", True, np.True_, 1 + 2j, [1], b"1", "1" * 5000],
    "huge": [1e9, 10**5000, "1e999999999", Decimal("1e999999999"), Decimal("1e400")],
    "tiny": ["1e-400", Fraction(1, 10**900)],
}


@pytest.mark.parametrize("name", ["epsilon", "rho", "delta"])
@pytest.mark.parametrize(
    ("sort", "place"), [(sort, k) for sort, listed in NO_PRICES.items() for k in range(len(listed))]
)
def test_malformed_numbers_are_refused_by_name(name, sort, place):
    value = NO_PRICES[sort][place]
    given_ = {"epsilon": 1, name: value} if name == "delta" else {name: value}
    with pytest.raises(BudgetError) as caught:
        Cost.of(**given_)
    assert caught.value.code == "B01"
    assert name in str(caught.value)
    assert len(str(caught.value)) < 250
    assert caught.value.hint


@pytest.mark.parametrize("delta", [1, 1.0, "1", 2, 1e300])
def test_delta_of_one_promises_nothing(delta):
    with pytest.raises(BudgetError, match=r"delta is .* not below 1") as caught:
        Cost.of(epsilon=1, delta=delta)
    assert caught.value.code == "B01"


@pytest.mark.parametrize(
    "given_",
    [{}, {"delta": 1e-6}, {"epsilon": 1, "rho": 1}, {"rho": 1, "delta": 1e-6}, {"epsilon": 1, "rho": 1, "delta": 1e-6}],
)
def test_a_price_is_written_in_one_way(given_):
    with pytest.raises(BudgetError) as caught:
        Cost.of(**given_)
    assert caught.value.code == "B03"
    with pytest.raises(BudgetError):
        Cost(**{name: Fraction(v) for name, v in given_.items()})


def test_the_constructor_checks_as_of_does():
    with pytest.raises(BudgetError):
        Cost(epsilon=Fraction(-1))
    with pytest.raises(BudgetError):
        Cost(epsilon=Fraction(1), delta=Fraction(1))


@pytest.mark.parametrize(
    ("cost", "kind", "noise", "text"),
    [
        (Cost.of(epsilon=1), "pure", "laplace", "ε = 1"),
        (Cost.of(rho=0.01), "zcdp", "gaussian", "ρ = 0.01"),
        (Cost.of(epsilon=1, delta=1e-6), "approximate", "gaussian", "ε = 1, δ = 1e-06"),
        (Cost.of(epsilon="1/3"), "pure", "laplace", "ε = 0.3334"),
    ],
)
def test_kind_noise_and_text(cost, kind, noise, text):
    assert (cost.kind, cost.noise, str(cost)) == (kind, noise, text)


def test_zcdp_of_each_kind():
    assert Cost.of(epsilon=0.5).zcdp == Fraction(1, 8)
    assert Cost.of(rho=0.2).zcdp == Fraction(1, 5)
    held = Cost.of(epsilon=1, delta=1e-6).zcdp
    assert float(held) == pytest.approx(1 / (2 * 4.224679**2), rel=1e-6)


@given(epsilons, deltas)
def test_noise_of_the_held_rho_keeps_the_approximate_promise(epsilon, delta):
    rho = Cost(epsilon=epsilon, delta=delta).zcdp
    root = significant(1 / (2 * rho), 40, up=True)  # s² = 1/(2ρ); any s above it has a smaller δ
    s = Fraction(np.format_float_positional(float(root) ** 0.5, unique=True)) * (1 + Fraction(1, 10**15))
    assert gaussian_delta(s, epsilon) <= delta * (1 + Fraction(1, 10**9))


@given(costs)
def test_round_trip(cost):
    words = cost.to_dict()
    assert Cost.from_dict(words) == cost
    assert hash(Cost.from_dict(words)) == hash(cost)
    assert all(isinstance(v, str) for v in words.values())


@pytest.mark.parametrize(
    ("words", "code"), [({"eps": "1"}, "B07"), ({}, "B03"), ({"rho": "x"}, "B01"), ({"rho": "-1"}, "B01")]
)
def test_malformed_documents_are_refused(words, code):
    with pytest.raises(BudgetError) as caught:
        Cost.from_dict(words)
    assert caught.value.code == code


@given(costs, st.lists(st.integers(1, 50), min_size=1, max_size=8))
def test_shares_add_up_exactly(cost, weights):
    parts = [cost.share(Fraction(w, sum(weights))) for w in weights]
    if cost.kind == "pure":
        assert sum(p.epsilon for p in parts) == cost.epsilon
    elif cost.kind == "zcdp":
        assert sum(p.rho for p in parts) == cost.rho
    else:
        assert sum(p.mu_squared for p in parts) == cost.gdp == 2 * cost.zcdp
    assert all(Cost.from_dict(p.to_dict()) == p for p in parts)
    assert {p.noise for p in parts} == {cost.noise}


@pytest.mark.parametrize("part", [Fraction(0), Fraction(-1), Fraction(3, 2)])
def test_a_share_is_a_part(part):
    with pytest.raises(BudgetError) as caught:
        Cost.of(rho=1).share(part)
    assert caught.value.code == "B06"


@given(st.fractions(min_value=Fraction(1, 10**40), max_value=10**40), st.integers(1, 20))
def test_rounding_goes_the_way_it_says_and_no_further(x, digits):
    low, high = significant(x, digits, up=False), significant(x, digits, up=True)
    assert low <= x <= high
    assert high - low <= x * Fraction(10) ** (1 - digits)
    if low == high:
        assert low == x


def test_numbers_for_people():
    assert [plain(Fraction(s)) for s in ("0.5", "12", "1/3", "2/3", "1/1000000")] == [
        "0.5",
        "12",
        "0.3334",
        "0.6667",
        "1e-06",
    ]
    assert plain(Fraction(2, 3), up=False) == "0.6666"
    assert aligned([Fraction(1, 2), Fraction(1)]) == ["0.50", "1.00"]
    assert aligned([Fraction(0)]) == ["0.00"]


def test_codes_are_registered():
    assert {f"B0{k}" for k in range(1, 10)} <= set(CODES)

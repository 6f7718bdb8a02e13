"""Composition: three ways of adding, and the totals that privacy-loss distributions certify."""

from __future__ import annotations

import builtins
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import BudgetError
from tacit.privacy import Cost, Spend, compose, gaussian_delta, mu_squared_to_epsilon, pld_total, zcdp_to_epsilon
from tacit.privacy.bought import Bought, mu_squared_of, range_for, ranges_of
from tacit.privacy.cost import mu_of
from tacit.release.document import Release
from tacit.release.query import Query


def test_three_ways_of_adding():
    pure = [Cost.of(epsilon=0.1)] * 10
    assert compose(pure, "pure") == Spend(epsilon=Fraction(1))
    assert compose(pure, "zcdp") == Spend(rho=Fraction(1, 20))
    assert compose(pure, "basic") == Spend(epsilon=Fraction(1))
    both = [Cost.of(epsilon=0.1), Cost.of(epsilon=0.2, delta=1e-7)]
    assert compose(both, "basic") == Spend(epsilon=Fraction(3, 10), delta=Fraction(1, 10**7))
    assert compose(both, "zcdp").rho == Fraction(1, 200) + both[1].zcdp
    assert compose(both[1:] * 3, "gdp").mu_squared == 3 * both[1].gdp
    assert compose([], "pure") == Spend()
    with pytest.raises(BudgetError):
        compose(both, "pure")


def bought(query: Query[Any], **price: Any) -> Release:
    """A release of ages, under a budget in which every price fits."""
    rows = {"age": [float(k % 90) for k in range(100)], "sex": ["f", "m"] * 50}
    schema = tc.Schema({"age": tc.Real(0, 100, missing=0), "sex": tc.Category(["f", "m"])})
    return tc.Curator(rows, schema, budget=tc.Budget(rho=100)).release(query, **price)


def test_pld_of_gaussians_is_pessimistic_and_close():
    pytest.importorskip("dp_accounting")
    total = pld_total([bought(tc.Mean("age"), rho=0.01)] * 5, 1e-6)  # one normal of ρ = 0.05, multiplier √10
    s = Fraction("3.16227766017")  # just above √10 would be less noise's bound: √10 = 3.1622776601683...
    assert gaussian_delta(s, total) <= Fraction(1, 10**6)
    assert gaussian_delta(s, total * Fraction(99, 100)) > Fraction(1, 10**6)
    assert total < zcdp_to_epsilon(0.05, 1e-6)
    pair = pld_total([bought(tc.Mean("age"), epsilon=1, delta=1e-6)], 1e-6)
    assert 1 - Fraction(1, 10**9) <= pair < Fraction("1.0003")


def test_pld_counts_the_delta_of_approximate_parts():
    pytest.importorskip("dp_accounting")
    rows = {"age": [float(k % 90) for k in range(100)]}
    curator = tc.Curator(rows, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(epsilon=2, delta="1e-5"))
    release = curator.release(tc.Bootstrap(tc.Mean("age"), replicates=20), epsilon=1, delta="1e-6")
    cost = release.cost
    total = pld_total([release], "1e-6")
    # δ(ε) of the normal part and the part's own δ are within the δ that is asked for, and hardly less
    s = 1 / mu_of(cost.mu_squared)
    assert gaussian_delta(s, total) + cost.delta <= Fraction(1, 10**6)
    assert gaussian_delta(s, total * Fraction(99, 100)) + cost.delta > Fraction(1, 10**6)
    with pytest.raises(BudgetError, match="no finite"):
        pld_total([release], cost.delta)


def test_pld_of_pure_prices_is_between_one_and_all_of_them():
    pytest.importorskip("dp_accounting")
    one = pld_total([Cost.of(epsilon=0.5)], 1e-9)
    assert Fraction("0.49999") < one < Fraction("0.5002")  # losses are rounded up to multiples of 1e-4
    many = pld_total([Cost.of(epsilon=0.1)] * 40, 1e-6)
    assert one < many < 4
    mixed = pld_total([*[Cost.of(epsilon=0.1)] * 40, bought(tc.Mean("age"), rho=0.01)], 1e-6)
    assert many < mixed


@pytest.mark.parametrize("price", [{"rho": 0.01}, {"epsilon": 1, "delta": 1e-6}])
def test_pld_refuses_prices_that_may_have_bought_anything(price):
    """The price of a median as that of a normal: .0200 for a release with δ(.02) = .00116, before."""
    with pytest.raises(BudgetError, match="may have bought") as caught:
        pld_total([Cost.of(epsilon=0.1), Cost.of(**price)], 1e-6)
    assert caught.value.code == "B15"


def range_delta(epsilon: float, x: float) -> float:
    """H(x), the largest δ at x of a range: over t, by search."""
    t = np.linspace(0, epsilon, 20_001)[1:-1]
    q = -np.expm1(t - epsilon) / (np.exp(t) - np.exp(t - epsilon))
    return float(max(0.0, (q * (np.exp(t) - np.exp(x))).max(), 1 - np.exp(x)))


@pytest.mark.sample(3)
@pytest.mark.parametrize(("rho", "delta"), [("0.01", "0.01"), ("0.3", "0.001"), ("2", "0.05")])
def test_pld_of_a_selection_is_that_of_the_worst_pair(rho, delta):
    pytest.importorskip("dp_accounting")
    release = bought(tc.Range("age"), rho=Fraction(rho))
    pair = Bought(release.parts[0].cost, 2)
    (epsilon, _) = ranges_of(pair)
    one = replace(release, parts=(replace(release.parts[0], integers=((0,),)),))  # one of its two selections
    found = float(pld_total([one], delta))
    alone = float(range_for(pair.cost))
    assert range_delta(alone, found) <= float(delta) * (1 + 1e-6)
    assert range_delta(alone, found - 3e-4) > float(delta)
    both = float(pld_total([replace(release, parts=(release.parts[0],))], delta))
    assert range_delta(float(epsilon), both) <= float(delta) * (1 + 1e-6)  # two cost more than one of them
    as_normal = mu_squared_to_epsilon(mu_squared_of([pair]), delta)  # and less than the normal that bounds them
    assert both <= float(as_normal) + 2e-4


@pytest.mark.usefixtures("selected_ends")
def test_pld_of_selections_in_cells_is_that_of_a_normal():
    pytest.importorskip("dp_accounting")
    release = bought(tc.Quantiles("age", [0.5], by="sex"), rho=0.05)
    found = pld_total([release], 1e-6)
    bound = mu_squared_to_epsilon(
        mu_squared_of(Bought(p.cost, 1 if p.form == "joint-4" else 0, 2) for p in release.parts), 1e-6
    )
    assert bound <= found + Fraction(1, 10**6) <= bound + Fraction(1, 1000)


@pytest.mark.usefixtures("selected_ends")
def test_pld_of_three_steps_together_is_that_of_one_selection():
    pytest.importorskip("dp_accounting")
    release = bought(tc.Quantiles("age", [0.5]), rho=0.05)
    (part,) = (p for p in release.parts if p.form == "joint-4")
    found = float(pld_total([replace(release, parts=(part,))], 1e-6))
    alone = float(range_for(part.cost))
    assert range_delta(alone, found) <= 1e-6 * (1 + 1e-6)


def test_pld_without_its_library(monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("dp_accounting"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(BudgetError, match="dp-accounting") as caught:
        pld_total([Cost.of(epsilon=0.01)], 1e-6)
    assert caught.value.code == "B09"

"""Composition: three ways of adding, and the totals that privacy-loss distributions certify."""

from __future__ import annotations

import builtins
from fractions import Fraction

import pytest

from tacit.errors import BudgetError
from tacit.privacy import Cost, Spend, compose, gaussian_delta, pld_total, zcdp_to_epsilon


def test_three_ways_of_adding():
    pure = [Cost.of(epsilon=0.1)] * 10
    assert compose(pure, "pure") == Spend(epsilon=Fraction(1))
    assert compose(pure, "zcdp") == Spend(rho=Fraction(1, 20))
    assert compose(pure, "basic") == Spend(epsilon=Fraction(1))
    both = [Cost.of(epsilon=0.1), Cost.of(epsilon=0.2, delta=1e-7)]
    assert compose(both, "basic") == Spend(epsilon=Fraction(3, 10), delta=Fraction(1, 10**7))
    assert compose(both, "zcdp").rho == Fraction(1, 200) + both[1].zcdp
    assert compose([], "pure") == Spend()
    with pytest.raises(BudgetError):
        compose(both, "pure")


def test_pld_of_gaussians_is_pessimistic_and_close():
    pytest.importorskip("dp_accounting")
    total = pld_total([Cost.of(rho=0.01)] * 5, 1e-6)  # one normal of ρ = 0.05, multiplier √10
    s = Fraction("3.16227766017")  # just above √10 would be less noise's bound: √10 = 3.1622776601683...
    assert gaussian_delta(s, total) <= Fraction(1, 10**6)
    assert gaussian_delta(s, total * Fraction(99, 100)) > Fraction(1, 10**6)
    assert total < zcdp_to_epsilon(0.05, 1e-6)


def test_pld_of_pure_prices_is_between_one_and_all_of_them():
    pytest.importorskip("dp_accounting")
    one = pld_total([Cost.of(epsilon=0.5)], 1e-9)
    assert Fraction("0.49999") < one < Fraction("0.5002")  # losses are rounded up to multiples of 1e-4
    many = pld_total([Cost.of(epsilon=0.1)] * 40, 1e-6)
    assert one < many < 4
    mixed = pld_total([Cost.of(epsilon=0.1)] * 40 + [Cost.of(rho=0.01)], 1e-6)
    assert many < mixed


def test_pld_without_its_library(monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("dp_accounting"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(BudgetError, match="dp-accounting") as caught:
        pld_total([Cost.of(rho=0.01)], 1e-6)
    assert caught.value.code == "B09"

"""One release against the average of k: each rule against enumeration, and in the order that theory demands."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tacit.errors import BudgetError
from tacit.privacy import analytic_multiplier
from tacit.privacy.partition import advanced_epsilon, laplace_delta, optimal_delta, partition_table

PRICES = [(1, "1e-6", 10), (1, "1e-6", 200), ("0.3", "1e-5", 50), (3, "1e-6", 1)]


@pytest.mark.parametrize("epsilon", [0.0, 0.7, 1.9])
def test_the_optimum_by_enumeration(epsilon):
    """Four answers by randomised response at ε₀ = 0.6 each."""
    truth, lie = np.exp(0.6) / (1 + np.exp(0.6)), 1 / (1 + np.exp(0.6))
    found = 0.0
    for answers in product((True, False), repeat=4):
        p = np.prod([truth if one else lie for one in answers])
        q = np.prod([lie if one else truth for one in answers])
        found += max(float(p - np.exp(epsilon) * q), 0.0)
    assert optimal_delta(0.6, 4, epsilon) == pytest.approx(found, rel=1e-12)


def test_laplace_noise_by_the_closed_form_of_one_release():
    for epsilon in (0.0, 0.2, 0.9):
        assert laplace_delta(1.0, 1, epsilon, 1e-6) == pytest.approx(-np.expm1((epsilon - 1) / 2), rel=1e-3)


@pytest.mark.parametrize(("epsilon", "delta", "releases"), PRICES)
def test_rules_in_the_order_of_their_strength(epsilon, delta, releases):
    table = {one.rule: one for one in partition_table(epsilon, delta, releases)}
    pure, theorem = table["pure, ε / k each"], table["advanced, theorem"]
    optimal, laplace = table["any ε₀-DP releases, optimal"], table["Laplace releases, optimal"]
    assert laplace.average <= optimal.average * (1 + 1e-3)
    assert optimal.average <= theorem.average * (1 + 1e-5)
    assert optimal.average <= pure.average * (1 + 1e-5)
    assert pure.inflation == pytest.approx(releases)
    textbook, best, normal = (
        table[f"{rule}"]
        for rule in ("ρ / k each, textbook conversion", "ρ / k each, optimal conversion", "normals, exact")
    )
    assert textbook.inflation == best.inflation == normal.inflation == 1
    assert normal.average <= best.average <= textbook.average
    assert normal.average == pytest.approx(float(analytic_multiplier(epsilon, delta)) ** 2, rel=1e-9)


def test_the_printed_rule_keeps_no_promise():
    """Theory §0, E12: its variance is below what any 1,000 releases of that ε₀ need."""
    table = {one.rule: one for one in partition_table(1, "1e-6", 1000)}
    printed = table["advanced, as printed"].average
    assert printed == pytest.approx(2 * np.log(1e6))
    assert printed < 0.9 * table["Laplace releases, optimal"].average
    each = 1 / np.sqrt(1000 * np.log(1e6))
    assert laplace_delta(each, 1000, 1.0, 1e-6) > 1e-5
    assert advanced_epsilon(each, 1000, float(np.log(1e6))) > 1


@pytest.mark.parametrize("releases", [0, -1, 10_001, 2.0, True, "50"])
def test_a_number_of_releases_that_is_none(releases):
    with pytest.raises(BudgetError) as caught:
        partition_table(1, "1e-6", releases)
    assert caught.value.code == "B08"

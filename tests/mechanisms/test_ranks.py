"""Utilities of ranks: definition, sensitivity over all small tables, cost of the selection, price to epsilon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from tacit.mechanisms.ranks import epsilon_for, law_of, select, sensitivity, utilities
from tacit.noise.selection import Selection
from tacit.privacy.budget import Neighbors

STEPS = 4
PLACES = (-1, *range(STEPS))  # -1: missing
PROBS = [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10)]
RELATIONS: list[Neighbors] = ["replace-one", "add-remove"]
Table = tuple[int, ...]


def spread(table: Table, prob: Fraction, offset: int = 0) -> list[int]:
    """The utility of every step, by the code's runs."""
    runs = utilities(Counter(v for v in table if v >= 0), STEPS, prob, offset)
    assert runs.first == [0, *np.cumsum(runs.points)[:-1]]
    assert sum(runs.points) == STEPS
    return [u for u, n in zip(runs.utility, runs.points, strict=True) for _ in range(n)]


def pairs(neighbors: Neighbors) -> Iterator[tuple[Table, Table]]:
    """All neighbouring tables of at most four rows, a row missing or on one of four steps."""
    for size in range(4):
        for rest in combinations_with_replacement(PLACES, size):
            for v in PLACES:
                others: list[Table] = [rest] if neighbors == "add-remove" else [(*rest, w) for w in PLACES if w > v]
                yield from (((*rest, v), other) for other in others)


@pytest.mark.parametrize("offset", [-1, 0, 2])
@pytest.mark.parametrize("prob", PROBS)
def test_utilities_follow_the_definition(prob: Fraction, offset: int) -> None:
    a, b = prob.numerator, prob.denominator
    for table in combinations_with_replacement(PLACES, 4):
        present = [v for v in table if v >= 0]
        target = a * len(present) + b * offset
        told = [
            -max(0, b * sum(v < t for v in present) - target, target - b * sum(v <= t for v in present))
            for t in range(STEPS)
        ]
        assert spread(table, prob, offset) == told


@pytest.mark.parametrize("offset", [-1, 0, 1])
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("prob", PROBS)
def test_sensitivity_holds(prob: Fraction, neighbors: Neighbors, offset: int) -> None:
    for one, other in pairs(neighbors):
        change = [abs(u - w) for u, w in zip(spread(one, prob, offset), spread(other, prob, offset), strict=True)]
        assert max(change) <= sensitivity(prob, neighbors)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("prob", PROBS)
def test_sensitivity_is_attained(prob: Fraction, neighbors: Neighbors) -> None:
    """So that a smaller one would be wrong."""
    most = max(
        abs(u - w)
        for offset in (-1, 0, 1)
        for one, other in pairs(neighbors)
        for u, w in zip(spread(one, prob, offset), spread(other, prob, offset), strict=True)
    )
    assert most == sensitivity(prob, neighbors)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("prob", PROBS)
def test_privacy_loss_is_pure_and_of_bounded_range(prob: Fraction, neighbors: Neighbors) -> None:
    """Floats: 1e-12 is above the rounding of eight exponentials."""
    epsilon = Fraction(3, 2)
    law = law_of(epsilon, prob, neighbors)
    worst = 0.0
    for one, other in pairs(neighbors):
        loss = np.log(law.pmf(spread(one, prob), [1] * STEPS)) - np.log(law.pmf(spread(other, prob), [1] * STEPS))
        assert np.abs(loss).max() <= float(epsilon) + 1e-12
        assert np.ptp(loss) <= float(epsilon) + 1e-12
        worst = max(worst, float(np.ptp(loss)))
    assert worst > 0.4 * float(epsilon)


@pytest.mark.parametrize("rho", [Fraction(1, 2), Fraction(1, 10), Fraction(1, 10**12), Fraction(7, 3)])
def test_rho_buys_no_more_than_it_pays(rho: Fraction) -> None:
    epsilon = epsilon_for(rho)
    assert epsilon**2 / 8 <= rho < (epsilon + Fraction(1, 2**128)) ** 2 / 8


def test_the_step_selected_is_the_quantile_at_a_great_price() -> None:
    counts = {3: 10, 7: 1, 900: 30, 5000: 8}
    law = Selection(Fraction(1000))
    assert select(utilities(counts, 2**20, Fraction(1, 2)), law) == 900
    assert select(utilities(counts, 2**20, Fraction(9, 10)), law) == 5000


def test_without_a_row_every_step_can_be_drawn() -> None:
    runs = utilities({}, 3, Fraction(1, 2))
    assert (runs.first, runs.points, runs.utility) == ([0], [3], [0])
    assert {select(runs, Selection(Fraction(1))) for _ in range(60)} == {0, 1, 2}  # fails at 3 (2/3)**60 < 1e-10

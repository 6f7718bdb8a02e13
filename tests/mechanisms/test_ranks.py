"""Utilities of ranks: definition, sensitivity over all small tables, cost of the selection, price to epsilon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from tacit.method.shared.mechanism_rank_selection import select
from tacit.method.shared.rank_utilities import law_for, sensitivity, utilities
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost
from tacit.privacy.bought import range_for
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
            -max(b * sum(v < t for v in present) - target, target - b * sum(v <= t for v in present))
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
    law = law_for(Cost.of(epsilon=epsilon), prob, neighbors, grouped=False)
    worst = 0.0
    for one, other in pairs(neighbors):
        loss = np.log(law.pmf(spread(one, prob), [1] * STEPS)) - np.log(law.pmf(spread(other, prob), [1] * STEPS))
        assert np.abs(loss).max() <= float(epsilon) + 1e-12
        assert np.ptp(loss) <= float(epsilon) + 1e-12
        worst = max(worst, float(np.ptp(loss)))
    assert worst > 0.4 * float(epsilon)


@pytest.mark.parametrize("price", [Cost.of(epsilon="1.5"), Cost.of(rho="0.3")], ids=str)
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("prob", PROBS)
def test_one_selection_in_each_cell_costs_the_price(prob: Fraction, neighbors: Neighbors, price: Cost) -> None:
    """A row may change cells: losses of two cells add up, and so do squares of ranges.  Reached within a factor .4."""
    law = law_for(price, prob, neighbors, grouped=True)
    small = [table for size in range(4) for table in combinations_with_replacement(range(STEPS), size)]

    def loss(one: Table, other: Table) -> np.ndarray:
        return np.log(law.pmf(spread(one, prob), [1] * STEPS)) - np.log(law.pmf(spread(other, prob), [1] * STEPS))

    removed = [loss((*rest, v), rest) for rest in small for v in range(STEPS)]
    within = [loss((*rest, v), (*rest, w)) for rest in small for v in range(STEPS) for w in range(STEPS) if v < w]
    if neighbors == "add-remove":
        within = []
    moved = 2 if neighbors == "replace-one" else 1  # cells that lose or gain a row
    if price.kind == "pure":
        paid = float(price.epsilon or 0)
        worst = max(moved * max(np.abs(x).max() for x in removed), *(np.abs(x).max() for x in within), 0.0)
    else:
        paid = float(price.zcdp)
        worst = max(moved * max(np.ptp(x) for x in removed) ** 2, *(np.ptp(x) ** 2 for x in within), 0.0) / 8
    assert 0.4 * paid < worst <= paid + 1e-12


@pytest.mark.parametrize("rho", [Fraction(1, 2), Fraction(1, 10), Fraction(1, 10**12), Fraction(7, 3)])
def test_rho_buys_no_more_than_it_pays(rho: Fraction) -> None:
    epsilon = range_for(Cost(rho=rho))
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

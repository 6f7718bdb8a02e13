"""The contract of quantiles that are read from cuts and counts: parts (a), (c) and (d) of `contract_selection`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, Final, cast

import numpy as np

from tacit.method.quantiles.cut_tree import edges, moved, rate_for, weights
from tacit.method.quantiles.mechanism_cuts import PARTS, candidates, numbers, placed, ranges_of, selected
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.mechanism_rank_selection import select
from tacit.method.shared.rank_utilities import Runs
from tacit.noise.selection_law import Selection
from tacit.privacy import noise_for
from tacit.testing.audit import epsilon_lower_bound
from tacit.testing.contract_halved import at_the_ends, placed_tables

TREES: Final = 8
"""Sets of places selected, by chance, at which the utilities of two tables are compared."""


def change(
    shape: Measurement,
    one: Sequence[Mapping[int, int]],
    other: Sequence[Mapping[int, int]],
    of_runs: Callable[[Runs, Runs], int],
    rng: np.random.Generator,
    norm: str,
) -> list[Fraction | int]:
    """Return the largest change of utilities, divided by M, times the weights and summed over ranges, levels and
    cells, at some cuts; and that of the numbers of rows between them.

    one, other: {step: rows} of each cell of two tables.  of_runs: the largest difference of any place's utility.  Rows
    that both tables have are on the same parts of steps.
    """
    utilities, between = Fraction(0), 0
    for _ in range(TREES):
        made = [_changed(shape, x, y, of_runs, rng, norm) for x, y in zip(one, other, strict=True)]
        utilities = max(utilities, sum((moved_ for moved_, _ in made), Fraction(0)))
        between = max(between, sum(counted for _, counted in made))
    return [utilities, between]


def _changed(
    shape: Measurement,
    one: Mapping[int, int],
    other: Mapping[int, int],
    of_runs: Callable[[Runs, Runs], int],
    rng: np.random.Generator,
    norm: str,
) -> tuple[Fraction, int]:
    """Return the change of the utilities of a cell at cuts by chance, and that of its numbers of rows."""
    if one == other:
        return Fraction(0), 0
    facts, tiny = shape.columns[0].form.parameters, 1 if norm == "l1" else 2
    w, M, end = weights(facts["levels"], facts["even"]), moved(shape.neighbors == "replace-one"), facts["G"] + 1
    tables, near = placed_tables(one, other, placed, end * PARTS, lambda rows: rng.integers(0, PARTS, rows))
    made = ranges_of(shape)
    at = sorted(range_.at for range_ in made)
    found = np.sort(rng.choice(near, len(at)))
    cut = {0: 0, 1 << facts["levels"]: end * PARTS, **dict(zip(at, cast("list[int]", found.tolist()), strict=True))}
    utilities = Fraction(0)
    for range_ in made:
        low, high = cut[range_.low], cut[range_.high]
        if high > low:
            runs = [candidates(places, low, high) for places in tables]
            # in l2 a level with two ranges of half a change each has half the square of one
            utilities += Fraction(of_runs(runs[0], runs[1]) * w[range_.level], M) ** tiny
    last = edges([place // PARTS for place in cut.values()], facts["G"])
    counted = (numbers(one, last), numbers(other, last))
    return utilities, sum(abs(x - y) ** tiny for x, y in zip(*counted, strict=True))


def halved_price(shape: Measurement) -> Measurement:
    """Return the same cuts and counts at half the price: another price would have other levels and weights."""
    cutting, between = shape.columns
    facts, paid = cutting.form.parameters, [column.cost.share(Fraction(1, 2)) for column in shape.columns]
    law: Any = Selection(rate_for(paid[0], weights(facts["levels"], facts["even"])))
    noise = noise_for(between.form.l1, between.form.l2_squared, paid[1])
    return replace(shape, columns=(replace(cutting, law=law, cost=paid[0]), replace(between, law=noise, cost=paid[1])))


def proven(shape: Measurement, draws: int) -> float:
    """Return the epsilon that draws of the cuts prove, over small tables with a row at one end or the other.

    The events are that the cut in the middle, or the first one, is in the lower half of the grid.
    """
    column, replaces, G = shape.columns[0], shape.neighbors == "replace-one", shape.columns[0].form.parameters["G"]
    order = np.argsort([one.at for one in ranges_of(shape)])
    worst = -np.inf

    def parts(rows: int) -> Any:
        return np.random.default_rng(0).integers(0, PARTS, rows)

    for tables, at in product(at_the_ends(G, replaces=replaces), (0, len(order) // 2)):
        low, high = (
            np.array([_score(column, shape, counts, int(order[at]), parts) for _ in range(draws)], dtype=np.int64)
            for counts in tables
        )
        worst = max(worst, epsilon_lower_bound(low, high, 0.0, 1 - 1e-6))
    return worst


def _score(column: PartSpec, shape: Measurement, counts: Mapping[int, int], at: int, parts: Any) -> int:
    """Return whether a drawn cut is in the lower half of the grid."""
    return int(selected(column, shape, counts, select, parts)[at] < column.form.parameters["G"] / 2)


def claimed(shape: Measurement) -> float:
    """Return the pure epsilon of the cuts: twice the rate of each level, in pure epsilon whatever the price."""
    column = shape.columns[0]
    return float(2 * cast(Any, column.law).rate * column.form.l1)

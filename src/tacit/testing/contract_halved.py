"""The contract of quantiles selected by halving ranges: parts (a) and (d) of `contract_selection`, over all levels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Final, cast

import numpy as np

from tacit.method.quantiles.many_steps import halvings
from tacit.method.quantiles.mechanism_many import PARTS, Integers, candidates, placed, selected
from tacit.method.quantiles.query import Quantiles
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism_rank_selection import select
from tacit.method.shared.rank_utilities import Runs
from tacit.testing.audit import epsilon_lower_bound

CUTS: Final = 40
"""Sets of places selected, by chance, at which the utilities of two tables are compared."""
FEW: Final = 3
"""Rows that both tables of (d) have at an end of the grid, at most."""


def change(
    shape: Measurement,
    one: Mapping[int, int],
    other: Mapping[int, int],
    of_runs: Callable[[Runs, Runs], int],
    rng: np.random.Generator,
) -> Fraction:
    """Return the largest change of utilities, divided by M and summed over ranges and levels, at some cuts.

    of_runs: the largest difference of any place's utility.  Rows that both tables have are on the same parts of steps.
    """
    column, probs = shape.columns[0], cast("tuple[Fraction, ...]", cast(Quantiles, shape.query).probs)
    replaces, end = shape.neighbors == "replace-one", (column.form.parameters["G"] + 1) * PARTS
    tables, near = placed_tables(one, other, placed, end, lambda rows: rng.integers(0, PARTS, rows))
    worst = Fraction(0)
    for _ in range(CUTS):
        cuts = cast("list[int]", np.sort(rng.choice(near, len(probs))).tolist())
        cut = {-1: 0, len(probs): end, **dict(enumerate(cuts))}
        moved = Fraction(0)
        for half in halvings(probs):
            low, high = cut[half.low], cut[half.high]
            if high > low:
                runs = [candidates(half, places, low, high) for places in tables]
                moved += Fraction(of_runs(runs[0], runs[1]), half.most(replaces=replaces))
        worst = max(worst, moved)
    return worst


def placed_tables(
    one: Mapping[int, int],
    other: Mapping[int, int],
    at: Callable[[Mapping[int, int], Callable[[int], Integers]], Integers],
    end: int,
    parts: Callable[[int], Integers],
) -> tuple[list[Integers], Integers]:
    """Return the places of the rows of two tables, and the places at and beside any of them, and at both ends.

    Rows that both tables have are at the same places.  at: makes places of counts of steps.  end: number of places.
    """
    both = {step: min(n, other.get(step, 0)) for step, n in one.items()}
    shared = at(both, parts)
    tables = [_joined(shared, both, counts, at, parts) for counts in (one, other)]
    return tables, np.unique(np.concatenate([[0, end], *tables, *(places + 1 for places in tables)]))


def _joined(
    shared: Integers,
    both: Mapping[int, int],
    counts: Mapping[int, int],
    at: Callable[[Mapping[int, int], Callable[[int], Integers]], Integers],
    parts: Callable[[int], Integers],
) -> Integers:
    """Return the places of a table's rows, of which those of `both` are at `shared`; at: makes places of the others."""
    own = {step: n - both.get(step, 0) for step, n in counts.items() if n > both.get(step, 0)}
    return np.sort(np.concatenate([shared, at(own, parts)]))


def at_the_ends(G: int, *, replaces: bool) -> Iterator[tuple[dict[int, int], dict[int, int]]]:
    """Yield small neighbouring tables: a row at the lower end, and at the upper or none; beside none or FEW rows."""
    for few in (0, FEW):
        base = {0: few, G: few} if few else dict[int, int]()
        higher = {**base, G: base.get(G, 0) + 1} if replaces else base
        yield {**base, 0: base.get(0, 0) + 1}, higher


def proven(shape: Measurement, draws: int) -> float:
    """Return the epsilon that draws of the whole mechanism prove, over small tables with a row at one end or the other.

    The events are that the middle quantile, or the first, is in the lower half of the grid.
    """
    column, probs = shape.columns[0], cast("tuple[Fraction, ...]", cast(Quantiles, shape.query).probs)
    replaces, G = shape.neighbors == "replace-one", column.form.parameters["G"]
    worst = -np.inf
    for tables, at in product(at_the_ends(G, replaces=replaces), (0, len(probs) // 2)):
        scores = [
            np.array([selected(column, probs, counts, replaces, select)[at] < G / 2 for _ in range(draws)])
            for counts in tables
        ]
        low, high = (score.astype(np.int64) for score in scores)
        worst = max(worst, epsilon_lower_bound(low, high, 0.0, 1 - 1e-6))
    return worst

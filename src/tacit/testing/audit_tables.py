"""Small neighbouring tables whose selections tell them apart best: material for audits of `selections`.

Between its rows a table has long stretches of points of equal utility.  A row that moves from one end to the other, or
comes, raises it on one side of the quantile's rows and lowers it on the other: as much as is declared, with most of the
weight on one side.  Which tables do so best is found by the law, before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.method.shared.measurement import PartSpec
from tacit.method.shared.rank_utilities import Runs
from tacit.noise.selection_law import Selection
from tacit.testing.neighbouring_tables import Relation

Cell: TypeAlias = dict[int, int]
Look: TypeAlias = Callable[[Sequence[Mapping[int, int]]], list[list[Runs]]]
"""Cells {point: weight} -> what is selected from: by pick, and by cell."""
LEFT: Final = (0, 1, 2, 3, 5, 8)
MIDDLE: Final = (1, 2, 3)
PLACES: Final = (Fraction(1, 50), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(49, 50))
SIGMAS: Final = 5
"""Standard errors by which a lower bound at confidence 1 - 1e-6 is below the estimate, approximately."""


@dataclass(frozen=True)
class Event:
    """Points from `low` to `high`."""

    low: int
    high: int

    def holds(self, point: int) -> bool:
        """Whether a selected point is one of them."""
        return self.low <= point <= self.high


@dataclass(frozen=True)
class Tables:
    """What is selected from in the cells that change, of two neighbours, and an event in each."""

    one: tuple[Runs, ...]
    other: tuple[Runs, ...]
    events: tuple[Event, ...]

    @property
    def cells(self) -> int:
        """How many cells change."""
        return len(self.one)


@dataclass(frozen=True)
class Found:
    """A pair of neighbouring tables: its expected audit bound, the candidates in each, the event to count."""

    worth: float
    event: Event
    one: Runs
    other: Runs


def worst_tables(
    column: PartSpec, law: Selection, cells: int, relation: Relation, draws: int, look: Look
) -> list[Tables]:
    """Return the pair with the largest expected bound for each kind of neighbour: within a cell, or between two.

    law: that which is suspected; tables tell it apart from a weaker one best.
    """
    last, weight = _last(column), column.form.parameters.get("share", 1)
    empty: list[Cell] = [{} for _ in range(cells - 1)]
    bases = list(_bases(column, last, look([{}, *empty])))

    def best(one: Sequence[Cell], other: Sequence[Cell], draws: int) -> Found:
        """Events more likely of `one`."""
        found: list[Found] = []
        for x, y in zip(one, other, strict=True):
            before, after = (look([_times(cell, weight), *empty]) for cell in (x, y))
            for (a, *_), (b, *_) in zip(before, after, strict=True):
                found.append(Found(*_told(_points(a, law), _points(b, law), draws), a, b))
        return max(found, key=lambda entry: entry.worth)

    def moved(end: int) -> list[Cell]:
        return [{**base, end: base.get(end, 0) + 1} for base in bases]

    def come(draws: int) -> Found:
        return max((best(moved(end), bases, draws) for end in (0, last)), key=lambda entry: entry.worth)

    def gone(draws: int) -> Found:
        return max((best(bases, moved(end), draws) for end in (0, last)), key=lambda entry: entry.worth)

    half = draws // 2  # what an audit has for its bounds
    if relation == "add-remove":
        return [_tables(max(come(half), gone(half), key=lambda entry: entry.worth))]
    within = _tables(best(moved(0), moved(last), half))
    return [within] if cells == 1 else [within, _tables(come(half // 8), gone(half // 8))]  # both at once are rarer


def _tables(*found: Found) -> Tables:
    return Tables(tuple(one.one for one in found), tuple(one.other for one in found), tuple(one.event for one in found))


def _last(column: PartSpec) -> int:
    facts = column.form.parameters
    return facts["G"] if "G" in facts else facts["bins"] - 1


def _bases(column: PartSpec, last: int, without: list[list[Runs]]) -> Iterator[Cell]:
    """Rows at the first point, some in between, and so many at the last that those in between hold the rank wanted.

    without: what is selected from without a row, which tells how far from p N that rank is.
    """
    facts = column.form.parameters
    p, each = Fraction(facts["numerator"], facts["denominator"]), facts["denominator"] * facts.get("share", 1)
    further = {0, *(-max(cells[0].utility) // each for cells in without)}
    for beyond, left, middle in product(sorted(further), LEFT, MIDDLE):
        first = max(0, left + beyond - LEFT[-1] // 2) if beyond else left
        right = max(0, round((first + Fraction(middle, 2) - beyond) / p) - first - middle)
        for place in PLACES:
            yield {0: first, min(max(1, round(place * last)), last - 1): middle, last: right}


def _times(cell: Cell, weight: int) -> Cell:
    return {point: weight * rows for point, rows in cell.items() if rows}


def _points(runs: Runs, law: Selection) -> NDArray[np.float64]:
    """The probability of every point."""
    return np.repeat(law.pmf(runs.utility, runs.points) / np.array(runs.points), runs.points)


def _told(p: NDArray[np.float64], q: NDArray[np.float64], draws: int) -> tuple[float, Event]:
    """About the epsilon that `draws` of each prove by the first or the last points, more likely by p; and which."""
    of_p, of_q = (np.clip(np.cumsum(x)[:-1], 0, 1) for x in (p, q))
    first, rest = _proven(of_p, of_q, draws), _proven(1 - of_p, 1 - of_q, draws)
    i, j = int(np.argmax(first)), int(np.argmax(rest))
    return (float(first[i]), Event(0, i)) if first[i] >= rest[j] else (float(rest[j]), Event(j + 1, len(p) - 1))


def _proven(p: NDArray[np.float64], q: NDArray[np.float64], draws: int) -> NDArray[np.float64]:
    """Log of a lower bound of p over an upper bound of q, at SIGMAS standard errors each."""
    low = p - SIGMAS * np.sqrt(p / draws)
    high = q + SIGMAS * np.sqrt(q / draws) + SIGMAS**2 / (2 * draws)
    return np.where(low > 0, np.log(np.maximum(low, 1e-300) / high), -np.inf)

"""Small neighbouring tables that selections distinguish best: test tables for the audits of `contract_selection`.

Between its rows a table has long runs of points of equal utility.  A row that moves from one end to the other, or is
added at an end, raises the utility on one side of the quantile's rows and lowers it on the other, by as much as is
declared, with most of the probability on one side.  The best tables are found from the selection's distribution,
before any sample is drawn.
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
from tacit.noise.permute_and_flip import SelectionLaw
from tacit.testing.neighbouring_tables import Relation

Cell: TypeAlias = dict[int, int]
Look: TypeAlias = Callable[[Sequence[Mapping[int, int]]], list[list[Runs]]]
"""Cells {point: weight} -> the candidates of each selection in each cell: one list a selection, one `Runs` a cell."""
LEFT: Final = (0, 1, 2, 3, 5, 8)
"""Numbers of rows at the first point that are tried."""
MIDDLE: Final = (1, 2, 3)
"""Numbers of rows between the first and the last point that are tried."""
PLACES: Final = (Fraction(1, 50), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(49, 50))
"""Points of the rows in between that are tried, as fractions of the last point."""
WITHIN: Final = 64
"""Points of a long run of equal utility at which an event may end."""
SIGMAS: Final = 5
"""Standard errors by which a lower bound at confidence 1 - 1e-6 is below the estimate, approximately."""


@dataclass(frozen=True)
class Event:
    """The event that a selected point is from `low` to `high`, both included."""

    low: int
    high: int

    def holds(self, point: int) -> bool:
        """Return whether a selected point is in the event."""
        return self.low <= point <= self.high


@dataclass(frozen=True)
class Tables:
    """The candidates of two neighbouring tables in the cells that change, and one event for each such cell."""

    one: tuple[Runs, ...]
    other: tuple[Runs, ...]
    events: tuple[Event, ...]

    @property
    def cells(self) -> int:
        """Return the number of cells that change."""
        return len(self.one)


@dataclass(frozen=True)
class Found:
    """A pair of neighbouring tables: its expected audit bound, the candidates in each, the event to count."""

    worth: float
    event: Event
    one: Runs
    other: Runs


def worst_tables(
    column: PartSpec, law: SelectionLaw, cells: int, relation: Relation, draws: int, look: Look
) -> list[Tables]:
    """Return the pair with the largest expected bound for each kind of neighbour: within a cell, or between two.

    law: the distribution under which expected bounds are computed.  draws: samples of each table in the audit.
    """
    last, weight = _last(column), column.form.parameters.get("share", 1)
    empty: list[Cell] = [{} for _ in range(cells - 1)]
    # the cells beside the changed ones are empty, and do not enter the events
    bases = list(_bases(column, last, look([{}, *empty])))

    def best(one: Sequence[Cell], other: Sequence[Cell], draws: int) -> Found:
        """Return the pair with the largest expected bound, for events more likely under `one` than under `other`."""
        found: list[Found] = []
        for x, y in zip(one, other, strict=True):
            before, after = (look([_times(cell, weight), *empty]) for cell in (x, y))
            for (a, *_), (b, *_) in zip(before, after, strict=True):
                # the first cell is the changed one
                found.append(Found(*_best_event(a, b, law, draws), a, b))
        return max(found, key=lambda entry: entry.worth)

    def moved(end: int) -> list[Cell]:
        """Return the base tables with one more row at `end`."""
        return [{**base, end: base.get(end, 0) + 1} for base in bases]

    def come(draws: int) -> Found:
        """Return the best pair whose first table has one row more."""
        return max((best(moved(end), bases, draws) for end in (0, last)), key=lambda entry: entry.worth)

    def with_one_row_more(draws: int) -> Found:
        """Return the best pair whose second table has one row more."""
        return max((best(bases, moved(end), draws) for end in (0, last)), key=lambda entry: entry.worth)

    half = draws // 2  # an audit spends the other half on choosing its event
    if relation == "add-remove":
        return [_tables(max(come(half), with_one_row_more(half), key=lambda entry: entry.worth))]
    within = _tables(best(moved(0), moved(last), half))
    # A row that changes cells changes two of them; both events at once are rarer, as if there were fewer draws.
    return [within] if cells == 1 else [within, _tables(come(half // 8), with_one_row_more(half // 8))]


def _tables(*found: Found) -> Tables:
    """Return pairs of changed cells, one pair a cell, as one pair of neighbouring tables."""
    return Tables(tuple(one.one for one in found), tuple(one.other for one in found), tuple(one.event for one in found))


def _last(column: PartSpec) -> int:
    """Return the index of the last point that a column can select."""
    facts = column.form.parameters
    return facts["G"] if "G" in facts else facts["bins"] - 1


def _bases(column: PartSpec, last: int, without: list[list[Runs]]) -> Iterator[Cell]:
    """Yield cells with rows at the first point, some in between, and so many at the last that those in between hold the
    target rank.

    without: the candidates of a table without rows; their utilities show by how many ranks the target differs from
    p times the number of rows.
    """
    facts = column.form.parameters
    p, each = Fraction(facts["numerator"], facts["denominator"]), facts["denominator"] * facts.get("share", 1)
    # ends of intervals aim some ranks beyond the quantile: rows are shifted by as many
    further = {0, *(-max(cells[0].utility) // each for cells in without)}
    for beyond, left, middle in product(sorted(further), LEFT, MIDDLE):
        first = max(0, left + beyond - LEFT[-1] // 2) if beyond else left
        # as many at the end that the middle of the rows in between is at rank p n
        right = max(0, round((first + Fraction(middle, 2) - beyond) / p) - first - middle)
        for place in PLACES:
            yield {0: first, min(max(1, round(place * last)), last - 1): middle, last: right}


def _times(cell: Cell, weight: int) -> Cell:
    """Return the cell with each row counted `weight` times, without empty points."""
    return {point: weight * rows for point, rows in cell.items() if rows}


def _below(runs: Runs, law: SelectionLaw, at: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probability of the points before each of `at`."""
    first, points = np.array(runs.first), np.array(runs.points)
    each = law.pmf(runs.utility, runs.points)
    run = np.searchsorted(first, at, side="right") - 1
    # a run's probability is shared equally by its points
    part = each[run] * (at - first[run]) / points[run]
    return np.clip((np.cumsum(each) - each)[run] + part, 0, 1)


def _best_event(one: Runs, other: Runs, law: SelectionLaw, draws: int) -> tuple[float, Event]:
    """Return the approximate epsilon that `draws` samples prove, and the event that proves it.

    Events are the first points up to one, or the last points from one on, each more likely under `one` than `other`.
    """
    total = one.first[-1] + one.points[-1]
    # the ends of runs, and points within them: between neighbouring ones all probabilities are proportional to length
    ends = np.union1d(one.first, [*other.first, total])
    parts = np.linspace(0, 1, WITHIN, endpoint=False)
    at = np.unique((ends[:-1, None] + parts * np.diff(ends)[:, None]).astype(np.int64))[1:]
    # half-lines suffice: the moved row raises utilities on one side of the rows and lowers them on the other
    of_p, of_q = _below(one, law, at), _below(other, law, at)
    first, rest = _proven(of_p, of_q, draws), _proven(1 - of_p, 1 - of_q, draws)
    i, j = int(np.argmax(first)), int(np.argmax(rest))
    if first[i] >= rest[j]:
        return float(first[i]), Event(0, int(at[i]) - 1)
    return float(rest[j]), Event(int(at[j]), total - 1)


def _proven(p: NDArray[np.float64], q: NDArray[np.float64], draws: int) -> NDArray[np.float64]:
    """Return log(lower bound of p / upper bound of q), each at SIGMAS standard errors; -inf where not positive."""
    low = p - SIGMAS * np.sqrt(p / draws)
    # the last summand bounds events so rare that hardly any draw shows them
    high = q + SIGMAS * np.sqrt(q / draws) + SIGMAS**2 / (2 * draws)
    return np.where(low > 0, np.log(np.maximum(low, 1e-300) / high), -np.inf)

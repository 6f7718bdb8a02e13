"""Plans of densities: how values may lie over the bins of a column, and over which widths the limits range.

Limits are as wide as the release makes them of assumed counts: where values are smooth, and where half of them gather
at round numbers, as amounts, times and years of education do.  There the counts say more than a kernel or a series
resolves, and limits are wider, or are not told.  Of a column of which nothing is said, values that use a tenth of the
bounds are assumed beside even ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import laws_told, lowest
from tacit.schema.expectations import Expectations, ExpectedNumbers

POINTS: Final = 2**14
"""Values that stand for a law."""
GATHERED: Final = 0.5
"""Share of the values at round numbers."""
PLACES: Final = 101
"""Places over which widths are averaged."""
SIDE: Final = 21
"""Places along each column of a joint density."""
LESS: Final = 9
"""The same of three columns."""
NARROWER: Final = 1.3
WIDER: Final = 1.1
"""By how much limits of shapes that were not tried may be narrower and wider than those of all that were.

Rows that lie closer together than any of these leave more of a column empty, where limits end at 0.
"""
TOLD: Final = 0.5
"""Part of the places that have limits from which on a density has some."""


@dataclass(frozen=True)
class BinnedColumn:
    """A column whose density is asked for: the ends of its bins in its units, and the distance of its values, or 0."""

    name: str
    ends: Array
    step: float


@dataclass(frozen=True)
class AssumedCounts:
    """Shares of the bins of each column, and the share of rows that have a value in all of them."""

    shares: tuple[Array, ...]
    present: float


def assumed(columns: Sequence[BinnedColumn], expect: Expectations) -> tuple[AssumedCounts, ...]:
    """Return what counts may be: first of values as expected, or even ones; the others are guesses.

    Columns are taken to be independent.
    """
    present = math.prod(1 - expect.numbers[one.name].missing for one in columns if one.name in expect.numbers)
    first = tuple(_smooth(one, expect.numbers.get(one.name)) for one in columns)
    told = [expect.numbers.get(one.name) for one in columns]
    made = [first, *(tuple(map(shape, columns, told)) for shape in (_round, _few))]
    untold = [one for one in columns if one.name not in expect.numbers]
    if len(untold) < len(columns):
        made.append(tuple(map(_rough, columns, told)))
    if untold:
        guessed = {one.name: lowest(*map(float, one.ends[[0, -1]])) for one in untold}
        made += [
            tuple(shape(one, guessed.get(one.name, expect.numbers.get(one.name))) for one in columns)
            for shape in (_smooth, _round)
        ]
    return tuple(AssumedCounts(one, present) for one in made)


def ranged(entries: Sequence[Expected], widths: Sequence[Sequence[float]]) -> list[Expected]:
    """Return entries with the widths of limits, and the range of these, with a margin for other shapes.

    widths: of each assumption, the first that of the entries, of each entry; infinite where no limits are told.
    """
    found = list[Expected]()
    for one, *each in zip(entries, *widths, strict=True):
        told = [width for width in each if math.isfinite(width)]
        width = one.width if math.isinf(one.width) else each[0]
        between = (min(told) / NARROWER, max(told) * WIDER) if told else None
        without = min(one.without, width)  # limits end at 0, which an error does not know
        found.append(replace(one, width=width, without=without, between=between, open=len(told) < len(each)))
    return found


def drawn_counts(rows: int, counts: AssumedCounts, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return in which cells rows lie that are drawn with assumed shares, shape (cells,): those of `over_cells`."""
    shares, present = over_cells(counts, lambda _, own: own), rng.binomial(rows, min(counts.present, 1.0))
    return rng.multinomial(present, shares / shares.sum())


def tried(
    guesses: Sequence[AssumedCounts], trials: int, widths: Callable[[AssumedCounts], Sequence[float]]
) -> list[list[float]]:
    """Return widths of simulated releases for `ranged`: medians over trials of the first assumption, then all of them.

    widths: of one release, simulated anew at each call.  Guesses lie far apart: one release of each is enough.
    """
    first = [list(widths(guesses[0])) for _ in range(trials)]
    return [np.median(first, axis=0).tolist(), *first, *(list(widths(one)) for one in guesses[1:])]


def root_mean_square(limits: Array) -> float:
    """Return the root mean square width of limits, shape (places, 2), where at least half of them are told.

    >>> root_mean_square(np.array([[0.0, 3.0], [1.0, 5.0], [0.0, np.inf]])) == math.sqrt(12.5)
    True
    """
    each = np.diff(limits, axis=1)[:, 0]
    told = np.isfinite(each)
    return math.sqrt(float((each[told] ** 2).mean())) if told.mean() >= TOLD else math.inf


def curve_width(found: Any, level: float) -> float:
    """Return the root mean square width of the limits of a column's density."""
    if found.reasons[0] is not None:
        return math.inf
    return root_mean_square(found.intervals(np.linspace(found.lower, found.upper, PLACES), level))


def joint_width(found: Any, level: float) -> float:
    """Return the root mean square width of the limits of a joint density."""
    if found.reason is not None:
        return math.inf
    variables, points = found.variables, np.zeros((1, 0))
    for one in variables:
        side = np.linspace(float(one.lower), float(one.upper), SIDE if len(variables) < 3 else LESS)
        points = np.hstack([np.repeat(points, len(side), axis=0), np.tile(side, len(points))[:, None]])
    return root_mean_square(found.intervals(points, level))


def widths_of(
    names: Sequence[str], level: float, density: Callable[[str], Any], joint: Callable[[], Any]
) -> list[float]:
    """Return the widths of the limits of each column's density, and of the joint one of several."""
    found = [curve_width(density(name), level) for name in names]
    return found if len(names) == 1 else [*found, joint_width(joint(), level)]


def over_cells(counts: AssumedCounts, each: Callable[[int, Array], Array]) -> Array:
    """Return the product over columns of what `each` makes of the shares of one, one after another."""
    made = np.ones(1)
    for at, shares in enumerate(counts.shares):
        made = np.outer(made, each(at, shares)).reshape(-1)
    return made


def _smooth(one: BinnedColumn, told: ExpectedNumbers | None) -> Array:
    """Return shares of bins of smooth values; even ones where nothing is told."""
    if told is None:
        return np.asarray(np.diff(one.ends) / np.ptp(one.ends), dtype=np.float64)
    return _shares(one, _values(told))


def _few(one: BinnedColumn, told: ExpectedNumbers | None) -> Array:
    """Return shares of bins where all values are at round numbers."""
    return _round(one, told, 1.0)


def _rough(one: BinnedColumn, told: ExpectedNumbers | None) -> Array:
    """Return shares of bins where values gather most of all laws that have what is told, in narrow clusters, say."""
    laws = laws_told(told) if told is not None and told.sd > 0 else None
    if told is None or laws is None:
        return _smooth(one, told)
    p = (np.arange(POINTS) + 0.5) / POINTS
    values = told.lower + (told.upper - told.lower) * laws.roughest(p)
    return _shares(one, values)


def _round(one: BinnedColumn, told: ExpectedNumbers | None, gathered: float = GATHERED) -> Array:
    """Return shares of bins where a part of the values is at round numbers."""
    low, high = float(one.ends[0]), float(one.ends[-1])
    sd = told.sd if told is not None else (high - low) / math.sqrt(12)
    values: Array = np.linspace(low, high, POINTS) if told is None else _values(told)
    unit = max(_nice(sd / 2), 2 * one.step)
    # the golden ratio spreads the values that are moved evenly over the ranks
    moved = (np.arange(len(values)) * 0.6180339887498949) % 1 < gathered
    return _shares(one, np.where(moved, unit * np.round(values / unit), values))


def _values(told: ExpectedNumbers) -> Array:
    """Return values of a told column, in its units, rising."""
    p = (np.arange(POINTS) + 0.5) / POINTS
    laws = laws_told(told) if told.sd > 0 else None
    return told.lower + (told.upper - told.lower) * (
        np.full(POINTS, told.shape[0]) if laws is None else laws.together(p)
    )


def _shares(one: BinnedColumn, values: Array) -> Array:
    """Return the shares of bins: of values that are recorded in steps each is at the middle of its own."""
    low, high = one.ends[[0, -1]]
    if one.step:
        values = low + one.step * (np.floor((values - low) / one.step) + 0.5)
    inside = np.clip(values, low, np.nextafter(high, low))
    counted, _ = np.histogram(inside, one.ends)
    return counted / len(values)


def _nice(x: float) -> float:
    """Return the largest of 1, 2, 5, 10, 20, ... and their tenths that is not above x.

    >>> _nice(18.0), _nice(0.07), _nice(5.0)
    (10.0, 0.05, 5.0)
    """
    if not x > 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(x) + 1e-12)
    return float(max(times * power for times in (1, 2, 5) if times * power <= x * (1 + 1e-9)))

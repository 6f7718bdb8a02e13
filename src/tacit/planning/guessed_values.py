"""Over which widths a planned count, mean, quantile, histogram or law ranges, where nothing is said of its columns.

Bounds are public, spreads are not.  Besides values that are even over the bounds a plan takes values on a tenth of
them, values at both bounds, Booleans that are rare or true of nobody, parameters in the lowest or the highest tenth of
their boxes, and cells that are empty or hold half of the rows; it says the least and the largest width of each term.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from tacit.errors import TacitError
from tacit.method.histogram.query import Histogram
from tacit.method.quantiles.query import Quantiles
from tacit.method.shared.asked_parameters import asked_parameters, told_parameters
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import PART, lowest, unknown_keys
from tacit.planning import expected_blocks
from tacit.planning.expected import as_expected, expected
from tacit.release.registry import room_of
from tacit.rows.row_map import RowMap
from tacit.schema.expectations import Expectations, ExpectedNumbers

RARE: Final = 0.05
"""Share of the rows in which a Boolean is true that is rare."""
TIMES: Final = 4
"""By how much a told share of a Boolean may be smaller or larger in a group."""
ROOMS: Final = ("moments", "quantiles", "bootstrap", "blocks", "sufficient_statistics")
"""Methods whose widths rest on values."""
HALF: Final = 0.5
"""Share of a cell whose count is the least certain."""
FEW: Final = 0.001
"""Share of a cell that is next to empty."""


def of_values(
    shape: Measurement, planned: Sequence[Expected], rows: int, level: float, expect: Expectations
) -> list[list[Expected]]:
    """Return the expected precision of each term over the guesses; none where all is told, or nothing is guessed."""
    if isinstance(shape.query, Histogram):
        return _of_cells(shape, planned, rows, level, expect)
    if room_of(shape.query) not in ROOMS:
        return []
    made = list[list[Expected]]()
    for guess in _guesses(shape, expect):
        try:
            made.append(expected(as_expected(shape, guess), rows, level, guess))
        except TacitError:  # a law that cannot be there: no guess
            continue
    if room_of(shape.query) == "blocks":
        made += expected_blocks.otherwise_spread(shape, planned, rows, level, expect)
    return [one for one in made if len(one) == len(planned)]


def _guesses(shape: Measurement, expect: Expectations) -> Iterator[Expectations]:
    """Yield what is guessed of the columns of which nothing is said."""
    maps = {column.rowmap.column: column.rowmap for column in shape.columns if column.rowmap is not None}
    boxes = asked_parameters({"asked": shape.query}).get("asked", {})
    if boxes:
        low, high = (
            {name: (1 - part) * ends[0] + part * ends[1] for name, ends in boxes.items()} for part in (PART, 1 - PART)
        )
        # all of them are told, or what is told says most of the others
        if not told_parameters(shape.query, expect):
            alone = [{name: value} for name, value in low.items()] if len(low) > 1 else []
            for guess in (low, *alone, *({name: value} for name, value in high.items())):
                yield replace(expect, parameters={**expect.parameters, "": guess})
        return
    if shape.keys:
        shared = {name: expect.shares[name] for name, at in maps.items() if at.G == 1 and name in expect.shares}
        # nobody in a group, or everybody: what a level means often says so
        for times in (0, 1 / TIMES, TIMES) if shared else ():
            yield replace(expect, shares={**expect.shares, **{n: _rarer(one, times) for n, one in shared.items()}})
    numbers = [at for name, at in maps.items() if at.G > 1 and name not in expect.numbers]
    levels = [at for name, at in maps.items() if at.G == 1 and name not in expect.shares]
    rare = {at.column: (1 - RARE, RARE) for at in levels}
    if numbers or levels:
        yield _with(expect, [lowest(at.lower, at.upper) for at in numbers], numbers, rare)
    if levels and shape.keys:
        yield _with(expect, [], [], {at.column: (1.0, 0.0) for at in levels})
    # of quantiles values at the bounds would tell nothing
    if numbers and not isinstance(shape.query, Quantiles):
        yield _with(expect, [_ends(at) for at in numbers], numbers, {})


def _rarer(shares: tuple[float, ...], times: float) -> tuple[float, ...]:
    """Return shares of a Boolean of which the smaller is so many times as large, up to half of the rows.

    >>> _rarer((0.9, 0.1), 0.25), _rarer((0.2, 0.8), 4)
    ((0.975, 0.025), (0.5, 0.5))
    """
    whole, place = math.fsum(shares), int(shares[1] < shares[0])
    least = min(times * shares[place], whole / 2)
    return (whole - least, least) if place else (least, whole - least)


def _with(
    expect: Expectations, made: list[ExpectedNumbers], of: list[RowMap], shares: dict[str, tuple[float, ...]]
) -> Expectations:
    numbers = {at.column: one for at, one in zip(of, made, strict=True)}
    return replace(expect, numbers={**expect.numbers, **numbers}, shares={**expect.shares, **shares})


def _ends(at: RowMap) -> ExpectedNumbers:
    """Return mean and deviation of values half of which are at each bound, or nearly: no values spread farther."""
    half = (at.upper - at.lower) / 2
    return ExpectedNumbers(at.lower + half, 0.99 * half, 0.0, at.lower, at.upper)


def _of_cells(
    shape: Measurement, planned: Sequence[Expected], rows: int, level: float, expect: Expectations
) -> list[list[Expected]]:
    """Return what cells of a histogram would have that are next to empty, and that hold half of the rows."""
    if len(unknown_keys(shape, expect)) < len(shape.keys) or not any(one.without > 0 for one in planned):
        return []
    found = list[list[Expected]]()
    for share in (FEW, HALF):
        # as many rows in all as give each cell that many
        size = max(2, round(rows * share * shape.cells))
        made = expected(shape, size, level, expect)
        found.append(made)
    return [one for one in found if len(one) == len(planned)]

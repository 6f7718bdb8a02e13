"""Over which widths a planned regression ranges, where nothing is said of how far its columns spread.

A slope's standard error is that of the residuals over the spread of its regressor.  Bounds are public, spreads are not:
a column may fill its bounds or use a tenth of them, a level may be common or rare.  A plan that is told nothing
plans a few guesses, of the response and of the regressors, and says the least and the largest width of each term.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from tacit.method.regression.formulas.formula import parse
from tacit.method.regression.query import Regression
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import PART, lowest
from tacit.planning import expected_cells, expected_regressions
from tacit.planning.expected_cells import by_cells, columns_of
from tacit.planning.expected_regressions import PLAIN, SLOW, Guess
from tacit.planning.guessed_values import RARE, of_values
from tacit.release.parts import Variable
from tacit.release.registry import room_of
from tacit.schema.expectations import Expectations, ExpectedNumbers
from tacit.schema.row_expressions import names_in

TRIALS: Final = 3
"""Number of simulated releases of each guess, where noise moves standard errors."""
MIDDLE: Final = 0.3, 0.2
"""The same of regressors between these and those that are planned: tried where rare and narrow ones leave no answer."""
TIED: Final = 0.6
"""Correlation of columns that go together: less of a response is left, and regressors overlap."""
COUNTED: Final = (0.5, 0.25), (0.5, 0.12)
"""Means and deviations, as parts of the range, of an untold response of counts or positive values without long tails:
of many values, and of few, as years of education."""
CHANCE: Final = 1.2
"""Of a regression: by how much a release's width may lie beyond those of simulated releases, of which there are few."""


@dataclass(frozen=True)
class WidthRange:
    """The least and the largest width of a term over the guesses that leave an answer; infinite where none does.

    always: whether every guess leaves one.
    """

    least: float
    largest: float
    always: bool


def ranges(
    shape: Measurement, planned: Sequence[Expected], rows: int, level: float, expect: Expectations
) -> tuple[WidthRange, ...]:
    """Return the range of each term's width over the guesses; of other questions nothing.

    Of quantiles of a column that is told, the range over laws that agree with it.

    planned: the expected precision of each term, the guess that all columns fill their bounds.
    """
    if not isinstance(shape.query, Regression):
        guessed = of_values(shape, planned, rows, level, expect)
        # a column that has no limits at all takes none from the others
        ranged = guessed or any(one.between is not None for one in planned)
        return tuple(map(_over, zip(planned, *guessed, strict=True))) if ranged else ()
    found, always = [_widths(planned)], not _none(planned)
    for guesses in _guesses(shape, expect):
        for place, (known, guess) in enumerate(guesses):
            made = _roughly(shape, rows, level, known, guess)
            found.append(_widths(made))
            answered = all(map(math.isfinite, found[-1]))
            # what follows the first stands for it where that has no answer
            always = always and not _none(made) and place == 0
            if answered:
                break
    each = (_range(one, always) for one in zip(*found, strict=True))
    return (
        tuple(WidthRange(one.least / CHANCE, one.largest * CHANCE, one.always) for one in each)
        if len(found) > 1
        else ()
    )


def _guesses(shape: Measurement, expect: Expectations) -> Iterator[list[tuple[Expectations, Guess]]]:
    """Yield what is guessed, each with what is tried in its place where that leaves no answer."""
    query = cast(Regression, shape.query)
    untold = [one for one in columns_read(shape) if one.name not in expect.columns]
    of_response = _read_by(query.columns[0], shape)
    response = [one for one in untold if one.name in of_response]
    others = [one for one in untold if one.name not in of_response]
    likely = [expect, *([_with(expect, response, PART, RARE)] if response else [])]
    if query.model in ("poisson", "gamma"):
        likely += [_counted(expect, one, *parts) for one in response for parts in COUNTED]
    for told in likely:
        if told is not expect:
            yield [(told, PLAIN), *([(_with(told, others, *MIDDLE), PLAIN)] if others else [])]
        if others:
            yield [(_with(told, others, PART, RARE), PLAIN), (_with(told, others, *MIDDLE), PLAIN)]
    if by_cells(shape):
        return
    if expect.numbers:
        yield [(expect, Guess(long=True))]
    if not untold:
        yield [(expect, Guess(tied=TIED))]
        if expect.numbers and query.model not in SLOW:
            yield [(expect, Guess(long=True, tied=TIED))]


def _counted(expect: Expectations, one: Variable, *parts: float) -> Expectations:
    """Return what is expected with a response whose mean and deviation are these parts of its range."""
    mean, sd = (part * (one.upper - one.lower) for part in parts)
    made = ExpectedNumbers(one.lower + mean, sd, 0.0, one.lower, one.upper)
    return replace(expect, numbers={**expect.numbers, one.name: made})


def _roughly(shape: Measurement, rows: int, level: float, expect: Expectations, guess: Guess) -> list[Expected]:
    """Return the expected precision from fewer simulated releases than a plan's own: guesses lie far apart."""
    if by_cells(shape):
        return expected_cells.expected(shape, rows, level, expect)
    trials = 1 if cast(Regression, shape.query).model in SLOW else TRIALS
    return expected_regressions.expected(shape, rows, level, expect, trials=trials, guess=guess)


def _widths(terms: Sequence[Expected]) -> list[float]:
    return [one.width for one in terms]


def _none(terms: Sequence[Expected]) -> bool:
    """Return whether there may be no answer: in most simulated releases, or in one."""
    return any(one.open or not math.isfinite(one.width) for one in terms)


def _over(guesses: Sequence[Expected]) -> WidthRange:
    """Return the range of a term's width over guesses, some of which have ranges of their own."""
    ends = [end for one in guesses for end in (one.between or (one.width,))]
    return _range(ends, all(map(math.isfinite, ends)) and not any(one.open for one in guesses))


def _range(widths: Sequence[float], always: bool) -> WidthRange:
    answers = [one for one in widths if math.isfinite(one)] or [math.inf]
    return WidthRange(min(answers), max(answers), always)


def columns_read(shape: Measurement) -> list[Variable]:
    """Return the columns of the table that a formula reads: expressions are none."""
    if by_cells(shape):
        return columns_of(shape)
    expressions = parse(getattr(shape.query, "formula", "")).expressions
    return [one for one in shape.variables if one.name not in expressions]


def variables_of(shape: Measurement) -> list[Variable]:
    """Return the columns whose values widths rest on: of a regression those of its formula."""
    if room_of(shape.query) == "regression":
        return columns_read(shape)
    maps = {column.rowmap.column: column.rowmap for column in shape.columns if column.rowmap is not None}
    return [Variable(name, "boolean" if at.G == 1 else "real", at.lower, at.upper) for name, at in maps.items()]


def _read_by(response: str, shape: Measurement) -> set[str]:
    """Return the columns of the table that the response is made of."""
    text = parse(getattr(shape.query, "formula", "")).expressions.get(response)
    return {response} if text is None else set(names_in(text))


def _with(expect: Expectations, guessed: Sequence[Variable], part: float, rare: float) -> Expectations:
    """Return what is expected with columns on a part of their bounds and levels as rare as that."""
    numbers = {one.name: lowest(one.lower, one.upper, part) for one in guessed if one.kind not in ("levels", "boolean")}
    shares = {one.name: _rare(one, rare) for one in guessed if one.kind in ("levels", "boolean")}
    return replace(expect, numbers={**expect.numbers, **numbers}, shares={**expect.shares, **shares})


def _rare(one: Variable, rare: float) -> tuple[float, ...]:
    """Return shares of which the last is small and the others are equal."""
    levels = max(2, len(one.labels))
    rare = min(rare, 1 / levels)
    return (*[(1 - rare) / (levels - 1)] * (levels - 1), rare)

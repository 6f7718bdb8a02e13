"""Over which widths a planned regression ranges, where nothing is said of how far its columns spread.

A slope's standard error is that of the residuals over the spread of its regressor.  Bounds are public, spreads are not:
a column may fill its bounds or use a tenth of them, a level may be common or rare.  A plan without expectations so plans
a few guesses, of the response and of the regressors, and says the least and the largest width of each term over them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Final, TypeAlias

from tacit.method.regression.formula import parse
from tacit.method.regression.query import Regression
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.planning.expected import expected
from tacit.release.parts import Variable
from tacit.schema.expectations import Expectations, ExpectedNumbers
from tacit.schema.row_expressions import names_in

Range: TypeAlias = tuple[float, float]
"""Least and largest width."""
PART: Final = 0.1
"""Part of its bounds that a column uses which does not fill them: the lowest, where amounts and counts mostly lie."""
RARE: Final = 0.05
"""Share of a rare level; the others are equally frequent."""
GUESSED: Final = (
    f"widths from and to: over guesses of what nothing is said of; columns fill their bounds or {PART:.0%} of them, "
    f"Booleans are true in half of the rows or in {RARE:.0%}, a level is as frequent as others or rare (expect)"
)


def ranges(
    shape: Measurement, planned: Sequence[Expected], rows: int, level: float, expect: Expectations
) -> tuple[Range, ...]:
    """Return the least and the largest width of each term over the guesses; nothing where every column is told.

    planned: the expected precision of each term.  A width is infinite where a guess leaves no answer.
    """
    query = shape.query
    if not isinstance(query, Regression):
        return ()
    untold = [one for one in _columns(shape) if one.name not in expect.columns]
    if not untold:
        return ()
    of_response = _read_by(query.columns[0], shape)
    sides = [[one for one in untold if (one.name in of_response) is response] for response in (True, False)]
    found = [[one.width for one in planned]]
    # what is planned already is the guess that all columns fill their bounds; every other pair of guesses
    for narrow in product(*((False, True) if side else (False,) for side in sides)):
        if any(narrow):
            guessed = [one for side, some in zip(sides, narrow, strict=True) if some for one in side]
            terms = expected(shape, rows, level, _with(expect, guessed))
            found.append([one.width for one in terms])
    return tuple((min(each), max(each)) for each in zip(*found, strict=True))


def _columns(shape: Measurement) -> list[Variable]:
    """Return the columns of the table that a formula reads: expressions are none."""
    expressions = parse(getattr(shape.query, "formula", "")).expressions
    return [one for one in shape.variables if one.name not in expressions]


def _read_by(response: str, shape: Measurement) -> set[str]:
    """Return the columns of the table that the response is made of."""
    text = parse(getattr(shape.query, "formula", "")).expressions.get(response)
    return {response} if text is None else set(names_in(text))


def _with(expect: Expectations, guessed: Sequence[Variable]) -> Expectations:
    """Return what is expected with guesses of narrow columns and rare levels."""
    numbers = {one.name: _narrow(one) for one in guessed if one.kind not in ("levels", "boolean")}
    shares = {one.name: _rare(one) for one in guessed if one.kind in ("levels", "boolean")}
    return replace(expect, numbers={**expect.numbers, **numbers}, shares={**expect.shares, **shares})


def _narrow(one: Variable) -> ExpectedNumbers:
    """Return the mean and standard deviation of values spread evenly over the lowest part of their bounds."""
    used = PART * (one.upper - one.lower)
    return ExpectedNumbers(one.lower + used / 2, used / math.sqrt(12), 0.0, one.lower, one.upper)


def _rare(one: Variable) -> tuple[float, ...]:
    """Return shares of which the last is small and the others are equal."""
    levels = max(2, len(one.labels))
    return (*[(1 - RARE) / (levels - 1)] * (levels - 1), RARE)

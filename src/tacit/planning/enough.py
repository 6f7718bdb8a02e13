"""What would let a regression be answered that a plan expects no answer of: how many times the price, or the rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from tacit.errors import TacitError
from tacit.method.regression.estimate_coefficients.what_would_help import dearer
from tacit.method.regression.query import Regression
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.plan_expected import Expected
from tacit.planning import expected_cells, expected_regressions
from tacit.privacy import Cost
from tacit.release.query import Query
from tacit.schema.expectations import Expectations

TIMES: Final = (2, 4, 8, 16)
"""Factors that are tried, of rows and of what noise falls with: ε at a pure price, μ of a pair, the root of ρ."""

Designer = Callable[[Query[Any], Public, Cost], Measurement]


def enough(
    design: Designer, asked: Query[Any], cost: Cost, public: Public, rows: int, level: float, expect: Expectations
) -> str | None:
    """Return in words what would be enough for an answer; None where nothing that is tried would.  No data here."""
    if not isinstance(asked, Regression):
        return None

    def answers(price: Cost | None, size: int) -> bool:
        if price is None:
            return False
        known = None if public.rows is None else size
        hint = None if public.size_hint is None else size
        table = Public(public.schema, public.neighbors, known, hint)
        try:
            shape = design(asked, table, price)
            way = expected_cells if expected_cells.by_cells(shape) else expected_regressions
            return _told(way.expected(shape, size, level, expect))
        except TacitError:
            return False

    more = next((times for times in TIMES if answers(cost, round(times * rows))), None)
    price = next((one for times in TIMES if answers(one := dearer(cost, times), rows)), None)
    words = [] if price is None else [str(price)]
    words += [] if more is None else [f"{round(more * rows):,} rows"]
    return None if not words else f"about {' or '.join(words)} would be enough"


def often_none(shape: Measurement, rows: int, expect: Expectations) -> float | None:
    """Return how often a regression from sums over rows has no answer; None of other questions."""
    if not isinstance(shape.query, Regression) or expected_cells.by_cells(shape):
        return None
    return 1 - expected_regressions.answered(shape, rows, expect)


def _told(terms: list[Expected]) -> bool:
    return all(math.isfinite(one.width) for one in terms)

"""Design of a sparse histogram: cells, noise and threshold, from the question, public facts and the price."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tacit.errors import QueryError
from tacit.method.histogram import design as histogram_design
from tacit.method.histogram.query import Histogram
from tacit.method.shared.measurement import Measurement, Public
from tacit.noise.laws import MOST_ZEROS, Law
from tacit.privacy import Cost

VERSION: Final = "sparse-histogram/1"


KIND: Final = "sparse-histogram"


PART: Final = 100
"""Where the number of rows is public, one empty cell for so many rows is expected to pass by default."""


FEW: Final = 100
"""Empty cells expected to pass by default where the number of rows is private."""


MANY: Final = 10_000
"""Most empty cells that are expected to pass by default."""


MOST_PASSING: Final = {"discrete Laplace": 1_000_000, "rounded Gaussian": 100_000}
"""Most empty cells that may be expected to pass, by noise: QueryError Q83 for a threshold that lets more pass."""


def design(query: Histogram, public: Public, cost: Cost) -> Measurement:
    """Cells, noise and threshold from public facts; QueryError as `histogram_design.design`, and Q83."""
    shape = histogram_design.framed(query, public, cost, most=MOST_ZEROS)
    (column,) = shape.columns
    share = column.form.parameters.get("share", 1)
    # the question counts rows (persons), the noisy integers parts of them
    own = None if query.threshold is None else query.threshold * share
    threshold = least(column.law, shape.cells, expected(public.size)) if own is None else own
    pass_too = false_cells(column.law, threshold, shape.cells)
    if pass_too > MOST_PASSING[column.law.name]:
        lowest = -(-least(column.law, shape.cells, MOST_PASSING[column.law.name]) // share)  # rounded up to whole rows
        text = (
            f"Histogram: about {pass_too:,.0f} empty cells of {shape.cells:,} would pass threshold={query.threshold}."
        )
        raise QueryError(text, code="Q83", hint=f"threshold={lowest}, or more")
    parameters = {**column.form.parameters, "threshold": threshold}
    column = replace(column, form=replace(column.form, name=KIND, parameters=parameters))
    return replace(shape, columns=(column,), kind=KIND, mechanism=VERSION)


def expected(n: int | None) -> float:
    """Return how many empty cells are expected to pass by default; n: rows, public or declared, or None."""
    return float(FEW) if n is None else min(max(1.0, n / PART), float(MANY))


def false_cells(law: Law, threshold: int, cells: int) -> float:
    """Return how many cells are expected to pass if all were empty; privacy does not depend on its precision."""
    return cells * float(law.sf(threshold - 1))


def least(law: Law, cells: int, pass_too: float) -> int:
    """Return the least threshold that at most `pass_too` of all cells are expected to pass, if all were empty.

    >>> from fractions import Fraction
    >>> from tacit.noise.laws import DiscreteLaplace
    >>> least(DiscreteLaplace(Fraction(2)), 10**9, 100.0)
    32
    """
    low, high = 0, 1
    # doubling, then bisection: more than `pass_too` pass at `low` (or it is 0), no more at `high`
    while false_cells(law, high, cells) > pass_too:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if false_cells(law, middle, cells) > pass_too else (low, middle)
    return high

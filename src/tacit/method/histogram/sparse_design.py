"""Sparse histograms: from the question, public facts and the price to cells and a threshold."""

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
"""By default one empty cell for so many rows is expected to pass, where their number is public."""


FEW: Final = 100
"""Empty cells expected to pass by default where it is not."""


MANY: Final = 10_000
"""Empty cells expected to pass by default, at most."""


MOST_PASSING: Final = {"discrete Laplace": 1_000_000, "rounded Gaussian": 100_000}
"""More empty cells than these are not let pass."""


def design(query: Histogram, public: Public, cost: Cost) -> Measurement:
    """Cells, noise and threshold from public facts; QueryError as `histogram_design.design`, and Q83."""
    shape = histogram_design.framed(query, public, cost, most=MOST_ZEROS)
    (column,) = shape.columns
    share = column.form.parameters.get("share", 1)
    own = None if query.threshold is None else query.threshold * share
    threshold = least(column.law, shape.cells, expected(public.size)) if own is None else own
    pass_too = false_cells(column.law, threshold, shape.cells)
    if pass_too > MOST_PASSING[column.law.name]:
        lowest = -(-least(column.law, shape.cells, MOST_PASSING[column.law.name]) // share)
        text = (
            f"Histogram: about {pass_too:,.0f} empty cells of {shape.cells:,} would pass threshold={query.threshold}."
        )
        raise QueryError(text, code="Q83", hint=f"threshold={lowest}, or more")
    parameters = {**column.form.parameters, "threshold": threshold}
    column = replace(column, form=replace(column.form, name=KIND, parameters=parameters))
    return replace(shape, columns=(column,), kind=KIND, mechanism=VERSION)


def expected(n: int | None) -> float:
    """Empty cells that are expected to pass by default."""
    return float(FEW) if n is None else min(max(1.0, n / PART), float(MANY))


def false_cells(law: Law, threshold: int, cells: int) -> float:
    """Empty cells that are expected to pass, were all empty: a float for people, nothing rests on it."""
    return cells * float(law.sf(threshold - 1))


def least(law: Law, cells: int, pass_too: float) -> int:
    """The least threshold that at most so many of all cells, were they empty, are expected to pass; public.

    >>> from fractions import Fraction
    >>> from tacit.noise.laws import DiscreteLaplace
    >>> least(DiscreteLaplace(Fraction(2)), 10**9, 100.0)
    32
    """
    low, high = 0, 1
    while false_cells(law, high, cells) > pass_too:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if false_cells(law, middle, cells) > pass_too else (low, middle)
    return high

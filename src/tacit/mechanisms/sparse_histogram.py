"""Sparse histograms: of very many cells those whose noisy count passes a public threshold.  INSIDE the wall.

Definition
    The cells of `histogram`, up to 2**40 of them.  Released: place and noisy count of each whose noisy count is T or
    more, empty cells among them.  Public: as there, and T: the question's own, or from the number of cells, the noise
    and (where public, or declared) the number of rows.
Sensitivity
    That of `histogram`, of the counts of all cells, empty ones too: the same form.
Noise
    That of `histogram`, on every cell.  It is not drawn for empty cells that stay below T: which of them pass, and
    their counts, are drawn from the law that this has under noise on each (`noise.passing`: independent trials of
    probability P(Z >= T), values from the law of Z given Z >= T).  Cells with rows get their own noise and stay or go.
    So the release has exactly the law of all noisy counts with those below T left out: whether a cell has rows shows in
    nothing but its noisy count.
Cost
    The price, once: post-processing of the noisy counts of all cells, whatever T.  No delta, unlike thresholds on the
    cells that happen to have rows.
Failures
    As for `histogram`.  Idealised: `noise.exact`; time and memory follow the number of occupied cells, and are not
    covered.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.curator.source import Source
from tacit.errors import QueryError
from tacit.mechanisms import histogram
from tacit.mechanisms.moments import Column, Design
from tacit.noise.exact import added, draw
from tacit.noise.laws import Law
from tacit.noise.passing import MOST_ZEROS, passing
from tacit.privacy import Cost
from tacit.queries import Histogram
from tacit.release import Part
from tacit.rowmap import IDENTITY, ONE, Occupied
from tacit.rowmap import Sum as Term
from tacit.schema import Schema

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

Ints = NDArray[np.int64]


# Definition ---------------------------------------------------------------------------------------------------------


def design(
    query: Histogram,
    schema: Schema,
    *,
    neighbors: str,
    rows: int | None,
    cost: Cost,
    size_hint: int | None = None,
) -> Design:
    """Cells, noise and threshold from public facts; QueryError as `histogram.design`, and Q83."""
    n = size_hint if rows is None else rows
    shape = histogram.framed(query, schema, neighbors=neighbors, rows=rows, cost=cost, n=n, most=MOST_ZEROS)
    (column,) = shape.columns
    share = column.form.parameters.get("share", 1)
    own = None if query.threshold is None else query.threshold * share
    threshold = least(column.law, shape.cells, expected(n)) if own is None else own
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


# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Design, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Exact counts of occupied cells, and at once noise on all; only what passes is kept."""
    (column,) = shape.columns
    cells, counts = released(column, occupied(shape, source), shape.cells)
    pairs = tuple(zip(cells.tolist(), counts.tolist(), strict=True))
    form = column.form
    return (Part("", KIND, dict(form.parameters), None, pairs, column.law, form.l1, form.l2_squared, column.cost),)


def released(column: Column, found: Occupied, cells: int) -> tuple[Ints, Ints]:
    """Places, ascending, and noisy counts of the cells that pass: the law of dense noise and a threshold."""
    threshold = column.form.parameters["threshold"]
    noisy = added(found.counts, draw(column.law, len(found.counts)))
    stays = noisy >= threshold
    places, values = passing(column.law, threshold, cells)  # of all cells; those that have rows have their own noise
    empty = ~np.isin(places, found.cells)
    where = np.concatenate([found.cells[stays], places[empty]])
    order = np.argsort(where)
    return where[order], np.concatenate([noisy[stays], values[empty]])[order]


def occupied(shape: Design, source: Source) -> Occupied:
    """READS ROWS.  The counts before noise of the cells that rows are in: never to be shown."""
    (column,) = shape.columns
    term = Term(None) if column.weight is None else Term(None, ONE, column.weight, IDENTITY)
    found = source.occupied(shape.keys, term, shape.unit, shape.where)
    if shape.rows is not None and shape.unit is None and found.rows != shape.rows:
        raise RuntimeError("the table changed while it was read")
    return found


def dense(shape: Design, source: Source) -> Ints:
    """READS ROWS.  The same of all cells, for the contract suite on few cells."""
    found = occupied(shape, source)
    counts = np.zeros(shape.cells, dtype=np.int64)
    counts[found.cells] = found.counts
    return cast(Ints, counts)

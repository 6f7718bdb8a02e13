"""Perturbed histograms: the number of rows in every cell of several columns, with noise.  INSIDE the wall.

Definition
    Each row (for which `where` holds) is in one public cell: bins of numbers and dates, levels of categories, crossed;
    or in none, where a cell of it is missing and has no level.  `missing`: such cells are a level of their own;
    `outside`: so are numbers below and above a column's bounds, which are in the end bins otherwise.  Released: the
    number of rows of every cell, empty ones too.  With a PrivacyUnit a person's rows have a weight of one in all
    (`rowmap.Share`), given out by their cells.
    Public: schema, query, relation, price, and under replace-one the number of rows (persons).  Neighbours as for
    `moments`.
Sensitivity
    A row adds 1 to one cell, or to none.  Add-remove: 1 in l1 and in squared l2.  Replace-one: a row leaves one cell
    and enters another, 2 in both; with one cell, 1, for it can only leave (`moment_forms.count`).  Attained, whether or
    not there are rows in no cell; cells of their own for such rows are cells like others.
    [Lei 2011, Lemma 2: scale 2/alpha is that of replace-one; erratum E7]
    Persons: times the share's whole, and its square (`weighted_forms.shared`).
Noise
    Independent for each cell: discrete Laplace of scale l1 / epsilon, or normal of standard deviation
    sqrt(l2^2 / (2 rho)) rounded to integers, whatever the number of cells: they are disjoint.
Cost
    The price, once.
Failures
    None depends on a row: every cell is released, empty or not.  A failure of the machine is the curator's to hide.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.curator.source import Source
from tacit.errors import QueryError
from tacit.logistic import LogisticBins
from tacit.mechanisms import moment_forms, weighted_forms
from tacit.mechanisms.moment_forms import Form
from tacit.mechanisms.moments import SHARE, Column, Design
from tacit.noise.exact import added, draw
from tacit.packed import Packed
from tacit.predicates.typed import typed
from tacit.privacy import Cost, noise_for
from tacit.queries import Histogram
from tacit.release import Axis, Part
from tacit.rowmap import KeyMap, Share
from tacit.schema import Boolean, Category, Date, Integer, Real, Schema
from tacit.schema.autobins import AUTO, Size, alpha_of, resolved
from tacit.schema.axes import axismap
from tacit.schema.rowmaps import most_rows, unit_of

VERSION: Final = "histogram/1"
KIND: Final = "histogram"
MOST_CELLS: Final = 10_000_000


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
    """Cells and noise from public facts; QueryError where a column has no cells, or there are too many.

    size_hint: about how many rows there are, where `rows` is private.
    """
    n = size_hint if rows is None else rows
    return framed(query, schema, neighbors=neighbors, rows=rows, cost=cost, n=n, most=MOST_CELLS)


def framed(
    query: Histogram, schema: Schema, *, neighbors: str, rows: int | None, cost: Cost, n: int | None, most: int
) -> Design:
    """The design of at most `most` cells, dense or not; n: about how many rows there are, where that is public."""
    bins = dict(cast("tuple[tuple[str, Any], ...]", query.bins))
    if AUTO in bins.values():
        bins = _resolved(query, bins, schema, neighbors, n, cost, most)
    keys = _keys(query, bins, schema)
    where = None if query.where is None else typed(query.where, schema)
    shape = Design(query, neighbors, rows, keys, (), cost, unit_of(schema), most_rows(schema), where, KIND, VERSION)
    if shape.cells > most:
        more = "fewer columns, or fewer bins" + ("; or sparse=True" if most == MOST_CELLS else "")
        raise QueryError(f"Histogram: {shape.cells:,} cells; at most {most:,} are released.", code="Q31", hint=more)
    leaves = where is not None or any(key.missing is None for key in keys)
    if shape.cells == 1 and neighbors == "replace-one" and not leaves:
        message = "Histogram: one cell of all rows, whose number is public under replace-one."
        raise QueryError(message, code="Q32", hint="curator.rows, or more bins")
    form, share = _form(shape.cells, neighbors, leaves, shape.unit is not None)
    column = Column("", form, None, None, noise_for(form.l1, form.l2_squared, cost), cost, share)
    axes = tuple(_axis(schema, key, isinstance(bins.get(key.column), LogisticBins)) for key in keys)
    return replace(shape, columns=(column,), axes=axes)


def _keys(query: Histogram, bins: dict[str, Any], schema: Schema) -> tuple[KeyMap, ...]:
    flags = {"missing": query.missing, "outside": query.outside}
    return tuple(axismap(schema, name, bins.get(name), **flags) for name in query.columns)


def _form(cells: int, neighbors: str, leaves: bool, persons: bool) -> tuple[Form, Share | None]:
    """What a row adds, and what a person's weight is given out in."""
    form = replace(moment_forms.count(cells, neighbors, leaves), name="histogram")
    return (weighted_forms.shared(form, SHARE), Share(SHARE)) if persons else (form, None)


def _resolved(
    query: Histogram, bins: dict[str, Any], schema: Schema, neighbors: str, n: int | None, cost: Cost, most: int
) -> dict[str, Any]:
    """Numbers of bins in the place of "auto", from public facts: schema, rows, relation, price."""
    if n is None:
        message = 'Histogram: bins="auto" goes by the number of rows, which is private under add-remove.'
        raise QueryError(message, code="Q82", hint='Curator(…, size_hint=10_000), or bins={"age": 10}')
    form, _ = _form(2, neighbors, True, schema.unit is not None)
    spread = math.sqrt(noise_for(form.l1, form.l2_squared, cost).variance()) / form.parameters.get("share", 1)
    size = Size(n, alpha_of(spread), most)
    rest = [
        name for name in query.columns if bins.get(name) != AUTO or isinstance(schema.get(name), Category | Boolean)
    ]
    known = {name: edges for name, edges in bins.items() if edges != AUTO}
    others = (
        math.prod(key.size for key in _keys(replace(query, columns=rest, bins=known), known, schema)) if rest else 1
    )
    return resolved(schema, tuple(query.columns), bins, size, others, query.missing + 2 * query.outside)


def _axis(schema: Schema, key: KeyMap, logistic: bool) -> Axis:
    """Public facts of one column."""
    column = schema[key.column]
    missing = str(getattr(column, "missing", "exclude"))
    units = getattr(column, "units", None)
    if (not key.edges and key.size > 1) or not isinstance(column, Real | Integer | Date):
        return Axis("levels", (), units, missing, key.extra)
    if isinstance(column, Date):
        low, high = column.days
        return Axis("date", (float(low), *key.edges, float(high)), "days since 1970-01-01", missing, key.extra)
    kind = "integer" if isinstance(column, Integer) else "real"
    if logistic and key.beyond is not None:
        return Axis(kind, (key.beyond[0], *key.edges, key.beyond[1]), units, missing, key.extra)
    low, high = float(cast(float, column.lower)), float(cast(float, column.upper))
    whole = kind == "integer" and all(
        edge % 1 == 0.5 for edge in key.edges
    )  # bins of whole numbers: as wide at the ends
    ends = (low - 0.5, high + 0.5) if whole else (low, high)
    return Axis(kind, (ends[0], *key.edges, ends[1]), units, missing, key.extra)


# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Design, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Exact counts, and at once their noise; only noisy integers are kept."""
    (column,) = shape.columns
    with ThreadPoolExecutor(1) as pool:  # noise of many cells is drawn while an engine counts: it depends on no row
        noise = pool.submit(draw, column.law, shape.cells)
        noisy = added(exact(shape, source), noise.result())
    return (part_of(column, noisy),)


def exact(shape: Design, source: Source) -> NDArray[np.int64]:
    """READS ROWS.  The counts before noise, shape (cells,): never to be shown."""
    (column,) = shape.columns
    share = column.weight if isinstance(column.weight, Share) else None
    found = source.tallied(shape.keys, shape.where, shape.unit, share)
    if shape.unit is None and shape.rows is not None and found.rows != shape.rows:
        raise RuntimeError("the table changed while it was read")
    return found.counts


def part_of(column: Column, noisy: NDArray[np.int64]) -> Part:
    """What is released: one integer a cell."""
    form = column.form
    given = dict(form.parameters)
    return Part("", form.name, given, None, Packed(noisy), column.law, form.l1, form.l2_squared, column.cost)

"""Design of a histogram: the cells and their noise, from the question, public facts and the price."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final, cast

from tacit.errors import QueryError
from tacit.method.histogram.query import Histogram
from tacit.method.shared.counts_in_cells import axis_of, encoding_of, may_leave, part_of_counts
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost, noise_for
from tacit.rows.row_map import KeyMap
from tacit.schema import Boolean, Category, Schema
from tacit.schema.autobins import Size, alpha_of, is_chosen, resolved
from tacit.schema.axes import axismap
from tacit.schema.logistic_bins import LogisticBins
from tacit.schema.predicates.typed_conditions import typed

VERSION: Final = "histogram/1"


KIND: Final = "histogram"


MOST_CELLS: Final = 10_000_000


def design(query: Histogram, public: Public, cost: Cost) -> Measurement:
    """Cells and noise from public facts; QueryError where a column has no cells, or there are too many."""
    return framed(query, public, cost, most=MOST_CELLS)


def framed(query: Histogram, public: Public, cost: Cost, *, most: int) -> Measurement:
    """Return the design of a histogram, dense or sparse; QueryError Q31 for more than `most` cells."""
    schema, neighbors = public.schema, public.neighbors
    bins = dict(cast("tuple[tuple[str, Any], ...]", query.bins))
    if any(is_chosen(one) for one in bins.values()):
        bins = _resolved(query, bins, schema, neighbors, public.size, cost, most)
    keys = _keys(query, bins, schema)
    where = None if query.where is None else typed(query.where, schema)
    shape = Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, keys=keys, where=where)
    if shape.cells > most:
        more = "fewer columns, or fewer bins" + ("; or sparse=True" if most == MOST_CELLS else "")
        raise QueryError(f"Histogram: {shape.cells:,} cells; at most {most:,} are released.", code="Q31", hint=more)
    if shape.cells == 1 and neighbors == "replace-one" and not may_leave(shape):
        message = "Histogram: one cell of all rows, whose number is public under replace-one."
        raise QueryError(message, code="Q32", hint="curator.rows, or more bins")
    axes = tuple(axis_of(schema, key, logistic=isinstance(bins.get(key.column), LogisticBins)) for key in keys)
    return replace(shape, columns=(part_of_counts(shape, neighbors, cost),), axes=axes)


def _keys(query: Histogram, bins: dict[str, Any], schema: Schema) -> tuple[KeyMap, ...]:
    flags = {"missing": query.missing, "outside": query.outside}
    return tuple(axismap(schema, name, bins.get(name), **flags) for name in query.columns)


def _resolved(
    query: Histogram, bins: dict[str, Any], schema: Schema, neighbors: str, n: int | None, cost: Cost, most: int
) -> dict[str, Any]:
    """Replace "auto" and "density" by numbers of bins, from public facts: schema, rows, relation and price."""
    if n is None:
        word = next(one for one in bins.values() if is_chosen(one))
        message = f'Histogram: bins="{word}" goes by the number of rows, which is private under add-remove.'
        raise QueryError(message, code="Q82", hint='Curator(…, size_hint=10_000), or bins={"age": 10}')
    # any number of cells from two on has one sensitivity: the noise is known before the bins are
    form, _ = encoding_of(2, neighbors, True, schema.unit is not None)
    spread = math.sqrt(noise_for(form.l1, form.l2_squared, cost).variance()) / form.parameters.get("share", 1)
    size = Size(n, alpha_of(spread), most)
    rest = [
        name
        for name in query.columns
        if not is_chosen(bins.get(name)) or isinstance(schema.get(name), Category | Boolean)
    ]
    known = {name: edges for name, edges in bins.items() if not is_chosen(edges)}
    others = (
        math.prod(key.size for key in _keys(replace(query, columns=rest, bins=known), known, schema)) if rest else 1
    )
    # a column's cells beside its bins: one for missing values, two for those beyond the bounds
    return resolved(schema, tuple(query.columns), bins, size, others, query.missing + 2 * query.outside)

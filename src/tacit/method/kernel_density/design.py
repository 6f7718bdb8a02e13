"""Design of a kernel density: cells and noise, from the question, public facts and the price."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from math import prod
from typing import Any, Final

from tacit.errors import QueryError
from tacit.method.kernel_density.cells import (
    CELL,
    MOST_CELLS,
    Support,
    chosen_bandwidth,
)
from tacit.method.kernel_density.query import KernelDensity
from tacit.method.shared.counts_in_cells import axis_of, encoding_of, part_of_counts
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost, noise_for
from tacit.rows.row_map import KeyMap
from tacit.schema import Date, Integer, Real, Schema
from tacit.schema.column_multiples import has_multiples, multiples
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_maps_of_columns import binmap, column_of, valuemap

KIND: Final = "kernel-density"
VERSION: Final = "kernel-density/1"


def design(query: KernelDensity, public: Public, cost: Cost) -> Measurement:
    """Return cells and noise; QueryError Q10, Q12, Q13 (columns), Q82 (no number of rows), Q232 (bandwidth)."""
    schema, names = public.schema, tuple(query.columns)
    facts = {name: support_of(schema, name) for name in names}
    given = query.widths
    for name, width in given.items():
        _check(name, width, facts[name].length, len(names))
    auto = _auto(len(names), public, cost) if len(given) < len(names) else 0.0
    keys = tuple(_key(schema, name, facts[name], given.get(name, auto * facts[name].length)) for name in names)
    where = None if query.where is None else typed(query.where, schema)
    shape = Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, keys=keys, where=where)
    axes = tuple(axis_of(schema, key) for key in keys)
    assert shape.cells == prod(len(axis.edges) - 1 for axis in axes)
    return replace(shape, columns=(part_of_counts(shape, public.neighbors, cost),), axes=axes)


def support_of(schema: Schema, name: str) -> Support:
    """Return the values of a column; QueryError Q10, Q12 (no bounds), Q13 (no numbers), Q232 (a value)."""
    column = column_of(schema, name)
    if not isinstance(column, Real | Integer | Date):
        kind = type(column).__name__
        text = f"column {name!r} is of type {kind}: a density is of numbers or dates."
        raise QueryError(text, code="Q13", hint=f'Histogram("{name}")')
    if isinstance(column, Date):
        low, high = map(float, column.days)
        kind, declared = "date", None
    else:
        if column.lower is None or column.upper is None:
            # refuses a column without bounds
            binmap(schema, name, 2)
        kind, low, high = (
            "real" if isinstance(column, Real) else "integer", float(column.lower or 0), float(column.upper or 0)
        )  # fmt: skip
        declared = multiples(column) if kind == "real" and has_multiples(column) else None
    if kind != "real" and high - low < (1 if kind == "integer" else 2):
        text = f"column {name!r} has too few values for a density."
        raise QueryError(text, code="Q232", hint=f'Count(), or wider bounds of "{name}" in the schema')
    return Support(kind, low, high, declared)


def _check(name: str, width: float, whole: float, columns: int) -> None:
    """Raise QueryError Q232 for a bandwidth that would need too many cells, or is wider than the column."""
    least = whole / (CELL * MOST_CELLS[columns])
    if width < least * (1 - 1e-9) or width > whole:
        text = f"bandwidth of KernelDensity for {name!r} is {width:g}: not from {least:.3g} to {whole:g}."
        narrow = "narrower bounds in the schema" + (", or fewer columns" if columns > 1 else "")
        raise QueryError(text, code="Q232", hint=f'bandwidth={{"{name}": {max(least, whole / 50):.3g}}}, or {narrow}')


def _auto(columns: int, public: Public, cost: Cost) -> float:
    """Return the bandwidth of columns that are given none, as part of their range."""
    if public.size is None:
        message = "KernelDensity: the bandwidth goes by the number of rows, which is private under add-remove."
        raise QueryError(message, code="Q82", hint="Curator(…, size_hint=10_000), or bandwidth=")
    # any number of cells from two on has one sensitivity: the noise is known before the cells are
    form, _ = encoding_of(2, public.neighbors, True, public.schema.unit is not None)
    variance = noise_for(form.l1, form.l2_squared, cost).variance() / form.parameters.get("share", 1) ** 2
    return chosen_bandwidth(columns, public.size, variance)


def _key(schema: Schema, name: str, one: Support, width: float) -> KeyMap:
    """Return the map of a column's cells of the table to its bins."""
    inner = one.edges(one.number(width))
    if one.multiples is not None:
        return valuemap(schema, name, inner)
    given: Any = len(inner) + 1 if one.kind == "real" else inner
    if one.kind == "date":
        given = tuple(date(1970, 1, 1) + timedelta(int(day)) for day in inner)
    return binmap(schema, name, given)

"""Design a regression of few values from the counts of its cells: cells and noise, from public facts.  No data here.

Where every column of a formula has levels, or an Integer few values, its rows are told by how many there are in each
cell of these columns.  The model is then fitted to the noisy counts: one part, at the whole price, and nothing is
shortened or clipped.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Final

from tacit.errors import QueryError
from tacit.method.regression.formulas.formula import Formula, parse
from tacit.method.regression.query import Regression
from tacit.method.shared.counts_in_cells import axis_of, part_of_counts
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost
from tacit.rows.row_map import KeyMap
from tacit.schema import Boolean, Category, Integer, Schema
from tacit.schema.axes import axismap
from tacit.schema.predicates.typed_conditions import typed

KIND: Final = "regression-cells"
VERSION: Final = "regression-cells/1"
MOST_CELLS: Final = 2_000
"""Largest number of cells: of more the noise adds up to more than that of scores at nearly every size and price."""
MOST_VALUES: Final = 50
"""Most values of an Integer, each of which has its own cells."""


def design(query: Regression, public: Public, cost: Cost) -> Measurement:
    """Return cells and noise; QueryError Q86 for a column without cells of its own, Q31 for too many cells."""
    formula = parse(query.formula)
    wrong = why_not(query, public.schema)
    if wrong is not None:
        hint = 'method="scores", or "auto", which uses cells where they can be used'
        raise QueryError(f"Regression of cells: {wrong}.", code="Q86", hint=hint)
    keys = keys_of(formula, public.schema)
    cells = prod(key.size for key in keys)
    if cells > MOST_CELLS:
        text = f"Regression of cells: {cells:,} cells; at most {MOST_CELLS:,} are released."
        raise QueryError(text, code="Q31", hint='fewer columns, or method="scores"')
    where = None if query.where is None else typed(query.where, public.schema)
    shape = Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, keys=keys, where=where)
    axes = tuple(axis_of(public.schema, key) for key in keys)
    return replace(shape, columns=(part_of_counts(shape, public.neighbors, cost),), axes=axes)


def possible(query: Regression, public: Public) -> bool:
    """Return whether the formula's columns have cells, and not too many of them."""
    formula = parse(query.formula)
    if why_not(query, public.schema) is not None:
        return False
    return prod(key.size for key in keys_of(formula, public.schema)) <= MOST_CELLS


def why_not(query: Regression, schema: Schema) -> str | None:
    """Return why counts of cells do not answer a question, in words; None where they do."""
    if query.weights is not None:
        return "rows have weights, and counts of cells do not tell them"
    if query.model in ("gamma", "huber"):
        return f"a {query.model} model is fitted to scores alone"
    formula = parse(query.formula)
    for name in formula.columns:
        if name in formula.expressions:
            return f"{name} is computed from a row, and no column of the schema"
        column = schema[name]
        if isinstance(column, Boolean | Category):
            continue
        if not isinstance(column, Integer):
            return f"column {name!r} is of type {type(column).__name__}, and has no levels"
        if column.upper - column.lower >= MOST_VALUES:
            values = column.upper - column.lower + 1
            return f"column {name!r} has {values:,} values, and at most {MOST_VALUES} have cells"
    return None


def keys_of(formula: Formula, schema: Schema) -> tuple[KeyMap, ...]:
    """Return the axes of the cells, the response's first: levels, or the values of an Integer, each its own."""
    return tuple(axismap(schema, name, None) for name in formula.columns)

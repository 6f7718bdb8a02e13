"""Values of a formula's expressions at rows that are given, from a release's public facts alone.  No data here.

Unlike in the release, nothing is clamped: a prediction beyond the bounds of a column goes on as the expression does.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import numpy as np

from tacit.base.arrays import Array
from tacit.release.parts import Variable
from tacit.schema import Boolean, Category, Column, Date, Real, Schema
from tacit.schema.predicates.arithmetic import Reference
from tacit.schema.predicates.computed_columns import Computed, computed_columns
from tacit.schema.predicates.row_values import compute
from tacit.schema.row_expressions import names_in


def rules(expressions: Mapping[str, str], facts: Mapping[str, Variable]) -> dict[str, Computed]:
    """Return how each expression is computed, by its name; a TacitError where it does not fit the columns it reads.

    expressions: canonical texts by name.  facts: of all columns, by name.
    """
    if not expressions:
        return {}
    read = dict.fromkeys(name for text in expressions.values() for name in names_in(text))
    columns: dict[str, Column] = {name: _unbounded(facts[name]) for name in read}
    columns |= {name: _unbounded(facts[name], text) for name, text in expressions.items()}
    schema = Schema(columns)
    found = computed_columns(schema)
    return {name: found[schema.source(name)] for name in expressions}


def values(rule: Computed, columns: Mapping[str, Array]) -> Array:
    """Return an expression at rows: numbers, or indices of levels from 0; NaN where it is undefined.

    columns: the values of the columns it reads, by name, shape (rows,): days for dates, indices for levels.
    """
    with np.errstate(all="ignore"):
        found = np.asarray(compute(rule, {cell: columns[cell.column] for cell in rule.cells}, Reference()), np.float64)
    size = len(next(iter(columns.values())))
    return np.broadcast_to(found - 1 if rule.texts else found, size)


def _unbounded(fact: Variable, computed: str | None = None) -> Column:
    if fact.kind == "levels":
        return Category([*fact.labels], ordered=True, computed=computed)
    if fact.kind == "boolean":
        return Boolean(computed=computed)
    if fact.kind == "date" and computed is None:
        return Date(date.min, date.max)
    return Real(computed=computed)

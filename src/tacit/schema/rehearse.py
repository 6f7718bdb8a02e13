"""Rows made from a schema alone, to rehearse a release before anyone touches the real table."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, cast

import numpy as np

from tacit.errors import SchemaError
from tacit.schema.columns import EXCLUDE, Boolean, Category, Column, Date, Integer, PrivacyUnit, Real
from tacit.schema.table import Schema
from tacit.untyped import pandas


def example(schema: Schema, rows: int, rng: int | np.random.Generator | None) -> Any:
    """A pandas frame of `rows` made-up rows: uniform inside bounds and over levels, named as in the table.

    Missing cells appear only where the schema gives them a level of their own.  SchemaError S16 for a Real without
    bounds, S17 for fewer than 0 rows.

    >>> Schema({"age": Real(0, 100)}).example(3, rng=0).shape
    (3, 1)
    """
    pd = pandas()

    if rows < 0:
        raise SchemaError(f"rows is {rows}: not at least 0.", code="S17", hint="example(1_000, rng=0)")
    generator = np.random.default_rng(rng)
    return pd.DataFrame({schema.source(name): _cells(name, c, rows, generator) for name, c in schema.items()})


def _cells(name: str, column: Column, rows: int, rng: np.random.Generator) -> Any:
    if isinstance(column, Real):
        if column.lower is None or column.upper is None:
            raise SchemaError(f"column {name!r} has no bounds to rehearse in.", code="S16", hint="Real(0, 100)")
        return rng.uniform(column.lower, column.upper, rows)
    if isinstance(column, Integer):
        return rng.integers(column.lower, column.upper, rows, endpoint=True)
    if isinstance(column, Boolean):
        return rng.integers(0, 2, rows).astype(bool)
    if isinstance(column, PrivacyUnit):
        people = max(1, -(-2 * rows // (column.max_rows + 1)))
        ids = np.repeat(np.arange(people), column.max_rows)
        return rng.permutation(ids)[:rows]
    if isinstance(column, Date):
        first, last = cast(date, column.lower), cast(date, column.upper)
        return [first + timedelta(int(k)) for k in rng.integers(0, (last - first).days, rows, endpoint=True)]
    return _levels(column, rows, rng)


def _levels(column: Category, rows: int, rng: np.random.Generator) -> Any:
    options: list[Any] = [*column.codes, *([] if column.missing == EXCLUDE else [None])]
    return [options[k] for k in rng.integers(0, len(options), rows)]

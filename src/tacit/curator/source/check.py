"""Whether a table's names and types fit the schema: public facts only, no row is read."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from tacit.curator.source.frames import Source, Table
from tacit.errors import SourceError, nearest
from tacit.schema import Boolean, Category, Column, Date, Integer, PrivacyUnit, Real, Schema


def check_source(source: Source, schema: Schema) -> None:
    """SourceError D10 for a column that is not there, D11 for one of a type that cannot hold what is declared."""
    types: dict[str, Any] = source.types() if isinstance(source, Table) else dict(source.columns())
    text = isinstance(source, Table) and source.text
    for name, column in schema.items():
        found = schema.source(name)
        if found not in types:
            guess = nearest(found, list(types))
            hint = f'column="{guess}"' if guess else "the table has " + ", ".join(list(types)[:12])
            raise SourceError(f"column {found!r} of the schema is not in this {source.kind}.", code="D10", hint=hint)
        if not text and not fits(column, types[found]):
            kind = type(column).__name__
            message = f"column {found!r} has type {types[found]} in this {source.kind}; {kind} needs {_needs(column)}."
            raise SourceError(message, code="D11", hint="tacit import makes a typed table from raw text")


def fits(column: Column, dtype: Any) -> bool:
    """Whether cells of a narwhals type can be read as the declared column."""
    if dtype == nw.Unknown:  # a column of nulls only, or a type without a name: every cell is missing
        return True
    words = dtype in (nw.String, nw.Categorical, nw.Enum)
    number = dtype.is_numeric() or dtype == nw.Boolean
    if isinstance(column, Date):
        return dtype in (nw.Date, nw.Datetime)
    if isinstance(column, Category):
        return words if isinstance(column.codes[0], str) else number
    if isinstance(column, PrivacyUnit):
        return words or number
    assert isinstance(column, Real | Integer | Boolean)
    return number


def _needs(column: Column) -> str:
    if isinstance(column, Date):
        return "dates"
    if isinstance(column, Category):
        return "text" if isinstance(column.codes[0], str) else "whole numbers"
    return "text or numbers" if isinstance(column, PrivacyUnit) else "numbers"

"""Comparison of a table's column names and types with the schema; no row is read.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tacit.errors import SourceError, nearest
from tacit.schema import Category, Column, Date, PrivacyUnit, Schema, Text
from tacit.source.engine_table import Source
from tacit.source.reading.column_kinds import ColumnType, Holds
from tacit.source.type_fixes import type_fix

LISTED: Final = 12


def check_source(source: Source, schema: Schema) -> None:
    """Raise SourceError D04 for an ambiguous column, D10 for an absent one, D11 for a type that does not fit."""
    types = source.types()
    for name in schema.stored:
        column, found = schema[name], schema.source(name)
        if found not in types:
            _absent(found, types, source.kind)
        if types[found].holds == "several":
            message = (
                f"there are two columns {found!r} in this table ({source.kind}), whose engine ignores case in names."
            )
            raise SourceError(message, code="D04", hint="rename one, or leave it out of the table")
        if types[found].holds == "mixed":
            # the cells themselves are rows: neither which types they have nor which cell is another one is said
            message = (
                f"column {found!r} is a list of cells of several types; {type(column).__name__} needs {needs(column)}"
            )
            raise SourceError(f"{message}.", code="D04", hint=type_fix(column, found, "mixed", source.kind))
        if types[found].holds not in accepted(column):
            kind = type(column).__name__
            held = f"column {found!r} has type {types[found].words} in this table ({source.kind})"
            message = f"{held}; {kind} needs {needs(column)}."
            raise SourceError(message, code="D11", hint=type_fix(column, found, types[found].holds, source.kind))


def _absent(name: str, types: Mapping[str, ColumnType], kind: str) -> None:
    names = list(types)
    raw_text = any(one.holds == "anything" for one in types.values())
    guess = nearest(name, names)
    some = ", ".join(names[:LISTED]) + (", …" if len(names) > LISTED else "")
    index = "; an index is made columns by frame.reset_index()" if kind == "pandas" else ""
    hint = f'column="{guess}"' if guess else f"the table has {some}{index}"
    if guess is None and raw_text:  # its first line may be a row, by mistake
        hint = "does the first line of the file name its columns?"
    mark = next((mark for mark in ";\t|" if raw_text and len(names) == 1 and mark in names[0]), None)
    if mark is not None:
        hint = f"the first line names one column: tacit import --delimiter {mark!r} reads it"
    raise SourceError(f"column {name!r} of the schema is not in this table ({kind}).", code="D10", hint=hint)


def accepted(column: Column) -> tuple[Holds, ...]:
    """Return what a table's type may hold to be read as the declared column."""
    always: tuple[Holds, ...] = ("anything", "nothing")
    if isinstance(column, Date):
        return (*always, "date")
    if isinstance(column, PrivacyUnit):
        return (*always, "text", "number", "boolean", "identifier", "date")
    if isinstance(column, Text) or (isinstance(column, Category) and isinstance(column.codes[0], str)):
        return (*always, "text")
    return (*always, "number", "boolean")


def needs(column: Column) -> str:
    """Say in words what a declared column needs."""
    if isinstance(column, Date):
        return "dates or timestamps"
    if isinstance(column, PrivacyUnit):
        return "text, numbers or dates"
    if isinstance(column, Text):
        return "text"
    if isinstance(column, Category):
        return "text" if isinstance(column.codes[0], str) else "whole numbers"
    return "numbers"

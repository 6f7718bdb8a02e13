"""A first draft of a schema file from names and types only: bounds and levels are never taken from data (law 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tacit.schema.toml import key_text

FILL: Final = "?"
"""Stands where a person must decide; a schema that still has it is refused, by name."""


def draft(columns: Any) -> str:
    """Draft `[schema]` from {name: engine type} or from a frame (its names and types; no row is read).

    Every bound and every list of levels is "?" until a person fills it in.

    >>> print(draft({"age": "Int64", "sex": "String"}))
    # Fill in every "?" with public facts: what the values can be, not what they are in this table.
    [schema]
    age = { type = "Integer", lower = "?", upper = "?" }
    sex = { type = "Category", levels = ["?"] }
    <BLANKLINE>
    """
    lines = [
        '# Fill in every "?" with public facts: what the values can be, not what they are in this table.',
        "[schema]",
    ]
    for name, kind in _types(columns).items():
        lines.append(f"{key_text(name)} = {_guess(kind)}")
    return "\n".join(lines) + "\n"


def _types(columns: Any) -> dict[str, str]:
    if isinstance(columns, Mapping):
        return {str(name): str(kind) for name, kind in columns.items()}  # pyright: ignore
    import narwhals as nw

    schema = nw.from_native(columns).collect_schema()
    return {name: str(kind) for name, kind in schema.items()}


def _guess(kind: str) -> str:
    word = kind.lower()
    if "bool" in word:
        return '{ type = "Boolean" }'
    if "date" in word or "timestamp" in word:
        return '{ type = "Date", lower = "?", upper = "?" }'
    if "float" in word or "double" in word or "decimal" in word or "real" in word:
        return '{ type = "Real", lower = "?", upper = "?" }'
    if "int" in word:
        return '{ type = "Integer", lower = "?", upper = "?" }'
    return '{ type = "Category", levels = ["?"] }'

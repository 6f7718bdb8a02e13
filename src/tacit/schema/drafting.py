"""Draft a schema file from names and types of columns alone: bounds and levels are never taken from data (law 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from tacit.errors import SchemaError
from tacit.schema.column_words import OPEN
from tacit.schema.toml import key_text

_HEAD: Final = """\
# Drafted from names and types; no row was read.  Fill in every "?" with public facts: what the values can be, not what
# they are in this table.  Leave out the columns that no question needs.
tacit = 1

[schema]
"""
_BOUNDS: Final = f'lower = "{OPEN}", upper = "{OPEN}"'
_KINDS: Final = (
    (("bool",), '{ type = "Boolean" }'),
    (("date", "timestamp"), f'{{ type = "Date", {_BOUNDS} }}'),
    (("float", "double", "decimal", "numeric", "real"), f'{{ type = "Real", {_BOUNDS} }}'),
    (("int", "long", "short"), f'{{ type = "Integer", {_BOUNDS} }}  # or Category, Boolean, PrivacyUnit'),
    (
        ("str", "char", "utf8", "text", "object", "categ", "enum", "dictionary", "uuid"),
        f'{{ type = "Category", levels = "{OPEN}" }}  # ["north", "south"], or {{ 0 = "male", 1 = "female" }}',
    ),
)
_UNSERVED: Final = ("list", "struct", "map", "array", "interval", "duration", "timedelta", "time[", "time(", "time6")


def draft(columns: Any) -> str:
    """Draft a `[schema]` table from {name: engine type} or from a frame, of which no row is read.

    Every bound and list of levels is "?" until a person fills it in; a schema that still has a "?" is refused with
    SchemaError S16, which names the column.  Raises SchemaError S02 for anything but a frame or a mapping, S01 where
    there are no columns.

    >>> print(draft({"age": "Int64", "sex": "String"}).split("[schema]")[1].strip())
    age = { type = "Integer", lower = "?", upper = "?" }  # or Category, Boolean, PrivacyUnit
    sex = { type = "Category", levels = "?" }  # ["north", "south"], or { 0 = "male", 1 = "female" }
    """
    types = _types(columns)
    if not types:
        raise SchemaError("there are no columns to draft a schema from.", code="S01", hint="check the file")
    return _HEAD + "\n".join(_line(name, kind) for name, kind in types.items()) + "\n"


def _types(columns: Any) -> dict[str, str]:
    """Return {name: type} of what `draft` takes."""
    if isinstance(columns, Mapping):
        given = cast("Mapping[object, Any]", columns)
        return {str(name): kind if isinstance(kind, str) else _dtype(kind) for name, kind in given.items()}
    import narwhals as nw

    try:
        schema = nw.from_native(columns).collect_schema()
    except TypeError:
        text = f"a schema is drafted from a frame or from names and types, not from {type(columns).__name__}."
        raise SchemaError(text, code="S02", hint="tacit schema TABLE drafts from a file") from None
    return {name: str(kind) for name, kind in schema.items()}


def _dtype(values: Any) -> str:
    """Return the type of an array in a dict of arrays; its values are not read."""
    return str(getattr(values, "dtype", "unknown"))


def _line(name: str, kind: str) -> str:
    """Return the line of one column, or a comment where no column type serves its engine type."""
    word = kind.lower()
    if not name.strip() or not name.isprintable():
        return f"# {name!a}: a column needs a printable name"
    if not word.startswith(_UNSERVED) and word != "time" and "[]" not in word:
        # the first match decides; types without a column type were sorted out above, as "interval" contains "int"
        for stems, column in _KINDS:
            if any(stem in word for stem in stems) or (word.startswith("<u") and "str" in stems):
                return f"{key_text(name)} = {column}"
    return f"# {key_text(name)} is {' '.join(kind.split())}: no column type serves that"

"""Schemas in TOML: the `[schema]` table of a curator's file (api, §2), both ways."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, cast

from tacit.errors import FileError, SchemaError
from tacit.schema.columns import Category
from tacit.schema.table import Schema, column_from_dict, column_to_dict


def read_toml(text: str, where: str = "this text") -> dict[str, Any]:
    """TOML -> plain values; FileError F02 with the line where it is not TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise FileError(f"{where} is not TOML: {problem}.", code="F02", hint="a key, =, and a value a line") from None


def schema_from_toml(text: str) -> Schema:
    """Read the `[schema]` table of a TOML text."""
    return schema_from_table(read_toml(text).get("schema"))


def schema_from_table(table: object) -> Schema:
    """The parsed `[schema]` table -> Schema; FileError F03 where there is none."""
    if not isinstance(table, Mapping) or not table:
        raise FileError("there is no [schema] table.", code="F03", hint='[schema]\nage = { type = "Real", … }')
    columns: dict[str, Any] = {}
    for name, given in cast("Mapping[str, Any]", table).items():
        if not isinstance(given, Mapping):
            text = f"column {name!r} is {given!r}, not a table."
            raise SchemaError(text, code="S04", hint=f'{name} = {{ type = "Real", lower = 0, upper = 100 }}')
        columns[name] = column_from_dict(name, cast("Mapping[str, Any]", given))
    return Schema(columns)


def schema_to_toml(schema: Schema) -> str:
    """Schema -> a `[schema]` table, one column a line, which reads back as the same schema."""
    lines = ["[schema]"]
    for name, column in schema.items():
        words = column_to_dict(column)
        if isinstance(column, Category):
            words["levels"] = _levels(column)
        inside = ", ".join(f"{key} = {value(part, key)}" for key, part in words.items())
        lines.append(f"{key_text(name)} = {{ {inside} }}")
    return "\n".join(lines) + "\n"


def _levels(column: Category) -> Any:
    """The shortest exact form: a list of text codes, a table of whole numbers or text, or [code, label] pairs."""
    levels = column.levels
    if all(isinstance(code, str) and code == label for code, label in levels.items()):
        return list(levels)
    if all(isinstance(code, int) and not isinstance(code, bool) for code in levels):
        return {str(code): label for code, label in levels.items()}
    return [[code, label] for code, label in levels.items()]


def value(part: Any, key: str = "") -> str:
    """One plain value as TOML; dates of bounds are written as TOML dates are read, as text."""
    if isinstance(part, bool):
        return "true" if part else "false"
    if isinstance(part, float) and part.is_integer() and abs(part) < 2**53:
        return str(int(part))
    if isinstance(part, int | float):
        return repr(part)
    if isinstance(part, Mapping):
        table = cast("Mapping[str, Any]", part)
        return "{ " + ", ".join(f"{key_text(k)} = {value(v)}" for k, v in table.items()) + " }"
    if isinstance(part, list):
        return "[" + ", ".join(value(one) for one in cast("list[Any]", part)) + "]"
    return quoted(str(part))


def quoted(text: str) -> str:
    """A TOML basic string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def key_text(name: str) -> str:
    """A bare key where it may be one, else quoted."""
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else quoted(name)

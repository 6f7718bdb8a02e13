"""Read and write schemas as TOML: the `[schema]` table of a curator's file (api, §2)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tacit.base.similar_files import similar_file
from tacit.errors import FileError, nearest
from tacit.schema.column_types import Category, Column, Date
from tacit.schema.column_words import OPEN, WHOLE, column_to_dict

if TYPE_CHECKING:
    from os import PathLike


def read_text(path: str | PathLike[str]) -> str:
    """Return the text of a UTF-8 file; FileError F01 where it cannot be read, with the line that is not UTF-8."""
    try:
        raw = Path(path).read_bytes()
    except (OSError, ValueError) as problem:  # a null byte in the path is a ValueError
        reason = getattr(problem, "strerror", None) or "no file has such a name"
        near = similar_file(path, ".toml")
        hint = f"{near}?" if near else "the path of a TOML file"
        raise FileError(f"{path} cannot be read: {reason}.", code="F01", hint=hint) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = raw.count(b"\n", 0, problem.start) + 1
        message = f"{path} is not text in UTF-8 (line {line})."
        raise FileError(message, code="F01", hint="save it as UTF-8") from None


def read_toml(text: str, where: str = "this text") -> dict[str, Any]:
    """Return the plain values of a TOML text; FileError F02, with the line, where it is not TOML."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError as problem:  # TOMLDecodeError, and numbers of thousands of digits
        reason = str(problem)
    hint = "a key, =, and a value a line; text in quotes, numbers with a point"
    if text.lstrip().startswith("{"):
        hint = "this looks like JSON, an answer: the request or the study (TOML) comes first"
    raise FileError(f"{where} is not TOML: {reason}.", code="F02", hint=hint)


def columns_from_toml(text: str, where: str = "this text") -> Mapping[str, Any]:
    """Return the `[schema]` table of a TOML text, as `Schema.from_dict` takes it; FileError F02, F03."""
    tables = read_toml(text, where)
    guess = nearest("schema", [key for key in tables if isinstance(tables[key], Mapping)])
    if "schema" not in tables and guess:
        raise FileError(f"{where} has [{guess}], and no [schema].", code="F03", hint="[schema]")
    return checked_columns(tables.get("schema"))


def checked_columns(table: object) -> Mapping[str, Any]:
    """Return the parsed `[schema]` table of a file; FileError F03 where there is none."""
    if not isinstance(table, Mapping) or not table:
        hint = '[schema], then one line a column (no "#" before it): age = { type = "Real", lower = 0, upper = 100 }'
        raise FileError("there is no [schema] table, or no column in it.", code="F03", hint=hint)
    return cast("Mapping[str, Any]", table)


def columns_to_toml(columns: Mapping[str, Column]) -> str:
    """Return the columns as a `[schema]` table, one column a line, which reads back as the same columns."""
    lines = ["[schema]"]
    for name, column in columns.items():
        words = column_to_dict(column)
        if isinstance(column, Category):
            words["levels"] = _levels(column)
        if isinstance(column, Date):
            words |= {key: getattr(column, key) for key in words if isinstance(getattr(column, key, None), date)}
        inside = ", ".join(f"{key} = {value(part)}" for key, part in words.items())
        lines.append(f"{key_text(name)} = {{ {inside} }}")
    return "\n".join(lines) + "\n"


def _levels(column: Category) -> Any:
    """Return the shortest form that reads back as the same levels: a list of codes, a table, or [code, label] pairs."""
    levels = column.levels
    texts = all(isinstance(code, str) for code in levels)
    numbers = all(isinstance(code, int) and not isinstance(code, bool) for code in levels)
    # the list ["?"] is a placeholder of a draft and would be refused
    if texts and all(code == label for code, label in levels.items()) and list(levels) != [OPEN]:
        return list(levels)
    # text codes that all look like whole numbers would be read back as numbers: pairs keep them text
    if numbers or (texts and not all(WHOLE.fullmatch(str(code)) for code in levels)):
        return {str(code): label for code, label in levels.items()}
    return [[code, label] for code, label in levels.items()]


def value(part: Any) -> str:
    """Return one plain value as TOML."""
    if isinstance(part, bool):
        return "true" if part else "false"
    if isinstance(part, float) and part.is_integer() and abs(part) < 2**53:
        return str(int(part))
    if isinstance(part, int | float):
        return repr(part)
    if isinstance(part, date):
        return part.isoformat()
    if isinstance(part, Mapping):
        table = cast("Mapping[str, Any]", part)
        return "{ " + ", ".join(f"{key_text(k)} = {value(v)}" for k, v in table.items()) + " }"
    if isinstance(part, list):
        return "[" + ", ".join(value(one) for one in cast("list[Any]", part)) + "]"
    return quoted(str(part))


def quoted(text: str) -> str:
    """Return text as a TOML basic string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def key_text(name: str) -> str:
    """Return a name as a TOML key: bare where that is allowed, else quoted."""
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else quoted(name)

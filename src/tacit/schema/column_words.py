"""Convert one column to the plain values of JSON and TOML, and back; errors name the column."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final, cast

from tacit.base.arguments import described, meant
from tacit.errors import SchemaError, nearest
from tacit.schema.column_types import EXCLUDE, TYPES, Category, Column

OPEN: Final = "?"
"""Placeholder in a drafted schema for what a person must decide; a schema that still has it is refused."""
WHOLE: Final = re.compile(r"-?[1-9][0-9]{0,17}|0")
"""Pattern of a key that stands for a whole number."""

_FIELDS: Final = {
    "Real": ("lower", "upper", "multiple_of", "heaped_at", "units", "missing", "column", "computed"),
    "Integer": ("lower", "upper", "units", "missing", "column", "computed"),
    "Boolean": ("missing", "column", "computed"),
    "Date": ("lower", "upper", "missing", "column"),
    "Category": ("levels", "ordered", "units", "missing", "column", "computed", "constant"),
    "PrivacyUnit": ("max_rows", "column"),
    "Text": ("max_length", "trim", "casefold", "missing", "column"),
}


def column_to_dict(column: Column) -> dict[str, Any]:
    """Return a column as plain values: its type, and the keywords that differ from their defaults."""
    kind = type(column).__name__
    made: dict[str, Any] = {"type": kind}
    for key in _FIELDS[kind]:
        if key == "levels":
            made["levels"] = [list(pair) for pair in cast(Category, column).levels.items()]
            continue
        value = getattr(column, key)
        if (
            value is None
            or (key == "missing" and value == EXCLUDE)
            or (key in ("ordered", "constant", "trim", "casefold") and value is False)
        ):
            continue
        made[key] = value.isoformat() if isinstance(value, date) else value
    return made


_NEEDED: Final = {
    "Integer": ("lower", "upper"),
    "Date": ("lower", "upper"),
    "Category": ("levels",),
    "PrivacyUnit": ("max_rows",),
    "Text": ("max_length",),
}


def column_from_dict(name: str, given: object) -> Column:
    """Return the column that `column_to_dict` wrote; `levels` may also be a list of codes or a table, as in TOML."""
    where = f"column {name!r}"
    if not isinstance(given, Mapping):
        hint = f'{name} = {{ type = "Real", lower = 0, upper = 100 }}'
        raise SchemaError(f"{where} is {described(given)}, not a table.", code="S04", hint=hint)
    words_ = {str(key): value for key, value in cast("Mapping[object, Any]", given).items()}
    kind = words_.pop("type", None)
    if kind == OPEN:
        raise SchemaError(f'{where}: type is still open (type = "?").', code="S16", hint=", ".join(TYPES))
    if not isinstance(kind, str) or kind not in TYPES:
        guess = nearest(str(kind), list(TYPES)) or "Real"
        text = f"{where} has type {described(kind)}, which is not one of {', '.join(TYPES)}."
        raise SchemaError(text, code="S04", hint=f'type = "{guess}"')
    _keys(where, kind, words_)
    try:
        if "levels" in words_:
            words_["levels"] = read_levels(words_["levels"])
        return TYPES[kind](**words_)
    except SchemaError as problem:
        located = SchemaError(f"{where}: {problem.message}", code=problem.code, hint=problem.hint, state=problem.state)
    raise located


def _keys(where: str, kind: str, words_: Mapping[str, Any]) -> None:
    """Raise SchemaError S05 for an unknown or absent key, S16 for a placeholder that a draft left open."""
    for key, value in words_.items():
        if key not in _FIELDS[kind]:
            guess = meant(key, _FIELDS[kind])
            hint = f"one of {', '.join(_FIELDS[kind])}" if guess is None else guess if " " in guess else f"{guess} = …"
            raise SchemaError(f"{where}: {kind} has no {key!r}.", code="S05", hint=hint)
        if key in ("lower", "upper", "levels", "max_rows", "max_length") and value in (OPEN, [OPEN]):
            text = f"{where}: {key} is still open ({key} = {value!r}); what is public is declared, not found in data."
            raise SchemaError(text, code="S16", hint=f"{key} = what is known before anyone looks at the table")
    for key in _NEEDED.get(kind, ()):
        if key not in words_:
            raise SchemaError(f"{where}: {kind} needs {key!r}.", code="S05", hint=f"{key} = …")


def read_levels(levels: object) -> Any:
    """Convert levels as JSON and TOML write them to what Category takes.

    A list of [code, label] pairs is taken as it is.  In a list of codes each is its own label.  The keys of a table are
    text, and stand for whole numbers where all of them are written as such (`{ 0 = "male", 1 = "female" }`).

    >>> read_levels({"0": "male", "1": "female"}), read_levels({"01": "Alabama", "10": "Delaware"})
    ({0: 'male', 1: 'female'}, {'01': 'Alabama', '10': 'Delaware'})
    """
    if isinstance(levels, Mapping):
        table = cast("Mapping[object, object]", levels)
        if all(isinstance(key, str) and WHOLE.fullmatch(key) for key in table):
            return {int(cast(str, key)): label for key, label in table.items()}
        return table
    if not isinstance(levels, list | tuple):
        return levels
    listed = cast("list[object]", levels)
    if not any(isinstance(one, list | tuple | Mapping) for one in listed):
        return listed
    made: dict[object, object] = {}
    for one in listed:
        pair = cast("list[object]", one)
        if not isinstance(one, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str | int | float):
            hint = 'levels = [["01", "Alabama"], ["10", "Delaware"]]'
            raise SchemaError(
                f"level {described(cast(object, one))} of Category is not a code with its label.", code="S10", hint=hint
            )
        if pair[0] in made:
            raise SchemaError(f"level {pair[0]!r} of Category occurs twice.", code="S09", hint="each level once")
        made[pair[0]] = pair[1]
    return made

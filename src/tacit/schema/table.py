"""Schema: a dict of columns, and nothing else.  Any column name will do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, cast

from tacit.errors import SchemaError, nearest
from tacit.schema.checks import words
from tacit.schema.columns import EXCLUDE, TYPES, Category, Column, PrivacyUnit


class Schema(Mapping[str, Column]):
    """What is public about a table before anyone looks: a Mapping of names to column types, built as `dict` is.

    Two names may not stand for one column of the table, and at most one column is a PrivacyUnit.
    Raises SchemaError S01 (a name), S02 (not a column type), S03 (one table column twice), S14 (two units).

    >>> schema = Schema({"age": TYPES["Real"](0, 100), "sex": Category(["f", "m"])})
    >>> list(schema), schema.unit
    (['age', 'sex'], None)
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Column], /) -> None:
        made: dict[str, Column] = {}
        for name, column in columns.items():
            words(name, "column name", "S01", 'Schema({"age": Real(0, 100)})')
            if not isinstance(column, tuple(TYPES.values())):  # pyright: ignore[reportUnnecessaryIsInstance]
                text = f"column {name!r} is {column!r}, which is no column type."
                raise SchemaError(text, code="S02", hint=", ".join(TYPES))
            made[name] = column
        if not made:
            raise SchemaError("the schema has no columns.", code="S01", hint='Schema({"age": Real(0, 100)})')
        self._columns = made
        self._distinct()

    def _distinct(self) -> None:
        seen: dict[str, str] = {}
        for name in self._columns:
            source = self.source(name)
            if source in seen:
                text = f"columns {seen[source]!r} and {name!r} are both {source!r} in the table."
                raise SchemaError(text, code="S03", hint="each column of the table once")
            seen[source] = name
        units = [name for name, column in self._columns.items() if isinstance(column, PrivacyUnit)]
        if len(units) > 1:
            text = f"columns {units[0]!r} and {units[1]!r} are both PrivacyUnit."
            raise SchemaError(text, code="S14", hint="one column says whose row it is")

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and list(self.items()) == list(other.items())

    def __hash__(self) -> int:
        return hash(self.digest())

    def __repr__(self) -> str:
        inside = ", ".join(f"{name!r}: {column!r}" for name, column in self._columns.items())
        return f"Schema({{{inside}}})"

    @property
    def unit(self) -> str | None:
        """Name of the PrivacyUnit column, or None: then a neighbour is a row."""
        return next((name for name, column in self._columns.items() if isinstance(column, PrivacyUnit)), None)

    def source(self, name: str) -> str:
        """Name of a column in the table."""
        return self._columns[name].column or name

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Plain JSON values, defaults left out; codes of a category as a list of [code, label].

        >>> Schema({"age": TYPES["Real"](0, 100)}).to_dict()
        {'age': {'type': 'Real', 'lower': 0.0, 'upper': 100.0}}
        """
        return {name: column_to_dict(column) for name, column in self._columns.items()}

    @classmethod
    def from_dict(cls, columns: Mapping[str, Mapping[str, Any]]) -> Schema:
        """Inverse of `to_dict`; SchemaError S04 for an unknown type, S05 for an unknown or missing key."""
        return cls({name: column_from_dict(name, given) for name, given in columns.items()})

    def digest(self) -> str:
        """SHA-256 (hex) of the canonical JSON of the whole schema, order of columns aside."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def to_toml(self) -> str:
        """The `[schema]` table of a curator's file; `from_toml` is its inverse."""
        from tacit.schema.toml import schema_to_toml

        return schema_to_toml(self)

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """Read the `[schema]` table of a TOML text; FileError or SchemaError where it is wrong."""
        from tacit.schema.toml import schema_from_toml

        return schema_from_toml(text)

    @classmethod
    def load(cls, path: Any) -> Schema:
        """Read the `[schema]` table of a TOML file."""
        from pathlib import Path

        from tacit.errors import FileError

        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            raise FileError(f"{path} cannot be read: {problem}.", code="F01", hint="the path of a TOML file") from None
        return cls.from_toml(text)

    def example(self, rows: int, rng: Any = None) -> Any:
        """Made-up rows from the schema alone, for rehearsal: a pandas frame named as the table is."""
        from tacit.schema.rehearse import example

        return example(self, rows, rng)


_FIELDS = {
    "Real": ("lower", "upper", "units", "missing", "column"),
    "Integer": ("lower", "upper", "units", "missing", "column"),
    "Boolean": ("missing", "column"),
    "Date": ("lower", "upper", "missing", "column"),
    "Category": ("levels", "ordered", "units", "missing", "column"),
    "PrivacyUnit": ("max_rows", "column"),
}


def column_to_dict(column: Column) -> dict[str, Any]:
    """One column as plain values: its type and the keywords that differ from the defaults."""
    kind = type(column).__name__
    made: dict[str, Any] = {"type": kind}
    for key in _FIELDS[kind]:
        if key == "levels":
            made["levels"] = [list(pair) for pair in cast(Category, column).levels.items()]
            continue
        value = getattr(column, key)
        if value is None or (key == "missing" and value == EXCLUDE) or (key == "ordered" and value is False):
            continue
        made[key] = value.isoformat() if isinstance(value, date) else value
    return made


def column_from_dict(name: str, given: Mapping[str, Any]) -> Column:
    """Inverse of `column_to_dict`; also takes `levels` as a list of codes or a table, as TOML writes them."""
    words_ = dict(given)
    kind = words_.pop("type", None)
    if kind not in TYPES:
        guess = nearest(str(kind), list(TYPES)) or "Real"
        text = f"column {name!r} has type {kind!r}, which is not one of {', '.join(TYPES)}."
        raise SchemaError(text, code="S04", hint=f'type = "{guess}"')
    for key in words_:
        if key not in _FIELDS[kind]:
            guess = nearest(key, list(_FIELDS[kind])) or _FIELDS[kind][0]
            raise SchemaError(f"column {name!r}: {kind} has no {key!r}.", code="S05", hint=f"{guess} = …")
    needed = {"Integer": ("lower", "upper"), "Date": ("lower", "upper"), "Category": ("levels",)}
    for key in (*needed.get(kind, ()), *(("max_rows",) if kind == "PrivacyUnit" else ())):
        if key not in words_:
            raise SchemaError(f"column {name!r}: {kind} needs {key!r}.", code="S05", hint=f"{key} = …")
    if kind == "Category":
        words_["levels"] = read_levels(words_["levels"])
    try:
        return TYPES[kind](**words_)
    except SchemaError as problem:
        message = f"column {name!r}: {problem.message}"
        raise SchemaError(message, code=problem.code, hint=problem.hint, state=problem.state) from None


def read_levels(levels: Any) -> Any:
    """Levels as JSON and TOML write them -> what Category takes.

    A list of [code, label] pairs is exact; a list of codes is its own labels; a table has text keys, which mean whole
    numbers where all of them are written as such (`{ 0 = "male", 1 = "female" }`).
    """
    if isinstance(levels, Mapping):
        table = cast("Mapping[str, str]", levels)
        if all(_is_whole(key) for key in table):
            return {int(key): label for key, label in table.items()}
        return dict(table)
    if isinstance(levels, list):
        listed = cast("list[Any]", levels)
        if listed and all(isinstance(one, list) and len(cast("list[Any]", one)) == 2 for one in listed):
            pairs = cast("list[list[Any]]", listed)
            codes = [code for code, _ in pairs]
            if len(set(map(repr, codes))) < len(codes):
                twice = next(code for i, code in enumerate(codes) if code in codes[:i])
                raise SchemaError(f"level {twice!r} of Category is there twice.", code="S09", hint="each level once")
            return dict(pairs)
    return cast(Any, levels)


def _is_whole(key: str) -> bool:
    return key.lstrip("-").isdigit() and str(int(key)) == key

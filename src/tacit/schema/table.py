"""Schema: a dict of columns, and nothing else.  Any column name will do."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.errors import SchemaError, nearest
from tacit.schema.checks import words
from tacit.schema.columns import EXCLUDE, TYPES, Category, Column, PrivacyUnit

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np

OPEN: Final = "?"
"""Stands in a drafted schema where a person must decide; a schema that still has it is refused, by name."""


class Schema(Mapping[str, Column]):
    """What is public about a table before anyone looks: a Mapping of names to column types, built as `dict` is.

    Two names may not stand for one column of the table, and at most one column is a PrivacyUnit.
    Raises SchemaError S01 (a name), S02 (not a column type), S03 (one table column twice), S14 (two units), S18 (what
    cannot be computed).

    >>> schema = Schema({"age": TYPES["Real"](0, 100), "sex": Category(["f", "m"])})
    >>> list(schema), schema.unit
    (['age', 'sex'], None)
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Column], /) -> None:
        if not isinstance(columns, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            text = f"a schema is a dict of columns, not {type(columns).__name__}."
            raise SchemaError(text, code="S02", hint='Schema({"age": Real(0, 100)})')
        made: dict[str, Column] = {}
        for name, column in columns.items():
            words(name, "column name", "S01", 'Schema({"age": Real(0, 100)})')
            made[name] = _column(name, column)
        if not made:
            raise SchemaError("the schema has no columns.", code="S01", hint='Schema({"age": Real(0, 100)})')
        self._columns = made
        self._distinct()
        if any(getattr(column, "computed", None) for column in made.values()):
            from tacit.predicates.computed import computed_columns

            computed_columns(self)

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
        return isinstance(other, Schema) and self.digest() == other.digest()

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
        """Name of a column in the table; of a computed one, which is not there, "= " and its own name."""
        return f"= {name}" if self.is_computed(name) else self._columns[name].column or name

    def is_computed(self, name: str) -> bool:
        """Whether a column is computed from others, and so not in the table itself."""
        return getattr(self._columns[name], "computed", None) is not None

    @property
    def stored(self) -> tuple[str, ...]:
        """Names of the columns that stand in the table itself."""
        return tuple(name for name in self._columns if not self.is_computed(name))

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Plain JSON values, defaults left out; codes of a category as a list of [code, label].

        >>> Schema({"age": TYPES["Real"](0, 100)}).to_dict()
        {'age': {'type': 'Real', 'lower': 0.0, 'upper': 100.0}}
        """
        return {name: column_to_dict(column) for name, column in self._columns.items()}

    @classmethod
    def from_dict(cls, columns: Mapping[str, Mapping[str, Any]]) -> Schema:
        """Inverse of `to_dict`; SchemaError names the column: S04 a type, S05 a key, S10 levels, S16 what is open."""
        if not isinstance(columns, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            text = f"a schema is a dict of columns, not {type(columns).__name__}."
            raise SchemaError(text, code="S02", hint='{"age": {"type": "Real", "lower": 0, "upper": 100}}')
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
        """Read the `[schema]` table of a TOML text; FileError F02, F03 or SchemaError where it is wrong."""
        from tacit.schema.toml import schema_from_toml

        return schema_from_toml(text)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Schema:
        """Read the `[schema]` table of a TOML file; FileError F01 where it cannot be read, else as `from_toml`."""
        from tacit.schema.toml import read_text, schema_from_toml

        return schema_from_toml(read_text(path), str(path))

    def example(self, rows: int, *, rng: int | np.random.Generator | None = None) -> Any:
        """Made-up rows from the schema alone, for rehearsal: a pandas frame named as the table is.

        Uniform inside bounds and over levels, nothing else; `rng` (an int or a Generator) makes it reproducible.
        SchemaError S17 where `rows` is no number of rows.
        """
        from tacit.schema.rehearse import example

        return example(self, rows, rng)


def _column(name: str, column: object) -> Column:
    if isinstance(column, tuple(TYPES.values())):
        return column
    text, hint = f"column {name!r} is {column!r}, which is no column type.", ", ".join(TYPES)
    if isinstance(column, type) and column in TYPES.values():
        text, hint = f"column {name!r} is {column.__name__} itself, not a column of that type.", f"{column.__name__}(…)"
    elif isinstance(column, Mapping):
        hint = "Schema.from_dict({…})"
    raise SchemaError(text, code="S02", hint=hint)


_FIELDS: Final = {
    "Real": ("lower", "upper", "units", "missing", "column", "computed"),
    "Integer": ("lower", "upper", "units", "missing", "column", "computed"),
    "Boolean": ("missing", "column", "computed"),
    "Date": ("lower", "upper", "missing", "column"),
    "Category": ("levels", "ordered", "units", "missing", "column", "computed", "constant"),
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
        if (
            value is None
            or (key == "missing" and value == EXCLUDE)
            or (key in ("ordered", "constant") and value is False)
        ):
            continue
        made[key] = value.isoformat() if isinstance(value, date) else value
    return made


_NEEDED: Final = {
    "Integer": ("lower", "upper"),
    "Date": ("lower", "upper"),
    "Category": ("levels",),
    "PrivacyUnit": ("max_rows",),
}


def column_from_dict(name: str, given: object) -> Column:
    """Inverse of `column_to_dict`; also takes `levels` as a list of codes or a table, as TOML writes them."""
    where = f"column {name!r}"
    if not isinstance(given, Mapping):
        hint = f'{name} = {{ type = "Real", lower = 0, upper = 100 }}'
        raise SchemaError(f"{where} is {given!r}, not a table.", code="S04", hint=hint)
    words_ = {str(key): value for key, value in cast("Mapping[object, Any]", given).items()}
    kind = words_.pop("type", None)
    if not isinstance(kind, str) or kind not in TYPES:
        guess = nearest(str(kind), list(TYPES)) or "Real"
        text = f"{where} has type {kind!r}, which is not one of {', '.join(TYPES)}."
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
    """Refuse unknown keys, missing ones, and what a draft left open."""
    for key, value in words_.items():
        if key not in _FIELDS[kind]:
            guess = nearest(key, list(_FIELDS[kind])) or _FIELDS[kind][0]
            raise SchemaError(f"{where}: {kind} has no {key!r}.", code="S05", hint=f"{guess} = …")
        if key in ("lower", "upper", "levels", "max_rows") and value in (OPEN, [OPEN]):
            text = f"{where}: {key} is still open ({key} = {value!r}); what is public is declared, not found in data."
            raise SchemaError(text, code="S16", hint=f"{key} = what is known before anyone looks at the table")
    for key in _NEEDED.get(kind, ()):
        if key not in words_:
            raise SchemaError(f"{where}: {kind} needs {key!r}.", code="S05", hint=f"{key} = …")


def read_levels(levels: object) -> Any:
    """Levels as JSON and TOML write them -> what Category takes.

    A list of [code, label] pairs is exact; a list of codes is its own labels; a table has text keys, which mean whole
    numbers where all of them are written as such (`{ 0 = "male", 1 = "female" }`).

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
            raise SchemaError(f"level {one!r} of Category is not a code with its label.", code="S10", hint=hint)
        if pair[0] in made:
            raise SchemaError(f"level {pair[0]!r} of Category is there twice.", code="S09", hint="each level once")
        made[pair[0]] = pair[1]
    return made


WHOLE: Final = re.compile(r"-?[1-9][0-9]{0,17}|0")
"""How a whole number is written as a key."""

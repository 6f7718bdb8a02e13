"""Schema: a dict of columns, and nothing else.  Any column name will do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tacit.errors import SchemaError
from tacit.schema.column_checks import words
from tacit.schema.column_types import TYPES, Column, PrivacyUnit
from tacit.schema.column_words import column_from_dict, column_to_dict
from tacit.schema.predicates.computed_columns import computed_columns
from tacit.schema.rehearse import example
from tacit.schema.toml import columns_from_toml, columns_to_toml, read_text

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np


class Schema(Mapping[str, Column]):
    """What is public about a table before anyone looks: a Mapping of names to column types, built as `dict` is.

    Two names may not stand for one column of the table, and at most one column is a PrivacyUnit.
    Raises SchemaError S01 (a name), S02 (not a column type), S03 (one table column twice), S14 (two units), S18 (what
    cannot be computed).

    >>> from tacit.schema import Category, Real
    >>> schema = Schema({"age": Real(0, 100), "sex": Category(["f", "m"])})
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

        >>> from tacit.schema import Real
        >>> Schema({"age": Real(0, 100)}).to_dict()
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
        return columns_to_toml(self)

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """Read the `[schema]` table of a TOML text; FileError F02, F03 or SchemaError where it is wrong."""
        return Schema.from_dict(columns_from_toml(text))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Schema:
        """Read the `[schema]` table of a TOML file; FileError F01 where it cannot be read, else as `from_toml`."""
        return Schema.from_dict(columns_from_toml(read_text(path), str(path)))

    def example(self, rows: int, *, rng: int | np.random.Generator | None = None) -> Any:
        """Made-up rows from the schema alone, for rehearsal: a pandas frame named as the table is.

        Uniform inside bounds and over levels, nothing else; `rng` (an int or a Generator) makes it reproducible.
        SchemaError S17 where `rows` is no number of rows.
        """
        return example({self.source(name): self[name] for name in self.stored}, rows, rng)


def _column(name: str, column: object) -> Column:
    if isinstance(column, tuple(TYPES.values())):
        return column
    text, hint = f"column {name!r} is {column!r}, which is no column type.", ", ".join(TYPES)
    if isinstance(column, type) and column in TYPES.values():
        text, hint = f"column {name!r} is {column.__name__} itself, not a column of that type.", f"{column.__name__}(…)"
    elif isinstance(column, Mapping):
        hint = "Schema.from_dict({…})"
    raise SchemaError(text, code="S02", hint=hint)

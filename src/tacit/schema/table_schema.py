"""Schema: an immutable mapping of names to column types, with its stored forms."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tacit.base.arguments import described, named_arguments
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
    """What is public about a table before any row is read: a Mapping of names to column types, built as `dict` is.

    Two names may not stand for one column of the table, and at most one column is a PrivacyUnit.
    Raises SchemaError S01 (a malformed name, or no columns), S02 (not a column type), S03 (one table column twice), S14
    (two units), S18 (a column that cannot be computed).

    >>> from tacit.schema import Category, Real
    >>> schema = Schema({"age": Real(0, 100), "sex": Category(["f", "m"])})
    >>> list(schema), schema.unit
    (['age', 'sex'], None)
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Column] | None = None, /, **named: Column) -> None:
        if named or columns is None:
            raise _without_dict(named)
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
            # for its errors: a column that cannot be computed is refused here and not at the first question
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
        """Name of the PrivacyUnit column, or None, where neighbouring tables differ in one row."""
        return next((name for name, column in self._columns.items() if isinstance(column, PrivacyUnit)), None)

    def source(self, name: str) -> str:
        """Return a column's name in the table; for a computed column, which is not in the table, "= " and its name."""
        return f"= {name}" if self.is_computed(name) else self._columns[name].column or name

    def is_computed(self, name: str) -> bool:
        """Return whether a column is computed from others, and so not in the table itself."""
        return getattr(self._columns[name], "computed", None) is not None

    @property
    def stored(self) -> tuple[str, ...]:
        """Names of the columns that are in the table itself, not computed."""
        return tuple(name for name in self._columns if not self.is_computed(name))

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return plain JSON values, without defaults; a category's levels are a list of [code, label].

        >>> from tacit.schema import Real
        >>> Schema({"age": Real(0, 100)}).to_dict()
        {'age': {'type': 'Real', 'lower': 0.0, 'upper': 100.0}}
        """
        return {name: column_to_dict(column) for name, column in self._columns.items()}

    @classmethod
    def from_dict(cls, columns: Mapping[str, Mapping[str, Any]]) -> Schema:
        """Return the schema that `to_dict` wrote.

        Raises a SchemaError that names the column: S04 for its type, S05 for a key, S10 for levels, S16 for a "?".
        """
        if not isinstance(columns, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            text = f"a schema is a dict of columns, not {type(columns).__name__}."
            raise SchemaError(text, code="S02", hint='{"age": {"type": "Real", "lower": 0, "upper": 100}}')
        return cls({name: column_from_dict(name, given) for name, given in columns.items()})

    def digest(self) -> str:
        """Return the SHA-256 (hex) of the schema's canonical JSON, which does not depend on the order of columns."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def to_toml(self) -> str:
        """Return the `[schema]` table of a curator's file; `from_toml` is its inverse."""
        return columns_to_toml(self)

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """Read the `[schema]` table of a TOML text; FileError F02, F03 or a SchemaError where it is wrong."""
        return Schema.from_dict(columns_from_toml(text))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Schema:
        """Read the `[schema]` table of a TOML file; FileError F01 where it cannot be read, else as `from_toml`."""
        return Schema.from_dict(columns_from_toml(read_text(path), str(path)))

    @named_arguments(SchemaError, "S05", "example")
    def example(self, rows: int, *, rng: int | np.random.Generator | None = None) -> Any:
        """Return made-up rows from the schema alone, for rehearsal: a pandas frame with the table's column names.

        Values are uniform inside bounds and over levels; `rng` (an int or a Generator) makes them reproducible.
        Raises SchemaError S17 unless `rows` is a whole number from 0 on.
        """
        return example({self.source(name): self[name] for name in self.stored}, rows, rng)


def _column(name: str, column: object) -> Column:
    if isinstance(column, tuple(TYPES.values())):
        return column
    text, hint = f"column {name!r} is {described(column)}, which is not a column type.", ", ".join(TYPES)
    if isinstance(column, type) and column in TYPES.values():
        text, hint = f"column {name!r} is {column.__name__} itself, not a column of that type.", f"{column.__name__}(…)"
    elif isinstance(column, Mapping):
        hint = "Schema.from_dict({…})"
    raise SchemaError(text, code="S02", hint=hint)


def _without_dict(named: Mapping[str, object]) -> SchemaError:
    """Return what is wrong with a schema whose columns are named as arguments are, or that has none."""
    if not named:
        return SchemaError("the schema has no columns.", code="S01", hint='Schema({"age": Real(0, 100)})')
    name = next(iter(named))
    text = f"a schema is a dict of columns; {name!r} is given as an argument by name."
    return SchemaError(text, code="S02", hint=f'Schema({{"{name}": …}})')

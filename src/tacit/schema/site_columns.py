"""Maps from the columns of a party's table to those of a study, declared in the party's site file.  No data here.

A map is a function of one cell, the same for every row, so that neighbouring tables stay neighbours under it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from tacit.errors import FileError, nearest
from tacit.schema import Boolean, Category, Column, Date, Integer, PrivacyUnit, Real, Schema, Text
from tacit.schema.column_checks import show
from tacit.schema.row_maps_of_columns import column_of
from tacit.schema.toml_words import known, located, text_of

WORDS: Final = ("column", "multiply", "recode", "format")
DIRECTIVES: Final = "dmYyHMS"
FITS: Final = {"multiply": (Real, Integer), "recode": (Real, Integer, Boolean, Category), "format": (Date,)}
Cell: TypeAlias = str | bool | int | float | None
"""The value of a raw text: a code of the study's category, a Boolean, a number, or None for a missing cell."""


@dataclass(frozen=True)
class ColumnMap:
    """Where and how a column of a study is found in a party's table.

    name: its name in the study.
    source: its name in a table as the study declares it (`column`, or the name).
    column: its name in this party's table.
    multiply: the factor that converts numbers to the study's units; None for no conversion.
    recode: {raw text: code, Boolean or number of the study, None for missing}; cells not listed stay as they are.
    format: how dates are written, in the letters of `strptime` (d m Y y H M S); None where the engine knows.
    """

    name: str
    source: str
    column: str
    multiply: float | None = None
    recode: Mapping[str, Cell] = field(default_factory=dict[str, Cell])
    format: str | None = None

    @property
    def renames_only(self) -> bool:
        """Whether cells stay as they are."""
        return self.multiply is None and not self.recode and self.format is None


def columns_of(given: object, schema: Schema) -> dict[str, ColumnMap]:
    """Return the maps of a `[data.columns]` table, by the study's names of columns.

    Raises QueryError Q10 for a name that the study does not have, FileError F05 for an unknown key, F06 for a wrong
    value, F20 for a map that does not fit the column's type, or two columns that are mapped to one.
    """
    if not isinstance(given, Mapping):
        message = f"[data.columns] is {given!r}, not a section."
        raise FileError(message, code="F06", hint='[data.columns], then stay = { column = "LOS" }')
    found = {name: _map(name, words, schema) for name, words in cast("Mapping[str, Any]", given).items()}
    _distinct(found, schema)
    return found


def _map(name: str, given: object, schema: Schema) -> ColumnMap:
    place = f"[data.columns] {name}"
    column: Column = located("[data.columns]")(lambda: column_of(schema, name))
    if not isinstance(given, Mapping) or not given:
        message = f"{place} is {given!r}: it names no column of the table."
        raise FileError(message, code="F20", hint=f'{name} = {{ column = "{name.upper()}" }}')
    if schema.is_computed(name):
        message = f"{place}: the study computes this column from others."
        raise FileError(message, code="F20", hint="map those that it is computed from")
    words = cast("Mapping[str, Any]", given)
    known(place, words, WORDS)
    for word, types in FITS.items():
        if word in words and not isinstance(column, types):
            kinds = ", ".join(one.__name__ for one in types)
            message = f"{place} has {word}, which is for {kinds}; the study's {name!r} is {type(column).__name__}."
            raise FileError(message, code="F20", hint=_instead(column))
    if "multiply" in words and "recode" in words:
        message = f"{place} has multiply and recode: it is not clear which comes first."
        raise FileError(message, code="F20", hint="recode to numbers in the study's units, or multiply")
    source = schema.source(name)
    return ColumnMap(
        name=name,
        source=source,
        column=text_of(words, "column", place) or source,
        multiply=_multiply(words["multiply"], place) if "multiply" in words else None,
        recode=_recode(words["recode"], place, name, column) if "recode" in words else {},
        format=date_format(words["format"], f"{place} format") if "format" in words else None,
    )


def _instead(column: Column) -> str:
    match column:
        case Date():
            return 'format = "%d/%m/%Y"'
        case Category() | Boolean():
            return "recode = { F = … }, raw text on the left"
        case PrivacyUnit():
            return "column = … alone: whose row it is stays as it is"
        case Text():
            return "column = … alone: text stays as it is"
        case _:
            return "multiply = 0.001, or recode = { none = 0 }"


def _multiply(value: object, place: str) -> float:
    # a factor of 0 would make all cells one
    if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value) or value == 0:
        message = f"{place} multiply is {value!r}: not a finite number other than 0."
        raise FileError(message, code="F06", hint="multiply = 0.016666666666666666, from minutes to hours")
    return float(value)


def _finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _recode(given: object, place: str, name: str, column: Column) -> dict[str, Cell]:
    if not isinstance(given, Mapping) or not given:
        message = f"{place} recode is {given!r}: no table of raw text."
        raise FileError(message, code="F06", hint='recode = { F = "female", M = "male" }')
    return {raw: _cell(value, f"{place} recode of {raw!r}", name, column) for raw, value in given.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _cell(value: object, place: str, name: str, column: Column) -> Cell:
    """Return the value of a raw text in the study's own codes; FileError F20 for one that the column cannot hold."""
    if isinstance(column, Category):
        return _level(value, place, name, column)
    if isinstance(column, Boolean):
        if not isinstance(value, bool):
            message = f"{place} is {value!r}; the study's {name!r} is true or false."
            raise FileError(message, code="F20", hint="recode = { J = true, N = false }")
        return value
    assert isinstance(column, Real | Integer)
    if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
        message = f"{place} is {value!r}; the study's {name!r} is a number."
        raise FileError(message, code="F20", hint="recode = { none = 0 }")
    if isinstance(column, Integer) and value != int(value):
        message = f"{place} is {value!r}; the study's {name!r} is a whole number."
        raise FileError(message, code="F20", hint=f"{place.rpartition(' ')[2]} = {int(value)}")
    low, high = column.lower, column.upper
    if low is not None and high is not None and not low <= value <= high:
        message = f"{place} is {value!r}: outside the study's {show(low)} to {show(high)}."
        raise FileError(message, code="F20", hint=f"a number from {show(low)} to {show(high)}")
    return int(value) if isinstance(column, Integer) else float(value)


def _level(value: object, place: str, name: str, column: Category) -> Cell:
    for code, label in column.levels.items():
        if value == label:
            return code
    if value == column.missing and column.missing != "exclude":
        return None
    message = f"{place} is {value!r}, which is not a level of the study's {name!r}."
    guess = nearest(str(value), column.labels) or ", ".join(column.labels[:8])
    raise FileError(message, code="F20", hint=guess)


def date_format(value: object, place: str, word: str = "format = ") -> str:
    """Check a date format that every engine reads alike: each letter once, with punctuation between; FileError F06."""
    hint = f'{word}"%d/%m/%Y", of the letters d m Y y H M S'
    if not isinstance(value, str):
        raise FileError(f"{place} is {value!r}: not text.", code="F06", hint=hint)
    letters: list[str] = []
    rest = iter(value)
    for character in rest:
        if character == "%":
            letters.append(next(rest, ""))
        elif not character.isascii() or character.isalnum() or not character.isprintable():
            message = f"{place} is {value!r}: {character!r} is neither punctuation nor part of a date."
            raise FileError(message, code="F06", hint=hint)
    for letter in letters:
        if letter not in tuple(DIRECTIVES) or letters.count(letter) > 1:
            what = "occurs twice" if letter in tuple(DIRECTIVES) else "is not known"
            raise FileError(f"{place} is {value!r}: %{letter} {what}.", code="F06", hint=hint)
    if not {"d", "m"} <= set(letters) or len({"Y", "y"} & set(letters)) != 1:
        raise FileError(f"{place} is {value!r}: it needs a day, a month and one year.", code="F06", hint=hint)
    return value


def _distinct(found: Mapping[str, ColumnMap], schema: Schema) -> None:
    """Raise FileError F20 where two columns of the study would be read from one column of the table."""
    seen: dict[str, str] = {}
    for name in schema:
        column = found[name].column if name in found else schema.source(name)
        if column in seen:
            message = f"[data.columns] {seen[column]!r} and {name!r} are both {column!r} in the table."
            raise FileError(message, code="F20", hint="each column of the table once")
        seen[column] = name

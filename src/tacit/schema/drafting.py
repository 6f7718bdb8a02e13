"""Draft a schema from names and types of columns alone: bounds and levels are never taken from data (law 8).

A text file has no types.  What its cells look like (`Found`) is a comment in the draft, for the steward alone: it takes
a person to make it a declaration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, cast

from tacit.errors import SchemaError
from tacit.schema.column_words import OPEN
from tacit.schema.toml import key_text
from tacit.schema.type_words import without_values

Found: TypeAlias = Literal[
    "boolean",
    "codes",
    "padded",
    "whole",
    "number",
    "mostly number",
    "comma",
    "day",
    "marked",
    "mostly marked",
    "other day",
    "mostly day",
    "mostly other day",
    "few",
    "many",
    "empty",
    "unread",
]
"""What the cells of a text column look like; "unread" where nobody looked."""

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
FOUND_MARK: Final = "# found:"
"""Stands before what was computed from rows: whoever passes a file on can look for it."""
_FOUND: Final[dict[Found, tuple[str, str]]] = {
    "boolean": ('{ type = "Boolean" }', "two values, such as yes and no or 0 and 1; Category, if they have names"),
    "codes": (f'{{ type = "Integer", {_BOUNDS} }}', "few different whole numbers; Category, if they are codes"),
    "padded": (
        f'{{ type = "Category", levels = "{OPEN}" }}',
        "few different codes, some with a 0 before them: levels are texts, in quotes",
    ),
    "whole": (f'{{ type = "Integer", {_BOUNDS} }}', "whole numbers; PrivacyUnit, if they say whose row it is"),
    "number": (f'{{ type = "Real", {_BOUNDS} }}', "numbers"),
    "mostly number": (f'{{ type = "Real", {_BOUNDS} }}', "numbers in nearly all rows; `tacit import` lists the others"),
    "comma": (f'{{ type = "Real", {_BOUNDS} }}', "numbers with a decimal comma: `tacit import --decimal ,`"),
    "marked": (
        f'{{ type = "Real", {_BOUNDS} }}',
        "numbers with signs or marks between thousands: `tacit import --strip … --thousands …`, and says which",
    ),
    "mostly marked": (
        f'{{ type = "Real", {_BOUNDS} }}',
        "numbers, written otherwise, in nearly all rows; `tacit import` says how they are read, and lists the others",
    ),
    "day": (f'{{ type = "Date", {_BOUNDS} }}', "days, written 2024-01-31"),
    "other day": (
        f'{{ type = "Date", {_BOUNDS} }}',
        "days, written otherwise: `tacit import --dates %d.%m.%Y`",
    ),
    "mostly other day": (
        f'{{ type = "Date", {_BOUNDS} }}',
        "days, written otherwise, in nearly all rows: `tacit import --dates %d.%m.%Y`, which lists the others",
    ),
    "mostly day": (f'{{ type = "Date", {_BOUNDS} }}', "days in nearly all rows; `tacit import` lists the others"),
    "few": (f'{{ type = "Category", levels = "{OPEN}" }}', "few different texts"),
    "many": (
        f'{{ type = "PrivacyUnit", max_rows = "{OPEN}" }}',
        "many different texts; leave it out, unless it says whose row it is; Text, if frequent ones are to be found",
    ),
    "empty": (f'{{ type = "{OPEN}" }}', "no cell holds anything"),
    "unread": (f'{{ type = "{OPEN}" }}', ""),
}
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
    return _HEAD + "\n".join(typed_lines(columns).values()) + "\n"


def typed_lines(columns: Any) -> dict[str, str]:
    """Return a line of a `[schema]` for each column, by name, from what `draft` takes; errors as there."""
    types = _types(columns)
    if not types:
        raise SchemaError("there are no columns to draft a schema from.", code="S01", hint="check the file")
    return {name: _line(name, without_values(kind)) for name, kind in types.items()}


def suggested_lines(
    found: Mapping[str, Found],
    multiples: Mapping[str, float] | None = None,
    heaps: Mapping[str, float] | None = None,
) -> dict[str, str]:
    r"""Return a line for each column of a text file, by name: a comment, until a person has decided it.

    multiples: of columns of numbers what all their cells are multiples of, as far as that is known.  heaps: the same of
    what many are multiples of.

    >>> print(*suggested_lines({"age": "number", "name of street": "few"}).values(), sep="\n")
    # age = { type = "Real", lower = "?", upper = "?" }  # found: numbers
    # "name of street" = { type = "Category", levels = "?" }  # found: few different texts
    >>> print(suggested_lines({"fee": "number"}, {"fee": 0.5})["fee"].split("# found: ")[1])
    numbers, all of them multiples of 0.5: multiple_of = 0.5, if that is how they are recorded
    """
    known, many = multiples or {}, heaps or {}
    return {name: _suggestion(name, one, known.get(name), many.get(name)) for name, one in found.items()}


def _suggestion(name: str, found: Found, multiple: float | None, heap: float | None) -> str:
    if not name.strip() or not name.isprintable():
        return f"# {name!a}: a column needs a printable name"
    column, words = _FOUND[found]
    # of whole numbers an Integer knows that they are; of larger steps a Real
    if multiple is not None and (found == "number" or (found == "whole" and multiple > 1)):
        real = 'type = "Real" with ' if found == "whole" else ""
        words += f", all of them multiples of {multiple:g}: {real}multiple_of = {multiple:g}, if that is how they are "
        words += "recorded"
    if heap is not None and found in ("number", "whole"):
        real = 'type = "Real" with ' if found == "whole" else ""
        words += f", many of them multiples of {heap:.15g}: {real}heaped_at = {heap:.15g}, if people tell it in these"
    return f"# {key_text(name)} = {column}" + (f"  {FOUND_MARK} {words}" if words else "")


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

"""Types of document fields: one description both checks a document that is read and gives its JSON Schema.

Each type is a small frozen value.  `wrong` returns why a value is not allowed, as a text to be put after the place of
the value ("parts[0].grid" + " is 3: no object"); `words` returns the JSON Schema.  They read plain JSON values only,
in time linear in the text that these came from.  No data here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from math import isfinite
from sys import float_info
from typing import Any, Final, Protocol, TypeAlias, cast

from tacit.base.json_text import shown

Words: TypeAlias = dict[str, Any]
EXACT: Final = 2**53
"""Largest integer that every JSON reader keeps exact; larger ones are written as text."""
DIGITS: Final = 60
"""Largest number of digits of an integer; sums over 2**42 rows of products of 64 bits have about half as many."""


GREATEST: Final = int(float_info.max)
"""Largest integer that can be converted to a float."""


class Field(Protocol):
    """The allowed values of one field."""

    def wrong(self, value: Any) -> str | None:
        """Return why a value is not allowed, to follow the value's place (" is 0: not from 1 on"); None if it is."""
        ...

    def words(self) -> Words:
        """Return the field's JSON Schema (draft 2020-12)."""
        ...


def shown_value(value: Any) -> str:
    """Return a value as an error message shows it."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, Mapping | list):
        return "an object" if isinstance(value, Mapping) else "a list"
    if isinstance(value, int) and abs(value) > EXACT**2:
        return "a number of many digits"
    return repr(value)


@dataclass(frozen=True)
class TextField:
    """A text, which must match `pattern` and have at most `longest` characters, if given."""

    pattern: str | None = None
    description: str | None = None
    longest: int | None = None

    def wrong(self, value: Any) -> str | None:
        """See `Field.wrong`."""
        if not isinstance(value, str):
            return f" is {shown_value(value)}: no text"
        if self.longest is not None and len(value) > self.longest:
            return f" has {len(value):,} characters: more than {self.longest:,}"
        if self.pattern is not None and not _matches(self.pattern, value):
            return f" is {shown_value(value)}: not of the form {self.pattern}"
        return None

    def words(self) -> Words:
        """See `Field.words`."""
        made: Words = {"type": "string"} if self.pattern is None else {"type": "string", "pattern": self.pattern}
        return made if self.description is None else {"description": self.description, **made}


def _matches(pattern: str, value: str) -> bool:
    """Return whether a text has a pattern as JSON Schema means it: "$" is the end, not before a last line break too."""
    return re.search(re.sub(r"\$$", r"\\Z", pattern), value) is not None


@dataclass(frozen=True)
class Whole:
    """An integer from `least` to `most`."""

    least: int
    most: int = EXACT

    def wrong(self, value: Any) -> str | None:
        """See `Field.wrong`."""
        # `type`, as bool is a subclass of int
        if type(value) is int and self.least <= value <= self.most:
            return None
        return f" is {shown_value(value)}: no whole number from {self.least:,} to {self.most:,}"

    def words(self) -> Words:
        """See `Field.words`."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True)
class Long:
    """An exact integer of at most `digits` digits: a number up to 2**53, text beyond; above 0 if `positive`."""

    description: str
    positive: bool = False
    digits: int = DIGITS

    def wrong(self, value: Any) -> str | None:
        """See `Field.wrong`."""
        if type(value) is int:
            good = -EXACT <= value <= EXACT
        else:
            good = isinstance(value, str) and len(value) <= self.digits + 1 and _matches(self._pattern, value)
            # text only beyond EXACT, so that every integer has one spelling
            good = bool(good) and abs(int(value)) > EXACT
        if not good:
            return f" is {shown_value(value)}: no integer (text beyond 2**53, at most {self.digits} digits)"
        return f" is {shown_value(value)}: not above 0" if self.positive and int(value) <= 0 else None

    @property
    def _pattern(self) -> str:
        # 2**53 has 16 digits; no leading zeros, so that the spelling is the only one
        return f"^{'' if self.positive else '-?'}[1-9][0-9]{{15,{self.digits - 1}}}$"

    def words(self) -> Words:
        """See `Field.words`."""
        least = 1 if self.positive else -EXACT
        plain: Words = {"type": "integer", "minimum": least, "maximum": EXACT}
        return {"description": self.description, "anyOf": [plain, {"type": "string", "pattern": self._pattern}]}


@dataclass(frozen=True)
class Number:
    """A finite number, or one above 0."""

    positive: bool = False

    def wrong(self, value: Any) -> str | None:
        """See `Field.wrong`."""
        good = isinstance(value, float) and isfinite(value)
        # JSON readers give integers for numbers without a point, also beyond the floats
        if good or (type(value) is int and abs(value) <= GREATEST):
            return f" is {shown_value(value)}: not above 0" if self.positive and value <= 0 else None
        return f" is {shown_value(value)}: no finite number"

    def words(self) -> Words:
        """See `Field.words`."""
        return {"type": "number", "exclusiveMinimum": 0} if self.positive else {"type": "number"}


@dataclass(frozen=True)
class FlagField:
    """True or false."""

    def wrong(self, value: Any) -> str | None:
        """See `Field.wrong`."""
        return None if isinstance(value, bool) else f" is {shown_value(value)}: neither true nor false"

    def words(self) -> Words:
        """See `Field.words`."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class OneOf:
    """One of a few texts or numbers."""

    values: tuple[Any, ...]

    def wrong(self, value: Any) -> str | None:
        """See `Field.wrong`."""
        # True == 1 in Python; lists and objects are in no enumeration
        if not isinstance(value, bool | list | Mapping) and value in self.values:
            return None
        return f" is {shown_value(value)}: none of {', '.join(map(str, self.values[:12]))}"

    def words(self) -> Words:
        """See `Field.words`."""
        return {"enum": [*self.values]} if len(self.values) > 1 else {"const": next(iter(self.values))}


@dataclass(frozen=True)
class OrNull:
    """A value of another field, or null."""

    one: Field

    def wrong(self, value: Any) -> str | None:
        """See `Field.wrong`."""
        return None if value is None else self.one.wrong(value)

    def words(self) -> Words:
        """See `Field.words`."""
        return {"anyOf": [self.one.words(), {"type": "null"}]}


@dataclass(frozen=True)
class ListField:
    """A list of `least` to `most` items of one field; no item twice if `unique`."""

    one: Field
    least: int = 0
    most: int | None = None
    unique: bool = False

    def wrong(self, value: Any) -> str | None:
        """See `Field.wrong`."""
        if not isinstance(value, list):
            return f" is {shown_value(value)}: no list"
        items = cast("list[Any]", value)
        if len(items) < self.least or (self.most is not None and len(items) > self.most):
            return f" is a list of {len(items):,}"
        if self._plain(items):
            return None
        for place, item in enumerate(items):
            reason = self.one.wrong(item)
            if reason is not None:
                return f"[{place}]{reason}"
        # repr, since lists and objects cannot be put into a set
        if self.unique and not all_different([item if isinstance(item, str) else repr(item) for item in items]):
            return " has an entry twice"
        return None

    def _plain(self, items: list[Any]) -> bool:
        """Return whether all items are allowed integers that are JSON numbers; a fast check without a call for each."""
        if not (isinstance(self.one, Named) and isinstance(self.one.one, Long)) or self.one.one.positive:
            return False
        # `type`, not isinstance: bool is refused
        return bool(items) and set(map(type, items)) == {int} and min(items) >= -EXACT and max(items) <= EXACT

    def words(self) -> Words:
        """See `Field.words`."""
        made: Words = {"type": "array", "items": self.one.words()}
        made |= {"minItems": self.least} if self.least else {}
        made |= {} if self.most is None else {"maxItems": self.most}
        return made | ({"uniqueItems": True} if self.unique else {})


@dataclass(frozen=True)
class PairField:
    """A list of two values, each with its own field."""

    first: Field
    second: Field

    def wrong(self, value: Any) -> str | None:
        """See `Field.wrong`."""
        if not isinstance(value, list) or len(cast("list[Any]", value)) != 2:
            return f" is {shown_value(value)}: no list of two"
        for place, (one, item) in enumerate(zip((self.first, self.second), cast("list[Any]", value), strict=True)):
            reason = one.wrong(item)
            if reason is not None:
                return f"[{place}]{reason}"
        return None

    def words(self) -> Words:
        """See `Field.words`."""
        return {"type": "array", "prefixItems": [self.first.words(), self.second.words()], "minItems": 2, "maxItems": 2}


@dataclass(frozen=True)
class Record:
    """An object with these fields.

    others: the rule for further fields; None where none are defined.  A reader accepts fields that it does not know,
    since a later version may have added them; the schema is closed, since it describes what this version writes.
    """

    own: Mapping[str, Field]
    description: str = ""
    optional: tuple[str, ...] = ()
    others: Field | None = None

    def wrong(self, value: Any) -> str | None:
        """See `Field.wrong`."""
        if not isinstance(value, Mapping):
            return f" is {shown_value(value)}: no object"
        given = cast("Mapping[str, Any]", value)
        for name, one in self.own.items():
            if name not in given:
                if name not in self.optional:
                    return f" has no {name!r}"
                continue
            reason = one.wrong(given[name])
            if reason is not None:
                return f".{name}{reason}"
        if self.others is not None:
            for name in given:
                reason = None if name in self.own else self.others.wrong(given[name])
                if reason is not None:
                    return f".{shown(name)}{reason}"
        return None

    def words(self) -> Words:
        """See `Field.words`."""
        properties = {name: one.words() for name, one in self.own.items()}
        required = [name for name in properties if name not in self.optional]
        more = False if self.others is None else self.others.words()
        made: Words = {"type": "object"}
        if properties:
            made |= {"properties": properties, "required": required}
        made |= {"additionalProperties": more}
        return {"description": self.description, **made} if self.description else made


@dataclass(frozen=True)
class ByKind:
    """One of several kinds of object, chosen by the value of the field `by`."""

    kinds: tuple[Record, ...]
    by: str
    description: str = ""

    def wrong(self, value: Any) -> str | None:
        """See `Field.wrong`."""
        if not isinstance(value, Mapping):
            return f" is {shown_value(value)}: no object"
        given = cast("Mapping[str, Any]", value)
        if self.by not in given:
            return f" has no {self.by!r}"
        for one in self.kinds:
            if one.own[self.by].wrong(given[self.by]) is None:
                return one.wrong(given)
        return f".{self.by} is {shown_value(given[self.by])}: not known"

    def words(self) -> Words:
        """See `Field.words`."""
        made: Words = {"oneOf": [one.words() for one in self.kinds]}
        return {"description": self.description, **made} if self.description else made


@dataclass(frozen=True)
class Named:
    """A field that the JSON Schema defines once, under a name."""

    name: str
    one: Field
    description: str | None = None

    def wrong(self, value: Any) -> str | None:
        """See `Field.wrong`."""
        return self.one.wrong(value)

    def words(self) -> Words:
        """See `Field.words`."""
        made: Words = {"$ref": f"#/$defs/{self.name}"}
        return made if self.description is None else {**made, "description": self.description}


@dataclass(frozen=True)
class ReadByItsClass:
    """An object that another class reads and checks (prices, laws, queries), with its JSON Schema."""

    schema: Mapping[str, Any]

    def wrong(self, value: Any) -> str | None:
        """See `Field.wrong`."""
        return None if isinstance(value, Mapping) else f" is {shown_value(value)}: no object"

    def words(self) -> Words:
        """See `Field.words`."""
        return dict(self.schema)


def defaults(cls: type[Any]) -> tuple[str, ...]:
    """Return the fields of a class that a document may omit: those with a default."""
    return tuple(f.name for f in fields(cls) if f.default is not MISSING)


def all_different(names: Sequence[str]) -> bool:
    """Return whether all names are different."""
    return len(set(names)) == len(names)

"""What a column's type holds, and how a query reads a column.  Public facts only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from tacit.errors import SourceError
from tacit.schema.type_words import without_values

Holds: TypeAlias = Literal[
    "number", "boolean", "text", "date", "identifier", "nothing", "anything", "other", "several", "mixed"
]
"""What cells of a type are.  `anything`: raw text, read as the schema declares it.  `nothing`: nulls without a type.
`several`: the engine cannot distinguish this column from another one by name, so it cannot be read.  `mixed`: a list
whose cells have several types."""

How: TypeAlias = Literal["number", "boolean", "date", "text", "index", "listed", "unit", "part"]

PER_DAY: Final = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
KNOWN: Final = {"s": (2**63 - 2) // 10**6, "ms": (2**63 - 2) // 10**3, "us": 2**63 - 2, "ns": 2**63 - 2}
"""The greatest count of each unit since 1970 that is an instant: one whose microseconds fit in 64 bits.  A cell beyond
it is missing on every engine alike, as are the largest integers, which stand for infinity on some."""

LAST_DAY: Final = 2**31 - 2
"""The greatest count of days since 1970 that is a date."""


@dataclass(frozen=True)
class ColumnType:
    """An engine's own name of a type, and what it holds."""

    words: str
    holds: Holds

    def __post_init__(self) -> None:
        """Cut off values listed in a type's name."""
        object.__setattr__(self, "words", without_values(self.words))


@dataclass(frozen=True)
class Reading:
    """A column, and the form in which a query reads it.

    number:  something that casts to Float64 without an error.
    boolean: the same; of a Boolean, 0 or 1 (the expressions that use it handle other numbers).
    date:    days since 1970-01-01 as Float64: of a date, of a timestamp as it is written where it has no time zone,
             in UTC where it is an instant.
    unit:    a value to group by, equal exactly for rows of the same person: text compared by its characters, numbers
             by value (0.0 equals -0.0), null where missing or not finite.
    text:    where the cell equals one of `levels`, character by character, that text or its place, from 1; else null.
    index:   the same, but always its place.
    part:    the number that group `levels[1]` of the regular expression `levels[0]` finds in the text of the cell; null
             where it finds none.
    listed:  1 where the cell equals one of `levels`, 0 where it is another, null where it is missing.
    """

    name: str
    how: How
    levels: tuple[str, ...] = ()


def check_distinct(names: Sequence[str], *, ignore_case: bool = False) -> None:
    """Raise SourceError D04 where two columns have one name; `ignore_case`: for engines that ignore case in names."""
    seen: set[str] = set()
    for name in names:
        known = name.lower() if ignore_case else name
        if known in seen:
            alike = ", and its engine ignores case in names" if ignore_case else ""
            raise SourceError(f"there are two columns {name!r}{alike}.", code="D04", hint="rename one")
        seen.add(known)

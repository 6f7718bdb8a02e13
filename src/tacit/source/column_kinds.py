"""Column types in our own few words, and how a column is to be read.  Public facts only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from tacit.errors import SourceError

Holds: TypeAlias = Literal["number", "boolean", "text", "date", "identifier", "nothing", "anything", "other", "several"]
"""What cells of a type are: `anything` is raw text, read as declared; `nothing` is nulls without a type; `several`:
there are columns that the engine does not tell from this one, so that it cannot be read."""

How: TypeAlias = Literal["number", "boolean", "date", "text", "index", "listed", "unit", "part"]

PER_DAY: Final = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
KNOWN: Final = {"s": (2**63 - 2) // 10**6, "ms": (2**63 - 2) // 10**3, "us": 2**63 - 2, "ns": 2**63 - 2}
"""The greatest count of each unit that is an instant: one whose microseconds are a 64-bit integer.  A cell beyond it is
missing on every engine alike, as are the last integers, which stand for infinity on some."""

LAST_DAY: Final = 2**31 - 2
"""The same for days."""

LISTS: Final = re.compile(r"\b(enum|categorical|dictionary|category)\s*\(.*", re.IGNORECASE | re.DOTALL)
"""Words of a type whose brackets may hold its values."""


@dataclass(frozen=True)
class ColumnType:
    """An engine's own words for a type, and what it holds."""

    words: str
    holds: Holds

    def __post_init__(self) -> None:
        """A type whose words list values, ENUM('a', 'b'), is cut off there: values are rows', and no public fact."""
        found = LISTS.search(self.words)
        if found is not None:
            object.__setattr__(self, "words", f"{self.words[: found.start()]}{found[1]}")


@dataclass(frozen=True)
class Reading:
    """A column as a query wants it.

    number:  something that casts to Float64 without an error.
    boolean: the same, 0 or 1 (other values are somebody else's to refuse).
    date:    days since 1970-01-01 as Float64: of a date, of a timestamp as it is written where it has no time zone,
             in UTC where it is an instant.
    unit:    something that can be grouped by, equal where it is the same person: text by its characters, numbers as
             they are (0.0 and -0.0 alike), null where it is missing or not finite.
    text:    where the cell equals one of `levels`, character by character, that text or its place, from 1; else null.
    index:   the same, but always its place.
    part:    the number that group `levels[1]` of the regular expression `levels[0]` finds in the text of the cell; null
             where it finds none.
    listed:  1 where the cell equals one of `levels`, 0 where it is another, null where it is missing.
    """

    name: str
    how: How
    levels: tuple[str, ...] = ()


def distinct(names: Sequence[str], *, ignore_case: bool = False) -> None:
    """SourceError D04 where two columns have one name; `ignore_case`: of an engine that does not tell a from A."""
    seen: set[str] = set()
    for name in names:
        known = name.lower() if ignore_case else name
        if known in seen:
            alike = ", capitals or not: its engine does not tell a from A" if ignore_case else ""
            raise SourceError(f"column {name!r} is there twice{alike}.", code="D04", hint="rename one")
        seen.add(known)

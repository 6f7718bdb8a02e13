"""Parsing of cells of a raw text file, with counts of missing and unreadable ones for the curator.  INSIDE the wall.

One reader a column, by its declared type; a cell that cannot be read is None.  The same text always means the same, so
each distinct text is read once and remembered, up to a bound.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, Literal, TypeAlias

from tacit.schema import Boolean, Category, Column, Date, Integer, PrivacyUnit, Real, Text
from tacit.source.raw_text.written_cells import Written
from tacit.source.reading.truth_words import FALSE, TRUE

SHOWN: Final = 5
"""The most distinct texts quoted for one column."""
_REMEMBERED: Final = 2**16
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# 64-bit integers have at most 19 digits
_INTEGER: Final = re.compile(r"[+-]?\d{1,19}", re.ASCII)
_DAY: Final = re.compile(r"(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_LEAST, _MOST = -(2**63), 2**63 - 1

Finding: TypeAlias = Literal["read", "missing", "unreadable", "outside", "unlisted"]


@dataclass
class CellTally:
    """Counts of one column's cells: missing, unreadable, out of bounds, unlisted."""

    missing: int = 0
    unreadable: int = 0
    outside: int = 0
    unlisted: int = 0


class CellReader:
    """Reads the cells of one column and counts what it finds in `tally`.

    >>> cells = CellReader(Integer(0, 10), CellTally(), ("", "NA"), Written())
    >>> cells.read(["3", " 4.0", "NA", "4.5", "99"]), cells.tally.unreadable, cells.tally.outside
    ([3, 4, None, None, 99], 1, 1)
    """

    def __init__(self, column: Column, tally: CellTally, nulls: tuple[str, ...], written: Written) -> None:
        self.tally = tally
        self.texts: list[str] = []
        """Distinct texts that are unreadable or unlisted, the first five."""
        self._column = column
        self._nulls = frozenset(nulls)
        self._typed = _reader(column, written)
        self._codes = frozenset(column.codes if isinstance(column, Category) else ())
        self._known: dict[str, tuple[Any, Finding]] = {}

    def read(self, texts: list[str]) -> list[Any]:
        """Parse a batch of cells; None where missing or unreadable."""
        known, learn = self._known, self._learn
        # a finding is a pair and never false, also where its value is None or 0
        found = [known.get(text) or learn(text) for text in texts]
        counts = Counter(finding for _, finding in found)
        self.tally.missing += counts["missing"]
        self.tally.unreadable += counts["unreadable"]
        self.tally.outside += counts["outside"]
        self.tally.unlisted += counts["unlisted"]
        return [value for value, _ in found]

    def _learn(self, text: str) -> tuple[Any, Finding]:
        found = self._judge(text)
        if found[1] in ("unreadable", "unlisted") and len(self.texts) < SHOWN:
            shown = text.strip()[:40]
            if shown not in self.texts:
                self.texts.append(shown)
        # a bound on memory for columns of free text; forgetting costs time only
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[text] = found
        return found

    def _judge(self, text: str) -> tuple[Any, Finding]:
        if text in self._codes:  # a declared level is a level, "NA" (Namibia) and blanks around it included
            return text, "read"
        word = text.strip()
        if word in self._nulls and word not in self._codes:
            return None, "missing"
        value = self._typed(word)
        if value is None:
            return None, "unreadable"
        return value, _place(value, self._column)


def _place(value: Any, column: Column) -> Finding:
    if isinstance(column, Category):
        return "read" if value in column.codes else "unlisted"
    if isinstance(column, Real | Integer | Date):
        low: Any = column.lower
        high: Any = column.upper
        return "read" if low is None or low <= value <= high else "outside"
    return "read"


def _reader(column: Column, written: Written) -> Callable[[str], Any]:
    """Return a function that parses text without outer blanks, None where it is no value of the column's type."""

    def number(word: str) -> float | None:
        plain = written.plain(word)
        value = float(plain) if _NUMBER.fullmatch(plain) else None
        return value if value is None or abs(value) < float("inf") else None

    def whole(word: str) -> int | None:
        plain = written.plain(word)
        if _INTEGER.fullmatch(plain):
            value: float | None = int(plain)
        else:
            value = number(word)
            # a float beyond 2**53 may stand for another integer than the one that was written
            value = None if value is None or value != int(value) or abs(value) > 2**53 else int(value)
        return value if isinstance(value, int) and _LEAST <= value <= _MOST else None

    match column:
        case Real():
            return number
        case Integer():
            return whole
        case Boolean():
            return _boolean
        case Date():
            return _day if written.dates is None else written.day
        case PrivacyUnit() | Text():
            return _text
        case Category():
            code = column.codes[0]
            return _boolean if isinstance(code, bool) else whole if isinstance(code, int) else _text


def _text(word: str) -> str | None:
    return word or None


def _boolean(word: str) -> bool | None:
    low = word.lower()
    return True if low in TRUE else False if low in FALSE else None


def _day(word: str) -> date | None:
    found = _DAY.fullmatch(word)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None

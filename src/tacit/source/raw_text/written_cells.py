"""How numbers and days are written in a raw text file, as its curator declares it.  INSIDE the wall.

`tacit import` reads text as declared and guesses nothing.  What cells that could not be read *look like* is advice for
the curator's eyes (`advice`), beside the report of the import.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Final

from tacit.errors import FileError
from tacit.schema import Column, Date, Integer, Real
from tacit.schema.site_columns import date_format

GROUPS: Final = (".", ",", "'", " ", "\u2019", "\u00a0", "\u202f", "_")
"""Marks that may stand between thousands."""
PIVOT: Final = 69
"""Two-digit years from here to 99 are 1969 to 1999, and 00 to 68 are 2000 to 2068, as in POSIX and in site files."""
SIGNS: Final = "%\u2030€$£¥"
_DIGITS: Final = {"Y": "[0-9]{4}", "y": "[0-9]{2}"}
_SIGNED: Final = re.compile(rf"[{SIGNS}]?\s?([+-]?\d[^{SIGNS}]*)\s?[{SIGNS}]?")
_POINTS: Final = re.compile(
    r"[+-]?\d{1,3}(?P<group>[.' \u2019\u00a0\u202f])\d{3}(?:(?P=group)\d{3})*(?P<mark>(?:(?!(?P=group))[.,])\d+)?"
)
_COMMAS: Final = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_DECIMAL: Final = re.compile(r"[+-]?(\d+,\d*|,\d+)")
_DAYS: Final = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})")


@dataclass(frozen=True)
class Written:
    """The decimal mark, the mark between thousands, signs around numbers, and the form of days; FileError F11, F06.

    strip: characters that are dropped from a number, wherever they stand in it, such as "%€"; its unit is not changed.
    dates: as the `format` of a site file; None for 2024-01-31.

    >>> Written(decimal=",", thousands=".", strip="€").plain("1.234,50 €")
    '1234.50'
    >>> Written(dates="%d.%m.%Y").day("31.1.2024")
    datetime.date(2024, 1, 31)
    """

    decimal: str = "."
    thousands: str = ""
    strip: str = ""
    dates: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise FileError(f"decimal is {self.decimal!r}: not a point or a comma.", code="F11", hint='decimal=","')
        if self.thousands and (self.thousands not in GROUPS or self.thousands == self.decimal):
            other = self.thousands != self.decimal
            what = "no mark that stands between thousands" if other else "the decimal mark, too"
            hint = 'thousands=",", or a point, a blank, an apostrophe' if other else 'decimal=",", thousands="."'
            raise FileError(f"thousands is {self.thousands!r}: {what}.", code="F11", hint=hint)
        odd = next((mark for mark in self.strip if mark.isalnum() or mark in "+-.,\r\n"), None)
        if odd is not None:
            message = f"strip has {odd!r}: a part of numbers."
            raise FileError(message, code="F11", hint='strip="%€"')
        if self.dates is not None:
            date_format(self.dates, "dates", "dates=")

    def plain(self, word: str) -> str:
        """Return a number with a decimal point and no other marks; text that is none stays none."""
        if self.strip:
            word = word.translate(dict.fromkeys(map(ord, self.strip))).strip()
        if self.thousands:
            grouped = _grouped(self.thousands, self.decimal).fullmatch(word)
            word = word.replace(self.thousands, "") if grouped else word
        # an underscore matches no number: "1.234" with a decimal comma is unreadable, neither 1.234 nor 1234
        return word if self.decimal == "." else word.replace(".", "_").replace(self.decimal, ".")

    def day(self, word: str) -> date | None:
        """Return the day that a text in the declared form names, else None."""
        found = self._days.fullmatch(word)
        if found is None:
            return None
        part = {letter: int(text) for letter, text in found.groupdict().items()}
        if any(part.get(letter, 0) > most for letter, most in (("H", 23), ("M", 59), ("S", 59))):
            return None
        year = part["Y"] if "Y" in part else part["y"] + (1900 if part["y"] >= PIVOT else 2000)
        try:
            return date(year, part["m"], part["d"])
        except ValueError:
            return None

    @cached_property
    def _days(self) -> re.Pattern[str]:
        """The declared form of a day: the letters of `dates`, each with a group of its own."""
        made, rest = "", iter(self.dates or "")
        for character in rest:
            if character == "%":
                letter = next(rest)
                made += f"(?P<{letter}>{_DIGITS.get(letter, '[0-9]{1,2}')})"
            else:
                made += re.escape(character)
        return re.compile(made)


def _grouped(mark: str, decimal: str) -> re.Pattern[str]:
    """Return the form of a number whose thousands are marked; others keep their marks, and are unreadable."""
    return re.compile(rf"[+-]?\d{{1,3}}({re.escape(mark)}\d{{3}})+({re.escape(decimal)}\d*)?", re.ASCII)


def advice(column: Column, texts: Sequence[str]) -> str | None:
    """Return the options of `tacit import` with which the unreadable texts of a column could be read, None if unknown.

    >>> advice(Real(0, 1), ["1.234,50 €", "17.000 €"])
    "--strip '€' --decimal , --thousands ."
    >>> advice(Date("2024-01-01", "2024-12-31"), ["07.04.2024", "13.10.2024"])
    '--dates %d.%m.%Y'
    """
    if not texts:
        return None
    if isinstance(column, Date):
        return _day_advice(texts)
    return _number_advice(texts) if isinstance(column, Real | Integer) else None


def _day_advice(texts: Sequence[str]) -> str | None:
    found = [_DAYS.fullmatch(text) for text in texts]
    first = next((one for one in found if one is not None), None)
    if first is None:
        return None
    years = {len(one[4]) for one in found if one is not None}
    days = [(int(one[1]), int(one[3])) for one in found if one is not None]
    order = ("%m", "%d") if any(second > 12 for _, second in days) else ("%d", "%m")
    return f"--dates {first[2].join((*order, '%Y' if years == {4} else '%y'))}"


def _number_advice(texts: Sequence[str]) -> str | None:
    signs = "".join(sign for sign in SIGNS if any(sign in text for text in texts))
    bare = [found[1].strip() for text in texts if (found := _SIGNED.fullmatch(text))]
    if not bare:
        return None
    words = [f"--strip '{signs}'"] if signs else []
    points = [found for text in bare if (found := _POINTS.fullmatch(text))]
    if any(_COMMAS.fullmatch(text) and (text.count(",") > 1 or "." in text) for text in bare):
        return " ".join((*words, "--thousands ,"))
    commas = any(_DECIMAL.fullmatch(text) for text in bare)
    if commas or any((one["mark"] or "").startswith(",") or one["group"] == "." for one in points):
        words.append("--decimal ,")
    if points:
        mark = points[0]["group"]
        words.append(f"--thousands {mark if mark == '.' else repr(mark)}")
    return " ".join(words) or None

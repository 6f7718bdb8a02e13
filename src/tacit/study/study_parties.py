"""Sections of a study that a curator's file does not have: closing date, combination of answers, parties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from tacit.errors import FileError, nearest
from tacit.release.signing import KIND, is_public
from tacit.schema.toml_words import known, section_of, text_of
from tacit.study.curator_file import rows_of

Effects: TypeAlias = Literal["common", "random"]
COMBINE: Final = ("effects", "minimum", "level", "overlap", "parties")
PARTY: Final = ("contact", "key", "rows", "optional")


@dataclass(frozen=True)
class Combine:
    """How answers become one: `effects` "common" (one and the same quantity everywhere) or "random" (quantities that
    differ from party to party), the `minimum` number of answers for a pooled result, the `level` of its intervals.
    `overlap`: whether people may be in several parties, so that what parties spend on them adds up.  `parties`: about
    how many will answer, None where not said: blocks of `SampleAndAggregate` are then as many as suit their mean.
    """

    effects: Effects = "random"
    minimum: int = 1
    level: float = 0.95
    overlap: bool = False
    parties: int | None = None

    def public(self) -> dict[str, object]:
        """Plain values; the last two where said: studies from before there were these words keep their digest."""
        words: dict[str, object] = {"effects": self.effects, "minimum": self.minimum, "level": self.level}
        words |= {"overlap": True} if self.overlap else {}
        return words if self.parties is None else {**words, "parties": self.parties}


@dataclass(frozen=True)
class Party:
    """One party: whom to write to, the public `key` of its signatures, its number of `rows` where it differs from the
    study's and may be known, whether the study is complete without it (`optional`).
    """

    contact: str | None = None
    key: str | None = None
    rows: int | None = None
    optional: bool = False


def combine_of(words: Mapping[str, Any]) -> Combine:
    """The `[combine]` section; FileError F05 for an unknown key, F06 for a value that is none."""
    given = section_of(words, "combine")
    known("[combine]", given, COMBINE)
    effects, minimum, level = given.get("effects", "random"), given.get("minimum", 1), given.get("level", 0.95)
    if effects not in get_args(Effects):
        guess = nearest(str(effects), get_args(Effects)) or "random"
        message = f"[combine] effects is {effects!r}: neither common nor random."
        raise FileError(message, code="F06", hint=f'effects = "{guess}"')
    if isinstance(minimum, bool) or not isinstance(minimum, int) or minimum < 1:
        message = f"[combine] minimum is {minimum!r}: not a whole number from 1 on."
        raise FileError(message, code="F06", hint="minimum = 25, answers at least")
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0.5 <= level < 1:
        message = f"[combine] level is {level!r}: not from 0.5 to below 1."
        raise FileError(message, code="F06", hint="level = 0.95")
    overlap = given.get("overlap", False)
    if not isinstance(overlap, bool):
        message = f"[combine] overlap is {overlap!r}: neither true nor false."
        raise FileError(message, code="F06", hint="overlap = true, where people may be in several parties")
    return Combine(cast(Effects, effects), minimum, float(level), overlap, _expected(given, minimum))


def _expected(given: Mapping[str, Any], minimum: int) -> int | None:
    """How many parties will answer; FileError F06 for what is no number, or fewer than are needed."""
    parties = given.get("parties")
    if parties is None:
        return None
    if isinstance(parties, bool) or not isinstance(parties, int) or parties < 1:
        message = f"[combine] parties is {parties!r}: not a whole number from 1 on."
        raise FileError(message, code="F06", hint="parties = 40, about as many as will answer")
    if parties < minimum:
        message = f"[combine] parties is {parties:,}, and minimum {minimum:,}: nothing would be pooled."
        raise FileError(message, code="F06", hint=f"parties = {minimum}")
    return parties


def parties_of(words: Mapping[str, Any]) -> dict[str, Party]:
    """The `[parties.NAME]` sections, in order; FileError F05, F06 in the place that is wrong."""
    return {name: _party(name, given) for name, given in section_of(words, "parties").items()}


def _party(name: str, given: object) -> Party:
    place = f"[parties.{name}]"
    if not name.strip() or not name.isprintable():
        raise FileError(f"a party is called {name!r}.", code="F06", hint="[parties.st-mary]")
    if not isinstance(given, Mapping):
        hint = f'{place}, then contact = "data@st-mary.example" on a line of its own'
        raise FileError(f"{place} is {given!r}, not a section.", code="F06", hint=hint)
    words = cast("Mapping[str, Any]", given)
    known(place, words, PARTY)
    optional = words.get("optional", False)
    if not isinstance(optional, bool):
        message = f"{place} optional is {optional!r}: neither true nor false."
        raise FileError(message, code="F06", hint="optional = true")
    return Party(text_of(words, "contact", place), _key(words, place), rows_of(words.get("rows"), place), optional)


def _key(words: Mapping[str, Any], place: str) -> str | None:
    """A public key as text: its kind, a colon, base64."""
    key = text_of(words, "key", place)
    if key is not None and not is_public(key):
        message = f"{place} key is {key!r}: no Ed25519 public key."
        raise FileError(message, code="F06", hint=f'key = "{KIND}…", as `tacit keys new` prints it')
    return key


def closes_of(words: Mapping[str, Any]) -> date | None:
    """The last day on which answers count; FileError F06 for what is no day."""
    value = words.get("closes")
    if value is None:
        return None
    if not isinstance(value, date) or isinstance(value, datetime):
        raise FileError(f"closes is {value!r}: not a day.", code="F06", hint="closes = 2025-03-31, without quotes")
    return value

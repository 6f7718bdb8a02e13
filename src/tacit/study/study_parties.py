"""The sections of a study that a curator's file does not have: closing date, combination of answers, parties."""

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
COMBINE: Final = ("effects", "minimum", "level", "overlap", "parties", "linear")
PARTY: Final = ("contact", "key", "rows", "optional")


@dataclass(frozen=True)
class Combine:
    """How answers are combined.

    effects: "common" (one true value, the same for all parties) or "random" (true values differ between parties).
    minimum: smallest number of answers for a pooled result.  level: of its intervals.  overlap: whether a person may be
    in several parties, so that the parties' privacy costs for that person add up.  parties: about how many parties will
    answer, None where not given; the number of blocks of `SampleAndAggregate` is chosen for the mean over them.
    linear: whether means of regressions are taken to be linear however far out rows lie.
    """

    effects: Effects = "random"
    minimum: int = 1
    level: float = 0.95
    overlap: bool = False
    parties: int | None = None
    linear: bool = False

    def public(self) -> dict[str, object]:
        """Return plain values; the last three only where set, so that older studies keep their digest."""
        words: dict[str, object] = {"effects": self.effects, "minimum": self.minimum, "level": self.level}
        words |= {name: True for name in ("overlap", "linear") if getattr(self, name)}
        return words if self.parties is None else {**words, "parties": self.parties}


@dataclass(frozen=True)
class Party:
    """One party of a study.

    contact: whom to write to.  key: the public key of its signatures.  rows: its number of rows, where it is public and
    differs from the study's.  optional: whether the study is complete without it.
    """

    contact: str | None = None
    key: str | None = None
    rows: int | None = None
    optional: bool = False


def combine_of(words: Mapping[str, Any]) -> Combine:
    """Return the `[combine]` section; FileError F05 for an unknown key, F06 for an invalid value."""
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
    overlap = _flag(given, "overlap", "where people may be in several parties")
    linear = _flag(given, "linear", "where means of regressions are linear however far out rows lie")
    return Combine(cast(Effects, effects), minimum, float(level), overlap, _expected(given, minimum), linear)


def _flag(given: Mapping[str, Any], name: str, where: str) -> bool:
    """Return whether a key is set; FileError F06 for anything but true and false."""
    value = given.get(name, False)
    if not isinstance(value, bool):
        message = f"[combine] {name} is {value!r}: neither true nor false."
        raise FileError(message, code="F06", hint=f"{name} = true, {where}")
    return value


def _expected(given: Mapping[str, Any], minimum: int) -> int | None:
    """Return the expected number of parties; FileError F06 for an invalid number, or one below `minimum`."""
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
    """Return the parties of the `[parties.NAME]` sections, in order; FileError F05, F06 with the section's name."""
    return {name: _party(name, given) for name, given in section_of(words, "parties").items()}


def _party(name: str, given: object) -> Party:
    """Return the party of one section."""
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
    """Return a party's public key ("ed25519:" and base64), None without one; FileError F06 for an invalid key."""
    key = text_of(words, "key", place)
    if key is not None and not is_public(key):
        message = f"{place} key is {key!r}: no Ed25519 public key."
        raise FileError(message, code="F06", hint=f'key = "{KIND}…", as `tacit keys new` prints it')
    return key


def closes_of(words: Mapping[str, Any]) -> date | None:
    """Return the last day on which answers are accepted, None without one; FileError F06 for anything but a day."""
    value = words.get("closes")
    if value is None:
        return None
    # datetime is a subclass of date, and a time of day would need a zone
    if not isinstance(value, date) or isinstance(value, datetime):
        raise FileError(f"closes is {value!r}: not a day.", code="F06", hint="closes = 2025-03-31, without quotes")
    return value

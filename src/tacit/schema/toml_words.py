"""Checks of TOML files: unknown keys, sections and text values, with errors that name the section."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from tacit.errors import FileError, TacitError, nearest


def located(place: str) -> Any:
    """Return a function that runs a reader and prefixes the message of its errors with the section `place`."""

    def run(read: Any, where: str = place) -> Any:
        try:
            return read()
        except TacitError as problem:
            # a reader may have named the section itself
            named = problem.message.startswith(f"{where} ")
            problem.message = problem.message if named else f"{where} {problem.message}"
            raise

    return run


def section_of(words: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the section `name`, empty where there is none; FileError F06 where it is not a section."""
    found = words.get(name, {})
    if not isinstance(found, Mapping):
        raise FileError(f"{name} is {found!r}, not a section.", code="F06", hint=f"[{name}]")
    return cast("Mapping[str, Any]", found)


SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("query", "queries", "question", "questions", "asks", "release", "measure"), ("ask",)),
    **dict.fromkeys(("price", "cost", "pay", "charge"), ("spend",)),
    **dict.fromkeys(("columns", "fields", "variables", "types"), ("schema", "data")),
    **dict.fromkeys(("source", "input", "file", "dataset", "path"), ("path", "data")),
    **dict.fromkeys(("privacy", "promise", "limit"), ("budget",)),
    **dict.fromkeys(("sites", "hospitals", "members", "site", "party"), ("parties",)),
    **dict.fromkeys(("pool", "pooling", "meta", "meta-analysis"), ("combine",)),
    **dict.fromkeys(("eps", "ε"), ("epsilon",)),
    **dict.fromkeys(("version", "format"), ("tacit",)),
    **dict.fromkeys(("divide", "factor", "scale", "unit", "units"), ("multiply",)),
    **dict.fromkeys(("map", "mapping", "levels", "rename", "values"), ("recode",)),
    **dict.fromkeys(("n", "size", "row", "nrows"), ("rows",)),
}
"""Other words for sections and keys: the first of these that may stand there is meant."""


def known(place: str, words: Mapping[str, Any], words_known: tuple[str, ...]) -> None:
    """Raise FileError F05, with the nearest known key, for a key that is not in `words_known`."""
    for key in words:
        if key not in words_known:
            meant = next((one for one in SECTIONS.get(key, ()) if one in words_known), None)
            guess = meant or nearest(key, words_known) or f"one of {', '.join(words_known)}"
            raise FileError(f"{place} has {key!r}, which is not a known key.", code="F05", hint=guess)


def text_of(words: Mapping[str, Any], key: str, place: str) -> str | None:
    """Return the text under a key, or None where there is none; FileError F06 for a value that is not text."""
    value = words.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise FileError(f"{place} {key} is {value!r}: not text.", code="F06", hint=f'{key} = "…"')
    return value

"""Words of TOML files: unknown keys refused with the nearest known one, text that is text, errors with their place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from tacit.errors import FileError, TacitError, nearest

if TYPE_CHECKING:
    pass


def located(place: str) -> Any:
    """Run a reader; what it raises says in which section."""

    def run(read: Any, where: str = place) -> Any:
        try:
            return read()
        except TacitError as problem:
            problem.message = f"{where} {problem.message}"
            raise

    return run


def section_of(words: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The section `name`, empty where there is none; FileError F06 where it is no section."""
    found = words.get(name, {})
    if not isinstance(found, Mapping):
        raise FileError(f"{name} is {found!r}, not a section.", code="F06", hint=f"[{name}]")
    return cast("Mapping[str, Any]", found)


def known(place: str, words: Mapping[str, Any], words_known: tuple[str, ...]) -> None:
    """FileError F05 for a key that the place does not know, with the nearest one."""
    for key in words:
        if key not in words_known:
            guess = nearest(key, words_known) or words_known[0]
            raise FileError(f"{place} has {key!r}, which is no word of it.", code="F05", hint=guess)


def text_of(words: Mapping[str, Any], key: str, place: str) -> str | None:
    """A value that is text, or None where there is none."""
    value = words.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise FileError(f"{place} {key} is {value!r}: not text.", code="F06", hint=f'{key} = "…"')
    return value

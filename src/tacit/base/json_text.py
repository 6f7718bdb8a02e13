"""JSON as text and as files: one text for one value, files whole or not at all."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any, Final, NoReturn, cast

from tacit.errors import ReleaseError

SHOWN: Final = 60
"""Characters of a key, at most, that an error repeats."""


class TextError(ValueError):
    """A text that is JSON to lenient readers only; its message says why, in words of the document alone."""


def _no_number(word: str) -> NoReturn:
    raise TextError(f"{word} is no JSON")


def _finite(word: str) -> float:
    """A float of the text; 1e999 is none."""
    number = float(word)
    if math.isinf(number):
        raise TextError("a number is beyond all floats")
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object each of whose keys is there once: of two readers each may take another one of the two."""
    words = dict(pairs)
    if len(words) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise TextError(f"the key {shown(key)} is there twice")
            seen.add(key)
    return words


STRICT: Final = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_once)
SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
CANONICAL: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)


def canonical(words: object) -> str:
    """One text for one value: JSON with sorted keys, no spaces, no NaN."""
    return CANONICAL.encode(words)


def shown(text: str) -> str:
    """A text as an error repeats it: as Python writes it, not longer than SHOWN characters.

    >>> shown("age"), len(shown("x" * 10_000))
    ("'age'", 61)
    """
    made = ascii(text) if not is_text(text) else repr(text)
    return made if len(made) <= SHOWN else f"{made[:SHOWN]}…"


def short(path: object) -> str:
    """A path as an error repeats it: of one that is far too long, its beginning.

    >>> short("people.csv"), len(short("x" * 10_000))
    ('people.csv', 201)
    """
    text = str(path)
    return text if len(text) <= 200 else f"{text[:200]}…"


def is_text(text: str) -> bool:
    r"""Whether a text can be written: a half of a surrogate pair alone is no character.

    >>> is_text("Zoë"), is_text("\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def parsed(text: str) -> Any:
    """The value of a JSON text, read strictly.

    TextError where a key is there twice in one object, a number is beyond all floats or no JSON (NaN), or a text holds
    half a surrogate pair; ValueError for what is no JSON otherwise, RecursionError for what is nested too deeply.

    >>> parsed('{"rho": "1/10"}')
    {'rho': '1/10'}
    >>> parsed('{"rho": "1/10", "rho": "1"}')
    Traceback (most recent call last):
    tacit.base.json_text.TextError: the key 'rho' is there twice
    """
    words = STRICT.decode(text)
    if SURROGATE.search(text) and not is_text(canonical(words)):
        raise TextError("a text in it holds half a character (a lone surrogate)")
    return words


def write_text(path: str | Path, text: str) -> None:
    """Write a file whole or not at all: a temporary file beside it, flushed to disk, then renamed."""
    import os
    import tempfile

    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o644)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as problem:
        message = f"{target} cannot be written: {problem.strerror}."
        raise ReleaseError(message, code="R07", hint="another path", state="A stored answer is not lost.") from None


def read_json(path: str | Path) -> dict[str, Any]:
    """The object of a JSON file; ReleaseError R01, R03 where there is none."""
    raw = _bytes(path)
    try:
        words = parsed(raw.decode())
    except TextError as problem:
        reason = f": {problem}"
    except (ValueError, RecursionError):
        reason = ""
    else:
        if not isinstance(words, dict):
            raise ReleaseError(f"{path} is no release of tacit.", code="R01", state=None)
        return cast("dict[str, Any]", words)
    raise ReleaseError(f"{path} is not JSON{reason}.", code="R01", state=None)


def _bytes(path: str | Path) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError as problem:
        reason = problem.strerror
    except ValueError:  # a null byte in the path
        reason = "no file has such a name"
    raise ReleaseError(f"{path} cannot be read: {reason}.", code="R03", state=None)

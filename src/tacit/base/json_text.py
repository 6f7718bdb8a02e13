"""Strict JSON: a canonical text for each value, a reader that refuses ambiguous documents, and atomic file writes.

A stored document is signed and compared as text, so two readers must never see two different values in it: the
reader refuses duplicate keys, NaN, infinities and lone surrogates, which lenient readers treat differently.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any, Final, NoReturn, cast

from tacit.base.similar_files import similar_file
from tacit.errors import ReleaseError

SHOWN: Final = 60
"""Largest number of characters of a key that an error message repeats."""


class TextError(ValueError):
    """A text that only lenient readers accept as JSON; the message quotes nothing but the document itself."""


def _reject_constant(word: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python's reader accepts by default."""
    raise TextError(f"{word} is not valid JSON")


def _finite_float(word: str) -> float:
    """Return the float that a number stands for; TextError where it overflows (1e999)."""
    number = float(word)
    if math.isinf(number):
        raise TextError("a number is too large for a float")
    return number


def _object_with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs; TextError for a duplicate key, of which readers keep different values."""
    words = dict(pairs)
    # fewer keys than pairs: only then is the slow search for the key made
    if len(words) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise TextError(f"the key {shown(key)} occurs twice")
            seen.add(key)
    return words


STRICT: Final = json.JSONDecoder(
    parse_constant=_reject_constant, parse_float=_finite_float, object_pairs_hook=_object_with_unique_keys
)
SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
"""Escapes of D800 to DFFF: halves of valid pairs, too, so a match is only a reason to look closer."""
CANONICAL: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)


def canonical(words: object) -> str:
    """Return the canonical JSON text of a value: sorted keys, no spaces, no NaN; equal values give equal text."""
    return CANONICAL.encode(words)


def shown(text: str) -> str:
    """Quote a text for an error message: as Python's `repr` does, cut after SHOWN characters.

    >>> shown("age"), len(shown("x" * 10_000))
    ("'age'", 61)
    """
    made = ascii(text) if not is_text(text) else repr(text)
    return made if len(made) <= SHOWN else f"{made[:SHOWN]}…"


def short(path: object) -> str:
    """Return a path for an error message, cut after 200 characters.

    >>> short("people.csv"), len(short("x" * 10_000))
    ('people.csv', 201)
    """
    text = str(path)
    return text if len(text) <= 200 else f"{text[:200]}…"


def is_text(text: str) -> bool:
    r"""Return whether a text can be encoded in UTF-8: a lone surrogate (half of a pair) cannot.

    >>> is_text("Zoë"), is_text("\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def parsed(text: str) -> Any:
    """Return the value of a JSON text, read strictly.

    Raises TextError for a key that occurs twice in one object, a number that overflows a float, NaN or Infinity, and a
    lone surrogate; ValueError for any other text that is not JSON; RecursionError for one that is nested too deeply.

    >>> parsed('{"rho": "1/10"}')
    {'rho': '1/10'}
    >>> parsed('{"rho": "1/10", "rho": "1"}')
    Traceback (most recent call last):
    tacit.base.json_text.TextError: the key 'rho' occurs twice
    """
    words = STRICT.decode(text)
    # an escape such as \ud800 passes the UTF-8 decoder and only becomes a lone surrogate here
    if SURROGATE.search(text) and not is_text(canonical(words)):
        raise TextError("a text in it holds half a character (a lone surrogate)")
    return words


def write_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8 as `write_bytes` does."""
    write_bytes(path, text.encode())


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file atomically: a temporary file in the same folder, flushed to disk, then renamed.

    Raises ReleaseError R07 where the file cannot be written; the old file, if any, is then unchanged.
    """
    import os
    import tempfile

    target = Path(path)
    try:
        # in the same folder, hence on the same file system, where a rename is atomic
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            # mkstemp makes 0600; what is written by this function may be read by others
            os.chmod(temporary, 0o644)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as problem:
        message = f"{target} cannot be written: {problem.strerror}."
        raise ReleaseError(message, code="R07", hint="another path", state="A stored answer is not lost.") from None


def read_json(path: str | Path) -> dict[str, Any]:
    """Return the object in a JSON file; ReleaseError R03 where it cannot be read, R01 where it is not a JSON object."""
    raw = _bytes(path)
    if not raw.strip():
        hint = "a file that Tacit wrote, such as FILE.release.json"
        raise ReleaseError(f"{path} is empty.", code="R01", hint=hint, state=None)
    try:
        words = parsed(raw.decode())
    except TextError as problem:
        reason = f": {problem}"
    except (ValueError, RecursionError):
        reason = ""
    else:
        if not isinstance(words, dict):
            raise ReleaseError(f"{path} is not a release of tacit.", code="R01", state=None)
        return cast("dict[str, Any]", words)
    hint = "a file that Tacit wrote, such as FILE.release.json"
    raise ReleaseError(f"{path} is not JSON{reason}.", code="R01", hint=hint, state=None)


def _bytes(path: str | Path) -> bytes:
    """Return the bytes of a file; ReleaseError R03 with the system's reason where it cannot be read."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError as problem:
        reason = problem.strerror
    except ValueError:  # a null byte in the path
        reason = "no file has such a name"
    near = similar_file(path, ".json")
    hint = f"{near}?" if near else "the path of a file that `tacit release` or `save` wrote, such as FILE.release.json"
    raise ReleaseError(f"{path} cannot be read: {reason}.", code="R03", hint=hint, state=None)

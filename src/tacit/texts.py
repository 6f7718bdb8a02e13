"""JSON as text and as files: one text for one value, files whole or not at all."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final, NoReturn, cast

from tacit.errors import ReleaseError


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


STRICT: Final = json.JSONDecoder(parse_constant=_no_number)
SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
CANONICAL: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)


def canonical(words: object) -> str:
    """One text for one value: JSON with sorted keys, no spaces, no NaN."""
    return CANONICAL.encode(words)


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
    try:
        with open(path, "rb", buffering=0) as file:
            text = file.read().decode()
        words = STRICT.decode(text)
        if SURROGATE.search(text):  # one alone is no character: no text that holds it can be written
            canonical(words).encode()
    except OSError as problem:
        raise ReleaseError(f"{path} cannot be read: {problem.strerror}.", code="R03", state=None) from None
    except (ValueError, RecursionError):
        raise ReleaseError(f"{path} is not JSON.", code="R01", state=None) from None
    if not isinstance(words, dict):
        raise ReleaseError(f"{path} is no release of tacit.", code="R01", state=None)
    return cast("dict[str, Any]", words)

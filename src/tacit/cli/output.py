"""Output of commands: text or JSON, and checks that a file to be written is not an input of the command."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, cast

from tacit.base import progress as phases
from tacit.errors import CommandError, ReleaseError


def emit(text: str, words: Any, as_json: bool) -> None:
    """Print the words for people, or the same as JSON; CommandError C05 where the output takes no more."""
    try:
        print(as_text(words) if as_json else text, flush=True)
    except BrokenPipeError:
        raise  # whoever read has seen enough: no error to speak of
    except OSError as problem:
        message = f"the output cannot be written: {problem.strerror}."
        raise CommandError(message, code="C05", hint="write it elsewhere", state=None) from None


def as_text(words: Any) -> str:
    """JSON as every reader knows it: what is no finite number is null."""
    return json.dumps(plain(words), ensure_ascii=False, indent=1, allow_nan=False)


def plain(words: Any) -> Any:
    """The same words with None in place of NaN and infinities.

    >>> plain({"width": [1.0, float("inf")]})
    {'width': [1.0, None]}
    """
    if isinstance(words, Mapping):
        return {key: plain(value) for key, value in cast("Mapping[str, Any]", words).items()}
    if isinstance(words, list | tuple):
        return [plain(value) for value in cast("list[Any]", words)]
    if isinstance(words, float) and not math.isfinite(words):
        return None
    return words


def progress(text: str) -> None:
    """A phase of long work, where a person watches."""
    if sys.stderr.isatty():
        print(f"… {text}", file=sys.stderr)


def watched() -> AbstractContextManager[None]:
    """Phases of what follows are shown, where a person watches."""
    return phases.progress() if sys.stderr.isatty() else nullcontext()


def writable(target: str | Path, *inputs: str | Path | None) -> None:
    """ReleaseError R07 for a place that cannot be written, or that is one of the command's own inputs.

    Called before anything is spent: what fails afterwards would have cost something.
    """
    place = Path(target)
    hint = "another path"
    for one in inputs:
        if one is not None and os.path.realpath(one) == os.path.realpath(place):
            raise ReleaseError(f"{place} would be lost: this command reads it.", code="R07", hint=hint)
    if os.path.isdir(place):
        raise ReleaseError(f"{place} cannot be written: it is a folder.", code="R07", hint=hint)
    if not os.path.isdir(place.parent):
        raise ReleaseError(f"{place} cannot be written: there is no such folder.", code="R07", hint=hint)
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise ReleaseError(f"{place} cannot be written: its folder admits no new file.", code="R07", hint=hint)

"""Output of commands: text or JSON, and checks that a file to be written is not an input of the command."""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import os
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, cast

from tacit.base import progress as phases
from tacit.base.table import Table
from tacit.errors import CommandError, ReleaseError


def emit(text: str, words: Any, as_json: bool) -> None:
    """Print the text, or plain values as JSON; CommandError C05 where the output cannot be written."""
    try:
        print(as_text(words) if as_json else text, flush=True)
    except BrokenPipeError:
        raise  # the reader (such as `head`) closed the pipe: no error
    except OSError as problem:
        message = f"the output cannot be written: {problem.strerror}."
        raise CommandError(message, code="C05", hint="write it elsewhere", state=None) from None


def on_screen(table: Table, everything: bool, rest: str = "--all, or --save table.csv") -> str:
    """Return a table as text; of a long one head and tail, unless everything is asked for.  rest: what shows it all."""
    return (table if everything else table.shortened(rest=rest)).to_text()


def as_text(words: Any) -> str:
    """Return plain values as standard JSON, with null for NaN and infinities."""
    return json.dumps(plain(words), ensure_ascii=False, indent=1, allow_nan=False)


def plain(words: Any) -> Any:
    """Return plain values with None in place of NaN and infinities, and dates as ISO 8601 texts.

    >>> plain({"width": [1.0, float("inf")]})
    {'width': [1.0, None]}
    """
    if isinstance(words, Mapping):
        return {key: plain(value) for key, value in cast("Mapping[str, Any]", words).items()}
    if isinstance(words, list | tuple):
        return [plain(value) for value in cast("list[Any]", words)]
    if isinstance(words, float) and not math.isfinite(words):
        return None
    if isinstance(words, datetime.datetime):
        # pandas' missing date is one that differs from itself
        return words.isoformat(timespec="seconds") if words == words else None
    return words


def progress(text: str) -> None:
    """Print a phase of long work, if standard error is a terminal."""
    if sys.stderr.isatty():
        print(f"… {text}", file=sys.stderr)


def progress_on_terminal() -> AbstractContextManager[None]:
    """Return a context that shows the phases of the work in it, if standard error is a terminal."""
    return phases.progress() if sys.stderr.isatty() else nullcontext()


def writable(target: str | Path, *inputs: str | Path | None) -> None:
    """Raise ReleaseError R07 for a path that cannot be written, or that is an input of the command.

    Commands call this before the charge: a release that cannot be saved would have been paid for all the same.
    """
    place = Path(target)
    hint = "another path"
    for one in inputs:
        # links resolved, or a release could replace its own ledger under another name
        if one is not None and os.path.realpath(one) == os.path.realpath(place):
            raise ReleaseError(f"{place} would be lost: this command reads it.", code="R07", hint=hint)
    if os.path.isdir(place):
        raise ReleaseError(f"{place} cannot be written: it is a folder.", code="R07", hint=hint)
    if not os.path.isdir(place.parent):
        raise ReleaseError(f"{place} cannot be written: there is no such folder.", code="R07", hint=hint)
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise ReleaseError(f"{place} cannot be written: its folder admits no new file.", code="R07", hint=hint)


def say(words: dict[str, str | None], line: str, as_json: bool) -> None:
    """Print an error as one line on standard error and, with `--json`, as JSON on standard output."""
    with contextlib.suppress(OSError):
        if as_json:
            print(json.dumps(words, ensure_ascii=False), flush=True)
    with contextlib.suppress(OSError):
        if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]  # closed by whoever started this
            print(line, file=sys.stderr, flush=True)


def unnamed(error: str, message: str) -> dict[str, str | None]:
    """Return an error without a code of its own in the form of a TacitError."""
    return {"error": error, "code": None, "message": message, "hint": None, "state": None}


def let_go() -> None:
    """Drop output that a full disk or a closed pipe did not take; Python would report it when it exits."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with contextlib.suppress(OSError, ValueError):
                # what is left in the buffer goes to the null device when Python flushes it at exit
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except AttributeError:  # a stream that was closed from the start
            pass

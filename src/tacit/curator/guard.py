"""What may go wrong behind the wall, and the one thing that is said of it (law 7).  INSIDE the wall."""

from __future__ import annotations

import os
import stat
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from tacit.base.muted import silent
from tacit.errors import MachineError, TacitError

T = TypeVar("T")

OWN: Final = 0o600
"""The mode of what the curator alone may read, from the moment it is there."""
ALONE: Final = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK"))
"""No link is followed, no process inherits it, and a pipe in its place keeps nobody waiting."""


def guarded(step: Callable[[], T], log: Path | None, *public: type[TacitError]) -> T:
    """Run a step that touches rows, silently.  Whatever it raises, MachineError is all that leaves.

    The error is raised outside the handler, so that no cause, context or frame hangs on it; the traceback goes to the
    curator's own log (`log`, mode 0600) and nowhere else.  An interrupt stays an interrupt, as bare.
    public: errors that speak of public facts alone, and are what leaves instead: as bare, too.
    """
    error: BaseException
    try:
        return _tried(step, log)
    except KeyboardInterrupt:
        error = KeyboardInterrupt()
    except public as problem:
        error = _bare(problem)
    except BaseException:
        error = MachineError()
    del step  # it may hold what it was to keep
    raise error


def _tried(step: Callable[[], T], log: Path | None) -> T:
    """The step; what it raises is written down and raised on: an interrupt of the writing, too, stops above."""
    try:
        with silent():
            return step()
    except KeyboardInterrupt:
        raise
    except BaseException:
        _write(log)
        raise


def _bare(problem: TacitError) -> TacitError:
    """An error without its frames, and without those of what it came from."""
    problem.__cause__ = problem.__context__ = None
    return problem.with_traceback(None)


def _write(log: Path | None) -> None:
    """Append the error at hand to the curator's own log; what fails here must not become another error.

    Nothing in a text can be unwritable: characters that are none (lone surrogates) are written as their escapes.
    """
    if log is None:
        return
    try:
        with silent():
            moment = datetime.now(UTC).isoformat(timespec="seconds")
            text = f"{moment}\n{traceback.format_exc()}\n".encode(errors="backslashreplace")
            with open(_opened(log), "ab") as file:
                file.write(text)
    except BaseException:  # a full disk, a folder that is gone, an error whose own text raises
        pass


def _opened(log: Path) -> int:
    """A handle of the log, which is the curator's own file or is not written: OSError for a link, or another's file.

    A log that others could read, as an earlier version or a copy may have left it, is closed to them first.
    """
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | ALONE, OWN)
    try:
        found = os.fstat(handle)
        others = hasattr(os, "geteuid") and found.st_uid != os.geteuid()
        if others or not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise OSError("not a file of the curator's own")
        if stat.S_IMODE(found.st_mode) != OWN and hasattr(os, "fchmod"):
            os.fchmod(handle, OWN)
    except BaseException:
        os.close(handle)
        raise
    return handle

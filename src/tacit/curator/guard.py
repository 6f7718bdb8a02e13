"""Errors of steps that touch rows become one `MachineError`, silent about the data (law 7).  INSIDE the wall."""

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
"""Permissions of the curator's log: its owner reads and writes it, from the moment it exists."""
ALONE: Final = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK"))
"""Flags of `os.open`: follow no link, let no child process inherit the handle, do not wait for a named pipe."""


def guarded(step: Callable[[], T], log: Path | None, *public: type[TacitError]) -> T:
    """Run a step that touches rows, with its output muted; whatever it raises becomes a MachineError.

    The error is raised outside the handler, so that no cause, context or frame hangs on it; the traceback goes to the
    curator's own log (`log`, mode 0600) and nowhere else.  KeyboardInterrupt stays one, without a traceback as well.
    public: classes of errors whose messages hold public facts alone; they are raised on, also without a traceback.
    """
    error: BaseException
    try:
        return _tried(step, log)
    except KeyboardInterrupt:
        error = KeyboardInterrupt()
    except public as problem:
        error = _bare(problem)
    except BaseException:
        # SystemExit and a panic of an engine, too: whether and how a step fails can depend on a row
        error = MachineError()
    del step  # a traceback of the new error would hold this frame, and with it whatever `step` refers to
    raise error


def _tried(step: Callable[[], T], log: Path | None) -> T:
    """Run the step; log what it raises and raise it again (an interrupt while logging is handled by the caller)."""
    try:
        with silent():
            return step()
    except KeyboardInterrupt:
        raise
    except BaseException:
        # inside the handler, where the traceback can be formatted; an interrupt while writing leaves without one
        _write(log)
        raise


def _bare(problem: TacitError) -> TacitError:
    """Return the error without its traceback, cause and context: their frames hold data."""
    problem.__cause__ = problem.__context__ = None
    return problem.with_traceback(None)


def _write(log: Path | None) -> None:
    """Append the error being handled to the curator's own log; a failure to write raises nothing.

    Lone surrogates, which have no UTF-8 form, are written as escapes.
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
    """Open the log for appending; OSError where it is a link, no regular file, or owned by another user.

    Where other users could read it (left so by an earlier version or a copy), its permissions are narrowed first.
    """
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | ALONE, OWN)
    try:
        found = os.fstat(handle)
        others = hasattr(os, "geteuid") and found.st_uid != os.geteuid()
        # a second hard link would show the traceback under a name with other readers
        if others or not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise OSError("not a file of the curator's own")
        if stat.S_IMODE(found.st_mode) != OWN and hasattr(os, "fchmod"):
            os.fchmod(handle, OWN)
    except BaseException:
        os.close(handle)
        raise
    return handle

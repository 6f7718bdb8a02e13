"""What may go wrong behind the wall, and the one thing that is said of it (law 7).  INSIDE the wall."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from tacit.errors import MachineError

T = TypeVar("T")


def guarded(step: Callable[[], T], log: Path | None) -> T:
    """Run a step that touches rows.  Whatever it raises, MachineError is all that leaves.

    The error is raised outside the handler, so that no cause, context or frame hangs on it; the traceback goes to the
    curator's own log (`log`, mode 0600) and nowhere else.  An interrupt stays an interrupt, as bare.
    """
    interrupted = False
    try:
        return step()
    except KeyboardInterrupt:
        interrupted = True
    except BaseException:
        _write(log, traceback.format_exc())
    if interrupted:
        raise KeyboardInterrupt
    raise MachineError


def _write(log: Path | None, text: str) -> None:
    """Append to the curator's own log; a full disk must not become another error."""
    if log is None:
        return
    try:
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "a", encoding="utf-8") as file:
            file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')}\n{text}\n")
    except OSError:
        pass

"""`tacit` as it is typed in a shell, without the second that a process of its own takes to begin."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

import pytest

from tacit.cli import main


def inside(home: Path, *words: str, columns: int = 200) -> tuple[int, str, str]:
    """Run a command in a folder and this process; return its exit code and what it wrote to both streams."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as here:
        here.chdir(home)
        here.setattr(sys, "argv", ["tacit", *words])
        here.setenv("COLUMNS", str(columns))
        here.setenv("NO_COLOR", "1")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as left:
            main()
    return int(str(left.value.code)), out.getvalue(), err.getvalue()

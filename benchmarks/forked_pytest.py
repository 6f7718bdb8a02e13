"""Pytest again and again, each run in a child forked from a process that has imported what is not ours.

Started by `plant_faults.py` in a copy of the tree: to import NumPy, SciPy and pytest takes longer than most tests.
Each line of input is JSON, `{"words": [...], "seconds": 900}`; each line of output `{"code": 1, "said": "..."}`, where
the code is pytest's, and 1 for a run that did not end in time.  Nothing of the package is imported before the fork, and
no module that is set up by what `conftest.py` writes into the environment (JAX, Matplotlib).
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import tempfile
import time
from contextlib import suppress
from importlib import import_module
from typing import IO, Any, NoReturn

import pytest

HEAVY = ("hypothesis", "numpy", "scipy.optimize", "scipy.special", "scipy.stats", "scipy.linalg", "pandas", "pyarrow")
STEP = 0.05
"""Seconds between looks at a child."""
child = 0
"""The process that runs tests now, if one does."""


def killed() -> None:
    """End the child and all that it started."""
    if child:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)


def stopped(*_: Any) -> NoReturn:
    """End the child, and this process."""
    killed()
    os._exit(0)


def run_here(words: list[str], said: IO[bytes]) -> NoReturn:
    """Run pytest in this process, a child, and end it."""
    code = 3
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for stream, place in enumerate((os.open(os.devnull, os.O_RDONLY), said.fileno(), said.fileno())):
            os.dup2(place, stream)
        sys.argv, sys.path[0] = ["pytest"], os.getcwd()
        code = int(pytest.main(words))
    except BaseException as problem:
        print(repr(problem), flush=True)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def run(words: list[str], seconds: float) -> tuple[int, str]:
    """Return what pytest returned in a child, and what it printed."""
    global child
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if not child:
            run_here(words, said)
        last = time.monotonic() + seconds
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > last:
                killed()
                os.waitpid(child, 0)
                child = 0
                return 1, "FAILED (no end)"
            time.sleep(STEP)
        killed()  # what it left behind
        child = 0
        said.seek(0)
        return os.waitstatus_to_exitcode(ended[1]), said.read().decode("utf-8", "replace")


def main() -> None:
    """See the head of this file."""
    signal.signal(signal.SIGTERM, stopped)
    for name in HEAVY:
        import_module(name)
    gc.collect()
    gc.freeze()  # pages that no child writes to are shared
    for line in sys.stdin:
        asked = json.loads(line)
        code, said = run(asked["words"], asked["seconds"])
        print(json.dumps({"code": code, "said": said}), flush=True)


if __name__ == "__main__":
    main()

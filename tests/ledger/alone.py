"""Tests that fork run in a process of their own: engines and JAX leave threads in this one, which would not follow."""

from __future__ import annotations

import functools
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHILD = """
import importlib, pickle, sys
path, module, name, words = pickle.load(sys.stdin.buffer)
sys.path[:] = path
getattr(importlib.import_module(module), name).__wrapped__(**words)
"""


def alone(test: Callable[..., None]) -> Callable[..., None]:
    """The test, in a fresh interpreter with the same fixtures (paths, texts); it fails with what it printed there."""

    @functools.wraps(test)
    def run(**words: Any) -> None:
        folder, module = Path(test.__code__.co_filename).parent, Path(test.__code__.co_filename).stem
        given = pickle.dumps(([str(folder), *sys.path], module, test.__name__, words))
        done = subprocess.run([sys.executable, "-c", CHILD], input=given, capture_output=True, check=False, timeout=280)
        assert done.returncode == 0, (done.stdout + done.stderr).decode(errors="replace")

    return run

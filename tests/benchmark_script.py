"""The scripts of `benchmarks/`, whose small versions run in tests."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

PLACE = Path(__file__).parents[1] / "benchmarks"


def script(name: str) -> ModuleType:
    """`benchmarks/NAME.py` as a module; scripts beside it can be imported by it."""
    if str(PLACE) not in sys.path:
        sys.path.append(str(PLACE))  # at the end: installed packages go first
    if name not in sys.modules:
        found = importlib.util.spec_from_file_location(name, PLACE / f"{name}.py")
        assert found is not None
        assert found.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(found)
        found.loader.exec_module(sys.modules[name])
    return sys.modules[name]

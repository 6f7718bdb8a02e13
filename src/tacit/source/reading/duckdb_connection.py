"""DuckDB connections of the library's own, for tables without an engine of their own.  INSIDE the wall."""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any, Final

from tacit.source.pass_progress import WATCHED

_DATABASE: Final[dict[int, Any]] = {}
"""The library's database in memory, by process: a forked child makes its own."""


def connection() -> Any:
    """Return a DuckDB connection for one query, to the one database of this process, which stays empty.

    `temp_directory = ''`: confidential rows are never written to disk; sums by public cells need little memory.
    No extension is fetched or loaded: what the wheel has built in will do.
    """
    made = _cursor(_DATABASE.get(os.getpid()))
    if made is None:
        # setdefault: of two threads that make one at once, both take the first
        made = _DATABASE.setdefault(os.getpid(), database()).cursor()
    watched = WATCHED.get()
    if watched is not None:
        watched.take(made)
    return made


def _cursor(database: Any) -> Any:
    """Return a connection; None where there is no database, or a failure has closed it."""
    try:
        made = database.cursor()
        made.execute("SET enable_progress_bar = false")
    except Exception:  # a new one takes its place
        _DATABASE.pop(os.getpid(), None)
        return None
    return made


def database() -> Any:
    """Make a database in memory with the settings that `connection` describes."""
    import duckdb

    made: Any = duckdb.connect(":memory:")
    for setting in ("temp_directory = ''", "enable_progress_bar = false"):
        made.execute(f"SET {setting}")
    for setting in ("autoinstall_known_extensions", "autoload_known_extensions"):
        made.execute(f"SET {setting} = false")
    return made


def _forget() -> None:
    """Drop the databases when the process ends, with narwhals' caches, which keep them alive ("leaked" lines)."""
    for name in [name for name in sys.modules if name.split(".")[0] == "narwhals"]:
        for value in list(vars(sys.modules[name]).values()):
            clear = getattr(value, "cache_clear", None)
            if callable(clear):
                clear()
    _DATABASE.clear()


atexit.register(_forget)

"""How far the pass over a table has come, for a person who waits at a terminal.  INSIDE the wall.

A share of the work, by DuckDB's own estimate from the parts of files it has read; nothing of any cell.  With the time
it has taken it tells how long a table is, so it is for replace-one, where their number is public; under add-remove
nobody asks.  Only for connections of our own: what a user's does with its progress is the user's.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tacit.base.progress import phase, shown


class Watched:
    """The connection that was made last: the one that works."""

    def __init__(self) -> None:
        self._connection: Any = None

    def take(self, connection: Any) -> None:
        """Watch this one from now on.  It counts its progress, and prints nothing."""
        connection.execute("SET enable_progress_bar_print = false")
        connection.execute("SET enable_progress_bar = true")
        self._connection = connection

    def share(self) -> float | None:
        """The part done, 0 to 1; None where it is not known.  May be called by another thread than the one that waits.

        >>> Watched().share() is None
        True
        """
        if self._connection is None:
            return None
        try:
            found = float(self._connection.query_progress())
        except Exception:  # closed meanwhile
            return None
        return min(found / 100, 1.0) if found >= 0 else None


WATCHED: ContextVar[Watched | None] = ContextVar("WATCHED", default=None)


@contextmanager
def watching() -> Generator[Watched]:
    """Connections made in this block, by this thread, are watched."""
    made = Watched()
    token = WATCHED.set(made)
    try:
        yield made
    finally:
        WATCHED.reset(token)


@contextmanager
def reading(text: str, *, bar: bool) -> Generator[None]:
    """A pass over a table as a phase that a person who waits sees: a clock, and where `bar` the part done."""
    if not (bar and shown()):
        with phase(text):
            yield
        return
    with watching() as watched, phase(text, watched.share):
        yield

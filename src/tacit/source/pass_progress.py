"""Progress of a pass over a table, shown at a terminal.  INSIDE the wall.

It is DuckDB's estimate of the fraction of the files read, or the fraction of a text file's bytes.  With the time taken
it reveals the number of rows, so it is shown under replace-one only, where that number is public.  Only the library's
own connections are watched, never a user's.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tacit.base.progress import FractionDone, phase, shown


class InterruptibleConnection:
    """Holds the connection that was made last, which runs the current query."""

    def __init__(self) -> None:
        self._connection: Any = None
        self._counted: FractionDone | None = None

    def count(self, fraction: FractionDone) -> None:
        """Take the fraction done from a reader that streams into the connection, whose end DuckDB does not know."""
        self._counted = fraction

    def take(self, connection: Any) -> None:
        """Watch this connection from now on: it measures its progress and prints nothing."""
        connection.execute("SET enable_progress_bar_print = false")
        connection.execute("SET enable_progress_bar = true")
        # of another pass than the one that was counted
        self._connection, self._counted = connection, None

    def share(self) -> float | None:
        """Return the fraction done, 0 to 1, or None where unknown.  Another thread may call it during the query.

        >>> InterruptibleConnection().share() is None
        True
        """
        if self._counted is not None:
            return self._counted()
        if self._connection is None:
            return None
        try:
            found = float(self._connection.query_progress())
        except Exception:  # closed meanwhile
            return None
        # DuckDB says -1 before it can estimate
        return min(found / 100, 1.0) if found >= 0 else None


WATCHED: ContextVar[InterruptibleConnection | None] = ContextVar("WATCHED", default=None)


@contextmanager
def watching() -> Generator[InterruptibleConnection]:
    """Watch the connections that this thread makes within the block."""
    made = InterruptibleConnection()
    token = WATCHED.set(made)
    try:
        yield made
    finally:
        WATCHED.reset(token)


@contextmanager
def reading(text: str, *, bar: bool) -> Generator[None]:
    """Show a phase named `text` with a clock, and with `bar` the fraction done."""
    if not (bar and shown()):
        with phase(text):
            yield
        return
    with watching() as watched, phase(text, watched.share):
        yield

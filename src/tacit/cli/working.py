"""A person who waits sees that something goes on: phases, time, and a bar where its length tells nothing new."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tacit.cli.output import progress
from tacit.schema.rowmaps import unit_of

if TYPE_CHECKING:
    from tacit.curator.curator import Curator

EVERY: float = 1.0
"""Seconds from one line to the next; what is done sooner shows none."""
CELLS: Final = 24


def lengths_are_public(curator: Curator) -> bool:
    """Whether the number of rows is: under replace-one, where each row is a person."""
    return curator.rows is not None and unit_of(curator.schema) is None


@contextmanager
def working(text: str, *, bar: bool) -> Generator[None]:
    """A phase of long work: the seconds it takes, and (`bar`) how much is done.  Nothing where no person watches.

    bar: see `lengths_are_public`; a bar and a clock tell how long the table is.
    """
    progress(text)
    if not sys.stderr.isatty():
        yield
        return
    if not bar:
        with _ticking(lambda: None):
            yield
        return
    from tacit.curator.source.watch import watching

    with watching() as watched, _ticking(watched.share):
        yield


@contextmanager
def _ticking(share: Callable[[], float | None]) -> Generator[None]:
    """A thread that writes one line again and again, and takes it away at the end."""
    done, start = threading.Event(), time.monotonic()

    def tick() -> None:
        width = 0
        while not done.wait(EVERY):
            text = line(time.monotonic() - start, share())
            sys.stderr.write("\r" + text.ljust(width))
            sys.stderr.flush()
            width = len(text)
        if width:
            sys.stderr.write("\r" + " " * width + "\r")
            sys.stderr.flush()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def line(seconds: float, share: float | None) -> str:
    """What is shown.

    >>> line(12.3, None), line(70, 0.5)
    ('  12 s', '  1 min 10 s  ████████████░░░░░░░░░░░░ 50 %')
    """
    minutes, rest = divmod(int(seconds), 60)
    clock = f"  {minutes} min {rest} s" if minutes else f"  {rest} s"
    if share is None:
        return clock
    full = int(CELLS * share)
    return f"{clock}  {'█' * full}{'░' * (CELLS - full)} {int(100 * share)} %"

"""Progress of long work on a terminal: named phases, seconds elapsed, and a bar where the length is public.

Nothing is shown outside `progress`.  The display is meant for the person who holds the table, because the time that a
pass over it takes reveals roughly how many rows it has.  No data here: callers pass in names and fractions done.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, TextIO, TypeAlias

FractionDone: TypeAlias = Callable[[], float | None]
"""A function that returns the fraction of a phase that is done, from 0 to 1, or None where it is not public."""
EVERY: Final = 1.0
"""Seconds between two updates of the line, by default."""
BAR_WIDTH: Final = 24
"""Characters of a progress bar."""


@dataclass(frozen=True)
class Screen:
    """The file that phases are written to, and the seconds between updates; a phase shorter than that has no clock.

    begun: the phases that have begun and not ended, each within the one before it; the last one has the clock.
    width: of the line that stands there now, in a list of one.
    """

    file: TextIO
    every: float
    begun: list[object] = field(default_factory=list[object])
    width: list[int] = field(default_factory=lambda: [0])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, text: str) -> object:
        """Name a phase on a line of its own, and return what it is known by."""
        known = object()
        with self.lock:
            self._clear()
            self.begun.append(known)
            self.write(f"… {text}\n")
        return known

    def tick(self, known: object, text: str) -> None:
        """Show a phase's clock, unless another phase has begun within it."""
        with self.lock:
            if self.begun[-1] is known:
                self.write("\r" + text.ljust(self.width[0]))  # blanks cover what is left of a longer line
                self.width[0] = len(text)

    def end(self, known: object) -> None:
        """Remove a phase and its clock."""
        with self.lock:
            self._clear()
            self.begun.remove(known)

    def _clear(self) -> None:
        if self.width[0]:
            self.write("\r" + " " * self.width[0] + "\r")
            self.width[0] = 0

    def write(self, text: str) -> None:
        """Write text; errors are ignored, because a closed terminal must not stop a release that was charged."""
        try:
            self.file.write(text)
            self.file.flush()
        except (OSError, ValueError):
            pass


SHOWN: ContextVar[Screen | None] = ContextVar("SHOWN", default=None)
"""A context variable: work of other threads and tasks shows nothing here."""


@contextmanager
def progress(file: TextIO | None = None, *, every: float = EVERY) -> Generator[None]:
    """Show what long work does while this block runs: releases, `tc.testing.coverage` and `simulate`.

    file: standard error where not given.  every: seconds.  Phases and a clock; a bar of a pass over a table only where
    the number of rows is public (replace-one, no PrivacyUnit) and the engine counts.  Never a row, a count or a value.
    An interrupt (Ctrl-C) is safe: what was charged stays charged, and the same question resumes it.

    >>> import tacit as tc
    >>> import io
    >>> curator = tc.Curator({"age": [30.0, 40.0]}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    >>> with tc.progress(io.StringIO()):
    ...     release = curator.release(tc.Mean("age"), rho=0.1)
    """
    token = SHOWN.set(Screen(sys.stderr if file is None else file, every))
    try:
        yield
    finally:
        SHOWN.reset(token)


def shown() -> bool:
    """Return whether progress is displayed at the moment."""
    return SHOWN.get() is not None


@contextmanager
def phase(text: str, fraction_done: FractionDone = lambda: None) -> Generator[None]:
    """Display a phase of long work while the block runs: its name, seconds elapsed, and a bar where one is possible.

    A phase within another has the clock while it lasts.
    """
    screen = SHOWN.get()
    if screen is None:
        yield
        return
    known = screen.begin(text)
    done, start = threading.Event(), time.monotonic()

    def tick() -> None:
        # false after a timeout, true once the block has ended
        while not done.wait(screen.every):
            screen.tick(known, line(time.monotonic() - start, fraction_done()))

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        # no line may be written after the block, over what the caller prints next
        thread.join()
        screen.end(known)


@contextmanager
def steps(text: str, times: int) -> Generator[Callable[[int], None]]:
    """Display a phase of `times` steps, a public number; the block calls what it is given with the steps done so far.

    >>> with steps("tables", 2) as update:
    ...     update(1)
    """
    reached = [0]

    def update(done: int) -> None:
        reached[0] = done

    with phase(text, lambda: reached[0] / times):
        yield update


def line(seconds: float, fraction_done: float | None) -> str:
    """Return one line of progress: the time elapsed and, where the fraction done is known, a bar.

    >>> line(12.3, None), line(70, 0.5)
    ('  12 s', '  1 min 10 s  ████████████░░░░░░░░░░░░ 50 %')
    """
    minutes, rest = divmod(int(seconds), 60)
    clock = f"  {minutes} min {rest} s" if minutes else f"  {rest} s"
    if fraction_done is None:
        return clock
    full = int(BAR_WIDTH * fraction_done)
    return f"{clock}  {'█' * full}{'░' * (BAR_WIDTH - full)} {int(100 * fraction_done)} %"

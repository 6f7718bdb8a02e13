"""What a person sees who waits: phases of long work, the seconds they take, and a bar where its length is public.

Nothing is shown unless it is asked for (`progress`).  What is shown is for whoever holds the table: a clock beside a
pass over it tells about how long it is.  Data-free: phases and shares are handed in.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, TextIO, TypeAlias

Share: TypeAlias = Callable[[], float | None]
EVERY: Final = 1.0
CELLS: Final = 24


@dataclass(frozen=True)
class Screen:
    """Where phases are shown, and after how many seconds a line is written anew; what is done sooner shows no clock."""

    file: TextIO
    every: float

    def write(self, text: str) -> None:
        """Show it, where that is still possible: a closed terminal must not stop what was paid for."""
        try:
            self.file.write(text)
            self.file.flush()
        except (OSError, ValueError):
            pass


SHOWN: ContextVar[Screen | None] = ContextVar("SHOWN", default=None)


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
    """Whether anybody watches."""
    return SHOWN.get() is not None


@contextmanager
def phase(text: str, share: Share = lambda: None) -> Generator[None]:
    """A phase of long work: its name, the seconds it takes and, where there is one, the share that is done."""
    screen = SHOWN.get()
    if screen is None:
        yield
        return
    screen.write(f"… {text}\n")
    done, start = threading.Event(), time.monotonic()

    def tick() -> None:
        width = 0
        while not done.wait(screen.every):
            text = line(time.monotonic() - start, share())
            screen.write("\r" + text.ljust(width))
            width = len(text)
        if width:
            screen.write("\r" + " " * width + "\r")

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def steps(text: str, times: int) -> Generator[Callable[[int], None]]:
    """A phase of so many steps, of public number; what it yields is told how many are done.

    >>> with steps("tables", 2) as done:
    ...     done(1)
    """
    reached = [0]

    def tell(done: int) -> None:
        reached[0] = done

    with phase(text, lambda: reached[0] / times):
        yield tell


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

"""Nothing that one thread computes is said, or becomes an error, however the interpreter was set.  Data-free.

A warning depends on the numbers it is about, and where warnings are errors (`-W error`, `PYTHONWARNINGS`,
`warnings.simplefilter`, `numpy.seterr`) so does whether a computation ends.  Within `silent` this thread has no
warnings and NumPy no floating-point errors, so that neither can be an output.

Filters of warnings belong to the whole process before Python 3.14.  What is put before them is one filter that holds in
threads that are silent and nowhere else: it stays there, nothing is ever put back, and blocks of `catch_warnings` in
other threads may begin and end in any order.  What remains is another thread that changes the filters at that very
moment: a filter of its own then stands before ours until the next silent step.  Other processes are silent by
themselves (`silent_process`).
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np


class _Here(threading.local):
    depth = 0


HERE: Final = _Here()


class _Silent(type):
    """Of a category that every warning belongs to, in a thread that is silent."""

    def __subclasscheck__(cls, subclass: type) -> bool:
        return HERE.depth > 0


class Anything(Warning, metaclass=_Silent):
    """What is not said: see `silent`."""


@contextmanager
def silent() -> Generator[None]:
    """In this thread no warning is said or raised, and NumPy has no floating-point errors; to be entered by each.

    >>> with silent(), warnings.catch_warnings(record=True) as said:
    ...     warnings.warn("about a row")
    ...     rows = np.array([1e308]) * 10
    >>> said, rows
    ([], array([inf]))
    """
    HERE.depth += 1
    try:
        _first()
        with np.errstate(all="ignore"):
            yield
    finally:
        HERE.depth -= 1


def _first() -> None:
    """Our filter before all others; where it is already, nothing is touched."""
    known: Any = getattr(warnings, "_get_filters", lambda: warnings.filters)()  # of this context, from Python 3.14 on
    if not known or known[0][2] is not Anything:
        warnings.simplefilter("ignore", category=Anything)


def silent_process() -> None:
    """The same for all of a process that does nothing else: a worker."""
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")

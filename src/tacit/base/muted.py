"""Suppress warnings and floating-point errors in one thread, whatever the interpreter's settings.  No data here.

Whether a warning appears depends on the numbers computed, that is, on the rows.  Where warnings are errors (`-W error`,
`PYTHONWARNINGS`, `warnings.simplefilter`, `numpy.seterr`), whether a computation finishes depends on them as well.
Inside `silent` the current thread raises no warnings and NumPy no floating-point errors, so neither reveals anything.

Before Python 3.14 warning filters belong to the whole process.  We insert a single filter at the front, which matches
only in threads that are inside `silent`, and never remove it; so `catch_warnings` blocks of other threads may begin and
end in any order.  One gap remains: a thread that changes the filters at the same moment can put a filter of its own in
front of ours until the next call of `silent`.  Worker processes call `silent_process` instead.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np


class _ThreadState(threading.local):
    """How many `silent` blocks the current thread is inside."""

    depth = 0


THREAD: Final = _ThreadState()


class _MatchesInSilentThreads(type):
    """Metaclass that makes every warning category a subclass of its classes, in silent threads only."""

    def __subclasscheck__(cls, subclass: type) -> bool:
        # `warnings` asks issubclass(category of the warning, category of the filter)
        return THREAD.depth > 0


class SilencedWarning(Warning, metaclass=_MatchesInSilentThreads):
    """The category of our filter: in a silent thread it matches every warning, elsewhere none."""


@contextmanager
def silent() -> Generator[None]:
    """Suppress warnings and NumPy's floating-point errors in the current thread; each thread enters it for itself.

    >>> with silent(), warnings.catch_warnings(record=True) as recorded:
    ...     warnings.warn("about a row")
    ...     rows = np.array([1e308]) * 10
    >>> recorded, rows
    ([], array([inf]))
    """
    # a depth and not a flag, since blocks are nested
    THREAD.depth += 1
    try:
        _put_filter_first()
        with np.errstate(all="ignore"):
            yield
    finally:
        THREAD.depth -= 1


def _put_filter_first() -> None:
    """Insert our filter in front of all others, unless it is there already."""
    # from Python 3.14 on filters belong to a context, and `warnings.filters` may not be the active list
    active: Any = getattr(warnings, "_get_filters", lambda: warnings.filters)()
    # a filter is (action, message, category, module, line); the first that matches decides
    if not active or active[0][2] is not SilencedWarning:
        warnings.simplefilter("ignore", category=SilencedWarning)


def silent_process() -> None:
    """Suppress warnings and floating-point errors in a whole worker process."""
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")

"""A Python function of the rows of each block, each in a process of its own.  INSIDE the wall.

A block's number is a function of its own rows alone: the process that computes it is forked from one that holds no
rows (`mechanism_fork_server`), is handed this block and no other, and is gone afterwards.  A failure of the function is
no number; a failure of the machine (no process can be started) is an error.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ModelError
from tacit.method.blocks.mechanism_fork_server import BLOCK, HEADER, START, TRIAL, patience
from tacit.models.block_function import Statistic
from tacit.models.block_statistics import STATISTICS, split
from tacit.models.boxes import Array
from tacit.models.function_pickle import packed

CODE: Final = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from tacit.method.blocks.mechanism_fork_server import serve; serve(int(sys.argv[1]))"
)
SINGLE: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""A process with threads cannot be forked: linear algebra has one."""
SET: Final = ("PYTHONWARNINGS", "PYTHONDEVMODE", "PYTHONINSPECT", "PYTHONFAULTHANDLER", "PYTHONTRACEMALLOC")
"""What makes an interpreter speak, or fail, is not handed on; the order of sets is the same in all processes."""
TRIED: Final = 200
"""Rows of a block made up, on which a function is tried."""
SPARE: Final = 30.0
"""Seconds more than a block may wait, after which nobody waits for it."""


def statistics(model: Statistic, values: Array, sizes: NDArray[np.int64], bias: str = "none") -> Array:
    """READS ROWS.  The numbers of each block, clamped into their ranges, shape (k, p); the default where it has none.

    values: shape (k, capacity, columns), rows sorted; sizes: shape (k,).  bias: "none", or "split-half": twice the
    number less the mean of those of two halves, which leaves no bias of the order of one over the rows; where a half
    has none, the number as it is.
    """
    rows = values[:, :, 0] if model.columns == 1 else values
    found, *halves = _numbers(model, rows, sizes, halves=bias == "split-half")
    if halves:
        with np.errstate(all="ignore"):
            corrected = 2 * found - (halves[0] + halves[1]) / 2
        found = np.where(np.isfinite(corrected).all(axis=1, keepdims=True), corrected, found)
    low, high = (np.array(ends) for ends in zip(*(ends for _, ends in model.ranges), strict=True))
    own = np.isfinite(found).all(axis=1, keepdims=True) & (sizes > 0)[:, None]
    return np.where(own, np.clip(found, low, high), model.fallback)


def _numbers(model: Statistic, rows: Array, sizes: NDArray[np.int64], *, halves: bool) -> list[Array]:
    """The numbers of each block as they come, shape (k, p), NaN where there is none; and those of both its halves."""
    parts = split(rows, sizes) if halves else ()
    if isinstance(model.function, str):
        return [STATISTICS[model.function][1](*part) for part in ((rows, sizes), *parts)]
    blocks = [block[:size] for block, size in zip(rows, sizes, strict=True)]
    pairs = list(zip(*([half[:size] for half, size in zip(*part, strict=True)] for part in parts), strict=True))
    with Zygote(model) as zygote, ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        each = pool.map(zygote.block, blocks, pairs or [()] * len(blocks))
        found = np.array(list(each)).reshape(len(sizes), 1 + len(parts), len(model.names))
    return list(np.moveaxis(found, 1, 0))


@lru_cache(maxsize=64)
def check(model: Statistic) -> None:
    """Tries a function on rows made up: ModelError M22 where it fails on all of them, M23, M24."""
    if model.built_in:
        return
    with Zygote(model) as zygote:
        said = [zygote.trial(rows) for rows in _made_up(model.columns)]
    if all(said):
        shape = (TRIED,) if model.columns == 1 else (TRIED, model.columns)
        message = f"the statistic fails on rows made up, an array of shape {shape}: {said[0]}."
        raise ModelError(message, code="M22", hint="one number for each range, in their order")


def _made_up(columns: int) -> list[Array]:
    """Public rows: between 0 and 1; a first column of 0 and 1; whole numbers in it, the others about 0."""
    i = np.arange(1.0, TRIED + 1)[:, None]
    spread: Array = (i * np.sqrt([2.0 + 7 * j for j in range(columns)])) % 1
    several: list[Array] = [spread, spread.copy(), 4 * spread - 2]
    several[1][:, 0] = several[1][:, 0] > 0.5
    several[2][:, 0] = np.floor(5 * spread[:, 0])
    return [one[:, 0] if columns == 1 else one for one in several]


class Zygote(AbstractContextManager["Zygote"]):
    """A process that holds a function, and from which blocks are forked; `with`."""

    def __init__(self, model: Statistic) -> None:
        """ModelError M23 for a function that cannot be read there, M24 where processes cannot be had."""
        if not (hasattr(os, "fork") and hasattr(socket, "send_fds")):
            raise ModelError("this machine has no fork.", code="M24", hint="a statistic with a name, or Linux, macOS")
        self._wanted = len(model.names)
        self._seconds = model.seconds
        self._patience = patience(model.seconds) + SPARE
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair()
        own = {name: value for name, value in os.environ.items() if name not in SET}
        environment = {**own, **dict.fromkeys(SINGLE, "1"), "PYTHONHASHSEED": "0"}
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", CODE, str(theirs.fileno()), *sys.path],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        theirs.close()
        try:
            function: Any = model.function
            given = packed(function)
            self._control.sendall(START.pack(self._seconds, len(given)) + given)
            said = _all(self._control, 401)
        except OSError:
            said = b""
        if said != b".":
            self.__exit__()
            if not said:
                raise ModelError("no process could be started for the statistic.", code="M24")
            message = f"the statistic cannot be read in another process: {said[1:].decode(errors='replace')}."
            raise ModelError(message, code="M23", hint="what it uses must be there to be imported")

    def __exit__(self, *_: object) -> None:
        """Ends the process and all that is left of its children."""
        self._control.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def block(self, rows: Array, halves: Sequence[Array] = ()) -> Array:
        """READS ROWS.  The numbers of one block, then those of its halves, NaN where it has none."""
        many = self._wanted * (1 + len(halves))
        found = self._ask(BLOCK, rows, 8 * many, halves)
        return np.frombuffer(found) if len(found) == 8 * many else np.full(many, np.nan)

    def trial(self, rows: Array) -> str | None:
        """Why there are no numbers for rows made up; None where there are."""
        found = self._ask(TRIAL, rows, 401)
        if len(found) == 8 * self._wanted and found[:1] != b"!":
            return None
        return found[1:].decode(errors="replace") or f"no answer within {self._seconds:g} seconds"

    def _ask(self, kind: bytes, rows: Array, most: int, halves: Sequence[Array] = ()) -> bytes:
        """Sends a block to a new child by a socket of its own.  OSError where there is no child to be had."""
        if rows.size == 0:
            return b""
        mine, theirs = socket.socketpair()
        with mine:
            with theirs, self._lock:
                socket.send_fds(self._control, [kind], [theirs.fileno()])
            mine.settimeout(self._patience)
            columns = 0 if rows.ndim == 1 else rows.shape[1]
            first = len(halves[0]) if halves else -1
            try:
                mine.sendall(HEADER.pack(len(rows), first, columns, self._wanted))
                mine.sendall(b"".join(one.tobytes() for one in (rows, *halves)))
                return _all(mine, most)
            except OSError:  # the child is gone, or is not done
                return b""


def _all(given: socket.socket, most: int) -> bytes:
    """What comes until the other side closes, at most so many bytes."""
    made = b""
    while len(made) < most and (part := given.recv(most - len(made))):
        made += part
    return made

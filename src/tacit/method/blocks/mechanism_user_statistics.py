"""A Python function of the rows of each block, each in a process of its own.  INSIDE the wall.

A block's numbers are a function of its own rows alone: the process that computes them is forked from one that holds no
rows (`mechanism_fork_server`), receives this block and no other, and ends afterwards.  A block on which the function
fails has no number; a failure of the machine (no process can be started) is an error.
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
from itertools import count, islice
from math import isqrt
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
"""Settings that keep linear algebra to one thread: a process with threads cannot be forked safely."""
SET: Final = ("PYTHONWARNINGS", "PYTHONDEVMODE", "PYTHONINSPECT", "PYTHONFAULTHANDLER", "PYTHONTRACEMALLOC")
"""Environment variables that make an interpreter print or fail: they are not passed on."""
TRIED: Final = 200
"""Made-up rows on which a function is tried."""
SPARE: Final = 30.0
"""Seconds beyond a block's wall time after which its answer is given up."""


def statistics(model: Statistic, values: Array, sizes: NDArray[np.int64], bias: str = "none") -> Array:
    """READS ROWS.  Return the numbers of each block, clamped to their ranges, shape (k, p); NaN where it has none.

    values: shape (k, capacity, columns), rows sorted; sizes: shape (k,).  bias: "none", or "split-half": twice the
    block's number less the mean of the numbers of its halves, which removes the bias of order one over the rows; where
    a half has no number, that of the block is left uncorrected.
    """
    rows = values[:, :, 0] if model.columns == 1 else values
    found, *halves = _numbers(model, rows, sizes, halves=bias == "split-half")
    if halves:
        with np.errstate(all="ignore"):
            # a bias b / t is 2 b / t in halves, and cancels: 2 (x + b / t) - (x + 2 b / t) = x
            corrected = 2 * found - (halves[0] + halves[1]) / 2
        found = np.where(np.isfinite(corrected).all(axis=1, keepdims=True), corrected, found)
    low, high = (np.array(ends) for ends in zip(*(ends for _, ends in model.ranges), strict=True))
    # all numbers of a block or none: it is the whole function that fails
    own = np.isfinite(found).all(axis=1, keepdims=True) & (sizes > 0)[:, None]
    return np.where(own, np.clip(found, low, high), np.nan)


def _numbers(model: Statistic, rows: Array, sizes: NDArray[np.int64], *, halves: bool) -> list[Array]:
    """READS ROWS.  Return the numbers of each block, shape (k, p), NaN where it has none, then those of both halves."""
    parts = split(rows, sizes) if halves else ()
    if isinstance(model.function, str):
        return [STATISTICS[model.function][1](*part) for part in ((rows, sizes), *parts)]
    blocks = [block[:size] for block, size in zip(rows, sizes, strict=True)]
    pairs = list(zip(*([half[:size] for half, size in zip(*part, strict=True)] for part in parts), strict=True))
    # threads only wait for their sockets; two a core keep children running while others are sent
    with ForkServer(model) as server, ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        each = pool.map(server.block, blocks, pairs or [()] * len(blocks))
        found = np.array(list(each)).reshape(len(sizes), 1 + len(parts), len(model.names))
    return list(np.moveaxis(found, 1, 0))


@lru_cache(maxsize=64)
def check(model: Statistic) -> None:
    """Try a function on made-up rows: ModelError M22 where it fails on all of them, M23, M24."""
    if model.built_in:
        return
    with ForkServer(model) as server:
        said = [server.trial(rows) for rows in _made_up_rows(model.columns)]
    # one table may be unfit for a function (binary or whole numbers): it is refused only where all are
    if all(said):
        shape = (TRIED,) if model.columns == 1 else (TRIED, model.columns)
        message = f"the statistic fails on rows made up, an array of shape {shape}: {said[0]}."
        raise ModelError(message, code="M22", hint="one number for each range, in their order")


def _made_up_rows(columns: int) -> list[Array]:
    """Return three public tables: of numbers in [0, 1), with a binary first column, and with a whole first column."""
    i = np.arange(1.0, TRIED + 1)[:, None]
    # multiples of roots of primes: no column is constant, and none is a function of the others
    primes = islice((p for p in count(2) if all(p % q for q in range(2, isqrt(p) + 1))), columns)
    spread: Array = (i * np.sqrt(list(primes))) % 1
    several: list[Array] = [spread, spread.copy(), 4 * spread - 2]
    several[1][:, 0] = several[1][:, 0] > 0.5
    several[2][:, 0] = np.floor(5 * spread[:, 0])
    return [one[:, 0] if columns == 1 else one for one in several]


class ForkServer(AbstractContextManager["ForkServer"]):
    """The process that holds a function and forks one child for each block; for use in a `with` statement."""

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
        # a fixed hash seed: sets and dictionaries of text have one order, so that a block has one answer
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
            # "." or "!" and up to 400 bytes of an error
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
        """End the process and all that is left of its children."""
        self._control.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def block(self, rows: Array, halves: Sequence[Array] = ()) -> Array:
        """READS ROWS.  Return the numbers of one block, then those of its halves, NaN where it has none."""
        many = self._wanted * (1 + len(halves))
        found = self._send(BLOCK, rows, 8 * many, halves)
        return np.frombuffer(found) if len(found) == 8 * many else np.full(many, np.nan)

    def trial(self, rows: Array) -> str | None:
        """Return why the function has no numbers for made-up rows; None where it has."""
        found = self._send(TRIAL, rows, 401)
        if len(found) == 8 * self._wanted and found[:1] != b"!":
            return None
        return found[1:].decode(errors="replace") or f"no answer within {self._seconds:g} seconds"

    def _send(self, kind: bytes, rows: Array, most: int, halves: Sequence[Array] = ()) -> bytes:
        """READS ROWS.  Send a block to a new child by a socket of its own; OSError where no child can be forked."""
        # an empty block has the default; no function need cope with it
        if rows.size == 0:
            return b""
        mine, theirs = socket.socketpair()
        with mine:
            # one thread at a time sends; `theirs` is closed here afterwards, and the child alone holds it
            with theirs, self._lock:
                socket.send_fds(self._control, [kind], [theirs.fileno()])
            mine.settimeout(self._patience)
            columns = 0 if rows.ndim == 1 else rows.shape[1]
            first = len(halves[0]) if halves else -1
            try:
                mine.sendall(HEADER.pack(len(rows), first, columns, self._wanted))
                mine.sendall(b"".join(one.tobytes() for one in (rows, *halves)))
                return _all(mine, most)
            except OSError:  # the child was killed, or did not finish in time
                return b""


def _all(given: socket.socket, most: int) -> bytes:
    """Receive until the other side closes, at most so many bytes."""
    made = b""
    while len(made) < most and (part := given.recv(most - len(made))):
        made += part
    return made

"""Work on the rows of a table in memory, some thousands at a time, shared among threads.  INSIDE the wall.

NumPy releases Python's lock while it computes; some tens of columns of a block of rows fit a processor's cache.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.base.muted import silent
from tacit.source.pass_progress import WATCHED

T = TypeVar("T")
R = TypeVar("R")
BLOCK: Final = 2**13
"""Rows of a block.  Proofs that sums are exact rest on it; of 10,000 rows BLAS would start threads of its own."""
LINE: Final = 64
"""Bytes of a line of the processor's cache."""
FEW: Final = 4
"""Blocks of some thousands of rows that a thread of its own is worth."""


def shared(
    blocks: Sequence[T],
    work: Callable[[Iterator[T]], R],
    *,
    apart: int = FEW,
    whole: bool = False,
    alone: bool = False,
) -> list[R]:
    """Return what `work` makes of the blocks that each thread is given; between two blocks all can be interrupted.

    apart: blocks that a thread of its own is worth.  whole: whether they are all rows of the table, whose progress is
    shown.  alone: whether one thread does it all: where the steps of a block take some tens of microseconds each, two
    threads wait for Python's lock as long as they compute.
    """
    many, left, watched = min(os.cpu_count() or 1, len(blocks) // apart), Left(blocks), WATCHED.get()
    if watched is not None and whole:
        watched.count(left.done)
    if many < 2 or alone:
        with silent():
            return [work(left.each())]

    def run() -> R:
        with silent():  # belongs to the thread
            return work(left.each())

    with ThreadPoolExecutor(many) as threads:
        waiting = [threads.submit(run) for _ in range(many)]
        try:
            return [one.result() for one in waiting]
        except BaseException:
            left.stop()
            raise


class Left(Generic[T]):
    """Blocks that no thread has taken yet."""

    def __init__(self, blocks: Sequence[T]) -> None:
        self._blocks, self._taken, self._lock = blocks, 0, Lock()

    def each(self) -> Iterator[T]:
        """Yield block after block, each to one thread alone: one that is slower takes fewer."""
        while True:
            with self._lock:
                blocks, at = self._blocks, self._taken
                self._taken = at + 1
            if at >= len(blocks):
                return
            yield blocks[at]

    def stop(self) -> None:
        """Leave no block to any thread."""
        self._blocks = ()

    def done(self) -> float:
        """Return the fraction that was taken."""
        return min(1.0, self._taken / max(1, len(self._blocks)))


class Buffers:
    """Arrays that are used again for each block: new ones of this size would cost more than the arithmetic."""

    def __init__(self) -> None:
        self._made: dict[str, NDArray[Any]] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
        """Return the array of this name, of undefined content; its last axis is rows, at most BLOCK."""
        *outer, rows = shape
        found = self._made.get(name)
        if (
            found is None
            or found.shape[:-1] != tuple(outer)
            or found.shape[-1] < rows
            or found.dtype != np.dtype(dtype)
        ):
            found = self._made[name] = _aligned((*outer, max(rows, BLOCK)), np.dtype(dtype))
        return found[..., :rows]


def _aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array of undefined content that begins where a line of the processor's cache does.

    NumPy's own begin 16 bytes after: wide loads would then each touch two lines, and BLAS takes twice as long.
    """
    many = math.prod(shape) * dtype.itemsize
    made = np.empty(many + LINE, dtype=np.uint8)
    start = -made.ctypes.data % LINE
    return made[start : start + many].view(dtype).reshape(shape)

"""The process that block statistics are forked from: it holds the function and never a row.  INSIDE the wall.

It is started as a fresh interpreter (no engine, no JAX, no threads), reads the function, and forks one child for each
block.  A child's rows come to it by a socket of its own, which the curator's process made: they never pass through this
process, so that no child finds another's.

A child has so many seconds of the processor's time (user and system), which does not depend on what else the machine
does: the other blocks, whose number of rows might show in this one's answer, or anybody's load.  The kernel counts, and
ends it.  One that waits uses none of them: after `patience` seconds of the clock on the wall it is killed as well, with
all that it started.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Callable
from math import ceil
from typing import Any, Final

import numpy as np

from tacit.base.muted import silent_process
from tacit.models.function_pickle import unpacked

HEADER: Final = struct.Struct("<qqqq")
"""Rows of a block, rows of its first half (-1: no halves), columns (0: rows are numbers), numbers wanted."""
START: Final = struct.Struct("<dq")
"""Seconds for a block, bytes of the function."""
BLOCK, TRIAL = b"b", b"t"
TICK: Final = 0.05
"""Seconds between looks at the children's clocks."""
WAITED: Final = (10.0, 5.0)
"""Seconds on the wall for each of the processor's, and at least."""


def patience(seconds: float) -> float:
    """Seconds on the wall that a block has which has so many of the processor's: public, and generous.

    >>> patience(60.0), patience(0.1)
    (600.0, 5.0)
    """
    return max(WAITED[0] * seconds, WAITED[1])


def serve(handle: int) -> None:
    """Runs until the curator's process closes the socket."""
    control = socket.socket(fileno=handle)
    seconds, size = START.unpack(_whole(control, START.size))
    given = _whole(control, size)
    silent_process()
    try:
        function = unpacked(given)
    except BaseException as error:
        control.sendall(b"!" + _said(error))
        return
    control.sendall(b".")
    control.shutdown(socket.SHUT_WR)
    gc.freeze()
    children: dict[int, float] = {}
    while True:
        if select.select([control], [], [], TICK if children else None)[0]:
            kind, handles, _, _ = socket.recv_fds(control, 1, 1)
            if not kind:
                break
            child = os.fork()
            if child == 0:
                _child(control, handles[0], function, seconds, trial=kind == TRIAL)
            os.close(handles[0])
            children[child] = time.monotonic() + patience(seconds)
        _look_after(children)
    for child in children:
        _kill(child)


def _look_after(children: dict[int, float]) -> None:
    """Children that ended are taken off, those that waited too long are killed."""
    now = time.monotonic()
    for child, end in list(children.items()):
        if os.waitpid(child, os.WNOHANG)[0]:
            del children[child]
        elif now > end:
            _kill(child)


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):  # a child that has not made its group yet has only itself
        try:
            kill(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def _limited(seconds: float) -> None:
    """So many seconds of the processor's time for this process, which the kernel ends; no core of it on the disk."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF})
    whole = ceil(seconds) + 1  # should a function have turned the timer off; those it starts have as many each
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    whole = whole if most == resource.RLIM_INFINITY else min(whole, most)
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _child(control: socket.socket, handle: int, function: Callable[..., Any], seconds: float, *, trial: bool) -> None:
    """One block, in a process that ends with it; whatever happens, it says but numbers (of a trial, why not)."""
    try:
        os.setsid()
        control.close()
        mine = socket.socket(fileno=handle)
        rows, half, columns, wanted = HEADER.unpack(_whole(mine, HEADER.size))
        total = rows if half < 0 else 2 * rows
        given = np.frombuffer(bytearray(_whole(mine, 8 * total * max(columns, 1))), dtype=np.float64)
        block = given.reshape(total, columns) if columns else given
        silent_process()  # what the function's modules set when they were read
        _limited(seconds)
        try:
            found = [_numbers(function, block[:rows], wanted)]
            for part in () if half < 0 else (block[rows : rows + half], block[rows + half :]):
                try:
                    found.append(_numbers(function, part, wanted))
                except Exception:
                    found.append(np.full(wanted, np.nan))
            mine.sendall(np.concatenate(found).tobytes())
        except BaseException as error:
            if trial:
                mine.sendall(b"!" + _said(error))
    finally:
        os._exit(0)


def _numbers(function: Callable[..., Any], rows: Any, wanted: int) -> Any:
    """What the function gives, shape (wanted,); any error where it is something else."""
    found = np.asarray(function(rows), dtype=np.float64)
    if found.size != wanted or found.ndim > 1:
        raise ValueError(f"{wanted} numbers are wanted, and an array of shape {found.shape} came")
    return found.reshape(wanted)


def _said(error: BaseException) -> bytes:
    """The first line of an error, of a function that has seen no row of anybody."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}{': ' + lines[0] if lines else ''}".encode()[:400]


def _whole(given: socket.socket, size: int) -> bytes:
    """Exactly so many bytes; EOFError where fewer come."""
    made = bytearray()
    while len(made) < size:
        part = given.recv(min(size - len(made), 2**20))
        if not part:
            raise EOFError
        made += part
    return bytes(made)

"""The process that block statistics are forked from: it holds the function and never a row.  INSIDE the wall.

It is started as a fresh interpreter (no engine, no JAX, no threads), reads the function, and forks one child for each
block.  A child receives its rows through a socket of its own, which the curator's process made: they never pass through
this process, so no child can find another's rows.

A child has a limit on processor time (user and system), which the kernel counts and enforces.  Processor time does not
depend on the load of the machine, in particular not on the other blocks, whose numbers of rows could otherwise show in
this block's answer.  A child that waits uses no processor time: after `patience` seconds on the wall clock it is
killed too, with all processes that it started.
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
"""Message before a block: its rows, rows of its first half (-1: no halves), columns (0: rows are single numbers), and
how many numbers the function returns."""
START: Final = struct.Struct("<dq")
"""First message: processor seconds for a block, and the size of the function in bytes."""
BLOCK, TRIAL = b"b", b"t"
TICK: Final = 0.05
"""Seconds between checks of the children's wall clocks."""
WAITED: Final = (10.0, 5.0)
"""Wall seconds for each processor second, and the least number of them."""


def patience(seconds: float) -> float:
    """Return the wall seconds of a block that has so many processor seconds: public, and generous.

    >>> patience(60.0), patience(0.1)
    (600.0, 5.0)
    """
    return max(WAITED[0] * seconds, WAITED[1])


def serve(handle: int) -> None:
    """Fork children until the curator's process closes the socket; `handle` is its file descriptor."""
    control = socket.socket(fileno=handle)
    seconds, size = START.unpack(_receive_exactly(control, START.size))
    given = _receive_exactly(control, size)
    silent_process()
    try:
        function = unpacked(given)
    except BaseException as error:
        control.sendall(b"!" + _error_line(error))
        return
    control.sendall(b".")
    # the curator's process reads until the end of the stream, which this marks; nothing more is said on it
    control.shutdown(socket.SHUT_WR)
    # what exists now is not collected in children: pages stay shared, and no old finaliser runs in one
    gc.freeze()
    children: dict[int, float] = {}
    while True:
        if select.select([control], [], [], TICK if children else None)[0]:
            # one byte and the descriptor of the child's own socket; rows never come this way
            kind, handles, _, _ = socket.recv_fds(control, 1, 1)
            if not kind:
                break
            child = os.fork()
            if child == 0:
                _child(control, handles[0], function, seconds, trial=kind == TRIAL)
            os.close(handles[0])
            children[child] = time.monotonic() + patience(seconds)
        # also on a tick without a message, or an overdue child would wait for the next block
        _look_after(children)
    for child in children:
        _kill(child)


def _look_after(children: dict[int, float]) -> None:
    """Forget children that ended, and kill those that are past their wall time."""
    now = time.monotonic()
    for child, end in list(children.items()):
        if os.waitpid(child, os.WNOHANG)[0]:
            del children[child]
        elif now > end:
            _kill(child)


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):  # a child that has not made its own group yet is killed by itself
        try:
            kill(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def _limited(seconds: float) -> None:
    """Let the kernel end this process after so many seconds of processor time, and write no core file."""
    import resource

    # a core file would hold the block's rows
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF})
    whole = ceil(seconds) + 1  # a second limit, should the function turn the timer off; its own children have it, too
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    whole = whole if most == resource.RLIM_INFINITY else min(whole, most)
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _child(control: socket.socket, handle: int, function: Callable[..., Any], seconds: float, *, trial: bool) -> None:
    """Compute one block and end the process; send nothing but numbers (in a trial, on made-up rows, also an error)."""
    try:
        # a group of its own, so that what the function starts can be killed with it
        os.setsid()
        # before the function runs: no child may speak to the curator's process in the name of the server
        control.close()
        mine = socket.socket(fileno=handle)
        rows, half, columns, wanted = HEADER.unpack(_receive_exactly(mine, HEADER.size))
        total = rows if half < 0 else 2 * rows
        # a bytearray, so that the function gets an array that it may write to
        given = np.frombuffer(bytearray(_receive_exactly(mine, 8 * total * max(columns, 1))), dtype=np.float64)
        block = given.reshape(total, columns) if columns else given
        silent_process()  # again: the function's modules may have set other outputs
        _limited(seconds)
        try:
            found = [_numbers(function, block[:rows], wanted)]
            for part in () if half < 0 else (block[rows : rows + half], block[rows + half :]):
                try:
                    found.append(_numbers(function, part, wanted))
                except Exception:  # a half without a number leaves the block uncorrected, not without an answer
                    found.append(np.full(wanted, np.nan))
            mine.sendall(np.concatenate(found).tobytes())
        except BaseException as error:
            # an error's text could hold rows of the table: then nothing is sent, and the block has its default
            if trial:
                mine.sendall(b"!" + _error_line(error))
    finally:
        # in every case: a child must not return into the server's loop, nor run what is registered for exit
        os._exit(0)


def _numbers(function: Callable[..., Any], rows: Any, wanted: int) -> Any:
    """Return what the function gives for rows, shape (wanted,); any error where that is something else."""
    found = np.asarray(function(rows), dtype=np.float64)
    if found.size != wanted or found.ndim > 1:
        raise ValueError(f"{wanted} numbers are wanted, and an array of shape {found.shape} came")
    return found.reshape(wanted)


def _error_line(error: BaseException) -> bytes:
    """Return the first line of an error, only of a function that has seen no real rows."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}{': ' + lines[0] if lines else ''}".encode()[:400]


def _receive_exactly(given: socket.socket, size: int) -> bytes:
    """Receive exactly so many bytes; EOFError where fewer come."""
    made = bytearray()
    while len(made) < size:
        part = given.recv(min(size - len(made), 2**20))
        if not part:
            raise EOFError
        made += part
    return bytes(made)

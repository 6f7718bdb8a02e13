"""The process that block statistics are forked from: it holds the function and never a row.  INSIDE the wall.

It is started as a fresh interpreter (no engine, no JAX, no threads), reads the function, and forks one child for each
block.  A child's rows come to it by a socket of its own, which the curator's process made: they never pass through this
process, so that no child finds another's.  A child that takes too long is killed, with all that it started.
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
from typing import Any, Final

import numpy as np

from tacit.models.carried import unpacked

HEADER: Final = struct.Struct("<qqqq")
"""Rows of a block, rows of its first half (-1: no halves), columns (0: rows are numbers), numbers wanted."""
START: Final = struct.Struct("<dq")
"""Seconds for a block, bytes of the function."""
BLOCK, TRIAL = b"b", b"t"
TICK: Final = 0.05
"""Seconds between looks at the children's clocks."""


def serve(handle: int) -> None:
    """Runs until the curator's process closes the socket."""
    control = socket.socket(fileno=handle)
    seconds, size = START.unpack(_whole(control, START.size))
    given = _whole(control, size)
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
                _child(control, handles[0], function, trial=kind == TRIAL)
            os.close(handles[0])
            children[child] = time.monotonic() + seconds
        _look_after(children)
    for child in children:
        _kill(child)


def _look_after(children: dict[int, float]) -> None:
    """Children that ended are taken off, those that took too long are killed."""
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


def _child(control: socket.socket, handle: int, function: Callable[..., Any], *, trial: bool) -> None:
    """One block, in a process that ends with it; whatever happens, it says but numbers (of a trial, why not)."""
    try:
        os.setsid()
        control.close()
        mine = socket.socket(fileno=handle)
        rows, half, columns, wanted = HEADER.unpack(_whole(mine, HEADER.size))
        total = rows if half < 0 else 2 * rows
        given = np.frombuffer(bytearray(_whole(mine, 8 * total * max(columns, 1))), dtype=np.float64)
        block = given.reshape(total, columns) if columns else given
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

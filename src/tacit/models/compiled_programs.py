"""Compiled programs of models, kept on disk from one process to the next.  No data here.

Compiling the program of a model takes seconds, the same ones in every process.  A program is a function of the model,
the shapes of arrays and the machine; it holds no row, and is kept only where all of these are public:

- it is used for arrays of public shapes alone (`block_mle`, `scores`, fits to released cells);
- a density that closes over arrays is compiled afresh (`keep`), whatever they are: they would be in the file.

A file's name is the SHA-256 of the program's text before compilation, with the versions and the machine it is for; so a
changed model, library or processor never meets another's program.  Loading one runs it: the folder and its files must
belong to this user and be closed to writers other than the owner, else they are left alone.  TACIT_CACHE names another
folder, and TACIT_CACHE=off keeps nothing; nor is anything kept where JAX has a cache of its own.  Whatever fails here,
the program is compiled instead, silently.
"""

from __future__ import annotations

import hashlib
import os
import platform
import stat
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from tacit.base.lazy_imports import jax
from tacit.base.progress import phase

Program: TypeAlias = Callable[..., Any]
PLACE: Final = "TACIT_CACHE"
OFF: Final = ("off", "0", "no", "false")
FORMAT: Final = b"tacit-program-1\n"
MOST: Final = 64
"""Programs kept; those that were not used for the longest time make room."""
PRIVATE: Final = 0o700
OTHERS_WRITE: Final = 0o022


class CompiledFunction:
    """A function of arrays, compiled once a shape; keep: on disk, as all shapes it is called with are public.

    It is called under `quiet` or `double`, as what it replaces, `jax.jit(function)`.  lower: JAX's, which returns what
    is handed to the compiler.
    """

    def __init__(self, function: Callable[..., Any], *, keep: bool) -> None:
        self._jitted, self._keep = jax().jit(function), keep
        self._made, self._lock = dict[Any, Program](), threading.Lock()
        self.lower: Callable[..., Any] = self._jitted.lower

    def __call__(self, *given: Any) -> Any:
        """Return the function's value for these arrays."""
        arrays = tuple(map(np.asarray, given))
        shapes = tuple((one.shape, one.dtype.str) for one in arrays)
        found = self._made.get(shapes)
        if found is None:
            with self._lock:
                found = self._made.get(shapes) or _compiled(self._jitted, arrays, self._keep)
                self._made[shapes] = found
        return found(*arrays)


def folder() -> Path | None:
    """Return the folder of compiled programs, which may not be there yet; None where nothing is kept."""
    said = os.environ.get(PLACE, "").strip()
    if said.lower() in OFF:
        return None
    if said:
        return Path(said)
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "tacit" / "programs"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "tacit" / "programs"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "tacit" / "programs"


def _compiled(jitted: Any, arrays: tuple[Any, ...], keep: bool) -> Program:
    """Return a program for arrays like these, from disk or by compiling it."""
    with phase("preparing the model's program"):
        lowered = jitted.lower(*arrays)
        place = _place(lowered) if keep else None
        found = None if place is None else _loaded(place, lowered)
    return _fresh(lowered, place) if found is None else _trusted(found, lambda: _fresh(lowered, place))


def _fresh(lowered: Any, place: Path | None) -> Program:
    """Return a program that is compiled now, and stored where there is a place for it."""
    with phase("compiling the model's program" + ("" if place is None else ", once for this machine")):
        made = lowered.compile()
    if place is not None:
        _store(made, place)
    return made


def _trusted(loaded: Program, fresh: Callable[[], Program]) -> Program:
    """Return a loaded program that is replaced by a fresh one where it does not run."""
    chosen = [loaded]

    def run(*arrays: Any) -> Any:
        try:
            return chosen[0](*arrays)
        except Exception:
            if chosen[0] is not loaded:
                raise
        # outside the handler, so that no error of the loaded program hangs on one of the fresh program
        chosen[0] = fresh()
        return chosen[0](*arrays)

    return run


def _place(lowered: Any) -> Path | None:
    """Return the file of a program; None where nothing is kept, or the program cannot be told from others."""
    try:
        where = folder()
        # what JAX loaded from a cache of its own cannot be stored again: it lacks parts of its code
        if where is None or (jax().config.jax_compilation_cache_dir and jax().config.jax_enable_compilation_cache):
            return None
        text = lowered.as_text()
        return where / hashlib.sha256("\n".join([*_machine(), text]).encode()).hexdigest()
    except Exception:
        return None


def _machine() -> tuple[str, ...]:
    """Return what compiled code depends on besides its text: versions, settings, devices, instructions."""
    tools = jax()
    devices = tuple(f"{one.platform} {one.device_kind} {one.id}" for one in tools.devices())
    versions = (tools.__version__, tools.lib.__version__, np.__version__, platform.python_version())
    settings = (os.environ.get("XLA_FLAGS", ""), str(_device()))
    return (*versions, *settings, platform.machine(), _instructions(), *devices)


def _device() -> Any:
    """Return the device that programs run on."""
    tools = jax()
    chosen = tools.config.jax_default_device
    return chosen if isinstance(chosen, tools.Device) else tools.local_devices(backend=chosen)[0]


@lru_cache(maxsize=1)
def _instructions() -> str:
    """Return the processor's instruction sets; the machine's name where the system does not list them."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(("flags", "Features")):
                return line
    return platform.node()


def _loaded(place: Path, lowered: Any) -> Program | None:
    """Return the stored program of what was lowered; None where there is none that may be run."""
    try:
        if not _closed(os.stat(place.parent)):
            return None
        handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            if not _closed(os.fstat(file.fileno())):
                return None
            content = file.read()
        head, body = content[: len(FORMAT) + 32], content[len(FORMAT) + 32 :]
        if head != FORMAT + hashlib.sha256(body).digest():
            return None
        device = _device()
        found = _serialization().deserialize_and_load(
            body, _tree(lowered.args_info), lowered.out_tree, backend=device.client, execution_devices=[device]
        )
        os.utime(place)  # it was used: others make room before it
        return found
    except Exception:
        return None


def _store(made: Any, place: Path) -> None:
    """Store a program, whole or not at all."""
    with suppress(Exception):
        body, _, _ = _serialization().serialize(made)
        place.parent.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        if not _closed(os.stat(place.parent)):
            return
        # made with mode 600 in the same folder, then renamed
        handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(FORMAT + hashlib.sha256(body).digest() + body)
            os.replace(temporary, place)
        except BaseException:
            os.unlink(temporary)
            raise
        _make_room(place.parent)


def _serialization() -> Any:
    """Return JAX's module that turns compiled programs into bytes."""
    from jax.experimental import serialize_executable

    return serialize_executable


def _tree(arguments: Any) -> Any:
    """Return the structure of a program's arguments, which a loaded program is told."""
    return jax().tree_util.tree_structure(arguments)


def _make_room(where: Path) -> None:
    """Remove the programs that were not used for the longest time, beyond MOST."""
    kept = [one for one in where.iterdir() if len(one.name) == 64]
    for one in sorted(kept, key=lambda one: one.stat().st_mtime)[: max(0, len(kept) - MOST)]:
        one.unlink()


def _closed(found: os.stat_result) -> bool:
    """Return whether a file or folder is this user's, and no other user may write to it."""
    if not hasattr(os, "getuid"):  # Windows: a user's own folder has an access list of its own
        return True
    return found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & OTHERS_WRITE

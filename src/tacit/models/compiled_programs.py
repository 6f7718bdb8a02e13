"""Compiled programs of models, kept on disk from one process to the next.  No data here.

Compiling the program of a model takes seconds, the same ones in every process.  A program is a function of the model,
the shapes of arrays and the machine; it holds no row, and is kept only where all of these are public:

- it is used for arrays of public shapes alone (`block_mle`, `scores`, fits to released cells);
- a density that closes over arrays is compiled afresh (`keep`), whatever they are: they would be in the file.

A file's name is the SHA-256 of the program's text before compilation, with the versions and the machine it is for; so a
changed model, library or processor never meets another's program.  Loading one runs it: `program_files` reads files of
this user alone.  TACIT_CACHE names another folder, and TACIT_CACHE=off keeps nothing; nor is anything kept where JAX
has a cache of its own.  Whatever fails here, the program is compiled instead, silently.

Making the text takes longer than loading the program.  Where a function has a name that says all of it
(`Likelihood.program_name`) an index entry, a second file, leads from that name, the shapes and Tacit's own code to the
program.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import numpy as np

from tacit.base.lazy_imports import jax
from tacit.base.progress import phase
from tacit.models.program_files import folder, read, write

Program: TypeAlias = Callable[..., Any]
PROGRAM: Final = b"tacit-program-1\n"
ENTRY: Final = b"tacit-index-1\n"
UNOPTIMISED: Final = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
"""Options of a compiler that takes half the time and makes programs that take twice as long."""


class CompiledFunction:
    """A function of arrays, compiled once a shape; keep: on disk, as all shapes it is called with are public.

    It is called under `quiet` or `double`, as what it replaces, `jax.jit(function)`.  lower: JAX's, which returns what
    is handed to the compiler.  name: says all that Tacit's code does not say of the function, None where nothing does.
    quick: with arguments of fewer numbers than this the program runs so briefly that it is not optimised.
    """

    def __init__(self, function: Callable[..., Any], *, keep: bool, name: str | None = None, quick: int = 0) -> None:
        self._jitted, self._keep, self._name, self._quick = jax().jit(function), keep, name, quick
        self._made, self._lock = dict[Any, Program](), threading.Lock()
        self.lower: Callable[..., Any] = self._jitted.lower

    def __call__(self, *given: Any) -> Any:
        """Return the function's value for these arrays."""
        arrays = tuple(map(np.asarray, given))
        shapes = tuple((one.shape, one.dtype.str) for one in arrays)
        found = self._made.get(shapes)
        if found is None:
            with self._lock:
                found = self._made.get(shapes) or self._program(arrays)
                self._made[shapes] = found
        return found(*arrays)

    def _program(self, arrays: tuple[Any, ...]) -> Program:
        """Return a program for arrays like these, from disk or by compiling it."""
        with phase("preparing the model's program"):
            entry = _entry(self._name, arrays) if self._keep and self._name is not None else None
            indexed = None if entry is None else _indexed(entry, arrays)
        if indexed is not None:
            return _trusted(indexed, lambda: self._from_text(arrays, None))
        return self._from_text(arrays, entry)

    def _from_text(self, arrays: tuple[Any, ...], entry: Path | None) -> Program:
        """Return the program that belongs to the function's text; an index entry will lead to it."""
        quick = sum(int(one.size) for one in arrays) < self._quick
        with phase("preparing the model's program"):
            lowered = self._jitted.lower(*arrays)
            place = _place(lowered, quick) if self._keep else None
            loaded = None if place is None else _loaded(place, arrays, lowered.out_tree)
        program = _fresh(lowered, place, quick) if loaded is None else loaded
        if place is not None and entry is not None:
            _store_entry(entry, place, lowered.out_tree)
        return program if loaded is None else _trusted(loaded, lambda: _fresh(lowered, place, quick))


def _fresh(lowered: Any, place: Path | None, quick: bool) -> Program:
    """Return a program that is compiled now, and stored where there is a place for it."""
    with phase("compiling the model's program" + ("" if place is None else ", once for this machine")):
        made = lowered.compile(compiler_options=UNOPTIMISED if quick else None)
    if place is not None:
        with suppress(Exception):
            write(place, PROGRAM, _serialization().serialize(made)[0])
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


def _place(lowered: Any, quick: bool) -> Path | None:
    """Return the file of a program; None where nothing is kept, or the program cannot be told from others."""
    try:
        where = _folder()
        return None if where is None else where / _digest("program", *_machine(), str(quick), lowered.as_text())
    except Exception:
        return None


def _folder() -> Path | None:
    """Return the folder of programs; None beside a cache of JAX's: what it loaded lacks parts of its code."""
    settings = jax().config
    return None if settings.jax_compilation_cache_dir and settings.jax_enable_compilation_cache else folder()


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


def _loaded(place: Path, arrays: tuple[Any, ...], outputs: Any) -> Program | None:
    """Return the program stored at a place, whose values are a tree `outputs`; None where none may be run."""
    try:
        body = read(place, PROGRAM)
        if body is None:
            return None
        device, inputs = _device(), jax().tree_util.tree_structure((arrays, {}))
        return _serialization().deserialize_and_load(
            body, inputs, outputs, backend=device.client, execution_devices=[device]
        )
    except Exception:
        return None


def _serialization() -> Any:
    """Return JAX's module that turns compiled programs into bytes."""
    from jax.experimental import serialize_executable

    return serialize_executable


# Index entries --------------------------------------------------------------------------------------------------------


def _entry(name: str, arrays: tuple[Any, ...]) -> Path | None:
    """Return the file of an index entry; None where nothing is kept."""
    try:
        where, code = _folder(), _code()
        if where is None or code is None:
            return None
        shapes = [f"{one.shape} {one.dtype.str}" for one in arrays]
        # settings of JAX are part of the text, which is not made here
        settings = repr(sorted(jax().config.values.items()))
        return where / _digest("entry", *_machine(), code, settings, name, *shapes)
    except Exception:
        return None


def _indexed(entry: Path, arrays: tuple[Any, ...]) -> Program | None:
    """Return the program that an index entry leads to; None where there is none."""
    try:
        body = read(entry, ENTRY)
        if body is None:
            return None
        found: dict[str, Any] = json.loads(body)
        many = cast("int | None", found["outputs"])
        outputs = jax().tree_util.tree_structure(0 if many is None else (0,) * many)
        return _loaded(entry.parent / os.path.basename(str(found["program"])), arrays, outputs)
    except Exception:
        return None


def _store_entry(entry: Path, place: Path, outputs: Any) -> None:
    """Store an index entry for a program whose value is an array, or a tuple of arrays."""
    many = outputs.num_leaves
    for said in (None, many):
        if outputs == jax().tree_util.tree_structure(0 if said is None else (0,) * said):
            write(entry, ENTRY, json.dumps({"program": place.name, "outputs": said}).encode())
            return


@lru_cache(maxsize=1)
def _code() -> str | None:
    """Return a digest of the code that programs are made of; None where it cannot be read."""
    home = Path(__file__).parents[1]
    files = sorted(path for part in ("base", "models") for path in (home / part).rglob("*.py"))
    try:
        return _digest(*(f"{path.relative_to(home)}\n{path.read_text(encoding='utf-8')}" for path in files))
    except (OSError, UnicodeDecodeError):
        return None


def _digest(*parts: str) -> str:
    """Return the SHA-256 of texts; their lengths keep them apart."""
    return hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()

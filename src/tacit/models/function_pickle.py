"""Serialisation of Python functions for another process, and their digests.  No data enters this module.

A function of an installed package, and anything that pickle finds by name, is sent by name.  A function that a user
wrote (in a script, a notebook or a module) is sent as its code, with the functions and plain values that it names; its
digest covers the same, without the place where it was written.
"""

from __future__ import annotations

import builtins
import hashlib
import io
import marshal
import pickle
import pkgutil
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, Final, cast

INSTALLED: Final = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def packed(function: Callable[..., Any]) -> bytes:
    """Return the function as bytes that `unpacked` reads in another process of the same Python; raises pickle's errors.

    >>> import math
    >>> unpacked(packed(math.hypot))(3, 4)
    5.0
    """
    into = io.BytesIO()
    _Pickler(into, protocol=5).dump(function)
    return into.getvalue()


def unpacked(given: bytes) -> Callable[..., Any]:
    """Return the function from its bytes: the inverse of `packed`."""
    return pickle.loads(given)


def identity(function: Callable[..., Any]) -> str:
    """Return the SHA-256 digest of a function in hexadecimal digits.

    It covers the code and the values that the code names, or the name of an installed function.  Comments, blank lines
    and file names do not count.
    """
    found = hashlib.sha256()
    for one in _identifying_bytes(function, []):
        # lengths make the parts unambiguous: "ab", "c" is not "a", "bc"
        found.update(len(one).to_bytes(8, "little") + one)
    return found.hexdigest()


def _is_user_function(thing: object) -> bool:
    """Return whether a function is the user's own, so that it is sent as its code."""
    if not isinstance(thing, FunctionType) or str(thing.__module__).split(".")[0] == __name__.split(".")[0]:
        return False
    return not thing.__code__.co_filename.startswith((*INSTALLED, "<frozen"))


class _Pickler(pickle.Pickler):
    """A pickler that sends the user's own functions by value and modules by name."""

    def reducer_override(self, obj: Any) -> Any:
        """Return the parts that rebuild a function, in two steps, because a function may refer to itself."""
        if isinstance(obj, ModuleType):
            return pkgutil.resolve_name, (obj.__name__,)
        if not _is_user_function(obj):
            return NotImplemented
        cells = cast("tuple[CellType, ...]", obj.__closure__ or ())
        made = (marshal.dumps(obj.__code__), obj.__name__, obj.__defaults__, len(cells))
        state = (_globals(obj), obj.__kwdefaults__, [_cell_contents(cell) for cell in cells])
        return _function, made, state, None, None, _complete


def _function(code: bytes, name: str, defaults: Any, cells: int) -> FunctionType:
    """Return a function whose globals and cells are still empty."""
    empty = tuple(CellType() for _ in range(cells))
    named = {"__builtins__": builtins, "__name__": "carried"}
    return FunctionType(marshal.loads(code), named, name, defaults, empty)


def _complete(function: Any, state: Any) -> None:
    """Fill in the globals, keyword defaults and cells of a function made by `_function`."""
    named, keywords, cells = state
    function.__globals__.update(named)
    function.__kwdefaults__ = keywords
    for cell, inside in zip(function.__closure__ or (), cells, strict=True):
        if inside:
            cell.cell_contents = inside[0]


def _cell_contents(cell: CellType) -> list[Any]:
    """Return the contents of a closure's cell as a list of one entry; empty where nothing is assigned yet."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def _globals(function: FunctionType) -> dict[str, Any]:
    """Return the globals that a function's code, or code nested in it, names."""
    # sorted, so that bytes and digest do not depend on the order of a set
    wanted = sorted(set(_names(function.__code__)))
    return {name: function.__globals__[name] for name in wanted if name in function.__globals__}


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _names(one)


# Identity -------------------------------------------------------------------------------------------------------------


def _identifying_bytes(thing: Any, seen: list[Any]) -> Iterator[bytes]:
    """Yield the bytes that identify an object that a function uses, in a fixed order."""
    # functions may refer to each other in a circle
    place = next((i for i, one in enumerate(seen) if one is thing), None)
    if place is not None:
        yield f"seen {place}".encode()
    elif isinstance(thing, ModuleType):
        yield f"module {thing.__name__}".encode()
    elif _is_user_function(thing):
        seen.append(thing)
        yield from _code(thing.__code__)
        parts = (thing.__defaults__, thing.__kwdefaults__, [_cell_contents(cell) for cell in thing.__closure__ or ()])
        for one in (*parts, _globals(thing)):
            yield from _identifying_bytes(one, seen)
    elif isinstance(thing, Mapping):
        pairs = cast("Mapping[Any, Any]", thing)
        yield f"mapping {len(pairs)}".encode()
        # equal mappings may have their keys in another order
        for key in sorted(pairs, key=str):
            yield str(key).encode()
            yield from _identifying_bytes(pairs[key], seen)
    elif isinstance(thing, list | tuple):
        parts = cast("list[Any]", thing)
        yield f"{type(parts).__name__} {len(parts)}".encode()
        for one in parts:
            yield from _identifying_bytes(one, seen)
    else:
        plain = thing is None or isinstance(thing, bool | int | float | complex | str | bytes)
        yield repr(thing).encode() if plain else pickle.dumps(thing, protocol=5)


def _code(code: CodeType) -> Iterator[bytes]:
    """Yield the byte code, names and constants of code, without file names and line numbers."""
    yield code.co_code
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_argcount)).encode()
    yield repr((code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags, code.co_exceptiontable)).encode()
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _code(one)
        else:
            parts = cast("frozenset[object]", one) if isinstance(one, frozenset) else None
            # the order of a frozenset of text changes with the hash seed of the process
            yield repr(cast(object, one) if parts is None else sorted(parts, key=repr)).encode()

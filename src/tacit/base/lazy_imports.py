"""Heavy libraries, imported when a function first needs them; as Any, because they ship no types."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from tacit.base.progress import phase


def arrow() -> Any:
    """Return the `pyarrow` module."""
    import pyarrow  # pyright: ignore[reportMissingTypeStubs]

    return pyarrow


def parquet() -> Any:
    """Return the `pyarrow.parquet` module."""
    import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs]

    return pyarrow.parquet


def pandas() -> Any:
    """Return the `pandas` module."""
    import pandas  # pyright: ignore[reportMissingTypeStubs]

    return pandas


def special() -> Any:
    """Return the `scipy.special` module."""
    import scipy.special  # pyright: ignore[reportMissingTypeStubs]

    return scipy.special


@cache
def jax() -> Any:
    """Return the `jax` module; loading it takes seconds, which a display of progress shows."""
    with phase("loading JAX, once a process"):
        import jax

    return jax


def formulaic() -> Any:
    """Return the `formulaic` module."""
    import formulaic  # pyright: ignore[reportMissingTypeStubs]

    return formulaic


def double() -> AbstractContextManager[Any]:
    """Return a context in which JAX computes in 64-bit floats; the user's JAX configuration stays as it is."""
    module = jax()
    if hasattr(module, "enable_x64"):
        return module.enable_x64(True)
    import jax.experimental as experimental  # where it was until JAX 0.8

    older: Any = experimental
    return older.enable_x64()

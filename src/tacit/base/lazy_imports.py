"""Libraries that ship no types, as Any: imported when they are called for, and nowhere else without a type."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any


def arrow() -> Any:
    """The `pyarrow` module."""
    import pyarrow  # pyright: ignore[reportMissingTypeStubs]

    return pyarrow


def parquet() -> Any:
    """The `pyarrow.parquet` module."""
    import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs]

    return pyarrow.parquet


def pandas() -> Any:
    """The `pandas` module."""
    import pandas  # pyright: ignore[reportMissingTypeStubs]

    return pandas


def stats() -> Any:
    """The `scipy.stats` module."""
    import scipy.stats  # pyright: ignore[reportMissingTypeStubs]

    return scipy.stats


def special() -> Any:
    """The `scipy.special` module."""
    import scipy.special  # pyright: ignore[reportMissingTypeStubs]

    return scipy.special


def jax() -> Any:
    """The `jax` module."""
    import jax

    return jax


def formulaic() -> Any:
    """The `formulaic` module."""
    import formulaic  # pyright: ignore[reportMissingTypeStubs]

    return formulaic


def double() -> AbstractContextManager[Any]:
    """64-bit floats in JAX, within the block only; nothing of a user's JAX configuration is changed."""
    module = jax()
    if hasattr(module, "enable_x64"):
        return module.enable_x64(True)
    import jax.experimental as older

    before: Any = older  # until JAX 0.8
    return before.enable_x64()

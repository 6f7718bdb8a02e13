"""The configuration of JAX for fits, in a `with` statement: 64-bit floats, compiled, no output on what it computes.

A user may have set JAX to raise or to speak where a number is NaN, where shapes are broadcast, types meet or arrays
move between devices, or to run Python code on concrete arrays; each would be an output that depends on rows, or a
release that fails.  The configuration outside the `with` statement is unchanged.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from tacit.base.lazy_imports import double, jax
from tacit.base.muted import silent

SETTINGS: Final = (
    ("debug_nans", False),
    ("debug_infs", False),
    ("disable_jit", False),
    ("log_compiles", False),
    ("check_tracer_leaks", False),
    ("numpy_rank_promotion", "allow"),
    ("numpy_dtype_promotion", "standard"),
    ("transfer_guard", "allow"),
)
"""Settings that each thread has for itself, and their defaults."""


@contextmanager
def quiet() -> Generator[None]:
    """Set 64-bit floats, no checks, logs or code outside the compiler, and no warnings."""
    tools: Any = jax()
    with ExitStack() as stack:
        stack.enter_context(silent())
        stack.enter_context(double())
        for name, value in SETTINGS:
            if hasattr(tools, name):
                stack.enter_context(getattr(tools, name)(value))
        yield

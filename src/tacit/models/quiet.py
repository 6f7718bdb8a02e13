"""JAX as fits need it, within a block only: 64-bit floats, compiled, and silent about what it computes.

A user may have set JAX to raise or to speak where a number is NaN, or to run Python code on concrete arrays; each would
be an output that depends on rows.  Nothing of the configuration outside the block is changed.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any

from tacit.untyped import double, jax


@contextmanager
def quiet() -> Generator[None]:
    """64-bit floats, no checks for NaN, no code run outside the compiler."""
    tools: Any = jax()
    with ExitStack() as stack:
        stack.enter_context(double())
        for name, value in (("debug_nans", False), ("debug_infs", False), ("disable_jit", False)):
            if hasattr(tools, name):
                stack.enter_context(getattr(tools, name)(value))
        yield

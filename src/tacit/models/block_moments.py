"""Small JAX functions that families share: weighted moments and medians of a block."""

from __future__ import annotations

from typing import Any

from tacit.base.lazy_imports import jax


def jnp() -> Any:
    """The module `jax.numpy`."""
    return jax().numpy


def special() -> Any:
    """The module `jax.scipy.special`."""
    return jax().scipy.special


def mean(x: Any, w: Any) -> Any:
    """Mean over the first axis, weights 0 or 1."""
    return jnp().tensordot(w, x, axes=1) / w.sum()


def mean_of(lift: Any, x: Any, w: Any) -> Any:
    """The mean of a statistic of rows, shape (q,), weights 0 or 1: the same arithmetic wherever it is asked for."""
    return jax().vmap(lift, out_axes=-1)(x) @ w / w.sum()


def moments(x: Any, w: Any) -> tuple[Any, Any]:
    """Mean and mean square about it; NaN where all rows are equal."""
    lib = jnp()
    middle = mean(x, w)
    low, high = lib.where(w > 0, x, lib.inf).min(), lib.where(w > 0, x, -lib.inf).max()
    return middle, lib.where(high > low, mean((x - middle) ** 2, w), lib.nan)


def median(x: Any, w: Any) -> Any:
    """The median of sorted rows, the middle of the two where their number is even."""
    lib = jnp()
    reached = lib.cumsum(w)
    half = reached[-1] / 2
    return (x[lib.argmax(reached >= half)] + x[lib.argmax(reached > half)]) / 2


def log_normal(x: Any, mean: Any, sd: Any) -> Any:
    """The log of the normal density."""
    return -0.5 * ((x - mean) / sd) ** 2 - jnp().log(sd) - 0.9189385332046727


def at_least(value: Any, least: float) -> Any:
    """The value, or the least where it is below; NaN stays."""
    return jnp().maximum(value, least)

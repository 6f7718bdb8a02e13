"""JAX functions that families share: weighted moments and medians of a block."""

from __future__ import annotations

from typing import Any

from tacit.base.lazy_imports import jax


def jnp() -> Any:
    """Return the module `jax.numpy`."""
    return jax().numpy


def special() -> Any:
    """Return the module `jax.scipy.special`."""
    return jax().scipy.special


def mean(x: Any, w: Any) -> Any:
    """Return the mean over the first axis, with weights of 0 or 1."""
    return jnp().tensordot(w, x, axes=1) / w.sum()


def mean_of(row_statistics: Any, x: Any, w: Any) -> Any:
    """Return the mean of a statistic of rows, shape (q,), with weights 0 or 1, by one arithmetic for all callers."""
    return jax().vmap(row_statistics, out_axes=-1)(x) @ w / w.sum()


def moments(x: Any, w: Any) -> tuple[Any, Any]:
    """Return the mean and the mean square about it, which is NaN where all rows are equal."""
    lib = jnp()
    middle = mean(x, w)
    low, high = lib.where(w > 0, x, lib.inf).min(), lib.where(w > 0, x, -lib.inf).max()
    # equal rows are found by comparison: their mean square may be off 0 by rounding
    return middle, lib.where(high > low, mean((x - middle) ** 2, w), lib.nan)


def median(x: Any, w: Any) -> Any:
    """Return the median of sorted rows, the midpoint of the middle two where their number is even."""
    lib = jnp()
    reached = lib.cumsum(w)
    half = reached[-1] / 2
    # argmax of a mask: the first row at which half of the weight is reached, and passed; one row if t is odd
    return (x[lib.argmax(reached >= half)] + x[lib.argmax(reached > half)]) / 2


def log_normal(x: Any, mean: Any, sd: Any) -> Any:
    """Return the log of the normal density."""
    return -0.5 * ((x - mean) / sd) ** 2 - jnp().log(sd) - 0.9189385332046727  # log(2 pi) / 2 is the constant


def at_least(value: Any, least: float) -> Any:
    """Return the larger of both; NaN stays NaN."""
    return jnp().maximum(value, least)

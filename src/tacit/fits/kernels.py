"""Losses of regressions as JAX functions, and their derivatives over points, compiled once a loss and shape.

A loss is m(y, eta): y a vector that describes a point's response, eta a number.  64-bit floats hold within these
functions only; nothing of a user's JAX configuration is changed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import double, jax

__all__ = ["KERNELS", "Kernel", "compiled", "double", "padded"]

Kernel: TypeAlias = Callable[[Any, Any], Any]


def padded(values: Array, size: int) -> Array:
    """Return the values with rows of zeros after them, `size` rows in all."""
    # the rows added are computed and thrown away, whatever they give
    out = np.zeros((size, *values.shape[1:]))
    out[: len(values)] = values
    return out


@lru_cache(maxsize=64)
def compiled(name: str, parameter: float | None) -> Callable[[Array, Array], tuple[Any, Any, Any]]:
    """Return a compiled function of (y, eta), shapes (points, columns) and (points,): the loss and its first and second
    derivatives in eta.
    """
    tools = jax()
    loss = KERNELS[name](tools, parameter)
    first = tools.grad(loss, argnums=1)
    # in eta alone: chain rule with x outside, so that a compiled loss serves designs of any width
    second = tools.grad(first, argnums=1)

    def all_three(y: Any, eta: Any) -> tuple[Any, Any, Any]:
        return loss(y, eta), first(y, eta), second(y, eta)

    return tools.jit(tools.vmap(all_three))


def _linear(tools: Any, _: float | None) -> Kernel:
    """Half the squared error: -log likelihood of a normal response, up to its variance."""

    def loss(y: Any, eta: Any) -> Any:
        return 0.5 * (y[0] - eta) ** 2

    return loss


def _logistic(tools: Any, _: float | None) -> Kernel:
    def loss(y: Any, eta: Any) -> Any:
        # -log likelihood of a share y; softplus(eta) = log(1 + e**eta) without overflow
        return tools.nn.softplus(eta) - y[0] * eta

    return loss


def _probit(tools: Any, _: float | None) -> Kernel:
    def loss(y: Any, eta: Any) -> Any:
        law = tools.scipy.stats.norm
        # logcdf(-eta) in place of log(1 - cdf(eta)), which rounds to log 0 for large eta
        return -y[0] * law.logcdf(eta) - (1 - y[0]) * law.logcdf(-eta)

    return loss


def _poisson(tools: Any, _: float | None) -> Kernel:
    def loss(y: Any, eta: Any) -> Any:
        # -log likelihood without log y!, which does not depend on eta
        return tools.numpy.exp(eta) - y[0] * eta

    return loss


def _gamma(tools: Any, _: float | None) -> Kernel:
    def loss(y: Any, eta: Any) -> Any:
        # -log likelihood over the shape, which scales all terms alike and leaves the minimum in place
        return y[0] * tools.numpy.exp(-eta) + eta

    return loss


def _integrated(once: Callable[[Any], Any], twice: Callable[[Any], Any]) -> Kernel:
    """A loss rho(y - eta) integrated over the bin of y, from the first and second integrals of rho.

    y: centre, width, and tilt c of the density (1 + c t) / h, t the distance from the centre.
    """

    def loss(y: Any, eta: Any) -> Any:
        center, width, tilt = y[0] - eta, y[1], y[2]
        low, high = center - width / 2, center + width / 2
        # integration by parts: [R1 (1 + c t)] - c [R2], with R1 and R2 the first and second integral of rho
        flat = once(high) * (1 + tilt * width / 2) - once(low) * (1 - tilt * width / 2)
        return (flat - tilt * (twice(high) - twice(low))) / width

    return loss


def _quantile(tools: Any, tau: float | None) -> Kernel:
    """The check loss of level tau [Koenker & Bassett 1978], integrated over the bin."""
    assert tau is not None
    p = tau

    def once(u: Any) -> Any:
        return tools.numpy.where(u > 0, p, p - 1) * u**2 / 2

    def twice(u: Any) -> Any:
        return tools.numpy.where(u > 0, p, p - 1) * u**3 / 6

    return _integrated(once, twice)


def _huber(tools: Any, k: float | None) -> Kernel:
    """Huber's loss, u**2 / 2 up to |u| = k and k |u| - k**2 / 2 beyond [Huber 1964], integrated over the bin."""
    assert k is not None
    np_ = tools.numpy

    def once(u: Any) -> Any:
        size = abs(u)
        # constants of integration make both pieces meet at |u| = k; the integral of an even rho is odd
        return np_.where(size <= k, u**3 / 6, np_.sign(u) * (k * size**2 / 2 - k**2 * size / 2 + k**3 / 6))

    def twice(u: Any) -> Any:
        size = abs(u)
        return np_.where(size <= k, u**4 / 24, k * size**3 / 6 - k**2 * size**2 / 4 + k**3 * size / 6 - k**4 / 24)

    return _integrated(once, twice)


KERNELS: Final[dict[str, Callable[[Any, float | None], Kernel]]] = {
    "linear": _linear,
    "logistic": _logistic,
    "probit": _probit,
    "poisson": _poisson,
    "gamma": _gamma,
    "quantile": _quantile,
    "huber": _huber,
}

"""Losses of regressions as JAX functions, and their derivatives over points, compiled once a loss and shape.

A loss is m(y, eta): y a vector that describes a point's response, eta a number.  64-bit floats hold within these
functions only; nothing of a user's JAX configuration is changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import double, jax

__all__ = ["KERNELS", "Kernel", "compiled", "double", "padded"]

Kernel: TypeAlias = Callable[[Any, Any], Any]
Integral: TypeAlias = Callable[[Any], Any]


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


def _integrated(once: Integral, twice: Integral, thrice: Integral) -> Kernel:
    """A loss rho(y - eta) integrated over the bin of y, from the first three integrals of rho.

    y: centre, width, and a, b, v of the density (1 + a t + b (t**2 - v)) / h, t the distance from the centre.
    """

    def loss(y: Any, eta: Any) -> Any:
        center, width, a, b, v = y[0] - eta, y[1], y[2], y[3], y[4]
        total = 0.0
        # integration by parts: R1 D - R2 D' + R3 D'' at both ends, with R1 to R3 the integrals of rho, D the density
        for sign in (1, -1):
            t = sign * width / 2
            density, slope = 1 + a * t + b * (t**2 - v), a + 2 * b * t
            total += sign * (once(center + t) * density - twice(center + t) * slope + thrice(center + t) * 2 * b)
        return total / width

    return loss


def _quantile(tools: Any, tau: float | None) -> Kernel:
    """The check loss of level tau [Koenker & Bassett 1978], integrated over the bin."""
    assert tau is not None
    p = tau

    def integral(order: int) -> Integral:
        # of |u| times its weight, so many times
        factor = math.factorial(order + 1)
        return lambda u: tools.numpy.where(u > 0, p, p - 1) * u ** (order + 1) / factor

    return _integrated(integral(1), integral(2), integral(3))


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

    def thrice(u: Any) -> Any:
        size = abs(u)
        beyond = k * size**4 / 24 - k**2 * size**3 / 12 + k**3 * size**2 / 12 - k**4 * size / 24 + k**5 / 120
        return np_.where(size <= k, u**5 / 120, np_.sign(u) * beyond)

    return _integrated(once, twice, thrice)


KERNELS: Final[dict[str, Callable[[Any, float | None], Kernel]]] = {
    "linear": _linear,
    "logistic": _logistic,
    "probit": _probit,
    "poisson": _poisson,
    "gamma": _gamma,
    "quantile": _quantile,
    "huber": _huber,
}

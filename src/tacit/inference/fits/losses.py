"""What M-estimators minimise.  Losses of regressions: functions of a response and a linear predictor, written in JAX.

A loss is `m(y, eta)`; its score and curvature are JAX's derivatives with respect to eta, vectorised over points.
Quantile and Huber losses have scores with kinks: the points carry their bin, and the loss is integrated over it, which
smooths the score by the bin's width (for the law that the correction assumes, a density linear in the bin).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np

from tacit.errors import InferenceError, nearest
from tacit.inference.laws import Array

Sees = Literal["number", "share", "count", "positive", "bin"]
TINY: Final = 1e-300


@dataclass(frozen=True)
class RegressionLoss:
    """A loss of a response and a linear predictor.

    name, parameter: what is minimised.  sees: which responses it takes ("bin": a continuous column with its bins).
    link: "identity", "logit", "probit" or "log": how the linear predictor makes the mean (or the quantile).
    """

    name: str
    sees: Sees
    link: Literal["identity", "logit", "probit", "log"]
    parameter: float | None = None

    def mean(self, eta: Array) -> Array:
        """The response's mean (quantile, centre) at a linear predictor, any shape."""
        from scipy.special import expit, ndtr  # pyright: ignore[reportMissingTypeStubs]

        maps: dict[str, Callable[[Array], Array]] = {"logit": expit, "probit": ndtr, "log": np.exp}
        return maps[self.link](eta) if self.link in maps else eta

    def slope(self, eta: Array) -> Array:
        """Derivative of `mean`, any shape."""
        if self.link == "logit":
            mean = self.mean(eta)
            return mean * (1 - mean)
        if self.link == "probit":
            return np.exp(-(eta**2) / 2) / np.sqrt(2 * np.pi)
        return np.exp(eta) if self.link == "log" else np.ones_like(eta)

    def predictor(self, mean: float, edge: float = 1e-12) -> float:
        """The linear predictor of a constant mean, kept `edge` off the ends of what the link takes."""
        from scipy.special import logit, ndtri  # pyright: ignore[reportMissingTypeStubs]

        share = min(max(mean, edge), 1 - edge)
        if self.link == "logit":
            return float(logit(share))
        if self.link == "probit":
            return float(ndtri(share))
        return float(np.log(max(mean, TINY))) if self.link == "log" else mean

    def saturated(self, y: Array) -> Array:
        """The least loss that any predictor gives a response, shape (points,): what a deviance is measured from."""
        if self.name == "poisson":
            return y - y * np.log(np.maximum(y, TINY))
        if self.name == "gamma":
            return 1 + np.log(np.maximum(y, TINY))
        if self.sees == "share":
            inner = np.clip(y, TINY, 1 - 1e-16)
            return -inner * np.log(inner) - (1 - inner) * np.log1p(-inner)
        return np.zeros_like(y)

    def evaluate(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        """The loss, its score and its curvature in eta, each of shape (points,); y of shape (points, columns)."""
        n = len(eta)
        room = 1 << max(n - 1, 1023).bit_length()  # few shapes, so few compilations
        with double():
            out = _compiled(self.name, self.parameter)(_padded(y, room), _padded(eta, room))
        return tuple(np.asarray(part)[:n] for part in out)  # pyright: ignore[reportReturnType]


def regression_loss(name: str, *, tau: float = 0.5, k: float | None = None) -> RegressionLoss:
    """The loss of that name; InferenceError I44 for an unknown one, or a parameter out of range."""
    known = {
        "linear": RegressionLoss("linear", "number", "identity"),
        "logistic": RegressionLoss("logistic", "share", "logit"),
        "probit": RegressionLoss("probit", "share", "probit"),
        "poisson": RegressionLoss("poisson", "count", "log"),
        "gamma": RegressionLoss("gamma", "positive", "log"),
        "quantile": RegressionLoss("quantile", "bin", "identity", tau),
        "huber": RegressionLoss("huber", "bin", "identity", k),
    }
    if name not in known:
        hint = nearest(name, tuple(known))
        raise InferenceError(
            f"no model is called {name!r}; there are {', '.join(known)}.",
            code="I44",
            hint=f"{hint!r}?" if hint else None,
            state=None,
        )
    if name == "quantile" and not 0 < tau < 1:
        raise InferenceError(f"tau={tau!r} is no probability between 0 and 1.", code="I44", state=None)
    if name == "huber" and k is not None and not 0 < k < np.inf:
        raise InferenceError(f"k={k!r} is no positive number.", code="I44", state=None)
    return known[name]


def double() -> AbstractContextManager[Any]:
    """64-bit floats in JAX, within the block only."""
    import jax

    module: Any = jax
    if hasattr(module, "enable_x64"):
        return module.enable_x64(True)
    from jax.experimental import enable_x64  # pyright: ignore

    return enable_x64()


def _padded(values: Array, room: int) -> Array:
    out = np.zeros((room, *values.shape[1:]))
    out[: len(values)] = values
    return out


@lru_cache(maxsize=64)
def _compiled(name: str, parameter: float | None) -> Callable[[Array, Array], tuple[Any, Any, Any]]:
    """The loss, its first and its second derivative, over points, compiled once for each loss and shape."""
    import jax

    tools: Any = jax
    loss = _LOSSES[name](parameter)
    first = tools.grad(loss, argnums=1)
    second = tools.grad(first, argnums=1)
    each: Any = tools.vmap(lambda y, eta: (loss(y, eta), first(y, eta), second(y, eta)))
    return tools.jit(each)


# Losses: y is a vector of what the point says of the response, eta a number -----------------------------------------


def _linear(_: float | None) -> Any:
    return lambda y, eta: 0.5 * (y[0] - eta) ** 2


def _logistic(_: float | None) -> Any:
    import jax

    nn: Any = jax.nn
    return lambda y, eta: nn.softplus(eta) - y[0] * eta


def _probit(_: float | None) -> Any:
    from jax.scipy.stats import norm

    law: Any = norm
    return lambda y, eta: -y[0] * law.logcdf(eta) - (1 - y[0]) * law.logcdf(-eta)


def _poisson(_: float | None) -> Any:
    import jax.numpy as jnp

    np_: Any = jnp
    return lambda y, eta: np_.exp(eta) - y[0] * eta


def _gamma(_: float | None) -> Any:
    import jax.numpy as jnp

    np_: Any = jnp
    return lambda y, eta: y[0] * np_.exp(-eta) + eta


def _integrated(once: Any, twice: Any) -> Any:
    """A loss rho(y - eta) integrated over the bin of y, from the first and second integrals of rho.

    y: centre, width, and tilt c of the density (1 + c t) / h, t the distance from the centre.
    """

    def loss(y: Any, eta: Any) -> Any:
        center, width, tilt = y[0] - eta, y[1], y[2]
        low, high = center - width / 2, center + width / 2
        flat = once(high) * (1 + tilt * width / 2) - once(low) * (1 - tilt * width / 2)
        return (flat - tilt * (twice(high) - twice(low))) / width

    return loss


def _quantile(tau: float | None) -> Any:
    import jax.numpy as jnp

    np_: Any = jnp
    assert tau is not None
    p = tau

    def once(u: Any) -> Any:
        return np_.where(u > 0, p, p - 1) * u**2 / 2

    def twice(u: Any) -> Any:
        return np_.where(u > 0, p, p - 1) * u**3 / 6

    return _integrated(once, twice)


def _huber(k: float | None) -> Any:
    import jax.numpy as jnp

    np_: Any = jnp
    assert k is not None

    def once(u: Any) -> Any:
        size = abs(u)
        return np_.where(size <= k, u**3 / 6, np_.sign(u) * (k * size**2 / 2 - k**2 * size / 2 + k**3 / 6))

    def twice(u: Any) -> Any:
        size = abs(u)
        return np_.where(size <= k, u**4 / 24, k * size**3 / 6 - k**2 * size**2 / 4 + k**3 * size / 6 - k**4 / 24)

    return _integrated(once, twice)


_LOSSES: Final[dict[str, Callable[[float | None], Any]]] = {
    "linear": _linear,
    "logistic": _logistic,
    "probit": _probit,
    "poisson": _poisson,
    "gamma": _gamma,
    "quantile": _quantile,
    "huber": _huber,
}

"""Losses of regressions: functions of a response and a linear predictor, written in JAX.

A loss is `m(y, eta)`; its score and curvature are JAX's derivatives with respect to eta, vectorised over points
(`kernels`).  Quantile and Huber losses have kinks: their points carry a bin, and the loss is integrated over the bin
under the correction's assumed density, which is linear in it; this smooths the score over the bin's width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.errors import InferenceError, nearest
from tacit.fits.solvers import kernels

Sees = Literal["number", "share", "count", "positive", "bin"]
TINY: Final = 1e-300


@dataclass(frozen=True)
class RegressionLoss:
    """A loss of a response and a linear predictor.

    name, parameter: the loss, and its tuning constant (a quantile's level, Huber's k).  sees: the kind of response
    ("bin": a continuous column with its bins).  link: the map from the mean (or quantile) to the linear predictor.
    """

    name: str
    sees: Sees
    link: Literal["identity", "logit", "probit", "log"]
    parameter: float | None = None

    def mean(self, eta: Array) -> Array:
        """Return the mean (or quantile, or centre) of the response at linear predictors of any shape."""
        from scipy.special import expit, ndtr  # pyright: ignore[reportMissingTypeStubs]

        maps: dict[str, Callable[[Array], Array]] = {"logit": expit, "probit": ndtr, "log": np.exp}
        return maps[self.link](eta) if self.link in maps else eta

    def slope(self, eta: Array) -> Array:
        """Return the derivative of `mean` at linear predictors of any shape."""
        if self.link == "logit":
            mean = self.mean(eta)
            return mean * (1 - mean)
        if self.link == "probit":
            return np.exp(-(eta**2) / 2) / np.sqrt(2 * np.pi)
        return np.exp(eta) if self.link == "log" else np.ones_like(eta)

    def predictor(self, mean: float, edge: float = 1e-12) -> float:
        """Return the linear predictor of a mean, which is kept `edge` away from 0 and 1 where the link needs it."""
        from scipy.special import logit, ndtri  # pyright: ignore[reportMissingTypeStubs]

        share = min(max(mean, edge), 1 - edge)
        if self.link == "logit":
            return float(logit(share))
        if self.link == "probit":
            return float(ndtri(share))
        return float(np.log(max(mean, TINY))) if self.link == "log" else mean

    def saturated(self, y: Array) -> Array:
        """Return the least loss over all predictors, shape (points,), from which a deviance is measured."""
        if self.name == "poisson":
            # at eta = log y; y log y has the limit 0 at 0, which TINY gives
            return y - y * np.log(np.maximum(y, TINY))
        if self.name == "gamma":
            # at eta = log y
            return 1 + np.log(np.maximum(y, TINY))
        if self.sees == "share":
            # the entropy of a share, with limit 0 at both ends; 0 for shares of 0 and 1
            inner = np.clip(y, TINY, 1 - 1e-16)
            return -inner * np.log(inner) - (1 - inner) * np.log1p(-inner)
        return np.zeros_like(y)

    def evaluate(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        """Return the loss and its first two derivatives in eta, each of shape (points,); y: shape (points, columns)."""
        n = len(eta)
        size = 1 << max(n - 1, 1023).bit_length()  # powers of 2: few shapes to compile
        with kernels.double():
            out = kernels.compiled(self.name, self.parameter)(kernels.padded(y, size), kernels.padded(eta, size))
        value, first, second = (np.asarray(part)[:n] for part in out)
        return value, first, second


def regression_loss(name: str, *, tau: float = 0.5, k: float | None = None) -> RegressionLoss:
    """Return the loss of that name; InferenceError I44 for an unknown name, or a parameter out of range."""
    known = {
        "linear": RegressionLoss("linear", "number", "identity"),
        "logistic": RegressionLoss("logistic", "share", "logit"),
        "probit": RegressionLoss("probit", "share", "probit"),
        "poisson": RegressionLoss("poisson", "count", "log"),
        "gamma": RegressionLoss("gamma", "positive", "log"),
        "quantile": RegressionLoss("quantile", "bin", "identity", tau),
        "huber": RegressionLoss("huber", "bin", "identity", k),
    }
    if not isinstance(name, str) or name not in known:  # pyright: ignore[reportUnnecessaryIsInstance]
        hint = nearest(name, tuple(known))
        raise InferenceError(
            f"no model is called {described(name)}; there are {', '.join(known)}.",
            code="I44",
            hint=f"{hint!r}?" if hint else None,
            state=None,
        )
    if name == "quantile" and not (isinstance(tau, int | float) and 0 < tau < 1):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InferenceError(f"tau={described(tau)} is no probability between 0 and 1.", code="I44", state=None)
    if name == "huber" and k is not None and not (isinstance(k, int | float) and 0 < k < np.inf):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InferenceError(f"k={described(k)} is no positive number.", code="I44", state=None)
    return known[name]

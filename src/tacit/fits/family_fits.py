"""Likelihoods of one column, written in JAX: location, scale and shape of families from a histogram."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import jax
from tacit.errors import InferenceError, nearest
from tacit.fits.cell_arrays import CellCounts
from tacit.fits.cell_points import Points
from tacit.fits.custom_losses import Loss, minimised
from tacit.fits.fit import Fit, Method, checked, points_for

Density: TypeAlias = Callable[[Any, Any, Any], Any]  # modules of JAX, x, theta -> log-density
Guess: TypeAlias = Callable[[float, float], tuple[float, ...]]  # mean, variance -> theta


class CellFamily(NamedTuple):
    """A law on the line, the positive numbers, or (0, 1): parameters, log-density, and a guess from two moments."""

    names: tuple[str, ...]
    low: float
    high: float
    density: Density
    guess: Guess


def _normal(j: Any, x: Any, t: Any) -> Any:
    return j.scipy.stats.norm.logpdf(x, t[0], t[1])


def _lognormal(j: Any, x: Any, t: Any) -> Any:
    return j.scipy.stats.norm.logpdf(j.numpy.log(x), t[0], t[1]) - j.numpy.log(x)


def _exponential(j: Any, x: Any, t: Any) -> Any:
    return j.numpy.log(t[0]) - t[0] * x


def _gamma(j: Any, x: Any, t: Any) -> Any:
    return t[0] * j.numpy.log(t[1]) + (t[0] - 1) * j.numpy.log(x) - t[1] * x - j.scipy.special.gammaln(t[0])


def _beta(j: Any, x: Any, t: Any) -> Any:
    return j.scipy.stats.beta.logpdf(x, t[0], t[1])


def _weibull(j: Any, x: Any, t: Any) -> Any:
    z = x / t[1]
    return j.numpy.log(t[0] / t[1]) + (t[0] - 1) * j.numpy.log(z) - z ** t[0]


# Guesses from mean and variance ---------------------------------------------------------------------------------------


def _moments(m: float, v: float) -> tuple[float, ...]:
    return m, v**0.5


def _inverse(m: float, v: float) -> tuple[float, ...]:
    return (1 / m,)


def _gamma_moments(m: float, v: float) -> tuple[float, ...]:
    return m * m / v, m / v


def _weibull_moments(m: float, v: float) -> tuple[float, ...]:
    return (m * m / v) ** 0.54, 1.1 * m


def _log_moments(m: float, v: float) -> tuple[float, ...]:
    variance = float(np.log1p(v / m**2))
    return float(np.log(m)) - variance / 2, float(np.sqrt(variance))


def _beta_moments(m: float, v: float) -> tuple[float, ...]:
    size = max(m * (1 - m) / v - 1, 0.1)
    return m * size, (1 - m) * size


FAMILIES: Final[dict[str, CellFamily]] = {
    "normal": CellFamily(("mean", "sd"), -np.inf, np.inf, _normal, _moments),
    "lognormal": CellFamily(("log_mean", "log_sd"), 0.0, np.inf, _lognormal, _log_moments),
    "exponential": CellFamily(("rate",), 0.0, np.inf, _exponential, _inverse),
    "gamma": CellFamily(("shape", "rate"), 0.0, np.inf, _gamma, _gamma_moments),
    "weibull": CellFamily(("shape", "scale"), 0.0, np.inf, _weibull, _weibull_moments),
    "beta": CellFamily(("a", "b"), 0.0, 1.0, _beta, _beta_moments),
}


def fit_family(cells: CellCounts, column: str, family: str, method: Method = "corrected") -> Fit:
    """Maximum likelihood for one column: parameters of a family, with both parts of their covariance.

    family: "normal" (mean, sd), "lognormal" (log_mean, log_sd), "exponential" (rate), "gamma" (shape, rate),
    "weibull" (shape, scale) or "beta" (a, b).  Rows outside the bins are no part of it.

    InferenceError I41 for a column that the cells lack, I43 for one whose bins leave the family's range, I44 for an
    unknown family or method.

    >>> from tacit.fits.cell_arrays import CellAxis
    >>> y = CellAxis("y", "continuous", np.linspace(-3.0, 3.0, 13))
    >>> exact = CellCounts((y,), np.array([1.0, 4, 12, 28, 46, 50, 50, 46, 28, 12, 4, 1]), variance=0.0)
    >>> fit_family(exact, "y", "normal").values.round(2)
    array([0.  , 0.98])
    """
    checked(method)
    if family not in FAMILIES:
        hint = nearest(family, tuple(FAMILIES))
        message = f"no family is called {family!r}; there are {', '.join(FAMILIES)}."
        raise InferenceError(message, code="I44", hint=f"{hint!r}?" if hint else None, state=None)
    law = FAMILIES[family]
    points = points_for(cells, (column,), method)
    x = points.position(points.cells.axes[0])[0]
    if not ((x > law.low) & (x < law.high)).all():
        raise InferenceError(
            f"{column!r} has bins beyond {law.low:g} to {law.high:g}, where a {family} variable lies.",
            code="I43",
            state=None,
        )
    loss = replace(_loss(family, column), start=_start(law, points, x))
    return replace(minimised(cells, loss, method, starts=0), formula=column, model=family)


def _start(law: CellFamily, points: Points, x: Array) -> tuple[float, ...]:
    """The guess from the moments of clipped counts; of equal counts where all are 0."""
    weights = points.spread(np.maximum(points.cells.counts, 0.0), edges=False)
    weights = weights if weights.any() else np.ones_like(weights)
    mean = float(np.average(x, weights=weights))
    return law.guess(mean, max(float(np.average((x - mean) ** 2, weights=weights)), 1e-300))


@lru_cache(maxsize=64)  # one function a family and column, so one compilation
def _loss(family: str, column: str) -> Loss:
    density = FAMILIES[family].density

    def negative(row: Any, theta: Any) -> Any:
        return -density(jax(), row[column], theta)

    return Loss(negative, FAMILIES[family].names)

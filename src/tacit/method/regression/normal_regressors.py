"""Regressors as if they were normal with released moments: where a score aims, and what noise leaves open.  No data.

Means over rows of functions of the predictor become integrals over a normal law: exact for no table, near enough for
an aim [Brillinger 1983: least squares gives the slopes of any link, up to one factor, where regressors are normal].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.method.regression.links import Link

Array = NDArray[np.float64]
_PLACES, _MASS = np.polynomial.hermite_e.hermegauss(31)
NODES: Final[Array] = np.asarray(_PLACES, dtype=np.float64)
NODE_WEIGHTS: Final[Array] = np.asarray(_MASS / _MASS.sum(), dtype=np.float64)
BISECTIONS: Final = 32


@dataclass(frozen=True)
class Regressors:
    """Moments of the terms of a row.  rows: their number; mean: shape (u,); cov: (u, u), positive semidefinite.

    constant: shape (u,), the combination of terms that is 1 for every row, None where none is.  response: its mean.
    loose: root mean square of the noise in sums of x x', against them, in the worst direction.
    """

    rows: float
    mean: Array
    cov: Array
    constant: Array | None
    response: float
    relative_noise: float = 0.0

    def predictor_sd(self, b: Array) -> float:
        """Standard deviation of the predictor."""
        return float(np.sqrt(max(b @ self.cov @ b, 0.0)))

    def predictor_values(self, b: Array) -> Array:
        """Its values, shape (31,), each with MASS."""
        return float(self.mean @ b) + self.predictor_sd(b) * NODES

    def mean_change(self, b: Array, step: Array) -> Array:
        """What a step adds to the predictor on average where it has the values of `predictor`, shape (31,)."""
        sd = max(self.predictor_sd(b), 1e-9)
        return float(self.mean @ step) + float(step @ self.cov @ b) / sd * NODES

    def weighted_sum(self, b: Array, f: Array) -> Array:
        """Sum over rows of f(eta) x, f at the places of `predictor`: shape (u,)."""
        along = self.cov @ b / max(self.predictor_sd(b), 1e-9)
        weights = NODE_WEIGHTS * f
        return self.rows * (weights.sum() * self.mean + float(weights @ NODES) * along)

    def weighted_products(self, b: Array, f: Array) -> Array:
        """Sum over rows of f(eta) x x', f at the places of `predictor`: shape (u, u)."""
        sd = max(self.predictor_sd(b), 1e-9)
        along = self.cov @ b / sd
        rest = self.cov - np.outer(along, along)
        at = self.mean + NODES[:, None] * along
        weights = NODE_WEIGHTS * f
        return self.rows * (weights.sum() * rest + (at.T * weights) @ at)


def regressors_from_sums(
    rows: float, first: Array, second: Array, floor: float, constant: Array | None, response: float
) -> Regressors:
    """Sums of x and of x x' -> Regressors; eigenvalues of the covariance are at least `floor`, of a constant's part 0.

    What noise made negative or tiny is taken as large as noise makes it.
    """
    mean = first / rows
    values, vectors = np.linalg.eigh(second / rows - np.outer(mean, mean))
    cov = (vectors * np.maximum(values, floor)) @ vectors.T
    if constant is not None:  # E[x x'] c = E[x], so the covariance does not reach c
        mean = mean + constant * (1 - constant @ mean) / (constant @ constant)
        off = np.eye(len(mean)) - np.outer(constant, constant) / (constant @ constant)
        cov = off @ cov @ off
    return Regressors(rows, mean, cov, constant, response)


def glm_coefficients(link: Link, found: Regressors, response: float, slopes: Array) -> Array:
    """Coefficients from those of least squares, whose constant is not used: shape (u,).

    b = k slopes + c: the mean response is right, and k times the mean derivative is 1.
    """
    sd = found.predictor_sd(slopes)
    most = link.max_predictor_sd / max(sd, 1e-9)
    low, high = 0.0, most
    for _ in range(BISECTIONS):
        k = (low + high) / 2
        middle = _predictor_mean(link, response, k * sd)
        steep = k * float(NODE_WEIGHTS @ link.slope(middle + k * sd * NODES)) < 1
        low, high = (k, high) if steep else (low, k)
    b = low * slopes
    middle = _predictor_mean(link, response, low * sd)
    return b if found.constant is None else b + found.constant * (middle - float(found.mean @ b))


def _predictor_mean(link: Link, response: float, sd: float) -> float:
    """The mean of a normal predictor whose mean response is `response`."""
    return bisect(lambda x: float(NODE_WEIGHTS @ link.mean(x + sd * NODES)) - response, -30.0, 30.0)


def bisect(f: Callable[[float], float], low: float, high: float) -> float:
    """Where an increasing function is 0, or the end that is nearest."""
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return (low + high) / 2

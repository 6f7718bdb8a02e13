"""Regressors approximated by a normal law with the released moments: for pilot fits, and for shrinkage.  No data here.

Means over rows of functions of the predictor become integrals over a normal law.  That is exact for no table but near
enough for a pilot fit [Brillinger 1983: least squares gives the slopes of any link, up to one factor, where regressors
are normal].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.method.regression.bounded_scores.links import Link

Array = NDArray[np.float64]
# Gauss-Hermite quadrature with weight exp(-x^2 / 2); divided by its mass, means under N(0, 1)
_PLACES, _MASS = np.polynomial.hermite_e.hermegauss(31)
NODES: Final[Array] = np.asarray(_PLACES, dtype=np.float64)
NODE_WEIGHTS: Final[Array] = np.asarray(_MASS / _MASS.sum(), dtype=np.float64)
BISECTIONS: Final = 32


@dataclass(frozen=True)
class TwoValued:
    """Columns of two values as combinations of the terms x.

    along: shape (k, u), so that along @ x are the columns.  ends: shape (k, 2), the values of each.
    """

    along: Array
    ends: Array


@dataclass(frozen=True)
class Regressors:
    """Moments of the scaled terms x of a row.

    rows: number of rows.  mean: shape (u,).  cov: shape (u, u), positive semidefinite.  constant: shape (u,), the
    combination of terms that is 1 in every row, None where there is none.  response: mean of the response.
    relative_noise: root mean square of the noise in sums of x x', relative to them, in the worst direction.
    two_valued: the columns of two values (`two_valued_regressors`).
    """

    rows: float
    mean: Array
    cov: Array
    constant: Array | None
    response: float
    relative_noise: float = 0.0
    two_valued: TwoValued | None = None

    @property
    def second_moments(self) -> Array:
        """Sums over rows of x x', shape (u, u)."""
        return self.rows * (self.cov + np.outer(self.mean, self.mean))

    def predictor_sd(self, b: Array) -> float:
        """Return the standard deviation of the linear predictor x' b."""
        return float(np.sqrt(max(b @ self.cov @ b, 0.0)))

    def predictor_values(self, b: Array) -> Array:
        """Return the values of the predictor at the quadrature nodes, shape (31,), with weights NODE_WEIGHTS."""
        return float(self.mean @ b) + self.predictor_sd(b) * NODES

    def mean_change(self, b: Array, step: Array) -> Array:
        """Return the mean change of the predictor by a step, given the predictor's value at each node, shape (31,)."""
        sd = max(self.predictor_sd(b), 1e-9)
        # normal regression: E[x' step | eta] is linear in eta, of slope Cov(x' step, eta) / Var(eta)
        return float(self.mean @ step) + float(step @ self.cov @ b) / sd * NODES

    def weighted_sum(self, b: Array, f: Array) -> Array:
        """Return the sum over rows of f(eta) x, shape (u,); f: values at the nodes of `predictor_values`."""
        along = self.cov @ b / max(self.predictor_sd(b), 1e-9)
        weights = NODE_WEIGHTS * f
        # x = mean + along t + a rest independent of t, t the standardised predictor
        return self.rows * (weights.sum() * self.mean + float(weights @ NODES) * along)

    def weighted_products(self, b: Array, f: Array) -> Array:
        """Return the sum over rows of f(eta) x x', shape (u, u); f: values at the nodes of `predictor_values`."""
        sd = max(self.predictor_sd(b), 1e-9)
        along = self.cov @ b / sd
        # conditional covariance of x given the predictor, the same at every node
        rest = self.cov - np.outer(along, along)
        at = self.mean + NODES[:, None] * along
        weights = NODE_WEIGHTS * f
        return self.rows * (weights.sum() * rest + (at.T * weights) @ at)


def regressors_from_sums(
    rows: float, first: Array, second: Array, floor: float, constant: Array | None, response: float
) -> Regressors:
    """Return the moments of regressors from noisy sums of x and of x x'.

    Eigenvalues of the covariance are raised to at least `floor`, the size of their noise; it is 0 along `constant`.
    """
    mean = first / rows
    values, vectors = np.linalg.eigh(second / rows - np.outer(mean, mean))
    cov = (vectors * np.maximum(values, floor)) @ vectors.T
    if constant is not None:  # E[x x'] c = E[x], so the covariance does not reach c
        # the nearest mean with constant' mean = 1, which the noisy sums satisfy only about
        mean = mean + constant * (1 - constant @ mean) / (constant @ constant)
        off = np.eye(len(mean)) - np.outer(constant, constant) / (constant @ constant)
        cov = off @ cov @ off
    return Regressors(rows, mean, cov, constant, response)


def glm_coefficients(link: Link, found: Regressors, response: float, slopes: Array) -> Array:
    """Return the coefficients of a model from least-squares slopes, shape (u,); their constant is not used.

    b = k slopes + c, with k times the mean derivative of the mean equal to 1, and c matching the mean response.
    """
    sd = found.predictor_sd(slopes)
    most = link.max_predictor_sd / max(sd, 1e-9)
    # k times the mean slope is compared with 1; where it stays below, k ends at `most`
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
    """Return the mean of a normal predictor of this standard deviation whose mean response is `response`."""
    # 32 halvings of 60 leave 1e-8
    return bisect(lambda x: float(NODE_WEIGHTS @ link.mean(x + sd * NODES)) - response, -30.0, 30.0)


def bisect(f: Callable[[float], float], low: float, high: float) -> float:
    """Return the zero of an increasing function, or the nearer end where it has none."""
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return (low + high) / 2

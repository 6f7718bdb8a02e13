"""Deconvolution: the distribution of a statistic from noisy bootstrap replicates (Wang, Cheng & Awan 2022, §4).

Replicates are T_b = f_b + Z_b with normal noise of a known standard deviation.  The density of f_b is taken to be
exp(Q(t) a) on a grid of points, Q a natural spline with few columns, and a maximises the penalised likelihood of the
replicates [Efron 2016, Empirical Bayes deconvolution estimates].  Two choices are ours: the grid is as wide as the
conservative standard error says, and columns of Q have unit mean square, so that the penalty does not grow with the
number of points.  Post-processing: it costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.terms import check_level
from tacit.method.bootstrap.estimate_replicates import noise_factor

POINTS: Final = 121
"""Points of the grid."""
KNOTS: Final = 5
"""Columns of the spline."""
PENALTY: Final = 1.0
"""Weight of the norm of the coefficients."""
REACH: Final = 3.5
"""Half the width of the grid, in conservative standard errors of the statistic."""
LEAST: Final = 0.01
"""The grid is at least as wide as for this share of the variance of the replicates."""
STEPS: Final = 60
"""Most steps of Newton's method."""


@dataclass(frozen=True)
class Deconvolution:
    """The deconvolved distribution of a bootstrap statistic.

    points: values of the statistic, shape (m,).  probabilities: of each.  noise: variance of the average of the
    replicates that is due to their noise, which `conf_int` adds to the distribution.
    """

    points: Array
    probabilities: Array
    noise: float

    @property
    def mean(self) -> float:
        """Mean of the distribution."""
        return float(self.points @ self.probabilities)

    @property
    def std_error(self) -> float:
        """Standard deviation of the distribution: the bootstrap's standard error, without noise."""
        return float(np.sqrt(max(0.0, (self.points - self.mean) ** 2 @ self.probabilities)))

    def quantile(self, p: float) -> float:
        """Return a quantile of the distribution, interpolated between points."""
        return _quantile(self.points, self.probabilities, p)

    def conf_int(self, level: float = 0.95, *, noise: bool = True) -> tuple[float, float]:
        """Return the percentile interval; InferenceError I01 for a level below 0.5, or 1 and above.

        noise=False: of the deconvolved distribution itself, as published, which takes its place for known.  Otherwise
        of that distribution plus the noise of the average.
        """
        tail = (1 - check_level(level)) / 2
        if not noise or self.noise <= 0:
            return self.quantile(tail), self.quantile(1 - tail)
        spread = float(np.sqrt(self.noise))
        reach = _between(self.points[0] - 5 * spread, self.points[-1] + 5 * spread, 4 * POINTS)
        density = np.exp(-0.5 * ((reach[:, None] - self.points) / spread) ** 2) @ self.probabilities
        density /= density.sum()
        return _quantile(reach, density, tail), _quantile(reach, density, 1 - tail)


def deconvolved(replicates: Array, noise: float) -> Deconvolution:
    """Return the distribution behind replicates, shape (k,), whose noise is normal of variance `noise`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> found = deconvolved(rng.normal(5, 2, 500) + rng.normal(0, 1, 500), 1.0)
    >>> abs(found.mean - 5) < 0.5 and abs(found.std_error - 2) < 0.5
    True
    """
    spread = max(float(np.std(replicates, ddof=1)), 1e-300)
    sd = float(np.sqrt(noise))
    middle = float(np.mean(replicates))
    factor = noise_factor("conservative", len(replicates))
    width = REACH * float(np.sqrt(max(spread**2 - noise * factor, LEAST * spread**2)))
    points = _between(middle - width, middle + width, POINTS)
    basis = _natural_spline(_between(-1.0, 1.0, POINTS), KNOTS)
    likelihood = np.exp(-0.5 * ((replicates[:, None] - points) / max(sd, width / POINTS)) ** 2)
    likelihood = np.maximum(likelihood, 1e-300)
    return Deconvolution(points, _fitted(basis, likelihood), noise / len(replicates))


def _fitted(basis: Array, likelihood: Array) -> Array:
    """Return the probabilities exp(Q a) / sum that maximise the penalised likelihood, by damped Newton steps."""
    a = np.zeros(basis.shape[1], dtype=np.float64)
    value = _objective(basis, likelihood, a)
    for _ in range(STEPS):
        g = _law(basis, a)
        posterior: Array = likelihood * g
        posterior /= posterior.sum(axis=1, keepdims=True)
        mean = g @ basis
        size = max(_norm(a), 1e-6)
        gradient = np.asarray((posterior.sum(axis=0) - len(likelihood) * g) @ basis - PENALTY * a / size, np.float64)
        # the information of complete data: positive definite, so that every step ascends
        spread: Array = (basis - mean).T @ (g[:, None] * (basis - mean))
        step = np.asarray(
            np.linalg.solve(len(likelihood) * spread + (PENALTY / size) * np.eye(len(a)), gradient), dtype=np.float64
        )
        scale = 1.0
        while scale > 1e-6 and _objective(basis, likelihood, a + scale * step) < value:
            scale /= 2
        a = a + scale * step if scale > 1e-6 else a
        new = _objective(basis, likelihood, a)
        if new - value < 1e-9 * (1 + abs(value)):
            break
        value = new
    return _law(basis, a)


def _law(basis: Array, a: Array) -> Array:
    exponent = basis @ a
    g = np.exp(exponent - exponent.max())
    return g / g.sum()


def _objective(basis: Array, likelihood: Array, a: Array) -> float:
    return float(np.log(likelihood @ _law(basis, a)).sum() - PENALTY * _norm(a))


def _between(low: float, high: float, number: int) -> Array:
    return np.asarray(np.linspace(low, high, number), dtype=np.float64)


def _norm(a: Array) -> float:
    return float(np.sqrt(a @ a))


def _natural_spline(x: Array, columns: int) -> Array:
    """Return natural cubic splines with equally spaced knots, without constant: orthogonal, of mean square 1."""
    knots = _between(x[0], x[-1], columns + 1)

    def cubic(k: int) -> Array:
        above = np.maximum(x - knots[k], 0) ** 3 - np.maximum(x - knots[-1], 0) ** 3
        return above / (knots[-1] - knots[k])

    last = cubic(len(knots) - 2)
    found = np.stack([x, *(cubic(k) - last for k in range(len(knots) - 2))], axis=1)
    found = found - found.mean(axis=0)
    orthogonal, _ = np.linalg.qr(found)
    return np.asarray(orthogonal * np.sqrt(len(x)), dtype=np.float64)


def _quantile(points: Array, probabilities: Array, p: float) -> float:
    # the mass of a point is spread over the interval around it
    edges = np.concatenate([points - np.gradient(points) / 2, points[-1:] + np.gradient(points)[-1:] / 2])
    return float(np.interp(p, np.concatenate([[0.0], np.cumsum(probabilities)]), edges))

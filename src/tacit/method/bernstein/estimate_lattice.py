"""A distribution function on a lattice from a release's integers, with both covariances.  Plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.terms import Target
from tacit.method.shared.iterated_operator import slopes
from tacit.noise.laws import Law
from tacit.release.document import Released

DRAWS: Final = 4_000
"""Draws of the joint error for a simultaneous band."""
SEED: Final = 18_03
POINTS: Final = 301
"""Places of a simultaneous band: closer near the ends, where a polynomial of degree k moves within 1 / k."""


@dataclass(frozen=True)
class LatticeFit:
    """Values of a distribution function at j / k, j from 0 to k; the first is 0 and the last 1.

    values: as released, not made to rise, shape (k + 1,).  sampling: their covariance without noise.  privacy: that of
    the noise.  size: number of rows, noisy or public.  reason: why nothing is known.  law: of the noise of an integer.
    load: what it adds to the values, shape (k + 1, integers).
    """

    degree: int
    values: Array
    sampling: Array
    privacy: Array
    size: float
    reason: str | None
    law: Law
    load: Array

    @property
    def covariance(self) -> Array:
        """Covariance of both errors."""
        return self.sampling + self.privacy


def fitted(release: Released, target: Target = "population") -> LatticeFit:
    """Return the lattice values of a release, real or simulated."""
    part = release.parts[0]
    facts, variance = part.parameters, float(part.law.variance())
    k, presence = facts["degree"], facts["presence"]
    unit = float(facts["G"] * facts.get("share", 1))
    integers = np.array([float(x) for x in part.integers[0]]) / unit
    n = float(integers[-1]) if presence else float(release.rows or 0)
    spread = float(np.sqrt(variance)) / unit
    reason = f"size {n:,.0f}: not clearly above 0" if presence and n <= 3 * spread else None
    n = max(n, 1.0)
    values = np.concatenate([[0.0], integers[: k - 1] / n, [1.0]])
    if reason is not None:
        values = np.linspace(0, 1, k + 1)
    load = np.zeros((k + 1, k))
    load[np.arange(1, k), np.arange(k - 1)] = 1 / (n * unit)
    if presence:
        # of a ratio: the noise of the size moves all values
        load[1:k, -1] = -values[1:k] / (n * unit)
    sampling = np.zeros((k + 1, k + 1)) if target == "table" else of_rows(rising(values), n)
    return LatticeFit(k, values, sampling, variance * load @ load.T, n, reason, part.law, load)


def rising(values: Array) -> Array:
    """Return values made a distribution function: the mean of the largest so far and of the least from there on.

    >>> rising(np.array([0.0, 0.6, 0.4, 1.0])).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    cut = np.clip(values, 0.0, 1.0)
    up, down = np.maximum.accumulate(cut), np.minimum.accumulate(cut[::-1])[::-1]
    return np.asarray((up + down) / 2)


def of_rows(values: Array, n: float) -> Array:
    """Return the covariance of an empirical distribution function of n rows, F(s) (1 - F(t)) / n for s <= t."""
    lower, upper = np.minimum.outer(values, values), np.maximum.outer(values, values)
    return np.asarray(lower * (1 - upper) / n)


@dataclass(frozen=True)
class BernsteinCurve:
    """The density on [0, 1] that is the derivative of an iterated Bernstein polynomial."""

    fit: LatticeFit
    order: int

    def series(self, t: Array) -> Array:
        """Return the derivative of the polynomial at places t."""
        return np.asarray(slopes(self.fit.degree, self.order, t) @ self.fit.values)

    def center(self, t: Array) -> Array:
        """Return what limits are around: the estimate itself."""
        return self.series(t)

    def errors(self, t: Array) -> Array:
        """Return the standard errors of the derivative of the polynomial at places t."""
        over = slopes(self.fit.degree, self.order, t)
        return np.asarray(np.sqrt(np.maximum(((over @ self.fit.covariance) * over).sum(axis=1), 0.0)))

    def factor(self, level: float) -> float:
        """Return the quantile of the largest standardised error over [0, 1], from draws.

        Sampling errors are normal, noise has its own law: at an end the derivative is that of two or three lattice
        values, and the largest of Laplace errors is farther out than that of normal ones.
        """
        t = (1 - np.cos(np.pi * np.linspace(0, 1, POINTS))) / 2
        over, rng = slopes(self.fit.degree, self.order, t), np.random.default_rng(SEED)
        found, vectors = np.linalg.eigh(self.fit.sampling)
        draws = rng.standard_normal((DRAWS, len(found))) @ (vectors * np.sqrt(np.maximum(found, 0.0))).T
        many = self.fit.load.shape[1]
        draws += self.fit.law.sample(DRAWS * many, rng).reshape(DRAWS, many) @ self.fit.load.T
        error = np.maximum(self.errors(t), np.finfo(np.float64).tiny)
        return float(np.quantile(np.abs(draws @ over.T / error).max(axis=1), level, method="higher"))

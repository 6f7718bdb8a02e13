"""Where the quantity of one more party lies: the predictive law of random effects.  Pure array functions.

An interval that puts one estimate of tau into mu -+ t sqrt(tau2 + variance) is short where noise hides tau, and long
where parties are few.  Here every tau counts as much as the restricted likelihood says, all values being alike before
it is seen: a mixture of normals [Higgins, Thompson & Spiegelhalter 2009, the Bayesian one; Roever 2020].
Shapes: M parties, T quantities; `use` of shape (M, T) says which parties count, 1 or 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from tacit.base.arrays import Array

NODES: Final = 48
LOW: Final = 12.0
"""Log-likelihoods so far below the highest are 0: e**-12."""
DOUBLINGS: Final = 60
HALVINGS: Final = 24


@dataclass(frozen=True)
class Ahead:
    """Normals, K of each quantity: their parts (which add up to 1), means and standard deviations, shape (K, T)."""

    part: Array
    mean: Array
    sd: Array

    def of(self, t: int) -> Ahead:
        """Those of one quantity, shape (K,)."""
        return Ahead(self.part[:, t], self.mean[:, t], self.sd[:, t])

    def interval(self, level: float) -> tuple[float, float]:
        """Between the quantiles (1 - level) / 2 and (1 + level) / 2 of one quantity."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    def quantile(self, prob: float) -> float:
        """By bisection.

        >>> one = Ahead(np.array([0.5, 0.5]), np.zeros(2), np.array([1.0, 1.0]))
        >>> round(one.quantile(0.975), 4)
        1.96
        """
        from scipy import special  # pyright: ignore[reportMissingTypeStubs]

        low, high = float((self.mean - 40 * self.sd).min()), float((self.mean + 40 * self.sd).max())
        for _ in range(80):
            middle = 0.5 * (low + high)
            below = float((self.part * cast(Any, special).ndtr((middle - self.mean) / self.sd)).sum())
            low, high = (middle, high) if below < prob else (low, middle)
        return 0.5 * (low + high)


def ahead_of(y: Array, v: Array, use: Array, tau2: Array) -> Ahead:
    """Estimates and variances, shape (M, T), and where the likelihood is high, shape (T,) -> predictive laws.

    Where fewer than three parties count there is no such law, and these numbers mean nothing.
    """
    low, high = _reach(y, v, use, tau2)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    u = (nodes[:, None] + 1) / 2
    tau = low + (high - low) * u**3  # closer together near low, where a few parties leave tau near 0 possible
    width = weights[:, None] * u**2 * (high - low)
    log = np.array([height(y, v, use, one**2) for one in tau])
    part = width * np.exp(log - log.max(axis=0))
    found = [weighted(y, v, use, one**2) for one in tau]
    mean, variance = np.array([one[2] for one in found]), np.array([1 / one[1] for one in found])
    return Ahead(part / part.sum(axis=0), mean, np.sqrt(tau**2 + variance))


def _reach(y: Array, v: Array, use: Array, tau2: Array) -> tuple[Array, Array]:
    """Between which values of tau the likelihood is above e**-LOW of the highest, shape (T,) each."""
    top = height(y, v, use, tau2)
    best = np.sqrt(tau2)

    def inside(tau: Array) -> Any:
        return height(y, v, use, tau**2) > top - LOW

    high: Array = best + np.sqrt(1 / np.maximum((use / v).sum(axis=0), 1e-300))
    for _ in range(DOUBLINGS):
        more = inside(high)
        if not more.any():
            break
        high = np.where(more, best + 2 * (high - best), high)
    none = np.zeros_like(best)
    ends: list[Array] = []
    for out in (none, high):
        ends.append(np.where(inside(out), out, _edge(inside, best, out)))
    return ends[0], ends[1]


def _edge(inside: Callable[[Array], Any], near: Array, far: Array) -> Array:
    """Where `inside` ends between a place that is inside and one that is not, by bisection, from beyond."""
    for _ in range(HALVINGS):
        middle: Array = 0.5 * (near + far)
        yes = inside(middle)
        near, far = np.where(yes, middle, near), np.where(yes, far, middle)
    return far


def weighted(y: Array, v: Array, use: Array, tau2: Array) -> tuple[Array, Array, Array]:
    """Weights of shape (M, T), their sums and the weighted means, shape (T,)."""
    w = use / (v + tau2)
    total = w.sum(axis=0)
    return w, total, (w * y).sum(axis=0) / total


def height(y: Array, v: Array, use: Array, tau2: Array) -> Array:
    """The restricted log-likelihood, but for a constant, shape (T,)."""
    w, total, mu = weighted(y, v, use, tau2)
    return -0.5 * ((w * (y - mu) ** 2 + use * np.log(v + tau2)).sum(axis=0) + np.log(total))

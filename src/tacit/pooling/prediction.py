"""Prediction intervals for the quantity of a new party, under random effects.  Functions of arrays.

The usual interval mu -+ t sqrt(tau2 + variance) with a point estimate of tau is too short where noise hides tau.  Here
tau is integrated out with the restricted likelihood, which gives a mixture of normals [the Bayesian interval of
Higgins, Thompson & Spiegelhalter 2009; Roever 2020].  The prior of tau is the fourth root of the information about
tau2: about 1 / sqrt(v + tau**2) for equal variances v.  Where tau is far above the errors it is 1 / tau, the prior for
which the interval is the exact one of Student's t with M - 1 degrees of freedom; a flat prior has M - 2 in its place,
and of three parties an interval four times as wide.  Near 0 it is flat, so that parties which differ by less than their
errors are not taken to differ more, as Jeffreys' prior tau sqrt(information) takes them to.
Shapes: M parties, T quantities; `use`, shape (M, T), is 1 for the parties that count and 0 for the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.pooling.restricted_likelihood import information, restricted_log_likelihood, weighted

NODES: Final = 64
"""Nodes of the Gauss-Legendre quadrature over tau."""
LOW: Final = 12.0
"""Values of tau whose log-likelihood is further below the maximum are left out of the integral (e**-12)."""
DOUBLINGS: Final = 60
HALVINGS: Final = 24


@dataclass(frozen=True)
class PredictiveMixture:
    """A mixture of K normals for each quantity: their probabilities, means and standard deviations, shape (K, T)."""

    part: Array
    mean: Array
    sd: Array

    def of(self, t: int) -> PredictiveMixture:
        """Return the mixture of quantity t; its arrays have shape (K,)."""
        return PredictiveMixture(self.part[:, t], self.mean[:, t], self.sd[:, t])

    def interval(self, level: float) -> tuple[float, float]:
        """Return the quantiles (1 - level) / 2 and (1 + level) / 2 of one quantity's mixture."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    def quantile(self, prob: float) -> float:
        """Return a quantile of one quantity's mixture, by bisection.

        >>> one = PredictiveMixture(np.array([0.5, 0.5]), np.zeros(2), np.array([1.0, 1.0]))
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


def predictive_mixture(y: Array, v: Array, use: Array, tau2: Array) -> PredictiveMixture:
    """Return the predictive mixtures of T quantities from estimates y and variances v, shape (M, T).

    tau2: the maximum of the restricted likelihood, shape (T,).  Where fewer than three parties count, the mixture does
    not exist and the numbers are meaningless.
    """
    low, high = _reach(y, v, use, tau2)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    u = (nodes[:, None] + 1) / 2
    tau = low + (high - low) * u**4  # nodes are denser near low: with few parties the likelihood is often high near 0
    # d tau = 4 (high - low) u**3 du; constant factors cancel when the probabilities are made to add up to 1
    width = weights[:, None] * u**3 * (high - low)
    log = np.array([restricted_log_likelihood(y, v, use, one**2) for one in tau])
    # relative to the largest, as likelihoods themselves may underflow
    found = [weighted(y, v, use, one**2) for one in tau]
    prior = np.array([information(one[0]) for one in found]) ** 0.25
    part = width * np.exp(log - log.max(axis=0)) * prior
    mean, variance = np.array([one[2] for one in found]), np.array([1 / one[1] for one in found])
    # given tau a new theta is N(mu, tau2), and mu is known with variance 1 / sum w
    return PredictiveMixture(part / part.sum(axis=0), mean, np.sqrt(tau**2 + variance))


def _reach(y: Array, v: Array, use: Array, tau2: Array) -> tuple[Array, Array]:
    """Return the smallest and largest tau with a likelihood above e**-LOW of its maximum, shape (T,) each."""
    top = restricted_log_likelihood(y, v, use, tau2)
    best = np.sqrt(tau2)

    def inside(tau: Array) -> Any:
        """Return whether the likelihood at tau still counts, shape (T,)."""
        return restricted_log_likelihood(y, v, use, tau**2) > top - LOW

    # a first guess above `best`, which is 0 where parties do not differ: the standard error of a common mean
    high: Array = best + np.sqrt(1 / np.maximum((use / v).sum(axis=0), 1e-300))
    for _ in range(DOUBLINGS):
        more = inside(high)
        if not more.any():
            break
        high = np.where(more, best + 2 * (high - best), high)
    none = np.zeros_like(best)
    ends: list[Array] = []
    for out in (none, high):
        # 0 itself is the lower end where the likelihood there still counts
        ends.append(np.where(inside(out), out, _edge(inside, best, out)))
    return ends[0], ends[1]


def _edge(inside: Callable[[Array], Any], near: Array, far: Array) -> Array:
    """Return the boundary of `inside` between a point inside and one outside, by bisection, rounded outwards."""
    for _ in range(HALVINGS):
        middle: Array = 0.5 * (near + far)
        yes = inside(middle)
        near, far = np.where(yes, middle, near), np.where(yes, far, middle)
    return far

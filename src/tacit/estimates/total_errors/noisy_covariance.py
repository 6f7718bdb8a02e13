"""Joint tests with a covariance that is itself noisy: what Student's t is for one estimate, for several at once.

Wald's statistic off' T^-1 off has the law of chi-squared where T is known.  A noisy T makes it too large on average,
whatever the mean of T, and more so the more constraints there are: the inverse favours the directions that noise has
made small.  No widening of single standard errors mends that, for it is the noise in correlations that does most of it.

With T = the covariance + sum_e eps_e D_e, eps_e independent of variance 1 and known D_e, mean and variance of the
statistic follow to second order from

    A1 = sum_e tr(T^-1 D_e)**2,        A2 = sum_e tr(T^-1 D_e T^-1 D_e),

and lambda / k times the statistic has these two moments of Fisher's F with k and m degrees of freedom, which is exact
where the statistic is Hotelling's [Kenward & Roger 1997, section 2; lambda and m as there].  Pure functions of arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import special

LEAST_FREEDOM: Final = 4.5
"""Fewest degrees of freedom of the denominator: an F law has a variance above 4 of them, by which it is found."""


@dataclass(frozen=True)
class NoisyCovariance:
    """An estimated total covariance with the law of the noise in it.

    total: shape (m, m), as it was estimated, without an allowance for its noise.  moves: shape (e, m, m), what each of
    e independent noises of variance 1 adds to it.  calm: an estimate that is less noisy than `total`, at which A1 and
    A2 are taken, shape (m, m): at `total` itself its noise makes them too large.

    >>> exact = NoisyCovariance(np.eye(3), np.zeros((1, 3, 3)), np.eye(3))
    >>> statistic, p = exact.wald(np.array([1.0, 1.0, 1.0]))
    >>> statistic, round(p, 4)
    (3.0, 0.3916)
    >>> rough = NoisyCovariance(np.eye(3), np.eye(3)[None] * 0.3, np.eye(3))
    >>> round(rough.wald(np.array([1.0, 1.0, 1.0]))[1], 2)
    0.41
    """

    total: Array
    moves: Array
    calm: Array

    def of(self, index: list[int]) -> NoisyCovariance:
        """Return that of some terms."""
        places = np.ix_(index, index)
        return NoisyCovariance(self.total[places], self.moves[:, places[0], places[1]], self.calm[places])

    def combined(self, matrix: Array) -> NoisyCovariance:
        """Return that of linear combinations, shape (new, m), of the terms."""
        total, calm = (matrix @ one @ matrix.T for one in (self.total, self.calm))
        return NoisyCovariance(total, matrix @ self.moves @ matrix.T, calm)

    def scaled(self, factors: Array) -> NoisyCovariance:
        """Return that of estimates whose standard errors are multiplied by factors, shape (m,)."""
        both = np.outer(factors, factors)
        return NoisyCovariance(self.total * both, self.moves * both, self.calm * both)

    def wald(self, off: Array) -> tuple[float, float]:
        """Return Wald's statistic of `off` against 0, shape (m,), and its p-value by the law of F."""
        statistic, k = max(float(off @ np.linalg.solve(self.total, off)), 0.0), len(off)
        scale, freedom = self.law()
        if np.isinf(freedom):
            return statistic, float(special().chdtrc(k, statistic))
        return statistic, float(special().fdtrc(k, freedom, scale * statistic / k))

    def law(self) -> tuple[float, float]:
        """Return lambda and the degrees of freedom of the denominator; 1 and infinity where there is no noise."""
        k = len(self.total)
        within = np.linalg.solve(self.calm, self.moves)
        a1 = float((np.trace(within, axis1=1, axis2=2) ** 2).sum())
        a2 = float(np.einsum("eij,eji->", within, within))
        if a2 < 1e-9:
            return 1.0, float("inf")
        return f_law(k, a1, a2)


def f_law(k: int, a1: float, a2: float) -> tuple[float, float]:
    """Return lambda and m of k constraints from A1 and A2, as in the module's docstring.

    Hotelling's statistic of k numbers and a covariance of nu degrees of freedom has A1 = 2 k / nu and
    A2 = k (k + 1) / nu, and (nu - k + 1) / (nu k) times it is F with k and nu - k + 1:

    >>> scale, freedom = f_law(10, 2 * 10 / 50, 10 * 11 / 50)
    >>> round(scale, 12), round(freedom, 12)
    (0.82, 41.0)
    """
    b = (a1 + 6 * a2) / (2 * k)
    g = ((k + 1) * a1 - (k + 4) * a2) / ((k + 2) * a2)
    below = 3 * k + 2 * (1 - g)
    c1, c2, c3 = g / below, (k - g) / below, (k + 2 - g) / below
    mean = 1 - a2 / k  # one over the mean of F
    shrunk = (1 - c2 * b) ** 2 * (1 - c3 * b)
    if mean <= 0 or c2 * b >= 1 or c3 * b >= 1:
        return _least(k)
    # variance over twice the squared mean
    ratio = (1 + c1 * b) / shrunk * mean**2 / k
    if k * ratio <= 1:
        # lighter than chi-squared, to second order: taken as chi-squared of the right mean
        return mean, float("inf")
    freedom = 4 + (k + 2) / (k * ratio - 1)
    if freedom < LEAST_FREEDOM:
        return _least(k)
    return freedom * mean / (freedom - 2), freedom


def _least(k: int) -> tuple[float, float]:
    """Return the law where noise is beyond a second order: that of Hotelling's statistic of fewest degrees."""
    freedom = LEAST_FREEDOM
    return freedom / (freedom + k - 1), freedom

"""How much of a regressor's variance is in rows that are shortened, where rows far along axes are counted.  No data.

Products and a column's variance alone leave it open (`long_tails`): in wide bounds the released variance is mostly
noise.  Where a release tells of each axis how many rows have more than half of the squared norm C**2 along it, the laws
of `long_tails`, each of the scale at which products find what they found, are weighed by what this number would be of
them, by the column's variance and by its bounds.

The axis of a regressor is what is left of it after those before it; that part of its variance is the unit here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.row_sums.long_tails import PLACES, TAILS, WITHOUT, squares_of_laws

PRIOR: Final = 0.5
"""Mean of s before anything is known, where there are counts."""
MISFIT: Final = 0.25
"""How far a count may be off for laws of other shapes that have the same scale, relative to it."""
LEAST_SHARE: Final = 2e-4
"""The same of any count, as a share of rows."""
LEAST_DOUBT: Final = 0.03
"""Least relative doubt about what products find of a law."""
VARIANCE_DOUBT: Final = 0.02
"""Least relative doubt about the column's variance."""
NARROWEST: Final = 0.6
WIDEST: Final = 36.0
"""Least and largest ratio of a regressor's variance to what products find of it."""
STEPS: Final = 12
"""Steps of bisection for it."""
NODES: Final[Array] = np.linspace(0.0, 30.0, 1024)
"""Values of log(1 + x**2) at which w**2 is evaluated."""
LEAST_DEGREES: Final = 0.3
"""Least degrees of freedom of the law of a vector's other entries."""


@dataclass(frozen=True)
class CountedTail:
    """What is known of the tail along an axis: the posterior weights of TAILS, and of each law its deviation over
    that which products find, shapes (17,).
    """

    weights: Array
    wide: Array

    def lost(self, norm: float, reach: float) -> float:
        """Return the root mean square of the part of the variance that scores lose; norm, reach: of their vectors."""
        square, density = _scaled(self.wide**2)
        w = np.sqrt(_kept_squares(square, norm - 2, reach))
        kept = (density * square * w.mean(axis=2)).sum(axis=1) / self.wide**2
        return math.sqrt(float(self.weights @ (1 - kept) ** 2))

    def scale(self) -> float:
        """Return the root mean square of the regressor's standard deviation over that which products find."""
        return math.sqrt(float(self.weights @ self.wide**2))


@dataclass(frozen=True)
class AxisEvidence:
    """What a release tells of a regressor's own axis, in units of its part of the column's released variance.

    found, noise: what products find of its variance, and the noise in that.  doubt: the noise in the column's variance;
    hidden: whether that was set by its noise.  most: how far from its mean the regressor may lie within its bounds.
    others: mean squares of the other entries of the vectors of products and of scores, the constant aside.  reaches: of
    both.  share, share_noise: the counted share of rows far along its axis, and the noise in that.
    """

    found: float
    noise: float
    doubt: float
    hidden: bool
    most: float
    others: tuple[float, float]
    reaches: tuple[float, float]
    share: float
    share_noise: float
    rows: float

    def tail(self) -> CountedTail:
        """Return what is known of the regressor's tail."""
        scale, relative = _scales(self.found, self.others[0], self.reaches[0]), self.noise / self.found
        log = -np.maximum(TAILS, 0.0) / PRIOR
        missed = np.log(_found(scale, _kept_at_nodes(self.others[0], self.reaches[0])) / self.found)
        log = log - (missed / max(relative, LEAST_DOUBT)) ** 2 / 2 + self._variance(scale, relative)
        share = _far_shares(scale / self.found, self.others[1], self.reaches[1])
        loose = self.share_noise**2 + share / self.rows + (MISFIT * share) ** 2 + LEAST_SHARE**2
        log -= (self.share - share) ** 2 / 2 / loose
        square, density = squares_of_laws()
        beyond = (density * square * (square > self.most**2 / scale[:, None])).sum(axis=1)
        # laws that do not fit within the bounds
        log = np.where((beyond <= WITHOUT) | (TAILS < 0), log, -np.inf)
        weight = np.exp(log - log.max())
        return CountedTail(np.asarray(weight / weight.sum(), dtype=np.float64), np.sqrt(scale / self.found))

    def _variance(self, scale: Array, relative: float) -> Array:
        """Return the log density of the column's released variance, of laws of this variance."""
        from scipy.special import log_ndtr  # pyright: ignore

        if self.hidden:
            # the released variance is at most what stands for it
            return np.asarray(log_ndtr((1 - scale) / self.doubt), dtype=np.float64)
        return -((scale - 1) ** 2) / 2 / (self.doubt**2 + VARIANCE_DOUBT**2 + (relative * scale) ** 2)


def _scales(found: float, others: float, reach: float) -> Array:
    """Return the variance of each law at which products find this of it."""
    low = np.full(len(TAILS), math.log(found * NARROWEST))
    high = np.full(len(TAILS), math.log(found * WIDEST))
    kept = _kept_at_nodes(others, reach)
    for _ in range(STEPS):
        middle = (low + high) / 2
        below = _found(np.exp(middle), kept) < found
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.exp((low + high) / 2)


def _found(scale: Array, kept_at_nodes: Array) -> Array:
    """Return what sums of w**2 x**2 find of each law, of these variances, over those of w**2."""
    square, density = _scaled(scale)
    kept = density * np.interp(np.log1p(square), NODES, kept_at_nodes)
    return np.asarray((kept * square).sum(axis=1) / kept.sum(axis=1))


def _kept_at_nodes(others: float, reach: float) -> Array:
    """Return the mean of w**2 at each of NODES: between these it is as good as linear."""
    return np.asarray(_kept_squares(np.expm1(NODES)[None, :], others, reach).mean(axis=2)[0])


def _far_shares(scale: Array, others: float, reach: float) -> Array:
    """Return the share of rows of each law that have more than half of C**2 along its axis."""
    square, density = _scaled(scale)
    far = _kept_squares(square, others, reach) * square[:, :, None] > reach**2 / 2
    return np.asarray((density * far.mean(axis=2)).sum(axis=1))


def _scaled(scale: Array) -> tuple[Array, Array]:
    """Return x**2 at points of each law, of these variances, and the weights of the points."""
    square, density = squares_of_laws()
    return square * scale[:, None], density


def _kept_squares(square: Array, others: float, reach: float) -> Array:
    """Return w**2 at points of x**2, shape (laws, points), and of the other entries, the last axis."""
    return np.minimum(1.0, reach**2 / (1 + square[:, :, None] + _others(others)))


def _others(mean: float) -> Array:
    """Return squares of the norm of a vector's other entries, of this mean, at points of their law."""
    from scipy.special import gammaincinv  # pyright: ignore

    if mean <= 0:
        return np.zeros(1)
    degrees, places = max(mean, LEAST_DEGREES), (np.arange(PLACES) + 0.5) / PLACES
    return 2 * np.asarray(gammaincinv(degrees / 2, places), dtype=np.float64) * (mean / degrees)

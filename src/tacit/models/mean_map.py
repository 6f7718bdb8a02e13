"""The mean of clamped sufficient statistics as a function of the parameters, and its inverse.  Pure functions.

Under a law with parameters theta, m(theta) = E T(x), where T is the clamped statistic that is released.  Its derivative
is the covariance of T and the score.  The inverse allows for clamping: no bias is left where rows follow the family's
law (theory §6).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.models.boxes import coordinates, parameters_at, slopes
from tacit.models.evaluate import rule
from tacit.models.family import Family
from tacit.models.sufficient_statistics import Bounds, SufficientStatistic

STEPS: Final = 60
CLOSE: Final = 1e-9
"""A search ends where the means are met, or a step would change them, within this part of their spread."""
SINGULAR: Final = 1e-8
"""Below this reciprocal condition of the scaled derivatives the statistics do not identify the parameters."""
STARTS: Final = (0.5, 0.15, 0.85)
"""Starting points of searches, as shares of the width of the box in the coordinates of its links."""


@dataclass(frozen=True)
class At:
    """The map at theta: means m of the p statistics, derivatives dm/dtheta and covariances of a row, shape (p, p)."""

    theta: Array
    mean: Array
    slope: Array
    cov: Array

    @property
    def inverse(self) -> Array | None:
        """The derivatives dtheta/dm, shape (p, p); None where the statistics do not identify the parameters."""
        # rows in standard deviations of statistics, columns to length 1: the condition does not depend on units
        scaled = self.slope / np.sqrt(np.maximum(np.diag(self.cov), 1e-300))[:, None]
        size = np.linalg.norm(scaled, axis=0)
        if not np.isfinite(scaled).all() or not (size > 0).all():
            return None
        values = np.linalg.svd(scaled / size, compute_uv=False)
        return None if values[-1] < SINGULAR * values[0] else np.asarray(np.linalg.inv(self.slope), dtype=np.float64)

    @property
    def correlation(self) -> Array:
        """Correlations of the statistics of a row, shape (p, p)."""
        sd = np.sqrt(np.maximum(np.diag(self.cov), 1e-300))
        return self.cov / np.outer(sd, sd)


@dataclass(frozen=True)
class MeanMap:
    """A family and its statistics within bounds, shape (p, 2).

    >>> from tacit.families import Exponential
    >>> made = mean_map(Exponential(rate=(0.1, 10)), ((0.0, 1.0),))
    >>> at = made.at(np.array([1.0]))  # E min(x, 1) = 1 - 1/e
    >>> at.mean.round(4), made.solve(at.mean, np.ones(1)).theta.round(6)
    (array([0.6321]), array([1.]))
    """

    model: Family
    statistics: tuple[SufficientStatistic, ...]
    boxes: tuple[Bounds, ...]

    def at(self, theta: Array) -> At:
        """Return means, derivatives and covariances, by quadrature over the law (counts are summed)."""
        pairs = list(zip(self.statistics, self.boxes, strict=True))
        points, weights, scores = rule(self.model, theta, self.kinks)
        t = np.stack([one.values(points, own) for one, own in pairs], axis=1)
        t = np.where(weights[:, None] > 0, t, 0.0)
        mean = weights @ t
        off = weights[:, None] * (t - mean)
        # sums over points: Cov(T, score) is dm/dtheta, since E score = 0; Cov(T, T)
        return At(theta, mean, off.T @ scores, off.T @ (t - mean))

    @cached_property
    def kinks(self) -> tuple[float, ...]:
        """Rows at which a statistic has no derivative."""
        pairs = zip(self.statistics, self.boxes, strict=True)
        return tuple(sorted({x for one, own in pairs for x in one.kinks(own)}))

    def solve(self, target: Array, spread: Array, start: Array | None = None) -> At:
        """Return the map where the means are `target`, or nearest to it in units of `spread`, both of shape (p,).

        Damped Gauss-Newton steps in the coordinates of the links, from `start`, else from the middle of the box; where
        that does not meet the target, from others too.
        """
        low, high = self.region
        best: tuple[float, At] | None = None
        given = [] if start is None else [coordinates(self.model.parameters, np.clip(start, *self.inner))]
        for begin in (*given, *_starts(low, high)):
            off, found = self._search_from(begin, target, spread)
            if best is None or off < best[0]:
                best = off, found
            if best[0] < 1e-6:
                break
        assert best is not None
        return best[1]

    @property
    def region(self) -> tuple[Array, Array]:
        """Ends of the box in the coordinates of the links, shape (p,)."""
        ends = np.array([one.region(0.0) for one in self.model.parameters])
        return ends[:, 0], ends[:, 1]

    @property
    def inner(self) -> tuple[Array, Array]:
        """The ends of `region` as parameters: a little inside the box where its ends are not valid parameters."""
        low, high = self.region
        return parameters_at(self.model.parameters, low), parameters_at(self.model.parameters, high)

    def _search_from(self, begin: Array, target: Array, spread: Array) -> tuple[float, At]:
        """Search from coordinates `begin`; return the squared distance from the target, and the map where it ends."""
        low, high = self.region
        here, damping = begin, 0.0
        found = self._at(here)
        off = (found.mean - target) / spread
        for _ in range(STEPS):
            # chain rule to the coordinates of the links; rows in units of `spread`
            slope = found.slope * slopes(self.model.parameters, found.theta) / spread[:, None]
            step = _step(slope, off, here, low, high, damping)
            there = np.clip(here + step, low, high)
            # a step that is short because it was damped is no sign of convergence
            if not (np.abs(slope @ (there - here)) > CLOSE).any() and damping < 1:
                break
            new = self._at(there)
            new_off = (new.mean - target) / spread
            if np.isfinite(new_off).all() and new_off @ new_off < off @ off:
                # Levenberg-Marquardt: less damping after a gain, more after a loss
                here, found, off, damping = there, new, new_off, damping / 8 if damping > 1e-3 else 0.0
                if off @ off < CLOSE**2:
                    break
            else:
                damping = max(8 * damping, 1e-3)
                if damping > 1e9:
                    break
        return float(off @ off), found

    def _at(self, place: Array) -> At:
        return self.at(np.clip(parameters_at(self.model.parameters, place), *self.inner))


def _starts(low: Array, high: Array) -> list[Array]:
    """Return the starts of the search in coordinates, the middle of the box first."""
    if len(low) == 1:
        return [low + part * (high - low) for part in STARTS]
    grids = np.meshgrid(*[STARTS] * len(low), indexing="ij")
    return [low + np.array(part) * (high - low) for part in zip(*(one.ravel() for one in grids), strict=True)]


def _step(slope: Array, off: Array, here: Array, low: Array, high: Array, damping: float) -> Array:
    """Return a damped Gauss-Newton step of at most a quarter of the box; coordinates at an end do not step outside."""
    gradient = slope.T @ off
    # held: at an end, with a descent that leads outside
    free = ~(((here <= low) & (gradient >= 0)) | ((here >= high) & (gradient <= 0)))
    if not free.any():
        return np.zeros_like(here)
    part = slope[:, free]
    matrix = part.T @ part
    # relative to the diagonal, so that units do not matter; the absolute part is for a diagonal of 0
    matrix = matrix + (damping + 1e-14) * np.diag(np.diag(matrix)) + 1e-30 * np.eye(len(matrix))
    step = np.zeros_like(here)
    step[free] = -np.linalg.lstsq(matrix, gradient[free], rcond=None)[0]
    return np.clip(step, -0.25 * (high - low), 0.25 * (high - low))


@lru_cache(maxsize=64)
def mean_map(family: Family, boxes: tuple[Bounds, ...]) -> MeanMap:
    """Return the map of a family whose sufficient statistics have these bounds, one pair each."""
    found = family.sufficient_statistics()
    assert found is not None
    # Where the mean is not fixed, the point of a square follows from the bounds of the first statistic, y itself.
    return MeanMap(family, tuple(one.within(boxes[0]) for one in found), boxes)

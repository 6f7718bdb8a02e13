"""Ratios and odds ratios on the log scale from the terms' own intervals, at all levels: their profile.

A term's intervals at several levels say how far from the estimate its logarithm (or log odds) lies at so many normal
deviations z: the limits of level 2 Phi(z) - 1.  Errors of two independent terms use up z**2 together, so that the log
of a ratio lies

    between  min of lower_1(z cos a) - upper_2(z sin a)  and  max of upper_1(z cos a) - lower_2(z sin a),

over all angles a.  With linear reaches these are Woolf's limits, and with unequal ones those of [Zou & Donner 2008];
of a share whose estimate is 0 or 1 there is still a limit on one side.  Terms that may depend on each other use z each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from tacit.base.arrays import Array

NORMAL: Final = NormalDist()
LEVELS: Final = tuple(2 * NORMAL.cdf(z) - 1 for z in (0.68, 1.1, 1.5, 1.96, 2.5, 3.2, 4.0))
"""Levels of the intervals that p-values are found from."""
ANGLES: Final = np.linspace(0.0, np.pi / 2, 91)
STEPS: Final = 40
"""Bisection steps of a p-value."""


@dataclass(frozen=True)
class Reaches:
    """Limits of two terms on the log scale, by normal deviations.

    deviations: shape (k,), increasing from 0.  lower, upper: shape (k, 2); infinite where a term may be 0 or 1.
    apart: whether the terms' errors are independent.
    """

    deviations: Array
    lower: Array
    upper: Array
    apart: bool

    def limits(self, z: float) -> tuple[float, float]:
        """Return the limits of the difference of both logs at z deviations.

        >>> even = np.array([0.0, 1.0, 2.0])[:, None] * np.ones(2)
        >>> low, high = Reaches(np.array([0.0, 1.0, 2.0]), 1 - even, 1 + even, True).limits(2.0)
        >>> round(low, 3), round(high, 3)
        (-2.828, 2.828)
        """
        return -self._highest(z, -self.lower[:, 0], self.upper[:, 1]), self._highest(
            z, self.upper[:, 0], -self.lower[:, 1]
        )

    def p_value(self) -> float:
        """Return the p-value of both terms being equal."""
        low, high = 0.0, float(self.deviations[-1])
        lower, upper = self.limits(high)
        if lower > 0 or upper < 0:
            # beyond the last level reaches go on as they came: in proportion to deviations
            middle = float(self.lower[0, 0] - self.lower[0, 1])
            part = abs(middle) / abs(middle - (lower if lower > 0 else upper)) if math.isfinite(middle) else 1.0
            return 2 * NORMAL.cdf(-high * max(part, 1.0))
        for _ in range(STEPS):
            middle = (low + high) / 2
            lower, upper = self.limits(middle)
            low, high = (low, middle) if lower <= 0 <= upper else (middle, high)
        return 2 * NORMAL.cdf(-high)

    def _highest(self, z: float, one: Array, other: Array) -> float:
        """Return the largest sum of two reaches that use z deviations together."""
        first, second = (z * np.cos(ANGLES), z * np.sin(ANGLES)) if self.apart else (np.array([z]), np.array([z]))
        both = _at(self.deviations, one, first) + _at(self.deviations, other, second)
        # 0 over 0, both for certain, is any number
        return math.inf if np.isnan(both).any() else float(both.max())


def reaches(
    interval: Callable[[float], Array], scale: Callable[[Array], Array], values: Array, apart: bool, level: float
) -> Reaches:
    """Return the reaches of two terms at LEVELS and another level.

    interval: limits of both terms at a level, shape (2, 2).  scale: to the log scale, infinite at its ends.  values:
    estimates, shape (2,), from which on reaches are interpolated.
    """
    levels = sorted({*LEVELS, level})
    with np.errstate(divide="ignore"):
        middle, found = scale(values), scale(np.stack([interval(one) for one in levels]))
    # an estimate of 0 or 1 says nothing of small deviations: they reach as far as those of the first level
    first = np.where(np.isfinite(middle)[:, None], middle[:, None], found[0])
    whole = np.concatenate([first[None], found])
    deviations = np.array([0.0, *(NORMAL.inv_cdf(0.5 + one / 2) for one in levels)])
    return Reaches(deviations, np.minimum.accumulate(whole[:, :, 0]), np.maximum.accumulate(whole[:, :, 1]), apart)


def _at(deviations: Array, reach: Array, z: Array) -> Array:
    """Return a reach at deviations z by interpolation; infinite beside an infinite one."""
    finite = np.where(np.isfinite(reach), reach, 0.0)
    found = np.interp(z, deviations, finite)
    after = np.minimum(np.searchsorted(deviations, z, side="left"), len(deviations) - 1)
    return np.where(np.isfinite(reach[after]), found, reach[after])

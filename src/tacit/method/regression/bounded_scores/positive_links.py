"""The log link of a positive response, with the gamma score y / mean - 1 clamped on both sides.  No data here.

    psi = clamp(v(eta) (y - c(eta)), -1, 1),    v = exp(-eta) / cut,    y clamped to its column's bounds.

c makes the mean of psi exactly 0 at the true eta under a gamma law of variance spread mean**2, so that neither the cut
nor the bounds cause bias: conditionally Fisher-consistent [Kuensch, Stefanski & Carroll 1989, §2].  Where y / mean has
any one law in all rows, a cut moves the intercept alone, but for the bounds.  Its curvature, v times the derivative of
the mean of y within the cut, is at most 1 / cut, so that cut times it is a weight of products in [0, 1].
Means over the law are closed forms: y p(y) is the mean times the density of the gamma law of the next shape.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tacit.base.lazy_imports import special
from tacit.method.regression.bounded_scores.bounded_score import Array, BoundedScore
from tacit.method.regression.bounded_scores.count_laws import CountLaw
from tacit.method.regression.bounded_scores.count_links import STEP, STORED, UNIT
from tacit.method.regression.bounded_scores.positive_laws import LEAST

CUT_RATIO: Final = 1.25
"""Ratio of a cut to the next one."""
CUTS: Final = tuple(0.64 * CUT_RATIO**k for k in range(15))
"""Cuts to choose from, in means, up to 14.6: the score of a response of 0 is not cut from 1 on.  With wider ones scores
would be few of their integer steps, and their squares be rounded away."""
STEPS: Final = 512
"""The smallest mean that a fit assumes is the upper bound over STEPS, which is four of the response's own steps."""
MAX_STEPS: Final = 48
TOLERANCE: Final = 1e-9
"""Largest mean of a score that passes for 0."""
MIN_REACH: Final = 0.75
"""Smallest half-width of the predictor's grid."""
MARGIN: Final = 3.0
"""How far the grid may go below the smallest mean, in the predictor."""


@dataclass(frozen=True)
class PositiveLink:
    """The log link of a response from `lower` to `upper`; the predictor's grid is eta = center + reach * e / L.

    spread: variance of the response over its mean.  full: not used; a stored part has it for the link of counts.
    """

    lower: float
    upper: float
    center: float = 0.0
    reach: float = 3.0
    full: float = 0.0
    spread: float = 0.5
    max_predictor_sd: float = 2.0
    cut_tolerance: float = 1.05
    step_unit: float = 1.0
    unit: float = 1.0
    weighed: bool = True
    model: str = "gamma"

    def mean(self, eta: Array) -> Array:
        """Return the mean of the response without its bounds.

        >>> PositiveLink(0, 100).mean(np.log([0.5, 3.0])).round(6).tolist()
        [0.5, 3.0]
        """
        # clipped so that predictors made extreme by noise do not overflow
        return np.exp(np.clip(eta, -60.0, 60.0))

    def slope(self, eta: Array) -> Array:
        """Return the derivative of the mean."""
        return self.mean(eta)

    def information(self, eta: Array) -> Array:
        """Return the Fisher information about eta in one response of a gamma law."""
        # (d mean / d eta)**2 / Var(y), with Var(y) = spread mean**2
        return np.full_like(np.asarray(eta, dtype=np.float64), 1 / max(self.spread, LEAST))

    def clamped_mean(self, mean: float) -> float:
        """Return a mean response, clamped for a pilot fit."""
        return min(max(mean, self.upper / STEPS), 0.98 * self.upper)

    @property
    def predictor_limits(self) -> tuple[float, float]:
        """Smallest and largest mean of the linear predictor at which a score is evaluated."""
        return math.log(self.upper / STEPS), math.log(self.upper) + 0.5

    def cuts(self) -> tuple[float, ...]:
        """Return the cuts to choose from; the largest bounds almost nothing."""
        return CUTS

    def bounded(self, eta: Array, cut: Array | float) -> BoundedScore:
        """Return the score, clamped where the response is `cut` means from its middle c."""
        mean = self.mean(eta)
        v = 1 / (mean * cut)
        b = self.centering(eta, v)
        c = b / v
        low, high = self._clipping_bounds(c, v)
        _, square, *_ = self._clipped_moments(mean, low, high, c)
        # c and v are held: a factor 1 +- STEP of the mean moves the true predictor by +- STEP, to first order
        up, down = (self._clipped_moments(mean * (1 + side * STEP), low, high, c)[0] for side in (1, -1))
        curve = np.maximum(v * (up - down) / (2 * STEP), 0.0)
        # cut curve <= 1, so that the size is a weight in [0, 1]
        return BoundedScore(v, b, curve, np.minimum(curve * cut, 1.0), v**2 * square)

    def moments_under(self, eta: Array, made: BoundedScore, law: CountLaw) -> tuple[Array, Array]:
        """Return the means of the score `made` and of its square under true predictors `eta` and another law."""
        # c and v stay those of the assumed law: psi is what was released, only the law of y differs
        c, each = made.b / made.v, replace(self, spread=law.spread)
        ends, mean = self._clipping_bounds(c, made.v), self.mean(eta)
        shares, factors = np.array(law.shares), np.array(law.factors)
        # all factors at once, shape (factors, k)
        first, second, *_ = each._clipped_moments(factors[:, None] * mean, *ends, c)
        return made.v * (shares @ first), made.v**2 * (shares @ second)

    def relative_slope(self, eta: Array, to: Array, made: BoundedScore) -> Array:
        """Return the mean change of the score `made` from true predictors `eta` to `to`, per unit, over its `curve`."""
        c, way = made.b / made.v, np.where(np.abs(to - eta) < STEP, STEP, to - eta)
        # the mean at eta itself is 0 by the choice of c, so this is the change
        mean = self._clipped_moments(self.mean(eta + way), *self._clipping_bounds(c, made.v), c)[0]
        return np.clip(made.v * mean / way / np.maximum(made.curve, 1e-12), 0.2, 5.0)

    def centering(self, eta: Array, v: Array) -> Array:
        """Return the b that makes the mean of clamp(v y - b, -1, 1) 0, by Newton's method safeguarded by bisection."""
        mean = self.mean(eta)
        low, high = np.full_like(mean, self.lower), np.full_like(mean, self.upper)
        c = np.clip(mean, low, high)
        for _ in range(MAX_STEPS):  # the mean of a cut response, less c, falls in c
            gap, _, below, above = self._clipped_moments(mean, *self._clipping_bounds(c, v), c)
            if np.abs(v * gap).max() < TOLERANCE:
                break
            low, high = np.where(gap > 0, c, low), np.where(gap > 0, high, c)
            # minus the derivative of the gap in c: an end of the clip moves with c unless it is a bound of the column
            steep = 1 - below * (c - 1 / v > self.lower) - above * (c + 1 / v < self.upper)
            step = c + gap / np.maximum(steep, 0.02)
            # bisect where Newton's step leaves the bracket
            c = np.where((step > low) & (step < high), step, (low + high) / 2)
        return v * c

    def with_grid(self, low: float, high: float, full: float, spread: float) -> PositiveLink:
        """Return the link with a grid from `low` to `high`, and this spread."""
        least, most = self.predictor_limits
        low, high = max(low, least - MARGIN), min(high, most)
        reach = max((high - low) / 2, MIN_REACH)
        made = replace(self, center=(low + high) / 2, reach=reach, spread=max(spread, LEAST))
        # rounded to the stored units, so that readers of the release use exactly this link
        return self.from_stored(made.stored())

    def from_stored(self, facts: Mapping[str, int]) -> PositiveLink:
        """Return the link that a released part was measured with, from its stored facts."""
        return replace(self, **{name: facts[name] / UNIT for name in STORED})

    def stored(self) -> dict[str, int]:
        """Return the facts that `from_stored` reads, in units of 1 / UNIT."""
        return {name: round(getattr(self, name) * UNIT) for name in STORED}

    # Means over the law ----------------------------------------------------------------------------------------------

    def _clipping_bounds(self, c: Array, v: Array) -> tuple[Array, Array]:
        """Return the responses below and above which psi is constant."""
        low = np.clip(c - 1 / v, self.lower, self.upper)
        return low, np.clip(c + 1 / v, low, self.upper)

    def _clipped_moments(self, mean: Array, low: Array, high: Array, c: Array) -> tuple[Array, ...]:
        """Return the means of clip(y, low, high) - c and of its square, and the probabilities to be at either end."""
        (below, one_low, two_low), (upto, one_high, two_high) = (self._cdfs(y, mean) for y in (low, high))
        above, whole = 1 - upto, upto - below
        # E[y; low < y <= high], by y p(y) = mean p(y) under the law of the next shape; and the same of y**2
        one = mean * (one_high - one_low)
        two = mean**2 * (1 + self.spread) * (two_high - two_low)
        first = (low - c) * below + one - c * whole + (high - c) * above
        second = (low - c) ** 2 * below + two - 2 * c * one + c**2 * whole + (high - c) ** 2 * above
        return first, second, below, above

    def _cdfs(self, y: Array, mean: Array) -> tuple[Array, Array, Array]:
        """Return P(Y <= y) of this law, and of those of the same scale whose shapes are greater by one and by two."""
        shape, tools = 1 / max(self.spread, 1e-4), special()
        # where the mean is 0 every response is 0
        x = np.minimum(shape * y / np.maximum(mean, 1e-300), 1e6)
        x = np.where(mean > 0, x, 1e6)
        found = np.asarray(tools.gammainc(shape, x), dtype=np.float64)
        # P(shape + 1, x) = P(shape, x) - x**shape exp(-x) / Gamma(shape + 1)
        fall = np.exp(tools.xlogy(shape, x) - x - float(tools.gammaln(shape + 1)))
        return found, found - fall, found - fall * (1 + x / (shape + 1))

"""The log link of counts, with the score y - mean clamped on both sides.  No data here.

    psi = clamp(v(eta) (y - c(eta)), -1, 1),    v = min(1, exp(full - eta)) / cut,    y clamped to its column's bounds.

v gives rows with a large mean less weight, so that the curvature, v mean, is bounded as well.  Products of regressors
weighted by the curvature can then be released, with no assumption on the distribution of the regressors.
c makes the mean of psi exactly 0 at the true eta, so that neither the cut nor the bounds cause bias: conditionally
Fisher-consistent [Kuensch, Stefanski & Carroll 1989, §2].  The law is Poisson, or negative binomial of variance
mean + spread mean**2 with a spread estimated from an earlier part of the release.  Means over it are closed forms:
y p(y) is the mean times p(y - 1), of the law whose shape is greater by one [Johnson, Kemp & Kotz 2005, §4.3, §5.3].
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

UNIT: Final = 2**16
"""Center, reach and spread are stored in parts of 1 / UNIT."""
CUT_RATIO: Final = 1.25
"""Ratio of a cut to the next one."""
MIN_MEAN: Final = 0.002
"""Smallest mean count at which a score is evaluated."""
RARE_MEAN: Final = 0.02
"""Mean count below which noise decides how small a mean a pilot fit assumes."""
START_NOISE: Final = 2.0
"""Standard deviations of noise that the mean count of a pilot has at least, up to RARE_MEAN."""
MAX_STEPS: Final = 20
TOLERANCE: Final = 2e-5
"""Largest mean, in counts, that passes for 0."""
STORED: Final = "center", "reach", "full", "spread"
STEP: Final = 1e-4
"""Relative distance of the two points of a derivative."""
MIN_REACH: Final = 0.75
"""Smallest half-width of the predictor's grid."""


@dataclass(frozen=True)
class CountLink:
    """The log link of a response from `lower` to `upper`; the predictor's grid is eta = center + reach * e / L.

    full: the predictor from which scores have less weight.  spread: of the negative binomial law, 0 for Poisson.
    """

    lower: float
    upper: float
    center: float = 0.0
    reach: float = 6.0
    full: float = 3.0
    spread: float = 0.0
    max_predictor_sd: float = 2.0
    cut_tolerance: float = 1.05
    step_unit: float = 1.0
    unit: float = 1.0
    weighed: bool = True
    model: str = "poisson"

    def mean(self, eta: Array) -> Array:
        """Return the mean of the response without its bounds.

        >>> CountLink(0, 100).mean(np.log([0.5, 3.0])).round(6).tolist()
        [0.5, 3.0]
        """
        # clipped so that predictors made extreme by noise do not overflow
        return np.exp(np.clip(eta, -30.0, 30.0))

    def slope(self, eta: Array) -> Array:
        """Return the derivative of the mean."""
        return self.mean(eta)

    def information(self, eta: Array) -> Array:
        """Return the Fisher information about eta in one response."""
        # (d mean / d eta)**2 / Var(y), with d mean / d eta = mean and Var(y) = mean + spread mean**2
        return self.mean(eta) / (1 + self.spread * self.mean(eta))

    def clamped_mean(self, mean: float) -> float:
        """Return a mean response, clamped for a pilot fit."""
        room = self.upper - self.lower
        return self.lower + min(max(mean - self.lower, MIN_MEAN), 0.98 * room)

    def starting_mean(self, mean: float, noise: float) -> float:
        """Return the mean response to begin with: no less than its noise allows for, up to RARE_MEAN.

        A step of a log link that begins too low goes too far, by a factor; one that begins too high only falls short.

        >>> link = CountLink(0, 20)
        >>> link.starting_mean(0.004, 0.001), link.starting_mean(0.004, 0.005), link.starting_mean(0.004, 1.0)
        (0.004, 0.01, 0.02)
        """
        return max(mean, self.lower + min(START_NOISE * noise, RARE_MEAN))

    @property
    def predictor_limits(self) -> tuple[float, float]:
        """Smallest and largest mean of the linear predictor at which a score is evaluated."""
        return math.log(MIN_MEAN), math.log(self.upper + 1)

    def cuts(self) -> tuple[float, ...]:
        """Return the cuts to choose from; the largest bounds nothing."""
        room = max(self.upper - self.lower, 1.0)
        steps = math.ceil(math.log(room) / math.log(CUT_RATIO))
        return (*(CUT_RATIO**k for k in range(steps)), room)

    def bounded(self, eta: Array, cut: Array | float) -> BoundedScore:
        """Return the score, clamped where a count is `cut` from its middle c, or further where v is below 1 / cut."""
        v = np.minimum(1.0, np.exp(np.clip(self.full - eta, -30.0, 30.0))) / cut
        c = self.centering(eta, v) / v
        mean, (low, high) = self.mean(eta), self._clipping_bounds(c, v)
        _, square, *_ = self._clipped_moments(mean, low, high, c)
        # c and v are held: a factor 1 +- STEP of the mean moves the true predictor by +- STEP, to first order
        up, down = (self._clipped_moments(mean * (1 + side * STEP), low, high, c)[0] for side in (1, -1))
        curve = np.maximum(v * (up - down) / (2 * STEP), 0.0)
        # cut curve <= min(1, exp(full - eta)) mean <= exp(full), so that the size is a weight in [0, 1]
        return BoundedScore(v, v * c, curve, np.minimum(curve * cut / math.exp(self.full), 1.0), v**2 * square)

    def moments_under(self, eta: Array, made: BoundedScore, law: CountLaw) -> tuple[Array, Array]:
        """Return the means of the score `made` and of its square under true predictors `eta` and another law."""
        # c and v stay those of the assumed law: psi is what was released, only the law of y differs
        c, each = made.b / made.v, replace(self, spread=law.spread)
        ends, mean = self._clipping_bounds(c, made.v), self.mean(eta)
        first, second = np.zeros_like(eta), np.zeros_like(eta)
        for share, factor in zip(law.shares, law.factors, strict=True):
            one, two, *_ = each._clipped_moments(factor * mean, *ends, c)
            first, second = first + share * one, second + share * two
        return made.v * first, made.v**2 * second

    def relative_slope(self, eta: Array, to: Array, made: BoundedScore) -> Array:
        """Return the mean change of the score `made` from true predictors `eta` to `to`, per unit, over its `curve`."""
        c, way = made.b / made.v, np.where(np.abs(to - eta) < STEP, STEP, to - eta)
        # the mean at eta itself is 0 by the choice of c, so this is the change
        mean = self._clipped_moments(self.mean(eta + way), *self._clipping_bounds(c, made.v), c)[0]
        return np.clip(made.v * mean / way / np.maximum(made.curve, 1e-12), 0.2, 5.0)

    def centering(self, eta: Array, v: Array) -> Array:
        """Return the b that makes the mean of clamp(v y - b, -1, 1) 0, by Newton's method safeguarded by bisection."""
        mean = self.mean(eta)
        # one count beyond its bounds the sign of the gap is certain, so that the zero is bracketed
        low, high = np.full_like(eta, self.lower - 1.0), np.full_like(eta, self.upper + 1.0)
        # open_: indices of the predictors whose c is not found yet
        c, open_ = np.clip(mean, self.lower, self.upper), np.arange(len(eta))
        for _ in range(MAX_STEPS):  # the mean of a cut count, less c, falls in c
            at, weight = c[open_], v[open_]
            gap, _, below, above = self._clipped_moments(mean[open_], *self._clipping_bounds(at, weight), at)
            low[open_], high[open_] = np.where(gap > 0, at, low[open_]), np.where(gap > 0, high[open_], at)
            # minus the derivative of the gap in c: an end of the clip moves with c unless it is a bound of the column
            steep = 1 - below * (at - 1 / weight > self.lower) - above * (at + 1 / weight < self.upper)
            step = at + gap / np.maximum(steep, 0.1)
            inside = (step > low[open_]) & (step < high[open_])
            # bisect where Newton's step leaves the bracket
            c[open_] = np.where(np.abs(gap) < TOLERANCE, at, np.where(inside, step, (low[open_] + high[open_]) / 2))
            open_ = open_[np.abs(gap) >= TOLERANCE]
            if not len(open_):
                break
        return v * c

    def with_grid(self, low: float, high: float, full: float, spread: float) -> CountLink:
        """Return the link with a grid from `low` to `high`, weights of 1 from predictor `full` on, and this spread."""
        # below a twentieth of these means scores are next to none
        low, high = max(low, min(math.log(RARE_MEAN), full) - 3), min(high, math.log(self.upper + 1) + 0.5)
        reach = max((high - low) / 2, MIN_REACH)
        made = replace(self, center=(low + high) / 2, reach=reach, full=full, spread=spread)
        # rounded to the stored units, so that readers of the release use exactly this link
        return self.from_stored(made.stored())

    def from_stored(self, facts: Mapping[str, int]) -> CountLink:
        """Return the link that a released part was measured with, from its stored facts."""
        return replace(self, **{name: facts[name] / UNIT for name in STORED})

    def stored(self) -> dict[str, int]:
        """Return the facts that `from_stored` reads, in units of 1 / UNIT."""
        return {name: round(getattr(self, name) * UNIT) for name in STORED}

    # Means over the law ----------------------------------------------------------------------------------------------

    def _clipping_bounds(self, c: Array, v: Array) -> tuple[Array, Array]:
        """Return the counts below and above which psi is constant."""
        low = np.clip(c - 1 / v, self.lower, self.upper)
        return low, np.clip(c + 1 / v, low, self.upper)

    def _clipped_moments(self, mean: Array, low: Array, high: Array, c: Array | float = 0.0) -> tuple[Array, ...]:
        """Return the means of clip(y, low, high) - c and of its square, and the probabilities to be at either end."""
        # y <= low counts as low and y >= high as high: only under < y <= over keeps its value
        under, over = np.floor(low), np.ceil(high) - 1
        below, above = self._cdf(under, mean, 0), 1 - self._cdf(over, mean, 0)
        whole = 1 - below - above
        # E[y; under < y <= over], by y p(y) = mean p(y - 1) under the law of the next shape
        one = mean * (self._cdf(over - 1, mean, 1) - self._cdf(under - 1, mean, 1))
        # the same identity twice gives E[y (y - 1)], and y**2 = y (y - 1) + y
        two = mean**2 * (1 + self.spread) * (self._cdf(over - 2, mean, 2) - self._cdf(under - 2, mean, 2)) + one
        first = (low - c) * below + one - c * whole + (high - c) * above
        second = (low - c) ** 2 * below + two - 2 * c * one + c**2 * whole + (high - c) ** 2 * above
        return first, second, below, above

    def _cdf(self, k: Array, mean: Array, more: int) -> Array:
        """Return P(Y <= k) for the law whose shape is greater by `more`, with the same success probability."""
        at = np.maximum(k, 0.0)
        if self.spread:
            shape = 1 / self.spread
            # P(Y <= k) = I_p(shape, k + 1) with p = shape / (shape + mean)
            made = special().betainc(shape + more, at + 1, 1 / (1 + self.spread * mean))
        else:
            made = special().pdtr(at, mean)
        return np.where(k < 0, 0.0, np.asarray(made, dtype=np.float64))

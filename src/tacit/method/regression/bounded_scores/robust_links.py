"""The identity link with Huber's score, clamped at a cut that follows the residuals' own size.  No data here.

    psi = clamp((y - eta) / cut, -1, 1),    the response y in units of `unit`, its largest absolute bound.

The curvature is the share of residuals within the cut, over the cut: products of regressors are summed over the rows
whose score is not clamped (`PiecewiseScore.inside`), so that no law of the residuals is assumed, nor that it is alike
in all rows.  The cut is where SHARE of all residuals lie within it: CUT = 1.345 standard deviations of a normal law,
the customary choice [Huber 1981, §7.7; Holland & Welsch 1977].  Each part of scores tells the next where that is, from
the residuals within its own cut and their mean square, for a normal law of which a part is far away.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final

import numpy as np

from tacit.method.regression.bounded_scores.bounded_score import Array, BoundedScore
from tacit.method.regression.bounded_scores.count_links import STORED, UNIT

CUT: Final = 1.345
"""The cut in standard deviations of a normal law: 95% efficient there."""
NORMAL: Final = NormalDist()
SHARE: Final = 2 * NORMAL.cdf(CUT) - 1
"""Share of residuals within the cut, 82%."""
MAX_FAR: Final = 0.12
"""Largest part of residuals that is taken to be far away, and the largest by which fewer than a normal law's are."""
MIN_CUT: Final = 2.0**-11
"""Smallest cut, in units of `unit`: about one of the response's own steps."""
TIMES: Final = np.geomspace(0.05, 6.0, 400)
"""Cuts in standard deviations at which the normal law's mean squares are tabled."""


@dataclass(frozen=True)
class RobustLink:
    """The identity link of a response divided by `unit`; the predictor's grid is eta = center + reach * e / L.

    spread: standard deviation of the residuals that are not far away.  full: the part that is; both only make guesses.
    """

    unit: float = 1.0
    center: float = 0.0
    reach: float = 1.0
    full: float = 0.0
    spread: float = 0.25
    max_predictor_sd: float = 4.0
    cut_tolerance: float = 1.0
    weighed: bool = True
    model: str = "huber"

    @property
    def own_cut(self) -> float:
        """The cut at which SHARE of the residuals lie within."""
        inside = min(SHARE / max(1 - self.full, SHARE), 1 - 1e-6)
        return max(self.spread * NORMAL.inv_cdf((1 + inside) / 2), MIN_CUT)

    @property
    def step_unit(self) -> float:
        """What lengths of steps are compared with."""
        return self.own_cut

    def mean(self, eta: Array) -> Array:
        """Return the centre of the response, the predictor itself."""
        return np.asarray(eta, dtype=np.float64)

    def slope(self, eta: Array) -> Array:
        """Return 1 everywhere."""
        return np.ones_like(np.asarray(eta, dtype=np.float64))

    def information(self, eta: Array) -> Array:
        """Return the information about eta in one response of a normal law."""
        return np.full_like(np.asarray(eta, dtype=np.float64), self.spread**-2)

    def clamped_mean(self, mean: float) -> float:
        """Return a mean response, within its bounds."""
        return min(max(mean, -1.0), 1.0)

    @property
    def predictor_limits(self) -> tuple[float, float]:
        """Smallest and largest mean of the linear predictor at which a score is evaluated."""
        return -1.0, 1.0

    def cuts(self) -> tuple[float, ...]:
        """Return the cut, which is not chosen by its noise: it is part of what is estimated."""
        return (self.own_cut,)

    def bounded(self, eta: Array, cut: Array | float) -> BoundedScore:
        """Return the score with this cut, and its moments under the guessed law."""
        share, square = _within(cut / self.spread)
        share, square = (1 - self.full) * share, (1 - self.full) * square + self.full
        one = np.ones_like(np.asarray(eta, dtype=np.float64))
        return BoundedScore(one / cut, eta / cut, one * share / cut, one * share, one * square)

    def relative_slope(self, eta: Array, to: Array, made: BoundedScore) -> Array:
        """Return 1 everywhere: steps are short against the cut where a fit is reported."""
        return np.ones_like(eta)

    def centering(self, eta: Array, v: Array) -> Array:
        """Return b = v eta: the score is 0 where the residual is."""
        return v * eta

    def with_grid(self, low: float, high: float, full: float, spread: float) -> RobustLink:
        """Return the link with a grid from `low` to `high`; the law's facts are those of `with_law`."""
        reach = max((high - low) / 2, 4 * self.own_cut)
        made = replace(self, center=(low + high) / 2, reach=reach)
        return self.from_stored(made.stored())

    def with_law(self, spread: float, full: float) -> RobustLink:
        """Return the link with this law of residuals, in stored units: its cut is that of readers of the release."""
        held = max(spread, MIN_CUT)
        return self.from_stored(replace(self, spread=held, full=min(max(full, -MAX_FAR), MAX_FAR)).stored())

    def from_stored(self, facts: Mapping[str, int]) -> RobustLink:
        """Return the link that a released part was measured with, from its stored facts."""
        return replace(self, **{name: facts[name] / UNIT for name in STORED})

    def stored(self) -> dict[str, int]:
        """Return the facts that `from_stored` reads, in units of 1 / UNIT."""
        return {name: round(getattr(self, name) * UNIT) for name in STORED}


def law_within(cut: float, share: float, square: float) -> tuple[float, float]:
    """Return a normal law's standard deviation, and the part that is far away, from what lies within a cut.

    share: of residuals within it.  square: mean of psi**2, far ones included.  At the cut where `share` is SHARE both
    give that cut again, whatever the law is: `RobustLink.own_cut` then stays.

    >>> sd, far = law_within(6.0, 0.95, 0.95 / 36 + 0.05)
    >>> round(sd, 3), round(far, 3)
    (1.0, 0.05)
    """
    share = min(max(share, 0.2), 0.998)
    # the mean square of those within: of a normal law it falls from 1/3 as the cut grows against its deviation
    inner = (square - (1 - share)) / share
    shares, squares = _within(TIMES)
    means = (squares - (1 - shares)) / shares
    times = float(np.interp(-inner, -means, TIMES))
    far = 1 - share / float(_within(np.array(times))[0])
    if not (float(means[-1]) < inner < float(means[0]) and abs(far) <= MAX_FAR):
        # what noise or another law makes impossible: a normal law with this share
        return cut / NORMAL.inv_cdf((1 + share) / 2), 0.0
    return cut / times, far


def _within(times: Array | float) -> tuple[Array, Array]:
    """Return the share of a normal law within so many standard deviations, and the mean of psi**2."""
    x = np.asarray(times, dtype=np.float64)
    upper = np.vectorize(NORMAL.cdf, otypes=[np.float64])(x)
    share = 2 * upper - 1
    # E[x**2; |x| < t] = share - 2 t phi(t)
    inner = share - 2 * x * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    return share, inner / np.maximum(x, 1e-12) ** 2 + 1 - share

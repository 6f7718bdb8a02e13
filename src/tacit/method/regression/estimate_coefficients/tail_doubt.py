"""How far intervals reach where a guessed curvature rests on the tail of a regressor.  On plain arrays; no data here.

A guessed curvature G of a binary response is that of normal regressors (`guessed_curvature`).  Where the predictor has
the third cumulant K, in standard deviations, it is off along the predictor by about A K of itself; A is near the
predictor's standard deviation where events are few.  So it is near 0 at coefficients near 0, where steps begin that
noise has shrunk, and large at those that the table may have: an error that is judged where the step ends passes over
what matters.  The tail away from the events holds few of them, G is twice the true curvature there, and slopes are told
at half of what they are, in all releases alike.  Intervals therefore ask at each value of a coefficient how far G may
be off *there*.  With w' the weight of the released curvature in the step's error (`released_curvature`), a value d from
the estimate stays in the interval as far as

    d**2 <= z**2 (base + |noise of w' W times the way|**2 + ((1 - w') A K row'G way)**2),

the way being that from where the scores were taken to coefficients with that value.  Where the release tells the
curvature, w' is near 1, and nothing changes.

How skewed a regressor is no release tells, but of two values (`two_valued_regressors`).  What its bounds, mean and
variance leave likely does: K is that of the beta law on the bounds with these moments.  It is 0 in the middle of wide
bounds, 2 sd / (mean - low) near one of them, as a gamma law has.  The predictor's is the sum of (coefficient times
sd)**3 K over its terms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.method.regression.bounded_scores.guessed_curvature import tilt_of_curvature
from tacit.method.regression.bounded_scores.links import bounded
from tacit.method.regression.bounded_scores.normal_regressors import NODES, Regressors
from tacit.method.regression.estimate_coefficients.sampling_variance import LEVEL
from tacit.method.regression.estimate_coefficients.score_step import ScoreStep, changes_with_each
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums.noisy_scores import ScorePart

MOST_SKEWNESS: Final = 6.0
"""Largest third cumulant that is taken from bounds: that of a lognormal law with s = 1."""
MOST_TILT: Final = 1.0
"""Largest standard error of a guess along a way, relative to it."""
MOST_REACH: Final = 5.0
"""Factor of a standard error beyond which no value is looked at: there the release tells next to nothing."""
REACHES: Final[Array] = np.geomspace(1.0, MOST_REACH, 81)
NEAREST_END: Final = 1e-4
"""Least distance of a mean from its bounds that is believed, relative to their distance."""
SAID_FROM: Final = 1.2
"""Factor of a standard error from which on a release says so."""


@dataclass(frozen=True)
class TermTails:
    """Standard deviations and likely third cumulants of the formula's terms, each of shape (u,)."""

    sd: Array
    skewness: Array

    def of_predictor(self, coefficients: Array, sd: Array) -> Array:
        """Return third cumulants of predictors, in their standard deviations sd; coefficients: shape (n, u)."""
        third = np.abs((coefficients * self.sd) ** 3 @ self.skewness)
        return np.minimum(third / np.maximum(sd, 1e-12) ** 3, MOST_SKEWNESS)


def beta_skewness(mean: float, sd: float, low: float, high: float) -> float:
    """Return the third cumulant, in standard deviations, of the beta law on [low, high] with these moments.

    >>> round(beta_skewness(0, 1, -40, 40), 2), round(beta_skewness(1, 1, 0, 1e4), 2)
    (0.0, 2.0)
    >>> round(beta_skewness(0.1, 0.3, 0, 1), 4), round(0.8 / 0.3, 4)  # two values
    (2.6667, 2.6667)
    """
    width = high - low
    if not width > 0:
        return 0.0
    place = min(max((mean - low) / width, NEAREST_END), 1 - NEAREST_END)
    both = max(place * (1 - place) / max((sd / width) ** 2, 1e-18) - 1, 1e-9)
    made = 2 * (1 - 2 * place) * math.sqrt(both + 1) / ((both + 2) * math.sqrt(place * (1 - place)))
    return min(max(made, -MOST_SKEWNESS), MOST_SKEWNESS)


def term_tails(layout: Layout, found: Regressors, back: Array) -> TermTails:
    """Return what bounds and released moments say of the terms; back: makes coefficients of theirs of those of axes."""
    u = len(back)
    # terms are combinations of coordinates within [-1, 1], the first of which is 1
    middle, half = layout.terms[:u, 0], np.abs(layout.terms[:u, 1:]).sum(axis=1)
    turn = np.asarray(np.linalg.inv(back), dtype=np.float64).T
    mean, sd = turn @ found.mean, np.sqrt(np.maximum(np.diag(turn @ found.cov @ turn.T), 0.0))
    ends = zip(mean, sd, middle - half, middle + half, strict=True)
    skewness = np.array([beta_skewness(*map(float, one)) for one in ends])
    return TermTails(sd, np.where(_of_levels(layout)[:u], 0.0, skewness))


def _of_levels(layout: Layout) -> NDArray[np.bool_]:
    """Return which terms have two values, of a level or a column of yes and no: the guess has these as they are."""
    others = [j for j, one in enumerate(layout.coordinates[:-1]) if j and (one[0] or len(one[1]) != 1)]
    return np.asarray((layout.terms[:, others] == 0).all(axis=1))


def tail_reach(step: ScoreStep, last: ScorePart, tails: TermTails, total: Array, inverted: Array, back: Array) -> Array:
    """Return factors for standard errors, shape (u,), at least 1, by which intervals reach as far as tails may hide.

    total: covariance of back @ b, shape (u, u).  inverted: by what its standard errors are longer already, shape (u,).
    """
    if step.link.weighed:
        return np.ones(len(total))
    rows, moves = back @ np.asarray(np.linalg.inv(step.curve.matrix), dtype=np.float64), step.moves_in_step(last)
    base = np.diag(rows @ step.middle(last) @ rows.T)
    out = np.ones(len(total))
    for j, (row, along) in enumerate(zip(rows, changes_with_each(back, total), strict=True)):
        far = REACHES * LEVEL * inverted[j] * math.sqrt(total[j, j])
        for side in (far, -far):
            ways = step.step + side[:, None] * along
            noise = np.sum((ways @ (row @ moves).T) ** 2, axis=1)
            tilt = _tilts(step, last, tails, last.b + ways, back) * (ways @ step.curve.guess @ row)
            inside = side**2 <= LEVEL**2 * (base[j] + noise + ((1 - step.released_part) * tilt) ** 2)
            # as far as no value between is outside
            held = len(inside) if inside.all() else int(np.argmin(inside))
            out[j] = max(out[j], float(REACHES[max(held - 1, 0)]))
    return out


def _tilts(step: ScoreStep, last: ScorePart, tails: TermTails, b: Array, back: Array) -> Array:
    """Return the relative error of the guess along the predictor at coefficients of axes, shape (n, u)."""
    found, link = step.regressors, step.link
    sd = np.sqrt(np.maximum(((b @ found.cov) * b).sum(axis=1), 0.0))
    low, high = link.predictor_limits
    mean, spread = np.clip(b @ found.mean, low, high), np.minimum(sd, link.max_predictor_sd)
    curve = bounded(link, mean[:, None] + spread[:, None] * NODES, last.cut).curve
    return np.minimum(np.abs(tilt_of_curvature(curve)) * tails.of_predictor(b @ back.T, sd), MOST_TILT)


def tail_notes(factors: Array, names: Sequence[str]) -> tuple[str, ...]:
    """Return what a release says of coefficients whose intervals tails made longer.

    >>> names = "Intercept", "x"
    >>> tail_notes(np.array([1.0, 1.1]), names), tail_notes(np.array([1.0, 3.0]), names)[0][:36]
    ((), 'The interval of x is up to 3.0 times')
    """
    named = [name for name, factor in zip(names, factors, strict=True) if factor > SAID_FROM]
    if not named:
        return ()
    most = max(float(one) for one in factors)
    return (
        f"The interval of {', '.join(named)} is up to {most:.1f} times as long as noise and sampling alone would have "
        "it: events are few, and noise leaves open how few of them lie in a regressor's tail. A logarithm of the "
        "regressor, narrower bounds, where= without the tail, or a larger budget help.",
    )

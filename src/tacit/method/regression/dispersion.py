"""How much counts vary, from squared scores that were released: which negative binomial they are of.  No data here.

Squares depend on the predictor as well as on the spread, and to first order: they are compared with those of each law
at the predictors that the step leads to under it, not at those that the part aimed at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.method.regression.bounded_score import Array, BoundedScore
from tacit.method.regression.count_links import CountLink
from tacit.method.regression.noisy_scores import ScorePart
from tacit.method.regression.normal_regressors import NODE_WEIGHTS, Regressors

SIGNIFICANCE: Final = 3.0
"""Standard errors by which counts must vary more than Poisson's to be taken for others."""
SPREADS: Final = np.array([0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0])
"""Spreads of counts that what was released is compared with."""
MIN_RATIO: Final = 0.2
"""Smallest part of a guess that noise leaves of it."""
STEP: Final = 0.01
"""Of a predictor, for a derivative."""


@dataclass(frozen=True)
class Dispersion:
    """How much counts vary.

    ratio: of squared scores to those of the law that was assumed, with its standard error.  spread: of the negative
    binomial whose squared scores are those released; low, high: a standard error down and up.  sure: whether noise
    could not have made it.  moved: what means of scores are under that law, in sums over rows, shape (u,); either: how
    much that differs from low to high, half of it.
    """

    ratio: float = 1.0
    error: float = 0.0
    spread: float = 0.0
    low: float = 0.0
    high: float = 0.0
    significant: bool = False
    mean_scores: Array | float = 0.0
    half_range: Array | float = 0.0


@dataclass(frozen=True)
class TrialStep:
    """A step of coefficients, shape (u,), by a curvature, shape (u, u); near: whether it is short enough to trust."""

    curve: Array
    step: Array
    short: bool


def estimate_dispersion(
    part: ScorePart, link: CountLink, found: Regressors, to: TrialStep, guess_error: float
) -> Dispersion:
    """Of counts; guessed: error, as a part, of weights taken from normal regressors."""
    assert part.meat is not None
    aim = found.predictor_values(part.b)
    made = link.bounded(aim, part.cut)
    uneven, loose = _weight_ratio(part, float(found.rows * (NODE_WEIGHTS @ made.size)), guess_error)
    scale = uneven * found.rows
    assumed = max(scale * float(NODE_WEIGHTS @ made.square), 1e-9)
    sums, here, there = map(
        np.array, zip(*(_law_moments(x, part, link, found, to, made) for x in SPREADS), strict=True)
    )
    top = int(np.argmax(there)) + 1  # beyond, a law moves the step more than it adds to squares
    others = np.maximum.accumulate(scale * there[:top])
    slope = _squares_gradient(part, link, found, to, made) * uneven
    inverse = np.linalg.inv(to.curve)
    wander = float(slope @ inverse @ (part.noise + found.weighted_products(part.b, made.square)) @ inverse @ slope)
    # psi**2 is at most 1, so that sums of it vary by a third of the rows' root
    own = math.hypot(part.score_squares_noise, math.sqrt(found.rows) / 3, loose * assumed / uneven)
    error = math.hypot(own, math.sqrt(wander))
    ends = part.score_squares - error, part.score_squares, part.score_squares + error
    at = [float(np.interp(x, others, SPREADS[:top])) for x in ends]
    at[2] = at[2] if ends[2] < others[-1] else float(SPREADS[-1])  # no law is too wide
    low, middle, high = (_interpolate(sums, x) for x in at)
    squares = part.score_squares - float(to.step @ found.weighted_products(part.b, made.curve**2) @ to.step)
    sure = squares > scale * here[0] + SIGNIFICANCE * own and to.short
    return Dispersion(squares / assumed, own / assumed, at[1], at[0], at[2], sure, middle, (high - low) / 2)


def _law_moments(
    spread: float, part: ScorePart, link: CountLink, found: Regressors, to: TrialStep, made: BoundedScore
) -> tuple[Array, float, float]:
    """Of another law: sums of means of scores where the part aimed, mean squares there and where the step leads."""
    aim = found.predictor_values(part.b)
    mean, here = link.moments_under(aim, made, spread)
    moved = found.weighted_sum(part.b, mean)
    way = to.step - np.asarray(np.linalg.solve(to.curve, moved), dtype=np.float64)
    there = link.moments_under(aim + found.mean_change(part.b, way), made, spread)[1]
    return moved, float(NODE_WEIGHTS @ here), float(NODE_WEIGHTS @ there)


def _squares_gradient(part: ScorePart, link: CountLink, found: Regressors, to: TrialStep, made: BoundedScore) -> Array:
    """Derivative of the sum of squares by the coefficients, under the law that was assumed: shape (u,)."""
    at = found.predictor_values(part.b) + found.mean_change(part.b, to.step)
    up, down = (link.moments_under(at + side * STEP, made, link.spread)[1] for side in (1, -1))
    return found.weighted_sum(part.b, (up - down) / (2 * STEP))


def _weight_ratio(part: ScorePart, guess: float, guessed: float) -> tuple[float, float]:
    """Released weights to those of normal regressors, as far as their noise allows, and what noise leaves of it.

    Squares of scores that are not cut are to weights as one constant to another, however regressors are spread.
    """
    noise = part.weight_sum_noise / max(guess, 1e-9)
    weight = guessed**2 / (guessed**2 + noise**2)
    return max(1 + weight * (part.weight_sum / max(guess, 1e-9) - 1), MIN_RATIO), weight * noise


def _interpolate(sums: Array, spread: float) -> Array:
    """Interpolated in the spread: sums, shape (spreads, u) -> (u,)."""
    found = [float(np.interp(spread, SPREADS, sums[:, j])) for j in range(sums.shape[1])]
    return np.array(found, dtype=np.float64)

"""Estimate the dispersion of counts or positive responses: which laws have the released squared scores.  No data here.

Squared scores depend to first order on the predictor as well as on the spread.  So they are compared, for each law,
with its squares at the predictors after the step, not at those that the scores were evaluated at.  Of each kind of law
(`method.regression.count_laws`) one has the released squares.  Corrections assume the negative binomial one; what the
others would correct differently is told beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from tacit.method.regression.bounded_scores.bounded_score import Array, BoundedScore
from tacit.method.regression.bounded_scores.count_laws import KINDS, CountLaw, Kind
from tacit.method.regression.bounded_scores.count_links import CountLink
from tacit.method.regression.bounded_scores.normal_regressors import NODE_WEIGHTS, Regressors
from tacit.method.regression.bounded_scores.positive_laws import POSITIVE_KINDS, POSITIVE_SPREADS
from tacit.method.regression.bounded_scores.positive_links import PositiveLink
from tacit.method.regression.row_sums.noisy_scores import ScorePart

SIGNIFICANCE: Final = 3.0
"""Standard errors by which squared scores must exceed those of a Poisson law for another law to be assumed."""
SPREADS: Final = np.array([0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0])
"""Spreads of the negative binomial laws that are compared; 0 is Poisson."""
MIN_RATIO: Final = 0.2
"""Smallest ratio of released to expected weights."""
STEP: Final = 0.01
"""Change of the predictor for a numerical derivative."""


LawfulLink: TypeAlias = CountLink | PositiveLink


def kinds_of(link: LawfulLink) -> tuple[Kind, ...]:
    """Return the kinds of law of a link's response; the first is the one that corrections assume."""
    return POSITIVE_KINDS if isinstance(link, PositiveLink) else KINDS


def spreads_of(link: LawfulLink) -> Array:
    """Return the spreads that are compared."""
    return POSITIVE_SPREADS if isinstance(link, PositiveLink) else SPREADS


@dataclass(frozen=True)
class Dispersion:
    """How much counts vary.

    ratio: of squared scores to those of the assumed law; error: its standard error.  spread: of the negative binomial
    law that has the released squared scores; low, high: one standard error down and up.  significant: whether noise is
    unlikely to explain the difference from Poisson.  mean_scores: sums over rows of the mean scores under that law,
    shape (u,); half_range: half of their change from low to high, of the kind of law where it is largest; aside: their
    largest difference from those under another kind of law with the same squared scores.  squares, squares_error: the
    released sum of squared scores with its standard error; table: what laws would give.
    """

    ratio: float = 1.0
    error: float = 0.0
    spread: float = 0.0
    low: float = 0.0
    high: float = 0.0
    significant: bool = False
    mean_scores: Array | float = 0.0
    half_range: Array | float = 0.0
    aside: Array | float = 0.0
    squares: float = 0.0
    squares_error: float = 0.0
    table: LawTable | None = None


@dataclass(frozen=True)
class TrialStep:
    """A step of coefficients, shape (u,), and its curvature, shape (u, u); short: whether it is at most SHORT_STEP."""

    curve: Array
    step: Array
    short: bool


def estimate_dispersion(
    part: ScorePart, link: LawfulLink, found: Regressors, to: TrialStep, guess_error: float
) -> Dispersion:
    """Return the dispersion of counts; guess_error: relative error of weights computed for normal regressors."""
    assert part.meat is not None
    at = found.predictor_values(part.b)
    made = link.bounded(at, part.cut)
    # corrects squares computed for normal regressors by how far released weights depart from theirs
    uneven, loose = _weight_ratio(part, float(found.rows * (NODE_WEIGHTS @ made.size)), guess_error)
    scale = uneven * found.rows
    assumed = max(scale * float(NODE_WEIGHTS @ made.square), 1e-9)
    tables = [_law_table(kind, part, link, found, to, made, scale) for kind in kinds_of(link)]
    slope = _squares_gradient(part, link, found, to, made) * uneven
    inverse = np.asarray(np.linalg.inv(to.curve), dtype=np.float64)
    # delta method: squares at the coefficients after the step carry that step's error
    wander = float(slope @ inverse @ (part.noise + found.weighted_products(part.b, made.square)) @ inverse @ slope)
    # psi**2 is at most 1, so that sums of it vary by a third of the rows' root
    most = 1 / 3
    if isinstance(link, PositiveLink):
        # and the variance of psi**2 is at most its mean, which is small where the cut is wide
        most = min(most, math.sqrt(max(part.score_squares, assumed) / found.rows))
    own = math.hypot(part.score_squares_noise, math.sqrt(found.rows) * most, loose * assumed / uneven)
    error = math.hypot(own, math.sqrt(wander))
    ends = part.score_squares - error, part.score_squares, part.score_squares + error
    assumed_law, *others = fitted = [table.at(ends) for table in tables]
    ranges = [(one.sums[2] - one.sums[0]) / 2 for one in fitted]
    aside = [one.sums[1] - assumed_law.sums[1] for one in others]
    # away from the optimum a score has mean curve x' step, whose square is no dispersion
    squares = part.score_squares - float(to.step @ found.weighted_products(part.b, made.curve**2) @ to.step)
    sure = squares > scale * tables[0].here[0] + SIGNIFICANCE * own and to.short
    low, middle, high = assumed_law.spreads
    sums = assumed_law.sums[1], longest(ranges, inverse), longest(aside, inverse)
    told = part.score_squares, error, tables[0]
    return Dispersion(squares / assumed, own / assumed, middle, low, high, sure, *sums, *told)


def longest(vectors: Sequence[Array], inverse: Array) -> Array:
    """Return the vector, shape (u,), of the most length by the metric `inverse`, shape (u, u)."""
    return max(vectors, key=lambda one: float(one @ inverse @ one))


@dataclass(frozen=True)
class MatchedLaw:
    """Laws of one kind at three sums of squared scores: their spreads, and sums of mean scores, shape (u,) each."""

    spreads: tuple[float, ...]
    sums: tuple[Array, ...]


@dataclass(frozen=True)
class LawTable:
    """What laws of one kind would give, for each spread.

    spreads: those compared, shape (7,).  sums: of mean scores, shape (7, u).  here: mean squares before the step, shape
    (7,).  there: sums of squares after it, increasing, shape (k,), for the first k spreads.
    """

    spreads: Array
    sums: Array
    here: Array
    there: Array

    def at(self, squares: tuple[float, float, float]) -> MatchedLaw:
        """Return the laws with these sums of squares, the last of which is the largest they may have."""
        top = len(self.there)
        low, middle, high = (float(np.interp(x, self.there, self.spreads[:top])) for x in squares)
        if squares[2] >= self.there[-1]:
            high = float(self.spreads[-1])  # no law is too wide
        return MatchedLaw(
            (low, middle, high), tuple(_interpolate(self.spreads, self.sums, x) for x in (low, middle, high))
        )


def _law_table(
    kind: Kind,
    part: ScorePart,
    link: LawfulLink,
    found: Regressors,
    to: TrialStep,
    made: BoundedScore,
    scale: float,
) -> LawTable:
    each = (_law_moments(kind(x), part, link, found, to, made) for x in spreads_of(link))
    sums, here, there = map(np.array, zip(*each, strict=True))
    top = int(np.argmax(there)) + 1  # beyond, a law moves the step more than it adds to squares
    # np.interp needs increasing places
    return LawTable(spreads_of(link), sums, here, np.maximum.accumulate(scale * there[:top]))


def _law_moments(
    law: CountLaw, part: ScorePart, link: LawfulLink, found: Regressors, to: TrialStep, made: BoundedScore
) -> tuple[Array, float, float]:
    """Return what another law would give: summed mean scores, and mean squared scores before and after the step."""
    at = found.predictor_values(part.b)
    mean, here = link.moments_under(at, made, law)
    moved = found.weighted_sum(part.b, mean)
    # under this law the scores have mean `moved`, which biased the step: its own step is without it
    way = to.step - np.asarray(np.linalg.solve(to.curve, moved), dtype=np.float64)
    there = link.moments_under(at + found.mean_change(part.b, way), made, law)[1]
    return moved, float(NODE_WEIGHTS @ here), float(NODE_WEIGHTS @ there)


def _squares_gradient(part: ScorePart, link: LawfulLink, found: Regressors, to: TrialStep, made: BoundedScore) -> Array:
    """Return the gradient of the sum of squared scores in the coefficients under the assumed law, shape (u,)."""
    at = found.predictor_values(part.b) + found.mean_change(part.b, to.step)
    up, down = (link.moments_under(at + side * STEP, made, CountLaw(link.spread))[1] for side in (1, -1))
    # chain rule: d eta / d b = x, so derivatives in eta are summed times x
    return found.weighted_sum(part.b, (up - down) / (2 * STEP))


def _weight_ratio(part: ScorePart, guess: float, guessed: float) -> tuple[float, float]:
    """Return the shrunk ratio of released weights to those of normal regressors, and the standard error of its noise.

    For scores that are not cut, squared scores are proportional to weights however the regressors are distributed.
    """
    noise = part.weight_sum_noise / max(guess, 1e-9)
    # normal shrinkage towards 1: prior error `guessed`, observation error `noise`, both relative
    weight = guessed**2 / (guessed**2 + noise**2)
    return max(1 + weight * (part.weight_sum / max(guess, 1e-9) - 1), MIN_RATIO), weight * noise


def _interpolate(spreads: Array, sums: Array, spread: float) -> Array:
    """Return sums, shape (spreads, u), interpolated at a spread, shape (u,)."""
    found = [float(np.interp(spread, spreads, sums[:, j])) for j in range(sums.shape[1])]
    return np.array(found, dtype=np.float64)

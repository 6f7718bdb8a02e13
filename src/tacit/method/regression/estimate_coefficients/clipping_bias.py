"""What clipping residuals takes from the coefficients, as far as a release tells it.  Post-processing, on plain arrays.

A residual e beyond the range c counts as the range: t = e - c is lost (of the sign of e).  Coefficients are moved by
-A^-1 sum t x.  The release counts the rows beyond the range, N, and those above less those below, S; sums of squares
with and without clipping differ by D = sum t**2 + 2 c sum |t|.  Hardly anything here tells how t depends on the
regressors.

Number.  Each of the N rows adds c**2 to the sum of squared scores, which is known better than N.  With an exponential
    prior whose mean is the share of rows that usual laws have beyond so wide a range, noise alone makes no N.

Size, before anything is known of the level.  With tau the mean of |t| among the N, D is 2 N (tau**2 + c tau) for
    exponential tails, from which tau follows where D is known well enough.  Where it is not, tau is one standard
    deviation (exponential errors), or TAIL times c if that is more: the mean excess of a Pareto law over c is
    c / (a - 1), and TAIL is that of a = 3.2.  In between it is the posterior root mean square, after an exponential
    prior (`told_excess`): years of education, say, have less than half of that.  What the tail of one side takes back
    (see below) was set with the larger of both, which stays there.
Level.  The mean of t is seen twice, with noise: it is tau S / n; and at the coefficients of the step, residuals have
    the mean that column moments tell, and clipped ones none but noise.  With a prior of mean 0 and the size above as
    standard deviation, its posterior root mean square takes the size's place, but no less than UNSEEN of it: t may go
    one way at some rows and the other way elsewhere.  A formula without an intercept does not make clipped residuals
    level: S alone tells then.  That is the size of moves of slopes.  The level itself has the posterior law of
    `clipped_level`, with a wider law of tau: its mean is taken back, and its variance stays as an error.
Direction.  All t are taken to have one sign, so that the level moves by tau N / n.  Where sums of psi**2 x tell that
    the variance depends on x, t follows: for a scale s(x) of a common law, d log t / d log s = 1 + c / tau.  As far as
    their noise hides it, the mean of t is taken to change by SLOPE times as much in each direction of variance 1, and
    by ALONG times as much along the fitted mean, with which the spread of skewed responses goes (incomes, numbers of
    visits and log-normal laws have .6 to 1).  A row that is clipped does not follow the coefficients, so that steps are
    longer by the share that does (`LinearStep.kept`), and so are moves.
Moves of slopes are no correction but an error, of this size: symmetric errors have none.  Where the release
tells on which side the response has a heavy tail (`heavy_tails`), CENTRE times the move of the level, of known slopes
and along the fitted mean is taken back, and DOUBT times as much stays as an error: tau is found rather too large, and
true ones are between a tenth of it and all of it.  S alone takes nothing back of slopes: those of real tables (years
of education, the logarithm of visits) move another way.

Earlier releases count all clipped rows together: S is then not known.  Those of before do not count: the bias that
exponential errors of the same variance would have stands in its place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.bounded_scores.clipped_shares import SLOPE, TAIL, UNSEEN, usual_share
from tacit.method.regression.estimate_coefficients.clipped_level import ClippedRows, ToldLevel, told_level_of
from tacit.method.regression.estimate_coefficients.sampling_variance import (
    ErrorVariance,
    positive_part,
    squares_of_residuals,
)
from tacit.method.regression.row_sums.noisy_crossproducts import ResidualScores

if TYPE_CHECKING:
    from tacit.method.regression.estimate_coefficients.linear_step import LinearStep

ALONG: Final = 0.8
"""As SLOPE, per standard deviation of the fitted mean."""
SURE: Final = 5.0
"""Standard deviations of its noise from which a number of clipped residuals is said: by chance once in 3 millions."""
CENTRE: Final = 0.6
"""The part of a move of known sign that is taken back."""
DOUBT: Final = 0.5
"""Standard deviation of that part."""
LEAST: Final = 0.25
"""The part of both that stays where it is known how the variance depends on the regressors: the tail's shape may, too.
"""

EXCESSES: Final[Array] = np.geomspace(1e-3, 20, 400)
"""Mean excesses, relative to the usual one, over which a posterior is summed."""


@dataclass(frozen=True)
class ClippedTail:
    """What is clipped off, per row: the mean of |t|, the mean of t**2, and tau, in units of the step's response.

    rows: how many rows are beyond the range.
    """

    rows: float
    excess: float
    mean: float
    square: float


def surely_clipped(scores: ResidualScores) -> bool:
    """Return whether residuals are clipped beyond doubt, or a release does not tell."""
    return scores.far is None or scores.far[0] > SURE * math.sqrt(scores.far[1])


def clipped_tail(step: LinearStep, scores: ResidualScores, errors: ErrorVariance) -> ClippedTail | None:
    """Return what is clipped off, or None where the release does not count the rows beyond the range."""
    if scores.far is None:
        return None
    range_ = scores.residual.clip / step.unit
    beyond = rows_beyond(scores, step.rows)[1]
    if _clips_nothing(step, range_) or not beyond:
        return ClippedTail(0.0, math.sqrt(errors.value), 0.0, 0.0)
    (cut, whole), noises = squares_of_residuals(step, scores)
    lost, noise = (whole - cut) / beyond, math.sqrt(sum(noises)) / beyond
    # as much of D as its noise does not make up, but once in 40 times: a mean excess can be very large
    # 2 tau**2 + 2 c tau = D / N
    solved = (math.sqrt(range_**2 + 2 * max(lost - 2 * noise, 0.0)) - range_) / 2
    usual = max(math.sqrt(errors.value), TAIL * range_)
    usual = usual if scores.side else told_excess(usual, range_, lost, noise)
    excess = min(max(solved, usual), step.full_range - range_)
    share = beyond / step.rows
    return ClippedTail(beyond, excess, share * excess, 2 * share * excess**2)


def told_excess(usual: float, range_: float, lost: float, noise: float) -> float:
    """Return the posterior root mean square of tau, given D / N, `lost`, with its noise; usual: that before.

    The prior is exponential.

    >>> round(told_excess(1.0, 3.0, 2.0, 1e6), 2), round(told_excess(1.0, 3.0, 2.0, 0.01), 2)
    (1.0, 0.3)
    """
    tau = usual * EXCESSES
    away = (lost - 2 * tau * (tau + range_)) / noise
    # on a geometric grid a density counts tau times
    log = np.log(tau) - math.sqrt(2) * EXCESSES - away**2 / 2
    weight = np.exp(log - log.max())
    return math.sqrt(float(weight @ tau**2) / float(weight.sum()))


def rows_beyond(scores: ResidualScores, rows: float) -> tuple[float, float]:
    """Return the number of rows beyond the range: its posterior mean and root mean square; 0 where it is not released.

    Each of these adds clip**2 to the sum of psi**2, which bounds their number and is known better.  The prior is
    exponential, with `usual_share` of so many standard deviations as mean.
    """
    if scores.far is None:
        return 0.0, 0.0
    found, noise = scores.far
    most = (max(scores.square, 0.0) + math.sqrt(scores.square_variance)) / scores.residual.clip**2
    if not most or not noise:
        size = min(max(found, 0.0), most)
        return size, size
    prior = rows * usual_share(math.sqrt(max(rows, 1.0) / most))
    mean, variance = positive_part(found - noise / prior, noise)
    return min(mean, most), min(math.hypot(mean, math.sqrt(variance)), most)


@dataclass(frozen=True)
class ClippingBias:
    """What is known of the clipping bias: what is added to the coefficients, shape (u,), and the covariance left.

    chance: what the correction adds to the sampling covariance, shape (u, u) or 0.
    """

    correction: Array
    covariance: Array
    chance: Array | float = 0.0


def cut_covariance(step: LinearStep, scores: ResidualScores, errors: ErrorVariance) -> Array:
    """Return the covariance that allows for the clipping bias of the coefficients, shape (u, u)."""
    return clipping_bias(step, scores, errors).covariance


def clipping_bias(step: LinearStep, scores: ResidualScores, errors: ErrorVariance) -> ClippingBias:
    """Return what is added to the coefficients for the bias by clipping, and the covariance that allows for the rest.

    Where the side of a heavy tail is not known, the level alone is moved, as far as signs and means tell.
    """
    found = clipped_tail(step, scores, errors)
    if found is None:
        shift = cut_shift(step, scores, errors)
        return ClippingBias(np.zeros(step.u), np.outer(shift, shift))
    range_ = scores.residual.clip / step.unit
    slope, noise = _slope_of_squares(step, scores, errors)
    # half of d log t / d log s, which is d log t / d log s**2
    steep = (1 + range_ / found.excess) / 2 / errors.value
    moved = step.constant + steep * _beyond_noise(slope, noise)
    # what noise hides of it, in directions of variance 1, whose coefficients have the covariance rows A^-1
    A = step.products.values[: step.u, : step.u] / step.rows
    doubt = min(1.0, steep * math.sqrt(max(float(np.trace(A @ noise)) / step.u, 0.0)) / SLOPE)
    unknown = LEAST + (1 - LEAST) * doubt
    along = ALONG * unknown * _standardised_mean(step)
    apart = (SLOPE * unknown) ** 2
    everywhere = apart * step.rows * step.inverse
    both = np.outer(moved, moved) + np.outer(along, along)
    correction, size = np.zeros(step.u), level_shift(step, scores, found) / step.kept
    if scores.side:
        # heavy tails spread with the mean, whatever the clipped variance shows of it
        size, along = found.mean / step.kept, ALONG * _standardised_mean(step)
        both = DOUBT**2 * (np.outer(moved, moved) + np.outer(along, along))
        correction = scores.side * CENTRE * size * (moved + along)
    told = None if scores.side else told_level(step, scores, found, errors)
    if told is None:
        covariance = np.asarray((both + everywhere) * size**2, dtype=np.float64)
        return ClippingBias(np.asarray(correction, dtype=np.float64), covariance)
    # beside the level, which has a law of its own: `everywhere` has a part of it at the regressors' means
    one, turned = np.outer(step.constant, step.constant), moved - step.constant
    others = np.outer(turned, turned) + np.outer(along, along) + everywhere - apart * one
    covariance = others * size**2 + one * (told.variance / step.kept**2)
    chance = one * (told.chance / step.rows / step.kept**2)
    return ClippingBias(step.constant * (told.value / step.kept), covariance, chance)


def told_level(step: LinearStep, scores: ResidualScores, found: ClippedTail, errors: ErrorVariance) -> ToldLevel | None:
    """Return what is told of how far clipping moved the level; None without signs, or without an intercept."""
    if scores.signed is None or not step.level or not found.rows:
        return None
    range_ = scores.residual.clip / step.unit
    (cut, whole), noises = squares_of_residuals(step, scores)
    usual = max(math.sqrt(errors.value), TAIL * range_)
    rows = ClippedRows(found.rows / step.rows, usual, range_, step.full_range - range_)
    signed = scores.signed[0] / step.rows, scores.signed[1] / step.rows**2
    lost = (whole - cut) / found.rows, sum(noises) / found.rows**2
    told = told_level_of(rows, lost, signed, mean_residual(step, scores))
    # t of both sides may differ, though there are as many
    return replace(told, variance=max(told.variance, (UNSEEN * found.mean) ** 2))


def level_shift(step: LinearStep, scores: ResidualScores, found: ClippedTail) -> float:
    """Return the root mean square of the mean of t, given what column moments and signs tell of it."""
    seen = [one for one in (mean_residual(step, scores), signed_shift(step, scores, found)) if one is not None]
    if not seen or not found.mean:
        return found.mean
    # t of the rows is that of the population but for chance
    chance = found.square / step.rows
    worth = [1 / (noise + chance) for _, noise in seen]
    left = 1 / (1 / found.mean**2 + sum(worth))
    # the posterior mean, and its variance
    value = left * sum(one * at for (one, _), at in zip(seen, worth, strict=True))
    most = max(found.mean, *(abs(one) for one, _ in seen))
    return min(max(math.sqrt(value**2 + left), UNSEEN * found.mean), most)


def signed_shift(step: LinearStep, scores: ResidualScores, found: ClippedTail) -> tuple[float, float] | None:
    """Return the mean of t that the signs of clipped residuals tell, and its noise's variance; None without them."""
    if scores.signed is None:
        return None
    size = found.excess / step.rows
    return size * scores.signed[0], size**2 * scores.signed[1]


def mean_residual(step: LinearStep, scores: ResidualScores) -> tuple[float, float] | None:
    """Return the mean of residuals from b1 that column moments tell, and its noise's variance; None without."""
    means = scores.means
    if means is None or not step.level:
        return None
    slopes = np.append(-step.b1, 1.0) @ step.terms
    moved = float(slopes[1:] @ means.values[1:])
    of_means = (means.noise * float(np.linalg.norm(slopes[1:]))) ** 2 + (means.rows * moved) ** 2
    # clipped residuals from b1 have the mean 0 but for the noise in their sums
    own = float(step.constant @ step.noise @ step.constant) * (step.kept / step.rows) ** 2
    return float(slopes @ means.values), of_means + own


def _standardised_mean(step: LinearStep) -> Array:
    """Return the coefficients of the fitted mean less its mean, over its standard deviation, shape (u,)."""
    A = step.products.values[: step.u, : step.u] / step.rows
    centred = step.b1 - float(step.constant @ A @ step.b1) * step.constant
    return np.asarray(centred / math.sqrt(max(float(centred @ A @ centred), 1e-300)), dtype=np.float64)


def cut_shift(step: LinearStep, scores: ResidualScores, errors: ErrorVariance) -> Array:
    """Return the standard deviation of the clipping bias of each coefficient, shape (u,).

    Entries have signs, since all coefficients are shifted together: the covariance is their outer product.
    """
    range_ = scores.residual.clip / step.unit
    if _clips_nothing(step, range_):
        return np.zeros(step.u)
    reach = range_ / math.sqrt(errors.value)
    reach *= math.sqrt(_exponential_left(reach))  # of errors that are exponential: their squares were cut as well
    # E(X - 1 - reach)+ = exp(-1 - reach) for a standard exponential X
    sd, beyond = range_ / reach, math.exp(-1 - reach)
    slope = _beyond_noise(*_slope_of_squares(step, scores, errors))
    # from the slope of the clipped variance in x to that of s(x)**2, by the former's derivative in s**2
    slope /= _exponential_left(reach) - reach**2 * beyond
    # t(s) = s exp(-1 - range / s) to first order in s**2, around sd
    return beyond * (sd * step.constant + (1 + reach) / (2 * sd) * slope)


def _slope_of_squares(step: LinearStep, scores: ResidualScores, errors: ErrorVariance) -> tuple[Array, Array]:
    """Return the coefficients of the clipped variance in the terms, shape (u,), and their noise's covariance."""
    inner, meat, equal = step.terms[: step.u, :-1], scores.meat, step.constant / step.rows
    slope = step.inverse @ inner @ meat.values[:, 0] - equal * meat.values[0, 0]
    moved = meat.patterns[:, :, 0] @ (step.inverse @ inner).T - np.outer(meat.patterns[:, 0, 0], equal)
    factor = step.squares_factor(errors.value)
    return slope * factor, (moved.T * meat.variances) @ moved * factor**2


def _beyond_noise(slope: Array, noise: Array) -> Array:
    """Return what exceeds one standard deviation of the noise: noise alone shall not widen standard errors."""
    return np.asarray(np.sign(slope) * np.maximum(np.abs(slope) - np.sqrt(np.diag(noise)), 0.0), dtype=np.float64)


def _clips_nothing(step: LinearStep, range_: float) -> bool:
    """Return whether residuals may be as large as the response's whole range."""
    return range_ >= 0.99 * step.full_range


def _exponential_left(reach: float) -> float:
    """Return the part of an exponential law's variance left by clipping `reach` standard deviations from its mean."""
    # 1 - E[(Y**2 - reach**2); Y > reach] for Y = X - 1
    return 1 - 2 * (1 + reach) * math.exp(-1 - reach)

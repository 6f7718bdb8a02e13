"""The pilot fit of a generalised linear model, and the score that each next part sums.  No data here.

The first part does not depend on a fit: it releases moments of the regressors and their products with the response,
and from these comes the pilot.  Each further part gives one Newton step, whose noisy curvature is shrunk towards that
of normal regressors.  Privacy does not depend on the fit: the sensitivity follows from |psi| <= `clip` alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from tacit.method.regression.bounded_scores.binary_links import BinaryLink
from tacit.method.regression.bounded_scores.count_links import CountLink
from tacit.method.regression.bounded_scores.guessed_curvature import assumed_error, told_error
from tacit.method.regression.bounded_scores.links import Link, bounded, link, polygons, response_polygons
from tacit.method.regression.bounded_scores.normal_regressors import (
    NODE_WEIGHTS,
    Regressors,
    glm_coefficients,
    regressors_from_sums,
)
from tacit.method.regression.bounded_scores.positive_links import PositiveLink
from tacit.method.regression.bounded_scores.robust_links import RobustLink, law_within
from tacit.method.regression.bounded_scores.two_valued_regressors import Halves, halves
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.pilots.dispersion import Dispersion, TrialStep, estimate_dispersion
from tacit.method.regression.pilots.score_cut import FULL_WEIGHT_FROM, choose_cut, full_weight_from
from tacit.method.regression.pilots.shrunk_matrix import GUESS_ERROR_OF_COUNTS, ShrunkMatrix, root_of, shrunk
from tacit.method.regression.row_sums.noisy_crossproducts import Array, NoisyMatrix, relative_noise
from tacit.method.regression.row_sums.noisy_scores import (
    CUT_UNIT,
    FirstPart,
    ScaledTerms,
    ScorePart,
    response_of,
    scaled_terms,
)
from tacit.rows.coordinates import EXACT, H
from tacit.rows.piecewise_score import L, PiecewiseScore

LAWFUL: Final = CountLink, PositiveLink
"""Links whose scores assume a law of the response that is known but for its spread."""
START_SPREAD: Final = 0.25
"""Spread of counts that the cut of the first scores allows for."""
MAX_STEP: Final = 1.5
"""Largest root mean square change of the predictor in one step."""
MIN_VARIANCE: Final = 1e-3
"""Smallest variance of a combination of terms of unit size."""


GRID_MARGIN: Final = 6.0
"""Half-width of the predictor's grid, in standard deviations of the predictor."""
CURVATURE_ROUNDS: Final = 2
"""How often a step of counts is repeated with the curvature along it."""
WAY_ROUNDS: Final = 6
"""How often a step of a binary response is repeated with the curvature along it, where rows are in two parts."""
SHORT_STEP: Final = 0.5
"""Largest root mean square change of the predictor of counts in a step after which their dispersion is estimated."""


@dataclass(frozen=True)
class ScorePoint:
    """Where a score is evaluated: coefficients b of terms of unit size, shape (u,), the bound `cut`, and the link."""

    b: Array
    cut: float
    link: Link


def link_of(model: str, layout: Layout) -> Link:
    """Return the link of a model for the response's bounds."""
    origin, step = response_of(layout)
    half = layout.bounds[-1]
    return link(model, (origin + step * (H - half), origin + step * (H + half)))


def in_units(terms: ScaledTerms, link: Link) -> ScaledTerms:
    """Return the terms with the response in the link's units, in which coefficients are until `back` is applied."""
    alpha, gamma = terms.response
    return replace(terms, response=(alpha / link.unit, gamma / link.unit), back=terms.back * link.unit)


def response_score(layout: Layout, clip: int) -> PiecewiseScore:
    """Return the score of the first part: psi is the response itself, for every predictor."""
    return PiecewiseScore((0,) * (layout.size + 1), 1, clip, *response_polygons(clip))


def integer_score(point: ScorePoint, terms: ScaledTerms, clip: int) -> tuple[PiecewiseScore, dict[str, int]]:
    """Return a score in integers, and the public facts that are stored of it.

    Where engines could not compute the predictor exactly, it is the middle of the grid for every row.
    """
    row, link = point.b @ terms.matrix, point.link
    # z_0 / H is 1 in every row, so the grid's center moves into its weight
    row[0] -= link.center
    scale = L / link.reach / H
    total = float(np.abs(row).sum()) * scale
    # at least 12 binary digits below the grid's step, or else none at all
    usable = math.isfinite(total) and total * H * 2**12 < EXACT / 4
    row, total = (row, total) if usable else (row * 0.0, 0.0)
    # a factor 4 below EXACT leaves room for the rounding of weights and for the half
    shift = min(30, math.floor(math.log2(EXACT / 4 / (total * H + 1))))
    row = np.rint(row * (scale * 2.0**shift))
    cut = max(1, round(point.cut * CUT_UNIT))
    # the stored cut, which is the one that readers of the release know
    made, weighing = polygons(link, cut / CUT_UNIT, clip, terms.response)
    stored = {"cut": cut, "shift": shift} | link.stored()
    stored |= {f"weight{j}": int(w) for j, w in enumerate((*row, 0))}
    inside = isinstance(link, RobustLink)
    weight = weighing if link.weighed and not inside else ()
    return PiecewiseScore((*map(int, row), 0), shift, clip, *made, weight, inside), stored


def regressor_moments(first: FirstPart, terms: ScaledTerms) -> Regressors:
    """Return the moments of the regressors from the first part, as of normal regressors."""
    whole = first.moments
    noise = math.sqrt(max(float(np.linalg.eigvalsh(whole.noise_quadratic(np.eye(len(terms.matrix))))[-1]), 0.0))
    rows = max(first.rows, 1.0)
    alpha, gamma = terms.response
    # y = alpha + gamma (z_m + H), averaged over rows
    response = alpha + gamma * H * (1 + first.response_sum / rows)
    made = regressors_from_sums(
        rows, first.sums, whole.values, max(noise / rows / 2, MIN_VARIANCE), terms.constant, response
    )
    return replace(made, relative_noise=relative_noise(whole), two_valued=terms.two_valued)


def pilot_coefficients(first: FirstPart, found: Regressors, terms: ScaledTerms, link: Link) -> Array:
    """Return the pilot coefficients, shape (u,), from products of the regressors with the response.

    Slopes are shrunk towards 0 as far as noise makes them [James & Stein 1961].
    """
    alpha, gamma = terms.response
    # the mean of x y, with y = alpha + gamma H + gamma H r
    products = (alpha + gamma * H) * found.mean + gamma * H * first.products / found.rows
    response = found.response
    if isinstance(link, CountLink):
        response = link.starting_mean(response, abs(gamma) * H * first.response_noise / found.rows)
    mean = link.clamped_mean(response)
    inverse = np.asarray(np.linalg.pinv(found.cov, hermitian=True, rcond=1e-6), dtype=np.float64)
    # least squares: Cov(x)^-1 Cov(x, y), with Cov(x, y) = E x y - E x E y
    slopes = inverse @ (products - found.mean * mean)
    noise = float(np.trace(inverse @ first.noise)) * (gamma * H / found.rows) ** 2
    slopes = slopes * beyond_noise(float(slopes @ found.cov @ slopes), noise)
    return glm_coefficients(link, found, mean, slopes)


def curvature(part: ScorePart, found: Regressors, end: Array | None = None) -> ShrunkMatrix:
    """Return the curvature of a part's score, shrunk towards that of normal regressors.

    end: coefficients at which it is judged how far a guess of binary responses is off; those of the part if None.

    For binary responses it comes from sums of |psi| z z'.  The mean of |psi| is twice the curvature of a logistic
    score, and near the true coefficients it averages the curvatures at both ends of the step.  For counts it comes from
    weights that are the curvature at the part's coefficients, corrected for its change along the step.
    """
    eta, noisy = found.predictor_values(part.b), part.weighted_products
    made = bounded(part.link, eta, part.cut)
    if not part.link.weighed:
        guess, wanted, left = guessed_along(part, found)
        there = made if end is None else bounded(part.link, found.predictor_values(end), part.cut)
        own = _told_error(noisy, guess, assumed_error(there.curve, left), found)
        # with the noise in the moments that the guess is computed from
        curve = shrunk(noisy, guess, wanted, math.hypot(own, min(found.relative_noise, 1.0)))
        return replace(curve, guess_error=own)
    if isinstance(part.link, LAWFUL) and found.two_valued is not None:
        return _curvature_of_parts(part, found)
    guess, wanted = found.weighted_products(part.b, made.size), found.weighted_products(part.b, made.curve)
    curve = shrunk(noisy, guess, wanted, GUESS_ERROR_OF_COUNTS)
    for _ in range(CURVATURE_ROUNDS if isinstance(part.link, LAWFUL) else 0):
        step = shortened_step(np.asarray(np.linalg.solve(curve.matrix, part.score), dtype=np.float64), found)
        rise = part.link.relative_slope(eta, eta + found.mean_change(part.b, step), made)
        curve = shrunk(noisy, guess, found.weighted_products(part.b, made.curve * rise), GUESS_ERROR_OF_COUNTS)
    return curve


def _curvature_of_parts(part: ScorePart, found: Regressors) -> ShrunkMatrix:
    """Return the curvature of counts or positive responses along the step, where columns have two values."""
    split, step, link = halves(found, part.b), np.zeros_like(part.b), part.link
    etas = [one.predictor_values(part.b) for one in split.parts]
    made = [bounded(link, eta, part.cut) for eta in etas]

    def along(split: Halves, step: Array) -> ShrunkMatrix:
        ways = [one.mean_change(part.b, step) for one in split.parts]
        rises = [
            one.curve * link.relative_slope(eta, eta + way, one) for eta, way, one in zip(etas, ways, made, strict=True)
        ]
        guess, wanted = split.sums(part.b, [one.size for one in made]), split.sums(part.b, rises)
        return shrunk(part.weighted_products, guess, wanted, GUESS_ERROR_OF_COUNTS)

    curve = along(split, step)
    for _ in range(WAY_ROUNDS):
        longer = shortened_step(np.asarray(np.linalg.solve(curve.matrix, part.score), dtype=np.float64), found)
        step = (step + longer) / 2
        curve = along(halves(found, part.b + step), step)
    return curve


def guessed_along(part: ScorePart, found: Regressors) -> tuple[Array, Array, float]:
    """Return guesses of the sums of |psi| x x' and of the curvature, of binary responses, and what skewness they leave.

    Of rows in two parts both are along the step that the guess leads to, since events may be so rare in one of them
    that the curvature falls on the way: not at its beginning.
    """
    split, link = halves(found, part.b), part.link
    guess, wanted, _ = guessed_products(split, part)
    if not isinstance(link, BinaryLink) or found.two_valued is None:
        return guess, wanted, split.left
    step = np.zeros_like(part.b)
    for _ in range(WAY_ROUNDS):
        longer = shortened_step(np.asarray(np.linalg.solve(wanted, part.score), dtype=np.float64), found)
        step = (step + longer) / 2
        split = halves(found, part.b + step)
        guess, wanted = split.along(part.b, step, partial(link.along_way, cut=part.cut))
    return guess, wanted, split.left


def guessed_products(split: Halves, part: ScorePart) -> tuple[Array, Array, Array]:
    """Return sums of x x' weighted by mean |psi|, curvature and mean psi**2 at a part's coefficients."""
    made = [bounded(part.link, one.predictor_values(part.b), part.cut) for one in split.parts]
    size, curve, square = zip(*((one.size, one.curve, one.square) for one in made), strict=True)
    return split.sums(part.b, size), split.sums(part.b, curve), split.sums(part.b, square)


def _told_error(noisy: NoisyMatrix, guess: Array, assumed: float, found: Regressors) -> float:
    """Return the relative error of a guessed curvature by its own (`guessed_curvature`)."""
    root = root_of(guess, -0.5)
    relative = NoisyMatrix(root @ noisy.values @ root, root @ noisy.patterns @ root, noisy.variances)
    noise = float(np.trace(relative.noise_quadratic(np.eye(len(root))))) / len(root)
    moments = min(found.relative_noise, 1.0)
    return told_error(relative.values - np.eye(len(root)), noise + moments**2, assumed)


def beyond_noise(square: float, noise: float) -> float:
    """Return the part of a noisy vector that is kept, 1 - noise / square: positive-part shrinkage.

    square: the vector's squared length.  noise: the mean of the noise's.

    >>> beyond_noise(4.0, 1.0), beyond_noise(1.0, 2.0)
    (0.75, 0.0)
    """
    return max(0.0, 1 - noise / max(square, 1e-12))


def one_step(part: ScorePart, found: Regressors) -> Array:
    """Return the coefficients after one step of at most MAX_STEP from those of a part.

    A step of a binary response, or of counts, is shrunk as far as noise makes it: the next step begins at its end, and
    errs by the square of how far off that is, towards one side where events are few.
    """
    curve = curvature(part, found).matrix
    step = np.asarray(np.linalg.solve(curve, part.score), dtype=np.float64)
    if isinstance(part.link, BinaryLink | CountLink):
        # squared lengths in the metric of the curvature
        step = step * beyond_noise(float(step @ curve @ step), float(np.trace(np.linalg.solve(curve, part.noise))))
    return limited_coefficients(part.b + shortened_step(step, found, part.link.step_unit), found, part.link)


def shortened_step(step: Array, found: Regressors, unit: float = 1.0) -> Array:
    """Return a step, shortened to at most MAX_STEP units."""
    return step * min(1.0, MAX_STEP * unit / max(step_length(step, found), 1e-12))


def step_length(step: Array, found: Regressors) -> float:
    """Return the root mean square of what a step adds to the predictor."""
    return math.sqrt(found.predictor_sd(step) ** 2 + float(found.mean @ step) ** 2)


def limited_coefficients(b: Array, found: Regressors, link: Link) -> Array:
    """Return coefficients whose predictor keeps the link's limits for its mean and standard deviation."""
    sd, mean = found.predictor_sd(b), float(found.mean @ b)
    low, high = link.predictor_limits
    held = min(max(mean, low), high)
    ratio = min(1.0, link.max_predictor_sd / max(sd, 1e-9))
    if found.constant is None:
        return b * ratio
    # x' constant = 1: the mean of the predictor becomes `held`
    return b * ratio + found.constant * (held - ratio * mean)


def next_score(
    first: FirstPart,
    last: ScorePart | None,
    terms: ScaledTerms,
    link: Link,
    noise: Array,
    clip: int,
    loose: float = math.inf,
) -> tuple[PiecewiseScore, dict[str, int]]:
    """Return the score of the next part, from the parts before, and its stored facts; privacy never depends on it.

    last: the part of scores before, if there is one.  noise: covariance of the noise in sums of psi times the terms.
    loose: standard deviation of the noise in a sum of a weight times two regressors of variance 1.
    ArithmeticError or ValueError where the parts before give no finite coefficients, or none that engines compute
    exactly: `nowhere_score` then stands in place of it.
    """
    made = _next_point(first, last, terms, link, noise, loose)
    if not all(np.isfinite(x).all() for x in (made.b, made.cut)):
        raise ArithmeticError("no finite coefficients")
    score, stored = integer_score(made, terms, clip)
    score.check()
    return score, stored


def nowhere_score(layout: Layout, link: Link, clip: int) -> tuple[PiecewiseScore, dict[str, int]]:
    """Return the score in the middle of the predictor's grid, and its stored facts: it can always be measured."""
    terms = in_units(scaled_terms(layout), link)
    return integer_score(ScorePoint(np.zeros(len(terms.matrix)), link.cuts()[-1], link), terms, clip)


def _next_point(
    first: FirstPart, last: ScorePart | None, terms: ScaledTerms, link: Link, noise: Array, loose: float
) -> ScorePoint:
    found = regressor_moments(first, terms)
    b = limited_coefficients(
        pilot_coefficients(first, found, terms, link) if last is None else one_step(last, found), found, link
    )
    if isinstance(link, RobustLink):
        residuals = link_of_residuals(link, b, first, last, found, terms)
        return ScorePoint(b, residuals.own_cut, grid_for(residuals, b, found, terms, 0.0))
    if last is None:
        spread, varied = start_spread(link, b, first, found, terms)
    else:
        told = dispersion(last, found)
        # one standard error above what squared scores say
        spread, varied = assumed_spread(last, told), told.high
    link = grid_for(link, b, found, terms, spread, full_weight_from(b, found, loose))
    return ScorePoint(b, choose_cut(b, found, link, noise, varied), link)


def grid_for(
    link: Link, b: Array, found: Regressors, terms: ScaledTerms, spread: float, full: float = FULL_WEIGHT_FROM[0]
) -> Link:
    """Return the link with a grid for all predictors within the bounds, or GRID_MARGIN standard deviations if less.

    full: see `full_weight_from`.
    """
    row, mean, sd = b @ terms.matrix, float(found.mean @ b), found.predictor_sd(b)
    room = float(np.abs(row[1:]).sum())
    # row[0] +- room bounds the predictor of every row, since |z_j| <= H
    low, high = max(row[0] - room, mean - GRID_MARGIN * sd), min(row[0] + room, mean + GRID_MARGIN * sd)
    return link.with_grid(low, high, mean + full * sd, spread)


def start_spread(link: Link, b: Array, first: FirstPart, found: Regressors, terms: ScaledTerms) -> tuple[float, float]:
    """Return the spread that the first scores assume, and the one that their cut allows for."""
    if not isinstance(link, PositiveLink):
        return 0.0, START_SPREAD
    alpha, gamma = terms.response
    low, half = alpha + gamma * H, gamma * H
    # of y = low + half r
    square = low**2 + (2 * low * half * first.response_sum + half**2 * first.response_squares) / found.rows
    means = float(NODE_WEIGHTS @ link.mean(found.predictor_values(b)) ** 2)
    # E y**2 = (1 + spread) E mean**2
    spread = min(max(square / means - 1, START_SPREAD / 2), 2.0)
    return spread, spread


def link_of_residuals(
    link: RobustLink, b: Array, first: FirstPart, last: ScorePart | None, found: Regressors, terms: ScaledTerms
) -> RobustLink:
    """Return the link whose cut follows residuals: of the pilot, as far as moments say, or of a part of scores."""
    if last is not None:
        rows = found.rows
        return link.with_law(*law_within(last.cut, last.weight_sum / rows, last.score_squares / rows))
    variance = (first.response_squares - first.response_sum**2 / found.rows) / found.rows * (terms.response[1] * H) ** 2
    # a residual varies by no less than a twentieth of the response, or noise makes it seem so
    return link.with_law(math.sqrt(max(variance - found.predictor_sd(b) ** 2, variance / 20, 0.0)), 0.0)


def assumed_spread(part: ScorePart, made: Dispersion) -> float:
    """Return the spread that the next scores assume: of counts 0 (Poisson) unless another one is significant."""
    otherwise = part.link.spread if isinstance(part.link, PositiveLink) else 0.0
    return made.spread if made.significant else otherwise


def dispersion(part: ScorePart, found: Regressors) -> Dispersion:
    """Return the dispersion of counts or positive responses from squared scores; of others no law is compared."""
    if isinstance(part.link, RobustLink):
        guess = float(part.link.bounded(np.zeros(1), part.cut).square[0])
        return Dispersion(part.score_squares / max(found.rows * guess, 1e-9))
    if not isinstance(part.link, LAWFUL) or part.meat is None:
        return Dispersion()
    curve = curvature(part, found).matrix
    step = np.asarray(np.linalg.solve(curve, part.score), dtype=np.float64)
    whole = shortened_step(step, found)
    return estimate_dispersion(
        part, part.link, found, TrialStep(curve, whole, step_length(step, found) < SHORT_STEP), GUESS_ERROR_OF_COUNTS
    )

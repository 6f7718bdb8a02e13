"""Where the scores of a generalised linear model aim, from integers released before: public by then.  No data here.

The first part is aimed nowhere: it tells moments of the regressors and their products with the response.  From these a
pilot; from each further part a step, its curvature drawn towards that of normal regressors where noise is large.
Whatever comes out, the next part is as private: its sensitivity is that of a score of at most `clip`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tacit.method.regression.count_links import CountLink
from tacit.method.regression.dispersion import Dispersion, TrialStep, estimate_dispersion
from tacit.method.regression.layout import Layout
from tacit.method.regression.links import Link, bounded, link, polygons, response_polygons
from tacit.method.regression.noisy_crossproducts import Array, NoisyMatrix, relative_noise
from tacit.method.regression.noisy_scores import (
    CUT_UNIT,
    SCORE_WEIGHT,
    FirstPart,
    ScaledTerms,
    ScorePart,
    read_first_part,
    read_score_part,
    scaled_terms,
)
from tacit.method.regression.normal_regressors import Regressors, glm_coefficients, regressors_from_sums
from tacit.release.parts import Part
from tacit.rows.coordinates import EXACT, H
from tacit.rows.piecewise_score import Bend, L

GUESS_ERROR: Final = 0.15
"""Error, as a part, that is expected of a curvature taken from normal regressors."""
GUESS_ERROR_OF_COUNTS: Final = 0.4
"""That error where the curvature itself is released."""
MAX_STEP: Final = 1.5
"""Largest standard deviation of what a step adds to the predictor."""
MIN_RATIO: Final = 0.2
"""Smallest part of a guess that noise leaves of it."""
MIN_VARIANCE: Final = 1e-3
"""Smallest variance of a combination of terms of size 1."""


GRID_MARGIN: Final = 6.0
"""Standard deviations of the predictor, as of normal regressors, that the grid of an aim reaches."""
CURVATURE_ROUNDS: Final = 2
"""How often a step is taken anew with the curvature along it."""
FULL_WEIGHT_FROM: Final = 1.5
"""Standard deviations of the predictor above its mean from which weights of products are 1."""
SHORT_STEP: Final = 0.5
"""Largest root mean square of what a step adds to the predictor of counts, where the law of their scores is to tell."""


@dataclass(frozen=True)
class ScorePoint:
    """Coefficients of terms of size 1, shape (u,), where the score is cut, and by which link."""

    b: Array
    cut: float
    link: Link


def link_of(model: str, layout: Layout, terms: ScaledTerms) -> Link:
    """The link of a model for the response's bounds."""
    origin, step = terms.response
    half = layout.bounds[-1]
    return link(model, (origin + step * (H - half), origin + step * (H + half)))


def response_score(layout: Layout, clip: int) -> Bend:
    """The part that aims nowhere: psi is the response itself, d a constant."""
    return Bend((0,) * (layout.size + 1), 1, clip, *response_polygons(clip))


def integer_score(aim: ScorePoint, terms: ScaledTerms, clip: int) -> tuple[Bend, dict[str, int]]:
    """An aim as integers, and the public facts that say so; the grid's middle where they would not be exact."""
    row, link = aim.b @ terms.matrix, aim.link
    row[0] -= link.center
    scale = L / link.reach / H
    total = float(np.abs(row).sum()) * scale
    usable = math.isfinite(total) and total * H * 2**12 < EXACT / 4
    row, total = (row, total) if usable else (row * 0.0, 0.0)
    shift = min(30, math.floor(math.log2(EXACT / 4 / (total * H + 1))))
    row = np.rint(row * (scale * 2.0**shift))
    cut = max(1, round(aim.cut * CUT_UNIT))
    made, weighing = polygons(link, cut / CUT_UNIT, clip, terms.response)
    counts = isinstance(link, CountLink)
    stored = {"cut": cut, "shift": shift} | (link.stored() if counts else {})
    stored |= {f"weight{j}": int(w) for j, w in enumerate((*row, 0))}
    return Bend((*map(int, row), 0), shift, clip, *made, weighing if counts else ()), stored


def regressor_moments(first: FirstPart, terms: ScaledTerms) -> Regressors:
    """Of the regressors, from the part that aims nowhere."""
    whole = first.moments
    noise = math.sqrt(max(float(np.linalg.eigvalsh(whole.noise_quadratic(np.eye(len(terms.size))))[-1]), 0.0))
    rows = max(first.rows, 1.0)
    alpha, gamma = terms.response
    response = alpha + gamma * H * (1 + first.response_sum / rows)
    made = regressors_from_sums(
        rows, first.sums, whole.values, max(noise / rows / 2, MIN_VARIANCE), terms.constant, response
    )
    return replace(made, loose=relative_noise(whole))


def pilot_coefficients(first: FirstPart, found: Regressors, terms: ScaledTerms, link: Link) -> Array:
    """Coefficients from products with the response; of counts shrunk towards a constant mean [James & Stein 1961]."""
    alpha, gamma = terms.response
    products = (alpha + gamma * H) * found.mean + gamma * H * first.products / found.rows
    mean = link.clamped_mean(found.response)
    inverse = np.asarray(np.linalg.pinv(found.cov, hermitian=True, rcond=1e-6), dtype=np.float64)
    slopes = inverse @ (products - found.mean * mean)
    if isinstance(link, CountLink):
        noise = float(np.trace(inverse @ first.noise)) * (gamma * H / found.rows) ** 2
        slopes = slopes * max(0.0, 1 - noise / max(float(slopes @ found.cov @ slopes), 1e-12))
    return glm_coefficients(link, found, mean, slopes)


@dataclass(frozen=True)
class ShrunkMatrix:
    """A noisy matrix drawn towards a guess, each weighing what its error allows.

    matrix: shape (u, u).  weight: of the noisy one.  loose: root mean square of the noise against the guess, in the
    worst direction.  to: from a noisy matrix to what its error adds, shape (u, u), on both sides.
    """

    matrix: Array
    weight: float
    relative_noise: float
    transform: Array


def shrunk(noisy: NoisyMatrix, guess: Array, wanted: Array, guess_error: float = GUESS_ERROR) -> ShrunkMatrix:
    """A positive definite matrix that is to `wanted` what a noisy one is to its guess, whose error is `trusted`."""
    back, root = _root(wanted, 0.5), _root(guess, -0.5)
    one = np.eye(len(guess))
    noise = NoisyMatrix(noisy.values, root @ noisy.patterns @ root, noisy.variances).noise_quadratic(one)
    loose = math.sqrt(max(float(np.linalg.eigvalsh(noise)[-1]), 0.0))
    weight = guess_error**2 / (guess_error**2 + loose**2)
    low, sides = np.linalg.eigh(one + weight * (root @ noisy.values @ root - one))
    inner = (sides * np.maximum(low, MIN_RATIO)) @ sides.T
    return ShrunkMatrix(back @ inner @ back, weight, loose, back @ root)


def guess_error(link: Link, found: Regressors) -> float:
    """Error, as a part, that is expected of what is taken from the moments of regressors: their own noise counts."""
    return (
        GUESS_ERROR_OF_COUNTS
        if isinstance(link, CountLink)
        else math.hypot(GUESS_ERROR, min(found.relative_noise, 1.0))
    )


def _root(matrix: Array, power: float) -> Array:
    values, vectors = np.linalg.eigh(matrix)
    values = np.maximum(values, 1e-9 * max(float(values[-1]), 1e-9))
    return np.asarray((vectors * values**power) @ vectors.T)


def curvature(part: ScorePart, found: Regressors) -> ShrunkMatrix:
    """The curvature where a part aimed.

    From the sizes of scores, whose mean is twice the curvature of a logistic score, and near the truth a mean of those
    at both ends; or from weights that are the curvature itself, and by how much it differs along the step.
    """
    eta = found.predictor_values(part.b)
    made = bounded(part.link, eta, part.cut)
    guess, wanted = found.weighted_products(part.b, made.size), found.weighted_products(part.b, made.curve)
    trusted = guess_error(part.link, found)
    curve = shrunk(part.weighted_products, guess, wanted, trusted)
    for _ in range(CURVATURE_ROUNDS if isinstance(part.link, CountLink) else 0):
        step = shortened_step(np.asarray(np.linalg.solve(curve.matrix, part.score), dtype=np.float64), found)
        rise = part.link.relative_slope(eta, eta + found.mean_change(part.b, step), made)
        curve = shrunk(part.weighted_products, guess, found.weighted_products(part.b, made.curve * rise), trusted)
    return curve


def one_step(part: ScorePart, found: Regressors) -> Array:
    """Coefficients after one step from where a part aimed, no longer than LONGEST."""
    step = np.asarray(np.linalg.solve(curvature(part, found).matrix, part.score), dtype=np.float64)
    return limited_coefficients(part.b + shortened_step(step, found), found, part.link)


def shortened_step(step: Array, found: Regressors) -> Array:
    """A step of at most LONGEST."""
    return step * min(1.0, MAX_STEP / max(step_length(step, found), 1e-9))


def step_length(step: Array, found: Regressors) -> float:
    """Root mean square of what a step adds to the predictor."""
    return math.sqrt(found.predictor_sd(step) ** 2 + float(found.mean @ step) ** 2)


def limited_coefficients(b: Array, found: Regressors, link: Link) -> Array:
    """Coefficients whose predictor varies by no more than an aim takes, and has its mean on the link's grid."""
    sd, mean = found.predictor_sd(b), float(found.mean @ b)
    low, high = link.predictor_limits
    held = min(max(mean, low), high)
    ratio = min(1.0, link.max_predictor_sd / max(sd, 1e-9))
    if found.constant is None:
        return b * ratio
    return b * ratio + found.constant * (held - ratio * mean)


def choose_cut(b: Array, found: Regressors, link: Link, noise: Array) -> float:
    """The widest cut of nearly the least expected error for normal regressors: `slack` times it.

    Error is mean variance of the coefficients, by what they vary by.

    noise: covariance of what will be added to the sums of a score of at most 1.
    """
    eta = found.predictor_values(b)
    fisher = found.weighted_products(b, link.information(eta))
    sizes: dict[float, float] = {}
    cuts, k = link.cuts(), len(eta)
    made = link.bounded(np.tile(eta, len(cuts)), np.repeat(cuts, k))
    for cut, curve, square in zip(cuts, made.curve.reshape(-1, k), made.square.reshape(-1, k), strict=True):
        inverse = np.linalg.pinv(found.weighted_products(b, curve), hermitian=True)
        error = inverse @ (found.weighted_products(b, square) + noise) @ inverse
        sizes[cut] = float(np.sum(fisher * error))
    least = min(sizes.values())
    return max((cut for cut, size in sizes.items() if size <= link.cut_tolerance * least), default=1.0)


def next_score(
    parts: Sequence[Part], layout: Layout, model: str, rows: int | None, variance: float, clip: int
) -> tuple[Bend, dict[str, int]]:
    """Where the next part aims, after one or several; variance: of each integer's noise in it."""
    terms = scaled_terms(layout)
    chosen = link_of(model, layout, terms)
    noise = terms.matrix @ terms.matrix.T * (variance / (SCORE_WEIGHT * clip * H) ** 2)
    try:
        last = read_score_part(parts[-1], layout, terms, chosen) if len(parts) > 1 else None
        made = _next_point(read_first_part(parts[0], layout, terms, rows), last, terms, chosen, noise)
    except (np.linalg.LinAlgError, ArithmeticError, ValueError):  # as if nothing were known
        made = None
    nowhere = ScorePoint(np.zeros(len(terms.size)), chosen.cuts()[-1], chosen)
    if made is None or not all(np.isfinite(x).all() for x in (made.b, made.cut)):
        made = nowhere
    try:
        aim, stored = integer_score(made, terms, clip)
        aim.check()
    except (np.linalg.LinAlgError, ArithmeticError, ValueError):
        aim, stored = integer_score(nowhere, terms, clip)
    return aim, stored


def _next_point(first: FirstPart, last: ScorePart | None, terms: ScaledTerms, link: Link, noise: Array) -> ScorePoint:
    found = regressor_moments(first, terms)
    b = limited_coefficients(
        pilot_coefficients(first, found, terms, link) if last is None else one_step(last, found), found, link
    )
    link = grid_for(link, b, found, terms, 0.0 if last is None else assumed_spread(last, found))
    return ScorePoint(b, choose_cut(b, found, link, noise), link)


def grid_for(link: Link, b: Array, found: Regressors, terms: ScaledTerms, spread: float) -> Link:
    """With a grid for all predictors that the bounds allow, or MARGIN standard deviations."""
    row, mean, sd = b @ terms.matrix, float(found.mean @ b), found.predictor_sd(b)
    room = float(np.abs(row[1:]).sum())
    low, high = max(row[0] - room, mean - GRID_MARGIN * sd), min(row[0] + room, mean + GRID_MARGIN * sd)
    return link.with_grid(low, high, mean + FULL_WEIGHT_FROM * sd, spread)


def assumed_spread(part: ScorePart, found: Regressors) -> float:
    """The spread that scores are to be made for: 0, Poisson, where noise could have made the difference."""
    made = dispersion(part, found)
    return made.spread if made.significant else 0.0


def dispersion(part: ScorePart, found: Regressors) -> Dispersion:
    """How much counts vary, from squared scores; nothing of other responses."""
    if not isinstance(part.link, CountLink) or part.meat is None:
        return Dispersion()
    curve = curvature(part, found).matrix
    step = np.asarray(np.linalg.solve(curve, part.score), dtype=np.float64)
    whole = shortened_step(step, found)
    return estimate_dispersion(
        part, part.link, found, TrialStep(curve, whole, step_length(step, found) < SHORT_STEP), GUESS_ERROR_OF_COUNTS
    )

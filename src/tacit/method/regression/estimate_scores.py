"""Coefficients of all models but the linear one with both errors, on plain arrays.  Post-processing.

g is the last noisy score, evaluated at coefficients b0, and B its noisy curvature, shrunk towards that of normal
regressors (`method.regression.glm_pilot.shrunk`).  The coefficients are b = b0 + B^-1 g, and with beta the true ones

    b - beta = B^-1 (sum of psi x at beta + noise in g + (error of B) (b - b0)),

to second order in the step b - b0.  Given B, the bracket has three variances: of the scores, of the noise in g, and of
the error of B times the step.  Noise in B itself does not bias a standard error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.fit import Fit, MeanSlope
from tacit.fits.response_spread import Overdispersion, SpreadCurve
from tacit.method.regression.count_links import CountLink
from tacit.method.regression.dispersion import Dispersion
from tacit.method.regression.estimate_counts import count_notes as counted
from tacit.method.regression.estimate_counts import mean_slope_of_counts
from tacit.method.regression.estimate_covariance_noise import NoisySquares, noisy_squares
from tacit.method.regression.estimate_effects import mean_slope_of_binary
from tacit.method.regression.estimate_help import UNKNOWN, Shortfall, left_nothing, shortfall, too_few, too_noisy
from tacit.method.regression.estimate_persons import person_notes, shrunk_to_bound, weight_moves
from tacit.method.regression.estimate_variance import noise_of_diagonal, widening_factors
from tacit.method.regression.estimate_weights import score_ratio
from tacit.method.regression.glm_pilot import (
    GUESS_ERROR_OF_COUNTS,
    SHORT_STEP,
    ShrunkMatrix,
    curvature,
    dispersion,
    guess_error,
    in_units,
    link_of,
    regressor_moments,
    shrunk,
    step_length,
)
from tacit.method.regression.guessed_curvature import left_in_step
from tacit.method.regression.layout import Layout
from tacit.method.regression.links import Link, bounded
from tacit.method.regression.noisy_crossproducts import NoisyMatrix
from tacit.method.regression.noisy_norm_scores import norm_first, read_last_scores
from tacit.method.regression.noisy_norms import read_standardised
from tacit.method.regression.noisy_scores import (
    FirstPart,
    ScaledTerms,
    ScorePart,
    read_first_part,
    read_score_part,
    scaled_terms,
)
from tacit.method.regression.norm_encoding import OF_COLUMNS
from tacit.method.regression.norm_scaling import read_columns
from tacit.method.regression.normal_regressors import NODES, Regressors
from tacit.method.regression.positive_links import PositiveLink
from tacit.method.regression.robust_links import RobustLink
from tacit.privacy import Cost
from tacit.release.parts import Part

METHOD: Final = "one-step"
LEFT_NOTHING: Final = f"noise leaves no numbers to work with: {UNKNOWN}"
NOTES: Final = ("Standard errors are robust as far as the noise allows (sandwich).",)
MAX_RELATIVE_NOISE: Final = 0.3
"""Largest noise in the curvature, relative to the curvature where every row has the mean predictor, in any direction.

Relative to the curvature at the coefficients, too steep coefficients would be refused more often, which is a bias.
"""
MAX_STEP: Final = 1.0
"""Largest root mean square change of the predictor in the last step."""
OF_NORMS: Final = {False: (1.8, 2.0), True: (1.1, 1.0)}
"""The same two of norm-clipped rows, whose noise is alike in all directions; True: of counts.

Up to there intervals of answers hold (`benchmarks/regression_limits.py`): what noise does to the curvature widens them.
"""
SEPARATION_SHARE: Final = 0.9
"""Part of the link's largest predictor standard deviation from which the response may be separated."""


def fit(
    formula: str, model: str, layout: Layout, parts: Sequence[Part], rows: int | None, cost: Cost | None = None
) -> Fit:
    """Return the fit from the released parts, or for each term the reason why noise is too large for it.

    cost: of the release, for what a reason says would help.
    """
    try:
        first, last, terms = _read(model, layout, parts, rows)
        step = _last_step(first, last, regressor_moments(first, terms))
        inverse = np.asarray(np.linalg.inv(step.curve.matrix), dtype=np.float64)
        if isinstance(step.link, RobustLink):
            # the centre has slope 1 in the predictor everywhere
            slope = MeanSlope(1.0, np.zeros_like(step.b), 0.0, 0.0, np.zeros_like(step.b))
        elif step.link.weighed:
            slope = mean_slope_of_counts(first, terms, step.regressors, inverse, last)
        else:
            slope = mean_slope_of_binary(last, terms, step.b, step.regressors, inverse)
        known = _Known(first, last, terms, layout.names, cost, parts[0].form in OF_COLUMNS)
        reason = _reason(step, known)
    # computed from released integers alone, so that a failure tells no more of any row than they do
    except (np.linalg.LinAlgError, ArithmeticError, ValueError):
        most = OF_NORMS[link_of(model, layout).weighed][0]
        reason = LEFT_NOTHING if cost is None else left_nothing(parts, layout, rows, most, cost)
        return _no_fit(formula, model, layout, reason)
    if reason is not None:
        return _no_fit(formula, model, layout, reason)
    sampling, privacy = (terms.back @ one @ terms.back.T for one in step.covariances(last))
    noisy = step.squares.covariance(terms.back @ inverse, sampling + privacy, step.fitted)
    wider = step.widening(last, sampling + privacy, terms.back)
    wider = np.outer(wider, wider)
    return Fit(
        formula,
        model,
        cast(Any, METHOD),
        layout.names,
        terms.back @ step.b,
        sampling * wider,
        privacy * wider,
        (None,) * len(layout.names),
        (*counted(step.link, step.dispersion, last.cut), *step.notes),
        {"rows": step.regressors.rows, **_spread(step)},
        slope=slope,
        noisy=noisy,
        spread=_overdispersion(step),
    )


def _spread(step: ScoreStep) -> dict[str, float]:
    """Return how counts vary beyond a Poisson law, or positive responses: variance over squared mean."""
    return {"spread": step.dispersion.spread} if isinstance(step.link, CountLink | PositiveLink) else {}


def _overdispersion(step: ScoreStep) -> Overdispersion | None:
    """Return that spread with its errors."""
    found, curve = step.dispersion, None
    if not _spread(step):
        return None
    if found.table is not None:
        sums, spreads = found.table.there, found.table.spreads
        curve = SpreadCurve(found.squares, found.squares_error, sums, spreads[: len(sums)], float(spreads[-1]))
    return Overdispersion(found.low, found.spread, found.high, curve)


def _no_fit(formula: str, model: str, layout: Layout, reason: str) -> Fit:
    p = len(layout.names)
    nothing = np.full((p, p), np.nan)
    return Fit(formula, model, cast(Any, METHOD), layout.names, np.full(p, np.nan), nothing, nothing, (reason,) * p)


def _read(
    model: str, layout: Layout, parts: Sequence[Part], rows: int | None
) -> tuple[FirstPart, ScorePart, ScaledTerms]:
    """Return what the released parts say: moments, the last scores, and the terms that both are of."""
    link = link_of(model, layout)
    if parts[0].form in OF_COLUMNS:
        columns = read_columns(parts[0], layout, rows)
        products, turn = read_standardised(parts[1], layout, columns.row)
        first, terms = norm_first(columns, products, turn, layout)
        terms = in_units(terms, link)
        return first, read_last_scores(parts, columns, products, turn, layout, terms, link), terms
    terms = scaled_terms(layout)
    return read_first_part(parts[0], layout, terms, rows), read_score_part(parts[-1], layout, terms, link), terms


@dataclass(frozen=True)
class ScoreStep:
    """The last step, in terms of unit size.

    b: coefficients after it.  step: the step before correction for the law of counts.  curve: curvature.  squares: sum
    of psi**2 x x'.  moments: noisy sums of x x'.  law_doubts: standard errors from not knowing the law of
    counts, by its spread and by its kind, shape (2, u).  level: the curvature where every row has the mean predictor.
    relative_noise: of the curvature beside it, in the worst direction.
    """

    b: Array
    step: Array
    curve: ShrunkMatrix
    squares: NoisySquares
    moments: NoisyMatrix
    regressors: Regressors
    link: Link
    dispersion: Dispersion
    law_doubts: Array
    level: Array
    relative_noise: float
    notes: tuple[str, ...]

    @property
    def fitted(self) -> float:
        """The factor of HC1 for the fitted coefficients, rows / (rows - u)."""
        return self.regressors.rows / max(self.regressors.rows - len(self.b), 1.0)

    def covariances(self, last: ScorePart) -> tuple[Array, Array]:
        """Return the covariances of the coefficients by sampling and by privacy, each of shape (u, u)."""
        inverse = np.asarray(np.linalg.inv(self.curve.matrix), dtype=np.float64)
        sampling = inverse @ self.squares.matrix @ inverse * self.fitted
        # an error E of the noisy matrix enters as weight T E T', T the transform: it turns the step into T E T' step
        way = self.step @ self.curve.transform
        error = (
            self.curve.transform
            @ last.weighted_products.noise_quadratic(np.outer(way, way))
            @ self.curve.transform.T
            * self.curve.weight**2
        )
        # the guess's part, weighted by what it has in the average: it errs by its own relative error, of counts in
        # every direction, and by the noise in the moments that it was computed from
        rest = (1 - self.curve.weight) ** 2
        if self.link.weighed:
            length = float(self.step @ self.curve.matrix @ self.step)
            error = error + rest * self.curve.matrix * length * GUESS_ERROR_OF_COUNTS**2
        else:
            error = error + rest * left_in_step(self.curve.matrix, self.step, self.curve.guess_error)
            back = self.curve.transform_of(self.regressors.second_moments)
            way = self.step @ back
            error = error + rest * (back @ self.moments.noise_quadratic(np.outer(way, way)) @ back.T)
        sampling = sampling + self.law_doubts.T @ self.law_doubts
        return sampling, inverse @ (last.noise + error) @ inverse

    def widening(self, last: ScorePart, total: Array, back: Array) -> Array:
        """Return factors for standard errors, shape (u,), that allow for the noise in the curvature.

        total: covariance of back @ b, shape (u, u).
        """
        inverse = back @ np.asarray(np.linalg.inv(self.curve.matrix), dtype=np.float64)
        forward, noisy = np.asarray(np.linalg.inv(back), dtype=np.float64), last.weighted_products
        # what each noise of the products does to the curvature
        moved = self.curve.weight * self.curve.transform @ noisy.patterns @ self.curve.transform.T
        return widening_factors(noise_of_diagonal(inverse, moved @ forward, noisy.variances, total), total)


def _last_step(first: FirstPart, last: ScorePart, found: Regressors) -> ScoreStep:
    assert last.meat is not None
    link = last.link
    made = bounded(link, found.predictor_values(last.b), last.cut)
    curve, varied = curvature(last, found), dispersion(last, found)
    trusted = guess_error(link, found)
    # released weights tell how scores vary from row to row better than normal regressors do, and with less noise than
    # released squares: of a binary response that is not cut, psi**2 is half of |psi| on average
    size, square = (found.weighted_products(last.b, one) for one in (made.size, made.square))
    told = shrunk(last.weighted_products, size, square, trusted)
    ratio = max(varied.ratio, _least_ratio(link, varied))
    if last.weighted and not link.weighed:
        # squares have the weights twice: where these go with scores, squares are others than normal regressors have
        ratio = ratio * score_ratio(last, found, made.square)
    square = told.matrix * ratio
    inverse = np.asarray(np.linalg.inv(curve.matrix), dtype=np.float64)
    if last.persons:
        middle, weight = shrunk_to_bound(last.meat, square, inverse)
        of_weight = weight_moves(last.meat, square, inverse)
    else:
        nearer = shrunk(last.meat, square, square, trusted)
        middle, weight, of_weight = nearer.matrix, nearer.weight, np.zeros(len(last.meat.variances))
    # what noises add to the guess: of released weights, and of the squares beside those of the assumed law
    moved = ratio * told.weight * (told.transform @ last.weighted_products.patterns @ told.transform.T)
    moved = moved * np.sqrt(last.weighted_products.variances)[:, None, None]
    of_guess = np.concatenate([moved, varied.error * told.matrix[None]])
    squares = noisy_squares(middle, weight, last.meat, square, of_guess, of_weight)
    way = np.asarray(np.linalg.solve(curve.matrix, last.score), dtype=np.float64)
    flat = np.zeros_like(last.b)
    # the curvature where every row has the mean predictor, see MAX_RELATIVE_NOISE
    level = bounded(link, np.full(len(NODES), found.mean @ last.b), last.cut)
    guess = found.weighted_products(flat, level.size)
    # the sums are the number 0 where no law of counts was compared: made vectors first
    sums = (inverse @ (one + np.zeros_like(way)) for one in (varied.mean_scores, varied.half_range, varied.aside))
    shift, *doubts = sums
    b = last.b + way - shift
    loose = shrunk(last.weighted_products, guess, guess).relative_noise
    notes = person_notes(weight) if last.persons else NOTES
    law = varied, np.array(doubts)
    return ScoreStep(b, way, curve, squares, first.moments, found, link, *law, guess, loose, notes)


def _least_ratio(link: Link, varied: Dispersion) -> float:
    """Return the least ratio of squared scores to those of the assumed law; what is below it is taken for noise."""
    # counts vary no less than Poisson counts; of other responses the law was only a guess
    return min(1.0, 4 * varied.error) if isinstance(link, PositiveLink | RobustLink) else 1.0


@dataclass(frozen=True)
class _Known:
    """What a reason is made of besides the step; norms: whether rows were shortened to a norm."""

    first: FirstPart
    last: ScorePart
    terms: ScaledTerms
    names: tuple[str, ...]
    cost: Cost | None
    norms: bool

    def shortfall(self, step: ScoreStep, most: float, of_moments: float) -> Shortfall:
        """Return by how much the noise is too large, of the curvature or of the regressors' moments.

        of_moments: relative noise of the moments, as it counts.
        """
        curve, loose = self.last.weighted_products, step.relative_noise
        noisy = NoisyMatrix(step.level, curve.patterns, curve.variances)
        if of_moments > loose:
            noisy, loose = self.first.moments, of_moments
            most = most * step.regressors.relative_noise / of_moments if math.isfinite(of_moments) else most
            loose = step.regressors.relative_noise
        # of the coefficients themselves
        back = np.asarray(np.linalg.inv(self.terms.back), dtype=np.float64).T
        return shortfall(noisy.transformed(back), self.names, most, step.regressors.rows, loose)


def _reason(step: ScoreStep, known: _Known) -> str | None:
    """Return why noise leaves no coefficients to report, or None; from the release alone."""
    found, u, norms = step.regressors, len(step.b), known.norms
    noise = known.first.rows_noise
    # below 4 standard deviations of its noise the number of rows may be none
    if found.rows < max(4 * noise, 5 * u):
        return too_few(found.rows, noise, 5 * u, known.cost)
    if not np.isfinite(step.b).all():
        return LEFT_NOTHING
    counts = step.link.weighed
    most, longest = OF_NORMS[counts] if norms else (MAX_RELATIVE_NOISE, SHORT_STEP if counts else MAX_STEP)
    moved = found.relative_noise * (0.5 if counts else 1.0)
    loose = max(step.relative_noise, moved)
    if not loose <= most:
        enough = known.shortfall(step, most, moved).words(known.cost)
        return too_noisy("curvature", loose, most, enough, boxes=not norms)
    if found.predictor_sd(step.b) > SEPARATION_SHARE * step.link.max_predictor_sd:
        return (
            "the linear predictor varies so much that the response may be separated, or noise makes it seem so: more "
            "rows, a larger budget or a simpler formula are needed"
        )
    # in the units of the predictor that its link allows for
    length = step_length(step.step, found) / step.link.step_unit
    if length > longest:
        enough = Shortfall(length / longest, found.rows).words(known.cost)
        return f"the last step is too long to have come to an end; where noise made it so, {enough}"
    return None

"""Coefficients of all models but the linear one with both errors, or why noise leaves none.  Post-processing.

How they come about, and what their errors are made of, is in `score_step`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import numpy as np

from tacit.fits.fit import Fit, MeanSlope
from tacit.fits.response_spread import Overdispersion, SpreadCurve
from tacit.method.regression.bounded_scores.count_links import CountLink
from tacit.method.regression.bounded_scores.positive_links import PositiveLink
from tacit.method.regression.bounded_scores.robust_links import RobustLink
from tacit.method.regression.estimate_coefficients.count_results import count_notes as counted
from tacit.method.regression.estimate_coefficients.count_results import mean_slope_of_counts
from tacit.method.regression.estimate_coefficients.errors_of_far_rows import with_shared
from tacit.method.regression.estimate_coefficients.marginal_effects import mean_slope_of_binary
from tacit.method.regression.estimate_coefficients.score_reach import reach_factors
from tacit.method.regression.estimate_coefficients.score_step import ScoreStep, last_step
from tacit.method.regression.estimate_coefficients.tail_doubt import tail_notes, tail_reach, term_tails
from tacit.method.regression.estimate_coefficients.what_would_help import (
    UNKNOWN,
    Shortfall,
    left_nothing,
    shortfall,
    too_few,
    too_noisy,
)
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.pilots.far_rows import shift_along
from tacit.method.regression.pilots.glm_pilot import (
    SHORT_STEP,
    in_units,
    link_of,
    regressor_moments,
    step_length,
)
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix
from tacit.method.regression.row_sums.noisy_norm_scores import norm_first, read_last_scores
from tacit.method.regression.row_sums.noisy_norms import read_standardised
from tacit.method.regression.row_sums.noisy_scores import (
    FirstPart,
    ScaledTerms,
    ScorePart,
    read_first_part,
    read_score_part,
    scaled_terms,
)
from tacit.method.regression.row_sums.norm_encoding import OF_COLUMNS
from tacit.method.regression.row_sums.released_columns import read_columns
from tacit.privacy import Cost
from tacit.release.parts import Part

METHOD: Final = "one-step"
LEFT_NOTHING: Final = f"noise leaves no numbers to work with: {UNKNOWN}"
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
    formula: str,
    model: str,
    layout: Layout,
    parts: Sequence[Part],
    rows: int | None,
    cost: Cost | None = None,
    *,
    linear: bool = False,
) -> Fit:
    """Return the fit from the released parts, or for each term the reason why noise is too large for it.

    cost: of the release, for what a reason says would help.  linear: see `far_rows`.
    """
    try:
        first, last, terms = _read(model, layout, parts, rows)
        step = last_step(first, last, regressor_moments(first, terms))
        inverse = np.asarray(np.linalg.inv(step.curve.matrix), dtype=np.float64)
        if isinstance(step.link, RobustLink):
            # the centre has slope 1 in the predictor everywhere
            slope = MeanSlope(1.0, np.zeros_like(step.b), 0.0, 0.0, np.zeros_like(step.b))
        elif step.link.weighed:
            slope = mean_slope_of_counts(first, terms, step.regressors, inverse, last)
        else:
            slope = mean_slope_of_binary(last, terms, step.b, step.regressors, inverse)
        known = _Known(first, last, terms, layout.names, cost, parts[0].form in OF_COLUMNS, rows)
        reason = _reason(step, known)
    # computed from released integers alone, so that a failure tells no more of any row than they do
    except (np.linalg.LinAlgError, ArithmeticError, ValueError):
        most = OF_NORMS[link_of(model, layout).weighed][0]
        reason = LEFT_NOTHING if cost is None else left_nothing(parts, layout, rows, most, cost)
        return _no_fit(formula, model, layout, reason)
    if reason is not None:
        return _no_fit(formula, model, layout, reason)
    sampling, privacy = (terms.back @ one @ terms.back.T for one in step.covariances(last))
    total = sampling + privacy
    noisy = step.squares.covariance(terms.back @ inverse, total, step.fitted)
    noisy = replace(noisy, moves=np.concatenate([noisy.moves, step.moves_of(last, total, terms.back)]))
    inverted = step.inverted(last, total, terms.back)
    tails = term_tails(layout, step.regressors, terms.back)
    doubt = tail_reach(step, last, tails, total, inverted, terms.back)
    if not isinstance(step.link, RobustLink):
        levels = reach_factors(step.link, step.regressors, step.b, step.step, total, terms.back)
        # each says how far the same guess may be off, of tails and of levels
        inverted = inverted * np.maximum(doubt, levels)
    noisy = noisy.scaled(inverted)
    wider = np.maximum(step.widening(last, total, terms.back), inverted)
    wider = np.outer(wider, wider)
    made = Fit(
        formula,
        model,
        cast(Any, METHOD),
        layout.names,
        terms.back @ step.b,
        sampling * wider,
        privacy * wider,
        (None,) * len(layout.names),
        (*counted(step.link, step.dispersion, last.cut), *step.notes, *tail_notes(doubt, layout.names)),
        {"rows": step.regressors.rows, **_spread(step)},
        slope=slope,
        noisy=noisy,
        spread=_overdispersion(step),
    )
    if linear or not known.norms or not isinstance(step.link, CountLink):
        return made
    far = terms.back @ shift_along(step.link, step.regressors, step.b)
    return with_shared(made, np.outer(far, far))


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
        columns = read_columns(parts[0], layout, rows, parts[1])
        products, turn = read_standardised(parts[1], layout, columns.row)
        first, terms = norm_first(columns, products, turn, layout)
        terms = in_units(terms, link)
        return first, read_last_scores(parts, columns, products, turn, layout, terms, link), terms
    terms = scaled_terms(layout)
    return read_first_part(parts[0], layout, terms, rows), read_score_part(parts[-1], layout, terms, link), terms


@dataclass(frozen=True)
class _Known:
    """What a reason is made of besides the step; norms: whether rows were shortened to a norm."""

    first: FirstPart
    last: ScorePart
    terms: ScaledTerms
    names: tuple[str, ...]
    cost: Cost | None
    norms: bool
    public: int | None

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
        return shortfall(noisy.transformed(back), self.names, most, step.regressors.rows, loose, public=self.public)


def _reason(step: ScoreStep, known: _Known) -> str | None:
    """Return why noise leaves no coefficients to report, or None; from the release alone."""
    found, u, norms = step.regressors, len(step.b), known.norms
    noise = known.first.rows_noise
    # below 4 standard deviations of its noise the number of rows may be none
    if found.rows < max(4 * noise, 5 * u):
        return too_few(found.rows, noise, 5 * u, known.cost, known.public)
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
        enough = Shortfall(length / longest, found.rows, public=known.public).words(known.cost)
        return f"the last step is too long to have come to an end; where noise made it so, {enough}"
    return None

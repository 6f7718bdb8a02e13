"""Average marginal effects of a released regression: a coefficient times the mean slope of the mean response.

The mean slope is the mean over rows of the derivative of the mean response in the linear predictor.  A release holds
it.  For counts with a log link it is the mean count.  For a logistic or probit model it is the sum of |psi| over the
rows [E|psi| = 2 v p (1 - p)], times a ratio: 1 / (2 v) where no score was cut, and otherwise computed from the moments
of the regressors.  Standard errors by the delta method, with both errors of both factors and their covariance.
Post-processing of a release, at no further cost.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.fits.effects import FitEffects
from tacit.fits.fit import Fit, MeanSlope
from tacit.method.regression.bounded_scores.binary_links import BinaryLink
from tacit.method.regression.bounded_scores.normal_regressors import NODE_WEIGHTS, Regressors
from tacit.method.regression.estimate_coefficients.terms_at_rows import FormulaTerms
from tacit.method.regression.formulas.layout import ONE
from tacit.method.regression.row_sums.noisy_scores import ScaledTerms, ScorePart

STEP: Final = 1e-3
"""Half the distance of the two points of a numerical derivative."""


def mean_slope_of_binary(last: ScorePart, terms: ScaledTerms, b: Array, found: Regressors, inverse: Array) -> MeanSlope:
    """Return the mean slope of a binary response at coefficients b of scaled terms; |psi| was evaluated at last.b."""
    link, rows = last.link, found.rows
    assert isinstance(link, BinaryLink)
    eta = found.predictor_values(last.b)
    to = eta + found.mean_change(last.b, b - last.b)
    v, pilot, mean = link.bounded(eta, last.cut).v, link.mean(eta), link.mean(to)
    wanted = float(NODE_WEIGHTS @ link.slope(to))
    # E|v (y - pilot)| where y is 1 with probability `mean`: what the released weights measure
    held = float(NODE_WEIGHTS @ (v * (pilot * (1 - mean) + (1 - pilot) * mean)))
    ratio = wanted / max(held, 1e-9)
    curvature = (link.slope(to + STEP) - link.slope(to - STEP)) / (2 * STEP)
    # derivative of `held` in the predictor
    turned = v * (1 - 2 * pilot) * link.slope(to)
    value = max(last.weight_sum, 0.0) / rows * ratio
    # the value is proportional to wanted / held, so logarithmic derivatives subtract; sums over rows, hence / rows
    gradient = (
        value
        * (
            found.weighted_sum(last.b, curvature) / max(wanted, 1e-300)
            - found.weighted_sum(last.b, turned) / max(held, 1e-9)
        )
        / rows
    )
    # in the terms' own coefficients, of which back makes those that the gradient is in
    gradient = np.asarray(np.linalg.solve(terms.back.T, gradient), dtype=np.float64)
    # Var|psi| = E psi^2 - (E|psi|)^2, of rows; a person's mean |psi| varies no more
    spread = max(last.score_squares / rows - (last.weight_sum / rows) ** 2, 0.0)
    odd = found.weighted_sum(last.b, v**2 * mean * (1 - mean) * (1 - 2 * mean))  # of |psi| with psi
    along = inverse @ odd * (ratio / rows)
    noise = (last.weight_sum_noise * ratio / rows) ** 2
    # None: a release of persons does not tell the covariance of mean |psi| with mean scores: it is bounded instead
    return MeanSlope(
        value, gradient, ratio**2 * spread / rows, noise, None if last.persons else np.asarray(terms.back @ along)
    )


def marginal_effects(fit: Fit) -> FitEffects:
    """Return the average marginal effects of columns that are one term each; InferenceError I80 if none is, I45."""
    formula, slope = fit.evaluator, fit.slope
    if not isinstance(formula, FormulaTerms) or slope is None:
        raise InferenceError(f"{fit.formula!r} leaves nothing to work with.", code="I45", state=None)
    places = {name: _own_term(formula, name) for name in formula.layout.formula.columns[1:]}
    kept = {name: i for name, i in places.items() if i is not None}
    rest = [name for name, i in places.items() if i is None]
    if not kept:
        text = f"{fit.formula!r} has no column of numbers that stands alone: a release tells no other average effects."
        raise InferenceError(text, code="I80", hint="predict(…) at rows of your own, and their differences", state=None)
    at = list(kept.values())
    b = fit.values[at]
    # product rule for b_j times the mean slope, which depends on all coefficients
    gradient = np.eye(len(fit.values))[at] * slope.value + np.outer(b, slope.gradient)
    covs = [gradient @ part @ gradient.T for part in (fit.cov_sampling, fit.cov_privacy)]
    mixed = None if slope.along is None else np.outer(gradient @ slope.along, b)
    sampling = _sum_covariance(covs[0], np.outer(b, b) * slope.sampling, mixed)
    privacy = covs[1] + np.outer(b, b) * slope.privacy
    notes = (f"no average effects of {', '.join(rest)}: levels, powers and interactions need the rows",) if rest else ()
    return FitEffects(tuple(kept), b * slope.value, sampling, privacy, fit.reasons[0], notes)


def _sum_covariance(one: Array, other: Array, mixed: Array | None) -> Array:
    """Return the covariance of a sum of two vectors; mixed: covariance between them, None where it is not known.

    Without it, (1 + t) one + (1 + 1/t) other is an upper bound for any t > 0 [2 x y <= t x**2 + y**2 / t]; t is chosen
    to make it smallest where it matters most.
    """
    if mixed is not None:
        return one + mixed + mixed.T + other
    # (1 + t) a + (1 + 1/t) c is smallest at t = sqrt(c / a); one t for all keeps a matrix inequality
    t = float(np.sqrt(np.max(np.diag(other) / np.maximum(np.diag(one), 1e-300))))
    return (1 + t) * one + (1 + 1 / t) * other if t > 0 else one


def _own_term(formula: FormulaTerms, column: str) -> int | None:
    """Return the index of the only term that a column takes part in, if that is the column itself; else None."""
    layout, found = formula.layout, formula.involved(column)
    # of an expression the effect is that of the expression, unless another term moves with the columns it reads
    if len(found) != 1 or any(formula.involved(name) != found for name in formula.reads(column)):
        return None
    own = {j for j, one in enumerate(layout.coordinates) if one in (ONE, ((column,), ()))}
    used = {int(j) for j in np.flatnonzero(layout.terms[found[0]])}
    return found[0] if used <= own else None

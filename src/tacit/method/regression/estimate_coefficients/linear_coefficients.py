"""Coefficients of a linear regression with both errors, on plain arrays.  Post-processing, at no further cost.

A is the noisy sum of x x', b0 the pilot fit, and g the noisy sum of x times the clipped residuals from it.  The
coefficients are b1 = b0 + A^-1 g.  With E the noise in A, N a the noise in the normal equations at the true
coefficients beta, a = (-beta, 1), and e the errors of the rows,

    b1 - beta = A^-1 (sum x e + noise in g) + A^-1 E (b0 - beta),      b0 - beta = A^-1 (sum x e + N a),

to second order in the noise: the noise in A matters only times the error of b0.  Its mean, A^-1 E[E A^-1 N a], is
subtracted, and its variance is part of the privacy variance.  Clipping biases no coefficient where errors are
symmetric, and no slope where errors do not depend on the regressors; any other bias falls as the range grows with the
rows.  Standard errors allow for it, and for unequal errors that noise hides (`sampling_variance`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.total_errors.noisy_covariance import NoisyCovariance
from tacit.fits.fit import Fit
from tacit.fits.response_spread import of_normal_errors
from tacit.method.regression.estimate_coefficients.clipping_bias import ClippingBias, clipping_bias, surely_clipped
from tacit.method.regression.estimate_coefficients.covariance_noise import noisy_covariance, noisy_squares
from tacit.method.regression.estimate_coefficients.errors_of_the_table import own_fit_errors, own_fit_note
from tacit.method.regression.estimate_coefficients.linear_step import (
    MAX_OF_NORMS,
    MAX_RELATIVE_NOISE,
    LinearStep,
    linear_step,
)
from tacit.method.regression.estimate_coefficients.residual_variance import residual_spread, residual_variance
from tacit.method.regression.estimate_coefficients.sampling_variance import (
    ErrorVariance,
    error_variance,
    sampling_covariance,
    widening,
)
from tacit.method.regression.estimate_coefficients.variance_between_persons import (
    person_notes,
    shrunk_to_bound,
    weight_moves,
)
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix, ResidualScores, relative_noise
from tacit.privacy import Cost

METHOD: Final = "one-step"
FURTHER: Final = 1.5
"""Size of each further order beside the square of the relative noise: of many regressors, some direction has more."""
REPORTED_SHARE: Final = 0.05
"""Part of a variance due to clipping from which a note reports it."""
HIDDEN: Final = 0.02
"""Standard deviation of the noise in R squared beyond which it is not said, since it has no interval."""
ROBUST_SHARE: Final = 0.9
"""Weight of the robust variance against the plain one from which standard errors are called robust."""


def fit(
    formula: str,
    layout: Layout,
    crossed: NoisyMatrix,
    scores: ResidualScores,
    rows: float | None = None,
    *,
    of_table: bool = False,
    cost: Cost | None = None,
    public: int | None = None,
) -> Fit:
    """Return the fit from both parts, or for each term the reason why noise is too large for it.

    rows: number of complete rows, where cross-products do not say it.  of_table: with the errors of the coefficients as
    those of the table's own least-squares fit (`errors_of_the_table`).  cost: of the release,
    for what a reason says would help.  public: number of all rows, where it is public.
    """
    step = linear_step(layout, crossed, scores, rows, cost, public)
    if isinstance(step, str):
        return no_fit(formula, layout, step)
    errors = error_variance(step, scores)
    residual = residual_variance(step, scores, errors)
    # of persons clipping is not counted
    bias = None if scores.persons else clipping_bias(step, scores, errors)
    said = _covariances(step, scores, errors, bias, layout.names, of_table=of_table)
    wider = said.widening
    correction = np.zeros(step.u) if bias is None else bias.correction
    # from unit size to the response's units per unit of each term
    back = step.scales[-1] / step.scales[:-1]
    unit = np.outer(back * wider, back * wider)
    return Fit(
        formula,
        "linear",
        cast(Any, METHOD),
        layout.names,
        (step.b1 + correction) * back,
        said.sampling * unit,
        said.privacy * unit,
        (None,) * step.u,
        (_cut_note(step, scores, errors.value), *said.notes),
        _criteria(step, residual, intercept=layout.formula.intercept, counted=rows is None),
        noisy=None if said.noisy is None else said.noisy.combined(np.diag(back)),
        spread=of_normal_errors(step.rows, residual.spread / residual.value**2, residual.observed / residual.value),
    )


@dataclass(frozen=True)
class _Covariances:
    """Covariances of the coefficients by sampling (bias from clipping included) and by privacy, shape (u, u).

    widening: factors for standard errors, shape (u,).  notes: for readers.  noisy: both together without that factor,
    with the law of their noise, where it is known.
    """

    sampling: Array
    privacy: Array
    widening: Array
    notes: tuple[str, ...]
    noisy: NoisyCovariance | None = None


def _covariances(
    step: LinearStep,
    scores: ResidualScores,
    errors: ErrorVariance,
    bias: ClippingBias | None,
    names: tuple[str, ...],
    *,
    of_table: bool,
) -> _Covariances:
    if of_table:
        other = own_fit_errors(step, scores, errors)
        # from the table's own fit the pilot is off by noise alone
        privacy = _privacy_covariance(step, np.zeros((step.u, step.u)))
        wider = widening(step, other + privacy, np.zeros(step.u))
        part = np.diag(other) / np.diag(other + privacy)
        return _Covariances(other, privacy, wider, (own_fit_note(part),))
    if bias is None:
        return _covariances_of_persons(step, scores, errors)
    return _covariances_of_rows(step, scores, errors, bias, names)


def _covariances_of_rows(
    step: LinearStep, scores: ResidualScores, errors: ErrorVariance, bias: ClippingBias, names: tuple[str, ...]
) -> _Covariances:
    """Return covariances with rows as sampling units; bias: what is allowed for clipped residuals."""
    found = sampling_covariance(step, scores, errors)
    privacy = _privacy_covariance(step, found.covariance)
    cut = bias.covariance
    both = found.covariance / step.kept**2 + cut + bias.chance
    # a bias that may be noise alone is allowed for, and not reported
    biased = np.diag(cut) / np.diag(both + privacy) * surely_clipped(scores)
    wider = widening(step, both + privacy, found.noise_variance / step.kept**4)
    noisy = noisy_covariance(step, errors, found, both + privacy)
    return _Covariances(both, privacy, wider, _robustness_notes(names, found.kept_share, biased), noisy)


def _covariances_of_persons(step: LinearStep, scores: ResidualScores, errors: ErrorVariance) -> _Covariances:
    """Return covariances with persons as sampling units; errors: variance of the errors of their rows."""
    u, unit = step.u, step.unit**2
    # psi**2 are squares of residuals from b0: rescaled to residuals from b1, and to the units of the response
    part = errors.value * step.rows / max(scores.square, errors.value * unit)
    moved = scores.meat.transformed(step.terms[:u, :-1])
    meat = NoisyMatrix(moved.values * part, moved.patterns, moved.variances * part**2)
    # the bound: s2 A, as if all rows of a person shared one error
    whole, products = step.products.leading(u), step.products.values[:u, :u]
    middle, weight = shrunk_to_bound(meat, errors.value * products, step.inverse)
    both = np.asarray(step.inverse @ middle @ step.inverse, dtype=np.float64)
    privacy = _privacy_covariance(step, both)
    # noise in the bound and in A; shrinkage has made up for that in the products of mean scores
    doubt = ((1 - weight) * np.diag(step.inverse)) ** 2 * errors.noise
    words = person_notes(weight, " and errors had one variance everywhere")
    patterns = errors.value * whole.patterns * np.sqrt(whole.variances)[:, None, None]
    of_bound = np.concatenate([patterns, math.sqrt(errors.noise) * products[None]])
    of_weight = weight_moves(meat, errors.value * products, step.inverse)
    squares = noisy_squares(middle, weight, meat, errors.value * products, of_bound, of_weight)
    noisy = squares.covariance(step.inverse, both + privacy)
    return _Covariances(both, privacy, widening(step, both + privacy, doubt), words, noisy)


def no_fit(formula: str, layout: Layout, reason: str) -> Fit:
    """Return a fit whose coefficients carry a reason in place of numbers."""
    p = len(layout.names)
    nothing = np.full((p, p), np.nan)
    values = np.full(p, np.nan)
    return Fit(formula, "linear", cast(Any, METHOD), layout.names, values, nothing, nothing, (reason,) * p)


def _privacy_covariance(step: LinearStep, sampling: Array) -> Array:
    """Return the covariance due to the noise in g, and to the noise in A times the error of the pilot fit."""
    u, inverse, found = step.u, step.inverse, step.products
    a = np.append(-step.b1, 1.0)
    # Cov(b0 - beta); the step leaves E (b0 - beta), of covariance E[E Cov E] and what shared noises add
    error = inverse @ found.covariance_times(a)[:u, :u] @ inverse + sampling
    second = found.leading(u).noise_quadratic(error) + _repeated_noise(found, inverse, a)
    second = second * further_orders(relative_noise(found.leading(u)))
    return inverse @ (step.noise + second) @ inverse


def further_orders(loose: float) -> float:
    """Return the factor by which orders beyond the second make the variance larger, at noise `loose` relative to A.

    Each is smaller than the one before by FURTHER times the square of that noise, once for E and once for the pilot's
    error.  Up to MAX_RELATIVE_NOISE the second order is enough.

    >>> further_orders(0.25), round(further_orders(0.35), 2)
    (1.0, 1.21)
    """
    beyond = FURTHER * (min(loose, MAX_OF_NORMS) ** 2 - MAX_RELATIVE_NOISE**2)
    return 1 / (1 - max(beyond, 0.0)) ** 2


def _repeated_noise(found: NoisyMatrix, inverse: Array, a: Array) -> Array:
    """Return the part of the covariance of E A^-1 N a that is due to E and N sharing their noises.

    It is the sum over pairs of noises e, f of P_e m_f (P_f m_e)' times both variances, with P_e the pattern of noise e
    and m_f = A^-1 P_f a the effect of noise f on the pilot fit.
    """
    u = len(inverse)
    patterns, weights = found.patterns[:, :u, :u], found.variances
    # row f: m_f
    moved = (found.patterns @ a)[:, :u] @ inverse
    # the sum over e of P_e[i, a] m_e[b], of shape (b, i, a): pairs are then sums over a and b
    made = ((moved * weights[:, None]).T @ patterns.reshape(len(patterns), -1)).reshape(u, u, u)
    total = np.einsum("bia,ajb->ij", made, made, optimize=True)
    return np.asarray(total + total.T, dtype=np.float64) / 2


def _cut_note(step: LinearStep, scores: ResidualScores, variance: float) -> str:
    """Return the note on the range at which residuals are clipped."""
    range_ = scores.residual.clip / step.unit
    sd = range_ / math.sqrt(variance)
    # a number that its noise hides is not said
    rows = f"about {scores.far[0]:,.0f} rows" if scores.far and surely_clipped(scores) else "rows"
    return (
        f"Residuals count up to {range_ * step.scales[-1]:.3g} either way ({sd:.2g} standard deviations); "
        f"{rows} beyond it pull less, as in Huber's regression."
    )


def _robustness_notes(names: tuple[str, ...], kept: Array, cut: Array) -> tuple[str, ...]:
    """Return notes on bias from clipping and on robustness against unequal errors.

    kept: weight of the robust variance.  cut: part of the variance that allows for clipping.  Each has shape (u,).

    >>> _robustness_notes(("age",), np.array([0.95]), np.array([0.0]))
    ('Standard errors are robust: errors may vary with the regressors (HC1).',)
    """
    out: tuple[str, ...] = ()
    moved = ", ".join(name for name, part in zip(names, cut, strict=True) if part > REPORTED_SHARE)
    if moved:
        out = (
            f"If errors are skewed, clipping biases {moved}: standard errors allow for it. Consider the logarithm of a "
            "skewed response.",
        )
    if kept.min() >= ROBUST_SHARE:
        return (*out, "Standard errors are robust: errors may vary with the regressors (HC1).")
    hidden = ", ".join(name for name, part in zip(names, kept, strict=True) if part < 0.5)
    most = f"; those of {hidden} nearly assume equal variances, since noise is large there" if hidden else ""
    return (*out, f"Standard errors are robust as far as noise allows, and wider where it hides more{most}.")


def _criteria(step: LinearStep, residual: ErrorVariance, *, intercept: bool, counted: bool) -> Mapping[str, float]:
    """Return rows, deviances and the residual standard deviation with an interval; R squared where its noise is small.

    counted: whether the number of rows is that of the products, with its noise.
    """
    products, rows, y = step.products, step.rows, step.scales[-1] ** 2
    total, pattern = float(products.values[-1, -1]), products.patterns[:, -1, -1]
    # sum (y - mean)^2 = sum y^2 - (sum y)^2 / n
    if intercept:  # the first term, of size 1
        mean = float(products.values[0, -1]) / rows
        total, pattern = total - mean**2 * rows, pattern - 2 * mean * products.patterns[:, 0, -1]
        pattern = pattern + (mean**2 * products.patterns[:, 0, 0] if counted else 0.0)
    left = residual.value * (rows - step.u)
    out = {"rows": rows, "deviance": float(left * y), **residual_spread(residual, float(y))}
    if total > 0:
        out["null_deviance"] = float(total * y)
        noise = float(pattern**2 @ products.variances) / total**2 + residual.noise / residual.value**2
        if left / total * math.sqrt(noise) <= HIDDEN:
            out["explained"] = 1 - left / total
    return out

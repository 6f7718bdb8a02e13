"""How far coefficients of a regression may be off, beyond the noise in them.  Post-processing: no data here.

Sampling.  Under errors of one variance s2, M = sum e**2 x x' is s2 A, and the covariance A^-1 M A^-1 is s2 A^-1: plain.
Released M is noisier than s2, so what M has beyond s2 A is shrunk, entry by entry, as if it were spread about 0 with
DEPARTS of the plain variance as its standard deviation: the posterior mean is taken, and its variance kept.

Doubt.  An interval from an unbiased estimate of its variance T holds the truth too rarely, to second order by what an
addition of (z**2 + 1) / 4 times Var / T mends: Student's t to that order, Var / T**2 being 2 / degrees of freedom.

Cut.  A residual beyond the range counts as the range.  If errors have a law of their own times a spread s(x), cutting
moves coefficients by -A^-1 sum x t(x), t(x) the mean of what is cut off, about linear in s(x)**2.  Sums of psi**2 x
tell how that depends on x; how much is cut off nothing tells.  Taken is what exponential errors would lose, as the
standard deviation of an error of the coefficients: 0 for symmetric errors, and their bias is as large for exponential
ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.noisy_crossproducts import ResidualScores

if TYPE_CHECKING:
    from tacit.method.regression.estimate_linear import LinearStep

PRIOR_SD: Final = 0.5
"""What the robust variance of a coefficient may differ from the plain one by: a standard deviation, as a part of it."""
NOISE_MARGIN: Final = 0.5
"""Standard deviations of noise that a robust variance is taken to be too large by, where it is the larger."""
MIN_RATIO: Final = 0.1
"""Smallest robust variance, as a part of the plain one."""
LEVEL: Final = 1.959964
"""Quantile for which intervals are right to second order."""


@dataclass(frozen=True)
class ErrorVariance:
    """Variance of the errors, and that of the noise in it."""

    value: float
    noise: float


@dataclass(frozen=True)
class CoefficientSampling:
    """Covariance of the coefficients by sampling, (u, u); variance of its diagonal's noise, (u,).

    kept: part of what is known of unequal errors that is believed, (u,).
    """

    covariance: Array
    noise_variance: Array
    kept_share: Array


def error_variance(step: LinearStep, scores: ResidualScores) -> ErrorVariance:
    """From squares of cut residuals, less what the step takes off, and from the first part: weighted by their noise."""
    a, rows = np.append(-step.b1, 1.0), step.rows - step.u
    cut = scores.square / step.unit**2 - step.gain
    whole = float(a @ step.products.values @ a) - float(np.trace(step.inverse @ step.noise))
    noises = scores.square_variance / step.unit**4, step.products.quadratic_variance(a)
    weight = noises[1] / (noises[0] + noises[1])
    value, noise = weight * cut + (1 - weight) * whole, weight * noises[0]
    value, noise = _positive_part(value, noise)
    return ErrorVariance(value / rows, noise / rows**2)


def _positive_part(value: float, noise: float) -> tuple[float, float]:
    """Mean and variance of a positive number that normal noise of that variance made `value`."""
    sd = math.sqrt(noise)
    at = value / sd
    if at > 8:
        return value, noise
    if at < -8:
        return sd / -at, noise / at**2
    hazard = math.exp(-at * at / 2) * math.sqrt(2 / math.pi) / math.erfc(-at / math.sqrt(2))
    return value + sd * hazard, noise * (1 - hazard * (at + hazard))


def sampling_covariance(
    step: LinearStep, scores: ResidualScores, errors: ErrorVariance, departs: float = PRIOR_SD
) -> CoefficientSampling:
    """Plain covariance and what is believed of unequal errors.  departs: inf for the sandwich as it is."""
    u, inverse, matrix = step.u, step.inverse, step.products
    plain, (beyond, noises) = errors.value * inverse, _excess(step, scores, errors.value)
    own = np.einsum("e,eij->ij", scores.meat.variances, noises**2)
    loose = errors.value * (inverse @ matrix.patterns[:, :u, :u] @ inverse)  # A's noise: `widened` adds it to the doubt
    noise = own + np.einsum("e,eij->ij", matrix.variances, loose**2)
    large = np.maximum(np.diag(plain), np.diag(plain + beyond) - NOISE_MARGIN * np.sqrt(np.diag(noise)))
    prior = departs**2 * np.outer(large, large)
    kept = np.ones((u, u)) if math.isinf(departs) else prior / (prior + noise)
    doubt = np.diag(own * kept) + errors.noise * np.diag(inverse) ** 2
    return CoefficientSampling(_positive_definite(plain + kept * beyond, plain), doubt, np.diag(kept))


def _excess(step: LinearStep, scores: ResidualScores, errors: float) -> tuple[Array, Array]:
    """A^-1 (M - s2 A) A^-1, (u, u), s2 the mean of the same squares; and what each noise adds to it, (e, u, u)."""
    u, inverse, rows = step.u, step.inverse, step.rows
    meat, unit = scores.meat, step.squares_factor(errors)
    moved, equal = meat.transformed(step.terms[:u, :-1]), step.products.values[:u, :u] / rows
    beyond = moved.values - equal * meat.values[0, 0]  # [0, 0] is the sum of squares
    own = moved.patterns - equal * meat.patterns[:, :1, :1]
    return inverse @ beyond @ inverse * unit, inverse @ own @ inverse * unit


def _positive_definite(made: Array, plain: Array) -> Array:
    """A covariance with the diagonal of `made`, at least LEAST of the plain one; correlations as near as can be."""
    size, known = np.sqrt(np.maximum(np.diag(made), MIN_RATIO * np.diag(plain))), np.sqrt(np.diag(plain))
    calm, wild = plain / np.outer(known, known), made / np.outer(size, size)
    np.fill_diagonal(wild, 1.0)
    root = np.linalg.inv(np.linalg.cholesky(calm))
    lowest = float(np.linalg.eigvalsh(root @ wild @ root.T)[0])
    part = 1.0 if lowest >= MIN_RATIO else (1 - MIN_RATIO) / (1 - lowest)
    return (part * wild + (1 - part) * calm) * np.outer(size, size)


def widening(step: LinearStep, total: Array, doubt: Array) -> Array:
    """What to multiply standard errors by, (u,), for the noise in the covariance `total`, (u, u).

    doubt: variance of its diagonal's noise but for that in A, which is added here.
    """
    patterns = step.products.patterns[:, : step.u, : step.u]
    moved = 2 * np.einsum("eji,ij->ej", step.inverse @ patterns, total)
    whole = doubt + step.products.variances @ moved**2
    return np.sqrt(1 + (LEVEL**2 + 1) / 4 * whole / np.diag(total) ** 2)


def cut_shift(step: LinearStep, scores: ResidualScores, errors: ErrorVariance) -> Array:
    """Standard deviation of what the cut may do to the coefficients, with signs: all move together.  Shape (u,)."""
    range_ = scores.residual.clip / step.unit
    if range_ >= 0.99 * step.full_range:
        return np.zeros(step.u)
    reach = range_ / math.sqrt(errors.value)
    reach *= math.sqrt(_exponential_left(reach))  # of errors that are exponential: their squares were cut as well
    sd, beyond = range_ / reach, math.exp(-1 - reach)
    inner, meat, equal = step.terms[: step.u, :-1], scores.meat, step.constant / step.rows
    slope = step.inverse @ inner @ meat.values[:, 0] - equal * meat.values[0, 0]
    moved = meat.patterns[:, :, 0] @ (step.inverse @ inner).T - np.outer(meat.patterns[:, 0, 0], equal)
    noise = np.sqrt(meat.variances @ moved**2)
    slope = np.sign(slope) * np.maximum(np.abs(slope) - noise, 0.0) * step.squares_factor(errors.value)
    slope /= _exponential_left(reach) - reach**2 * beyond
    return beyond * (sd * step.constant + (1 + reach) / (2 * sd) * slope)


def _exponential_left(reach: float) -> float:
    """Part of an exponential law's variance that cutting at `reach` standard deviations from its mean leaves."""
    return 1 - 2 * (1 + reach) * math.exp(-1 - reach)

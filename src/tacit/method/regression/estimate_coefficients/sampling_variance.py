"""The sampling variance of linear coefficients, its own uncertainty, and the bias from clipping.  Post-processing.

Sampling.  Under errors of one variance s2, M = sum e**2 x x' is s2 A, and the covariance A^-1 M A^-1 is the plain one,
s2 A^-1.  The released M is noisier than s2.  So M - s2 A is shrunk, entry by entry, with a normal prior of mean 0 and
PRIOR_SD times the plain variance as standard deviation: the posterior mean is used, and its variance is kept.

Noise in the variance.  An interval from an unbiased but noisy estimate of its variance T covers too rarely.  To second
order this is corrected by adding (z**2 + 1) / 4 times Var / T to T, Var being the variance of the estimate: Student's t
to that order, with Var / T**2 = 2 / degrees of freedom.

Clipping.  A residual beyond the range counts as the range.  If errors are a scale s(x) times a common law, clipping
moves the coefficients by -A^-1 sum x t(x), where t(x) is the mean of the part clipped off, about linear in s(x)**2.
Sums of psi**2 x tell how that depends on x, but nothing released tells how much is clipped off.  The bias that
exponential errors would have is therefore used as the standard deviation of an error of the coefficients; symmetric
errors have no such bias.  Releases since 0.2 count the rows beyond the range, and `clipping_bias` has what follows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.row_sums.noisy_crossproducts import ResidualScores

if TYPE_CHECKING:
    from tacit.method.regression.estimate_coefficients.linear_step import LinearStep

PRIOR_SD: Final = 0.5
"""Prior standard deviation of the robust minus the plain variance of a coefficient, relative to the plain variance."""
NOISE_MARGIN: Final = 0.5
"""Standard deviations of noise that are subtracted from a robust variance where it is used as the prior's scale."""
MIN_RATIO: Final = 0.1
"""Smallest robust variance, relative to the plain one."""
LEVEL: Final = 1.959964
"""Normal quantile of the level at which intervals are corrected to second order: 95%."""


@dataclass(frozen=True)
class ErrorVariance:
    """The variance of the errors, and the variance of the noise in this estimate.

    observed, spread: the noisy number that it follows from, which may be below 0, and the variance of its noise.
    """

    value: float
    noise: float
    observed: float
    spread: float


@dataclass(frozen=True)
class CoefficientSampling:
    """The covariance of the coefficients by sampling, shape (u, u).

    noise_variance: variance of the noise in its diagonal, shape (u,).  kept: weight of the robust against the plain
    covariance, shape (u, u).  moves: what each noise of squared residuals adds to the covariance, times its standard
    deviation, shape (e, u, u).  calm: the covariance with an excess that is shrunk further (`calm_excess`).
    """

    covariance: Array
    noise_variance: Array
    kept: Array
    moves: Array
    calm: Array

    @property
    def kept_share(self) -> Array:
        """The weight of the robust against the plain variance of each coefficient, shape (u,)."""
        return np.diag(self.kept)


def error_variance(step: LinearStep, scores: ResidualScores) -> ErrorVariance:
    """Return the error variance: an average, weighted by noise, of the estimates from both parts of the release.

    The second part's is the sum of psi**2 less what the step lowers it by; the first part's comes from cross-products.
    """
    rows = step.rows - step.u
    (cut, whole), noises = squares_of_residuals(step, scores)
    weight = noises[1] / (noises[0] + noises[1])
    # of rows with weights the second part's has them squared, as standard errors do, and the first part's does not
    weight = 1.0 if scores.weighted else weight
    # inverse-variance weights, of variance v0 v1 / (v0 + v1) = weight v0
    observed, spread = weight * cut + (1 - weight) * whole, weight * noises[0]
    value, noise = positive_part(observed, spread)
    return ErrorVariance(value / rows, noise / rows**2, observed / rows, spread / rows**2)


def clipped_squares(step: LinearStep, scores: ResidualScores) -> float:
    """Return by how much clipping lowers the sum of squared residuals, from both parts' noisy sums: above 0."""
    (cut, whole), noises = squares_of_residuals(step, scores)
    return positive_part(whole - cut, sum(noises))[0]


def squares_of_residuals(step: LinearStep, scores: ResidualScores) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return sums of squared residuals from b1, clipped and not, and the variances of their noises."""
    a = np.append(-step.b1, 1.0)
    cut = scores.square / step.unit**2 - step.gain
    # the noise in g moves b1 off the least sum of squares, by tr(A^-1 Cov(g)) on average
    whole = float(a @ step.products.values @ a) - float(np.trace(step.inverse @ step.noise))
    return (cut, whole), (scores.square_variance / step.unit**4, step.products.quadratic_variance(a))


def positive_part(value: float, noise: float) -> tuple[float, float]:
    """Return mean and variance of a positive number, observed as `value` with normal noise of variance `noise`."""
    sd = math.sqrt(noise)
    at = value / sd
    # the truncated normal law; its limits where the formula cancels or underflows: no truncation, or an exponential law
    if at > 8:
        return value, noise
    if at < -8:
        return sd / -at, noise / at**2
    # phi(at) / Phi(at), the inverse Mills ratio
    hazard = math.exp(-at * at / 2) * math.sqrt(2 / math.pi) / math.erfc(-at / math.sqrt(2))
    return value + sd * hazard, noise * (1 - hazard * (at + hazard))


def sampling_covariance(
    step: LinearStep, scores: ResidualScores, errors: ErrorVariance, departs: float = PRIOR_SD
) -> CoefficientSampling:
    """Return the sampling covariance: the plain one plus the shrunk excess of the sandwich.

    departs: the prior's standard deviation relative to the plain variance; inf for the sandwich without shrinkage.
    """
    u, inverse, matrix = step.u, step.inverse, step.products
    plain, (beyond, noises) = errors.value * inverse, _excess(step, scores, errors.value)
    # variance of each entry: sum over noises of variance times squared effect
    own = np.einsum("e,eij->ij", scores.meat.variances, noises**2)
    # A's noise: `widening` adds it to the doubt
    loose = errors.value * (inverse @ matrix.patterns[:, :u, :u] @ inverse)
    noise = own + np.einsum("e,eij->ij", matrix.variances, loose**2)
    # the robust variance sets the prior's scale where it exceeds the plain one by more than part of its noise
    large = np.maximum(np.diag(plain), np.diag(plain + beyond) - NOISE_MARGIN * np.sqrt(np.diag(noise)))
    prior = departs**2 * np.outer(large, large)
    kept = np.ones((u, u)) if math.isinf(departs) else prior / (prior + noise)
    # posterior variance kept times noise, and the noise in s2
    doubt = np.diag(own * kept) + errors.noise * np.diag(inverse) ** 2
    covariance = _positive_definite(plain + kept * beyond, plain)
    moves = noises * _root(scores.meat.variances)
    calm = _positive_definite(
        plain + calm_excess(beyond, np.concatenate([moves, loose * _root(matrix.variances)]), plain), plain
    )
    return CoefficientSampling(covariance, doubt, kept, kept * moves, calm)


def _root(variances: Array) -> Array:
    """Return standard deviations, of shape (e, 1, 1)."""
    return np.sqrt(variances)[:, None, None]


def calm_excess(excess: Array, patterns: Array, plain: Array) -> Array:
    """Return an excess over the plain covariance, shrunk so far that hardly any noise is left; shape (u, u).

    patterns: noises of variance 1 in it, shape (e, u, u).  On axes along which the plain variance is 1 its entries have
    a normal prior that is the same on all of them, with the variance that is found from their squares beyond those of
    the noise.  It is no basis of standard errors: a large excess of one coefficient is taken down for all others that
    have none.

    >>> one = np.diag([1.0, 0.0])[None]
    >>> calm_excess(np.diag([3.0, 0.1]), one * 0.5, np.eye(2)).round(2).tolist()
    [[2.76, 0.0], [0.0, 0.1]]
    """
    root = np.linalg.cholesky(plain)
    back = np.linalg.inv(root)
    within = back @ patterns @ back.T
    # axes along which noise is largest and least
    axes = np.linalg.eigh((within @ within).sum(axis=0))[1]
    root, found, within = root @ axes, axes.T @ (back @ excess @ back.T) @ axes, axes.T @ within @ axes
    noise = (within**2).sum(axis=0)
    # a symmetric matrix whose law is the same on all axes has half the variance off its diagonal
    same = np.where(np.eye(len(plain)) > 0, 1.0, 0.5)
    prior = max(float((found**2 - noise).sum() / same.sum()), 0.0) * same
    kept = np.divide(prior, prior + noise, out=np.zeros_like(prior), where=prior > 0)
    return np.asarray(root @ (found * kept) @ root.T)


def _excess(step: LinearStep, scores: ResidualScores, errors: float) -> tuple[Array, Array]:
    """Return A^-1 (M - s2 A) A^-1, shape (u, u), and what each noise adds to it, shape (e, u, u).

    s2 is the mean of the same squares as in M.
    """
    u, inverse, rows = step.u, step.inverse, step.rows
    meat, unit = scores.meat, step.squares_factor(errors)
    moved, equal = meat.transformed(step.terms[:u, :-1]), step.products.values[:u, :u] / rows
    # s2 A is A / rows times M's own sum of squares, so that the noise they share is counted once
    beyond = moved.values - equal * meat.values[0, 0]  # [0, 0] is the sum of squares
    own = moved.patterns - equal * meat.patterns[:, :1, :1]
    return inverse @ beyond @ inverse * unit, inverse @ own @ inverse * unit


def _positive_definite(made: Array, plain: Array) -> Array:
    """Return a positive definite covariance with the diagonal of `made`, at least MIN_RATIO times that of `plain`.

    Its correlations are those of `made`, moved towards those of `plain` as far as needed.
    """
    size, known = np.sqrt(np.maximum(np.diag(made), MIN_RATIO * np.diag(plain))), np.sqrt(np.diag(plain))
    calm, wild = plain / np.outer(known, known), made / np.outer(size, size)
    np.fill_diagonal(wild, 1.0)
    root = np.linalg.inv(np.linalg.cholesky(calm))
    # part lowest + (1 - part) = MIN_RATIO, relative to the plain correlations
    lowest = float(np.linalg.eigvalsh(root @ wild @ root.T)[0])
    part = 1.0 if lowest >= MIN_RATIO else (1 - MIN_RATIO) / (1 - lowest)
    return (part * wild + (1 - part) * calm) * np.outer(size, size)


def widening(step: LinearStep, total: Array, doubt: Array) -> Array:
    """Return factors for standard errors, shape (u,), that allow for the noise in the covariance `total`, shape (u, u).

    doubt: variance of the noise in its diagonal without the noise in A, which is added here.
    """
    patterns = step.products.patterns[:, : step.u, : step.u]
    whole = doubt + noise_of_diagonal(step.inverse, patterns, step.products.variances, total)
    return widening_factors(whole, total)


def noise_of_diagonal(inverse: Array, patterns: Array, variances: Array, total: Array) -> Array:
    """Return the variance of the diagonal of A^-1 M A^-1, `total`, by the noise in A, shape (u,); see `NoisyMatrix`."""
    # d (A^-1 M A^-1) = -A^-1 P (A^-1 M A^-1) and its transpose: the diagonal's derivative in each noise P of A
    moved = 2 * np.einsum("eji,ij->ej", inverse @ patterns, total)
    return variances @ moved**2


def widening_factors(noise: Array, total: Array) -> Array:
    """Return factors for standard errors whose squares, the diagonal of `total`, have noise of this variance."""
    return np.sqrt(1 + (LEVEL**2 + 1) / 4 * noise / np.diag(total) ** 2)

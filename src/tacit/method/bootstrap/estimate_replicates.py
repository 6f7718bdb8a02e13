"""What noisy replicates tell: averages and standard errors, as pure functions of arrays (Brawner & Honaker 2018, §7).

Given the rows, replicates T_1, ..., T_k of a linear statistic are independent, T_b = f_b + Z_b: f_b varies about the
table's own statistic with the bootstrap's variance V, Z_b is noise of a known variance v.  With s2 their sample
variance, E s2 = V + v.  The paper's estimates of V, equations 30 and 34:

    unbiased            s2 - v
    conservative        s2 - v c / (k - 1), c the alpha quantile of chi-squared with k - 1 degrees of freedom
    most conservative   s2

The average of the replicates has the variance (V + v) / k about the table's statistic, and n / (n - 1) V more about
that of the population.  Equation 35 of the paper has V + v / k: it leaves out the V / k by which averages of resampled
statistics vary, and the correction n / (n - 1).  `as_printed` and `without_noise` reproduce the paper's own numbers.

s2 is itself uncertain, most of all where it is little above v.  With nearly normal replicates (k - 1) s2 / (V + v) is
chi-squared with k - 1 degrees of freedom and independent of the average.  So V + v is known as (k - 1) s2 over that,
kept to what it can be, v and above (`total_variances`): intervals that average over it are Student's t where there is
no noise, and allow for what is known of V where there is (`estimates.uncertain_variances`).
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.base.lazy_imports import special
from tacit.errors import InferenceError
from tacit.estimates.total_errors.uncertain_variances import UncertainVariances, nodes

Errors: TypeAlias = Literal["unbiased", "conservative", "most conservative"]

ALPHA: Final = 0.05
"""How often the noise varies less than a conservative estimate of V takes it to, by default."""

NODES: Final = 96
"""Values of a variance that an interval averages over."""


def check_errors(errors: object, alpha: object) -> None:
    """Raise InferenceError I120 for an unknown kind of standard error, or an alpha that is no probability."""
    if errors not in get_args(Errors):
        text = f"errors is {described(errors)}: not one of {', '.join(get_args(Errors))}."
        raise InferenceError(text, code="I120", hint='errors="conservative"', state=None)
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 < alpha < 1:
        text = f"alpha is {described(alpha)}: not between 0 and 1."
        raise InferenceError(text, code="I120", hint="alpha=0.05", state=None)


def noise_factor(errors: Errors, replicates: int, alpha: float = ALPHA) -> float:
    """Return the part of the noise's variance that is subtracted: 1, c / (k - 1), or 0.

    >>> [round(noise_factor(one, 50), 3) for one in ("unbiased", "conservative", "most conservative")]
    [1.0, 0.692, 0.0]
    """
    if errors == "unbiased":
        return 1.0
    if errors == "most conservative":
        return 0.0
    # half of chi-squared is gamma distributed
    return 2 * float(special().gammaincinv((replicates - 1) / 2, alpha)) / (replicates - 1)


def bootstrap_variance(spread: Array, noise: Array, factor: float) -> Array:
    """Return estimates of V; negative where the noise varied less than expected and hides the spread.

    spread: sample variances s2 of the replicates.  noise: v.  factor: of `noise_factor`.
    """
    return np.asarray(spread - noise * factor, dtype=np.float64)


def population_variance(variance: Array, noise: Array, replicates: int, rows: int | None) -> tuple[Array, Array]:
    """Return the variances due to sampling and to privacy of the average of the replicates.

    variance: V.  noise: v.  rows: the number of rows drawn from, where it is public; else the correction is left out,
    which multiplicities of mean and variance 1 do not need.
    """
    sampling = variance if rows is None or rows < 2 else variance * rows / (rows - 1)
    # resampling is part of the mechanism, as the noise is
    return sampling, (variance + noise) / replicates


def with_correlations(variance: Array, crossed: Array) -> Array:
    """Return the covariance matrix of these variances and covariances, the latter made smaller until it is one.

    Covariances estimated from few noisy replicates may be larger than the variances allow: correlations are multiplied
    by the largest factor, at most 1, with which no combination of terms has a negative variance.

    >>> with_correlations(np.array([1.0, 4.0]), np.array([[0.0, 3.0], [3.0, 0.0]]))
    array([[1., 2.],
           [2., 4.]])
    """
    variance = np.maximum(variance, 0.0)
    if not crossed.any():
        return np.diag(variance)
    root = np.sqrt(variance)
    each = np.outer(root, root)
    correlations = np.divide(crossed, each, out=np.zeros_like(each), where=each > 0)
    np.fill_diagonal(correlations, 0.0)
    least = float(np.linalg.eigvalsh(correlations)[0])
    # 1 + factor * least >= 0
    factor = min(1.0, -1 / least) if least < 0 else 1.0
    return np.asarray(np.diag(variance) + factor * correlations * each, dtype=np.float64)


def total_variances(
    spread: Array,
    noise: Array,
    replicates: int,
    *,
    population: bool,
    rows: int | None,
    at: tuple[Array, Array] | None = None,
) -> UncertainVariances:
    """Return what the variance of the average may be, about the population's statistic or about the table's.

    spread: s2.  noise: v.  rows: as in `population_variance`.  About the table it is (V + v) / k; about the population
    n / (n - 1) V more.  at: probabilities at which it is wanted, with their weights, each of shape (q,).
    """
    gamma, (u, weights) = special(), nodes(NODES) if at is None else at
    half = (replicates - 1) / 2
    # (k - 1) s2 / (V + v) is at most this, as V >= 0; a noise of 0 is no bound
    most = np.full(len(spread), np.inf)
    np.divide(half * spread, noise, out=most, where=noise > 0)
    below = np.asarray(gamma.gammainc(half, most), dtype=np.float64)
    total = half * spread[:, None] / np.maximum(gamma.gammaincinv(half, below[:, None] * u), 1e-300)
    total = np.maximum(total, noise[:, None])
    if not population:
        return UncertainVariances(total / replicates, weights)
    sampling, privacy = population_variance(total - noise[:, None], noise[:, None], replicates, rows)
    return UncertainVariances(sampling + privacy, weights)


def as_printed(spread: Array, noise: float, replicates: int, factor: float) -> Array:
    """Return equation 35 as it is printed: the estimate of V, floored at 0, and v / k."""
    return without_noise(spread, noise, factor) + noise / replicates


def without_noise(spread: Array, noise: float, factor: float) -> Array:
    """Return the estimate of V alone, floored at 0: equation 35 without its noise term, as in Figure 9."""
    return np.maximum(bootstrap_variance(spread, np.asarray(noise), factor), 0.0)

"""The step from the pilot fit of a linear regression to its coefficients, on plain arrays.  Post-processing.

What is computed here, and in which symbols, is in `linear_coefficients`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.estimate_coefficients.clipping_bias import rows_beyond
from tacit.method.regression.estimate_coefficients.what_would_help import UNKNOWN, shortfall, too_few, too_noisy
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix, ResidualScores, relative_noise
from tacit.privacy import Cost
from tacit.rows.coordinates import H

MAX_RELATIVE_NOISE: Final = 0.25
"""Largest noise in the sums of products for which coefficients are reported, relative to them, in any direction."""
MAX_OF_NORMS: Final = 0.35
"""The same for rows shortened to a norm, whose noise is alike in all directions; of persons and of rows with weights
it is MAX_RELATIVE_NOISE.  Regressors that depend on each other have a direction of noise alone, which exceeds its
standard deviation 1 / 0.35 = 2.9 times in one release of 500.
"""
LEAST_KEPT: Final = 0.5
"""Least share of rows whose residual is not clipped that is believed: less is noise."""


@dataclass(frozen=True)
class LinearStep:
    """The step from the pilot fit, in terms of unit size; A and g as in the module's docstring.

    scales: size of each term, and last of the response, in its units.  products: sums of products of terms and
    response, A the first u of them.  terms: shape (u + 1, m + 1), scaled terms and response of z / H.  inverse: of A,
    shape (u, u).  b0, b1: shape (u,).  unit: psi of a residual of 1.  noise: covariance of the noise in g.  gain: by
    how much the step lowers the sum of squares.  rows: number of complete rows, public or noisy.  constant:
    coefficients of the constant 1, shape (u,).  full_range: a range of residuals that clips none.
    kept: share of the rows whose residual is not clipped, as far as it is released: the slope of a clipped residual, by
    which a step is longer.  level: whether the formula has an intercept, which makes clipped residuals 0 on average.
    """

    scales: Array
    products: NoisyMatrix
    terms: Array
    inverse: Array
    b0: Array
    b1: Array
    unit: float
    noise: Array
    gain: float
    rows: float
    constant: Array
    full_range: float
    kept: float = 1.0
    level: bool = False

    @property
    def u(self) -> int:
        """Number of coefficients."""
        return len(self.b1)

    def squares_factor(self, errors: float) -> float:
        """Return the factor from a sum of psi**2 to that of squared residuals from b1; errors: variance of these."""
        squares = errors * self.rows
        # psi**2 are squares of residuals from b0, whose sum exceeds that from b1 by the gain
        return squares / (squares + max(self.gain, 0.0)) / self.unit**2


def most_noise(*, plain: bool) -> float:
    """Return the largest relative noise that has an answer; plain: of rows shortened to a norm, without weights."""
    return MAX_OF_NORMS if plain else MAX_RELATIVE_NOISE


def linear_step(
    layout: Layout,
    crossed: NoisyMatrix,
    scores: ResidualScores,
    rows: float | None = None,
    cost: Cost | None = None,
    public: int | None = None,
) -> LinearStep | str:
    """Return the step from the pilot fit, or the reason why noise is too large for it.

    rows: number of complete rows, where cross-products do not say it.  cost, public: see `fit`.
    """
    u, m = len(layout.names), layout.size
    size = np.sqrt((layout.terms**2).sum(axis=1))
    terms = layout.terms / size[:, None]
    count = math.sqrt(crossed.quadratic_variance(np.eye(m + 1)[0]))
    # entry (0, 0) is the number of rows; below 4 standard deviations of its noise it may be none
    if rows is None and crossed.values[0, 0] < max(4 * count, u + 1):
        return too_few(float(crossed.values[0, 0]), count, u + 1, cost, public)
    moved = crossed.transformed(terms)
    A = moved.values[:u, :u]
    loose = relative_noise(moved.leading(u))
    most = most_noise(plain=scores.mixing is not None and not scores.persons and not scores.weighted)
    if not loose <= most:
        count = float(crossed.values[0, 0]) if rows is None else rows
        found = shortfall(moved.leading(u), layout.names, most, count, loose, size[:u], public)
        return too_noisy("sums of products", loose, most, found.words(cost), boxes=scores.mixing is None)
    inverse = np.asarray(np.linalg.inv(A), dtype=np.float64)
    # psi = row @ z / H, before clipping
    row = np.array(scores.residual.weights, dtype=np.float64) * (H / 2.0**scores.residual.shift)
    # psi / unit = response - b0' terms is solved for b0, which is stored only as rounded weights
    unit = float(row[m] / terms[u, m])
    target = terms[u, :m] - row[:m] / unit
    b0 = np.asarray(np.linalg.lstsq(terms[:u, :m].T, target, rcond=None)[0], dtype=np.float64)
    # the fallback's residual may be that of no coefficients; 1e-4 allows for the rounding of weights
    if np.abs(terms[:u, :m].T @ b0 - target).max() > 1e-4 * (1 + np.abs(target).max()):
        return f"the first fit told nothing of where to look: {UNKNOWN}"
    inner = terms[:u, :m]
    counted = float(crossed.values[0, 0]) if rows is None else rows
    kept = max(1 - rows_beyond(scores, counted)[0] / max(counted, 1.0), LEAST_KEPT)
    # a residual that is clipped does not change with the coefficients: Newton's step for those that do
    g, noise = inner @ scores.score / (unit * kept), scores.noise(inner) / (unit * kept) ** 2
    b1 = b0 + inverse @ g
    # the mean of E A^-1 N a is the sum over noises of variance P A^-1 P a, P the noise's pattern
    moments = moved.patterns @ np.append(-b1, 1.0)  # what each noise does to the normal equations at b1
    second = np.einsum("e,eij,ej->i", moved.variances, moved.patterns[:, :u, :u] @ inverse, moments[:, :u])
    # noise in g adds tr(A^-1 Cov(g)) to the mean of g' A^-1 g
    gain = float(g @ inverse @ g - np.trace(inverse @ noise))
    b1 = b1 - inverse @ second
    # 2 |terms[u, m]| is the response's whole range, and the pilot's widest clipping range
    ones, widest = inverse @ inner @ crossed.values[:m, 0], 2 * float(abs(terms[u, m]))
    level = layout.formula.intercept
    return LinearStep(size, moved, terms, inverse, b0, b1, unit, noise, gain, counted, ones, widest, kept, level)

"""Errors of released coefficients as those of the table's own least-squares fit.  Post-processing, on plain arrays.

The table's own fit b solves A0 b = c0, with exact sums A0 and c0.  With g0 the exact sum of x times the residuals from
the pilot fit b0, not clipped, b = b0 + A0^-1 g0.  The release says b1 = b0 + A^-1 g, so that to second order

    b1 - b = A^-1 (noise in g - E (b - b0)) + A^-1 (g1 - g0),

E being the noise in A and g1 the exact sum of x times the clipped, rounded residuals.  The first part is privacy's, as
in `linear_coefficients` but without the sampling error of b0.  The second is no noise: what clipping and rounding do.

- Rounding to whole psi adds a variance of 1/12 to each row's psi.
- Clipping at the range c takes t_i from the residual of row i.  Both parts of the release estimate the sum of squared
  residuals, one before clipping and one after; they differ by D = sum t_i (t_i + 2 c).  With t the most that can be
  clipped off, sum t_i**2 is at most T = D t / (t + 2 c), whatever the law of the errors.  Where the t_i have no
  relation to the regressors, clipping moves the coefficients with covariance A^-1 T / n.  Where errors are skewed, it
  shifts the level by at most D / (2 c n), for sum |t_i| is at most D / (2 c), and slopes as `cut_shift` says, for
  errors as skewed as exponential ones.  Releases since 0.2 count the rows that are clipped, and sum t_i**2 and the
  shifts follow from their number (`clipping_bias`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.estimate_coefficients.clipping_bias import clipped_tail, cut_covariance, cut_shift
from tacit.method.regression.estimate_coefficients.sampling_variance import ErrorVariance, clipped_squares
from tacit.method.regression.row_sums.noisy_crossproducts import ResidualScores

if TYPE_CHECKING:
    from tacit.method.regression.estimate_coefficients.linear_step import LinearStep

NOTED: Final = 0.02
"""Largest part of a variance that a note calls noise alone."""


def own_fit_errors(step: LinearStep, scores: ResidualScores, errors: ErrorVariance) -> Array:
    """Return the covariance of what clipping and rounding residuals do to the coefficients, shape (u, u)."""
    rounding = step.inverse / (12 * step.unit**2)
    tail = clipped_tail(step, scores, errors)
    if tail is not None:
        return np.asarray(rounding + step.inverse * tail.square + cut_covariance(step, scores, errors))
    range_ = scores.residual.clip / step.unit
    most = step.full_range - range_
    # at the response's whole range nothing is clipped
    if most <= 0.01 * step.full_range:
        return rounding
    squares = clipped_squares(step, scores) / step.rows
    random = step.inverse * (squares * most / (most + 2 * range_))
    level, slopes = step.constant * (squares / (2 * range_)), cut_shift(step, scores, errors)
    return np.asarray(rounding + random + np.outer(level, level) + np.outer(slopes, slopes))


def own_fit_note(part: Array) -> str:
    """Return the note on the errors of the table's own fit; part: of each variance that is not noise's, shape (u,)."""
    least = "The coefficients are those that least squares would give for this very table"
    if float(part.max()) <= NOTED:
        return f"{least}: noise alone makes the errors."
    return f"{least}: noise makes the errors, and up to {100 * float(part.max()):.0f}% allow for clipped residuals."

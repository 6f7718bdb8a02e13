"""Responses with nearly all rows in one bin: how far a slope moves if responses within their bins go with a regressor.

How the shares of people change within a bin is taken from the bins beside.  With most rows in one bin those beside hold
the tails, which say little of the others: a response may rise with a regressor within its bin, and no count shows it.
Slopes and correlations are then too near to 0.  If responses are one standard deviation of an even density above or
below the middle of their bin, by the side of its mean that the regressor is on, given the others, the slope moves by

    sum of w |x~| s / m'  over  sum of w x~**2,

x~ the regressor less its regression on the others, s the deviation within the bin, m' the derivative of the mean
response.  It moves no further, and less where errors blur who is above: a part of this counts as a standard deviation.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.solvers.problem import RegressionProblem
from tacit.fits.unknown_curvature import bins_with_rows
from tacit.fits.within_bins.cell_points import Points

ALL: Final = 1.4
"""Of a response with rows in so few bins (one over the sum of squared shares) the whole movement counts.

Five of six rows in one bin.  `benchmarks/one_bin_responses.py`: of designs below 1,000, which were looked at, slopes
were missed up to 1.34, and from 1.41 on held as often as with rows in more bins.
"""
NONE: Final = 1.6
"""None of it counts from here on: three of four rows in one bin."""
PART: Final = 0.5
"""Part of the movement that counts as a standard deviation: it is two of these at most."""


def hidden_part(points: Points, axis: CellAxis) -> float:
    """Return the part of the movement that counts, between 0 and PART, of an axis.

    Bins of one value hide nothing, and have no part in how many bins have rows.
    """
    margin = points.margins[points.cells.names.index(axis.name)]
    if margin is None:
        return 0.0
    even = bins_with_rows(margin.counts[: axis.bins] * (axis.within > 0), margin.variance)
    return PART * min(max((NONE - even) / (NONE - ALL), 0.0), 1.0)


def responses_moved(points: Points, problem: RegressionProblem, axis: CellAxis, theta: Array) -> Array:
    """Return the covariance, shape (p, p), of how far responses within their bins may move coefficients.

    axis: the response's.  theta: coefficients, shape (p,).  A constant is left: where all responses lie within their
    bins is an error of its own (`bin_doubts`).
    """
    X, part = problem.X, hidden_part(points, axis)
    p = X.shape[1]
    if part == 0:
        return np.zeros((p, p))
    weights = points.spread(np.maximum(points.cells.counts, 0.0), edges=False)
    times = len(points.position(axis)[1]) // axis.bins
    within = points.along(axis.name, np.repeat(axis.within, times))
    slope = np.maximum(np.abs(problem.loss.slope(X @ theta)), 1e-12)
    moved = np.zeros(p)
    for j in np.flatnonzero(np.ptp(X, axis=0) > 0):
        own = _alone(X, int(j), weights)
        total = float(weights @ own**2)
        moved[j] = part * float(weights @ (np.abs(own) * within / slope)) / total if total > 0 else 0.0
    return np.diag(moved**2)


def products_moved(points: Points, at: int, deviations: Array, size: float) -> float:
    """Return how far values of one of two axes within their bins may move the mean product of both, in its units.

    at: place of the axis.  deviations: of the other column's values from their mean, shape (points,).
    """
    axis = points.cells.axes[at]
    part = hidden_part(points, axis)
    if part == 0:
        return 0.0
    weights = points.spread(np.maximum(points.cells.counts, 0.0), edges=False)
    times = len(points.position(axis)[1]) // axis.bins
    within = points.along(axis.name, np.repeat(axis.within, times))
    return part * float(weights @ (np.abs(deviations) * within)) / size


def _alone(X: Array, j: int, weights: Array) -> Array:
    """Return column j of X less its weighted regression on the others, shape (points,)."""
    root, others = np.sqrt(weights), np.delete(X, j, axis=1)
    found = np.linalg.lstsq(others * root[:, None], X[:, j] * root, rcond=None)[0]
    return X[:, j] - others @ found

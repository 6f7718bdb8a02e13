"""How much of the curvature that carries a coefficient is known: the spread of its regressor where bins hide it.

With all rows in two bins of a column, their distance may be anything up to two bins' widths: densities that meet at the
edge between are as good as even ones.  A slope is the response's difference over this distance, and moves in proportion.
Errors that add to a slope (`bin_errors`) are small parts of it in bins that show a column's shape; where they are of the
slope's own size they are no standard deviations any more: the truth may be several times the estimate, on one side.

Of coefficient j the curvature is 1 / (H^-1)_jj, for a line the sum of squares of its regressor given the others: in the
direction d = H^-1 e_j the Hessian's d'H d, over itself.  What is not known of it is found as that of any sum over points.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.bin_errors import bin_errors
from tacit.fits.cell_points import Points
from tacit.fits.problem import RegressionProblem
from tacit.fits.sandwich import inverted

LARGEST: Final = 0.4
"""Largest part of a coefficient's curvature that may be unknown, as a standard deviation.

Slopes of 95 designs with bounds four times too wide held in 95% of their answers where it was less, and in 80% where it
was .5 or more (`benchmarks/coarse_regressors.py`, the designs it was chosen on).
"""


def unknown_curvature(points: Points, problem: RegressionProblem, theta: Array, hessian: Array) -> Array:
    """Return what is not known of each coefficient's curvature, as a part of it, shape (p,).

    theta: coefficients, shape (p,).  hessian: at these, shape (p, p).
    """
    inverse = inverted(hessian)
    own = np.diag(inverse)
    along = problem.X @ inverse
    each = problem.curvatures(theta)[:, None] * along**2 / np.where(own > 0, own, np.inf)
    found = np.sqrt(np.maximum(np.diag(bin_errors(points, each).unknown), 0.0))
    # a constant is where the other terms lead: as well known as these
    constant = np.ptp(problem.X, axis=0) == 0
    return np.where(constant, found[~constant].max(initial=0.0), found)


def unknown_reasons(unknown: Array) -> tuple[str | None, ...]:
    """Return for each coefficient why its standard error does not hold, or None.

    >>> unknown_reasons(np.array([0.1, 0.75]))[0] is None
    True
    """
    return tuple(
        f"where values lie within their bins may move the curvature by {100 * one:.0f}% (at most {100 * LARGEST:.0f}% "
        "is safe): nearly all rows are in two or three bins, whose distance is not known; narrower bounds or more bins"
        if one > LARGEST
        else None
        for one in unknown
    )

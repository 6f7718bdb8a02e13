"""How much of the curvature that carries a coefficient is known: the spread of its regressor where bins hide it.

With all rows in two bins of a column, how far apart they are is between nothing and two bins: densities that meet at
the edge between are as good as even ones.  A slope is the response's difference over this distance, and moves with it.
Errors that add to a slope (`bin_errors`) are small parts of it in bins that show a column's shape; where they are of
its own size they are no standard deviations any more: the truth may be several times the estimate, on one side.  Noise
makes it worse: rows that it puts into empty bins far out lower the slope, and what is not known of it as well.

Of coefficient j the curvature is 1 / (H^-1)_jj, for a line the sum of squares of its regressor given the others: in
the direction d = H^-1 e_j the Hessian's d'H d, over itself.  What is not known of it is that of any sum over points.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.solvers.problem import RegressionProblem
from tacit.fits.within_bins.bin_errors import bin_errors
from tacit.fits.within_bins.cell_points import Points

LARGEST: Final = 0.4
"""Largest part of a coefficient's curvature that may be unknown, as a standard deviation, of rows in few bins.

Both limits are from designs with bounds four times too wide, of laws drawn at random, whose slopes held in six of ten
answers beyond them.  `benchmarks/answers_from_bins.py` has designs that were drawn afterwards.
"""
FEW: Final = 2.2
"""Rows are in few bins of a column where one over the sum of their squared shares is less.

Of two even ones with next to nothing beside it is 2.  Limits of 3 took the answers of 227 releases of other designs,
of which 93% had held: where a third bin has rows the standard errors have what is not known.
"""


def unknown_curvature(points: Points, problem: RegressionProblem, theta: Array, inverse: Array) -> Array:
    """Return what is not known of each coefficient's curvature, as a part of it, shape (p,).

    theta: coefficients, shape (p,).  inverse: of the Hessian at these, shape (p, p).
    """
    own = np.diag(inverse)
    along = problem.X @ inverse
    each = problem.curvatures(theta)[:, None] * along**2 / np.where(own > 0, own, np.inf)
    found = np.sqrt(np.maximum(np.diag(bin_errors(points, each, told=False).unknown), 0.0))
    # a constant is where the other terms lead: as well known as these
    constant = np.ptp(problem.X, axis=0) == 0
    return np.where(constant, found[~constant].max(initial=0.0), found)


def bins_with_rows(counts: Array, variance: float) -> float:
    """Return one over the sum of squared shares of noisy counts, shape (K,): of even ones their number.

    >>> bins_with_rows(np.array([0.0, 50.0, 50.0, 0.0]), 0.0)
    2.0
    """
    squares = float((counts**2).sum()) - len(counts) * variance
    return float(counts.sum()) ** 2 / squares if squares > 0 else float(len(counts))


def unknown_reasons(
    points: Points, regressors: tuple[str, ...], problem: RegressionProblem, theta: Array, inverse: Array
) -> tuple[str | None, ...]:
    """Return for each coefficient why its standard error does not hold as bins hide where values lie, or None.

    regressors: names of the right side's columns.
    """
    coarse = [
        name
        for name, one in zip(points.cells.names, points.margins, strict=True)
        if one is not None and name in regressors and bins_with_rows(one.counts, one.variance) < FEW
    ]
    if not coarse:
        return (None,) * len(theta)
    return tuple(
        f"nearly all rows are in two or three bins of {' and '.join(coarse)}: how far apart they are there may move "
        f"the curvature by {100 * one:.0f}% (at most {100 * LARGEST:.0f}% is safe); narrower bounds, or more bins"
        if one > LARGEST
        else None
        for one in unknown_curvature(points, problem, theta, inverse)
    )

"""Whether residuals within bins are as a model has them: how far a fit moves if they are.

How the shares of people change within a bin is taken from the bins beside (`bin_rules.shares`), as lines and
parabolas, whatever the model.  A model says it too: at true coefficients residuals have mean 0 at every value of the
regressors, so that nothing within a bin is for or against a slope.  With such residuals people of a bin count at the
mean of its regressors: sum w m'(y, x'b) x becomes sum w m'(y, x'b) x~, x~ the mean of x in the cell of the regressors.
Where both agree, as in narrow bins, the fit stays; where a share bends sharply within a bin, as of a logistic law in a
wide one, it moves, and by how much is not known.  Of the movement its noise is left out, and what the curvature of
shares already counts for.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.solvers.problem import RegressionProblem
from tacit.fits.within_bins.bin_errors import less_noise
from tacit.fits.within_bins.cell_points import Points

PART: Final = 0.75
"""Part of the movement that counts as not known.

Logistic and Poisson slopes in bins that double, or are typed, were off by 1 to 1.3 times the movement where they were
off most, of which the error of densities within bins is a part of its own.
"""
CLEAR: Final = 4.0
"""Cells of regressors count by n**2 / (n**2 + CLEAR v), v the variance of the noise of n."""


def residuals_moved(
    points: Points,
    problem: RegressionProblem,
    regressors: tuple[str, ...],
    theta: Array,
    weights: Array,
    inverse: Array,
    curved: Array,
) -> Array:
    """Return the covariance, shape (p, p), of what a fit moves if residuals within bins are as the model has them.

    regressors: names of the right side's columns.  theta: coefficients, shape (p,).  weights: of the points.  inverse:
    of the Hessian, shape (p, p).  curved: variances that stand for the curvature of shares already, shape (p,).
    """
    grid = _Grid(points, regressors)
    p = problem.X.shape[1]
    if grid.inner == 1:
        return np.zeros((p, p))
    slope, X = grid.of(problem.slope(theta)), grid.of(problem.X)[:, :, 0]
    w = grid.of(weights)
    # residuals and rows by cell of the regressors and place in it, shape (cells, places)
    residual, rows = (w * slope).sum(axis=2), w.sum(axis=2)
    total = rows.sum(axis=1)
    safe = np.where(total > 0, total, np.inf)
    clear = np.maximum(total, 0.0) ** 2 / (total**2 + CLEAR * points.cells.variance * grid.summed + 1e-300)
    mean = residual.sum(axis=1) / safe
    center = np.einsum("cj,cjp->cp", rows, X) / safe[:, None]
    step = -inverse
    moved = np.einsum("cj,cjp,c->p", rows * mean[:, None] - residual, X, clear) @ step
    # what a row more at a point does to this
    apart = ((X - center[:, None]) * clear[:, None, None]) @ step
    each = (mean[:, None, None] - slope)[..., None] * apart[:, :, None]
    influence = points.gather(grid.back(each))
    spread = np.maximum(points.cells.counts.reshape(-1), 0.0) + points.cells.variance
    return less_noise(PART * moved, PART**2 * (spread @ influence**2) + curved)


class _Grid:
    """Points by cell of the regressors, place in it, and the rest: shape (cells, inner, others)."""

    def __init__(self, points: Points, regressors: tuple[str, ...]) -> None:
        names, split, at = points.cells.names, list[int](), 0
        outer, inner, others = list[int](), list[int](), list[int]()
        for name, rule, size in zip(names, points.rules, points.shape, strict=True):
            if name not in regressors:
                split.append(size)
                others.append(at)
                at += 1
                continue
            times = rule.offsets.shape[1] if rule else 1
            split += [size // times, times]
            outer.append(at)
            inner.append(at + 1)
            at += 2
        self._split, self._order = tuple(split), (*outer, *inner, *others)
        self.inner = math.prod(split[i] for i in inner)
        self.summed = math.prod(points.cells.axes[i].bins for i, name in enumerate(names) if name not in regressors)
        self._shape = (math.prod(split[i] for i in outer), self.inner, math.prod(split[i] for i in others))

    def of(self, values: Array) -> Array:
        """Return values at points, shape (points, ...), in this order: (cells, inner, others, ...)."""
        rest = values.shape[1:]
        made = values.reshape(*self._split, *rest)
        tail = tuple(range(len(self._split), made.ndim))
        return made.transpose(*self._order, *tail).reshape(*self._shape, *rest)

    def back(self, values: Array) -> Array:
        """Undo `of`."""
        rest = values.shape[3:]
        made = values.reshape(*(self._split[i] for i in self._order), *rest)
        tail = tuple(range(len(self._split), made.ndim))
        return made.transpose(*np.argsort(self._order), *tail).reshape(-1, *rest)

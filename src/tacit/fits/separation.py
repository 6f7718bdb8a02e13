"""Separation in noisy cells: whether rows on the wrong side of a binary regression are more than noise.

Where the regressors tell the response without error, estimates run off to infinity [Albert & Anderson 1984].  In noisy
counts they stop where noise puts rows on the wrong side, at a place that says nothing, with a standard error that says
nothing either.  So the rows whose whole cell is on the wrong side of the fit, and the rarer response of each level of a
factor, must be more than their noise; otherwise there is a reason.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.model_matrix import Design
from tacit.fits.solvers.problem import RegressionProblem
from tacit.fits.within_bins.cell_points import Points

CLEAR: Final = 3.0
"""Standard deviations of noise above which rows on the wrong side are there."""


def separated(points: Points, made: Design, problem: RegressionProblem, theta: Array) -> list[str | None]:
    """Return for each term why its estimate may be infinite, or None; nothing for responses that are not 0 and 1."""
    none: list[str | None] = [None] * len(problem.names)
    response = made.axis
    if problem.loss.sees != "share" or response is None or response.kind != "levels" or response.bins != 2:
        return none
    if not _overlap(points, response, problem.X @ theta):
        reason = (
            "separation: no more rows than noise are on the other side of the bin where the response changes, and "
            "estimates may run off to infinity; narrower bins, or a larger budget"
        )
        return [reason for _ in none]
    for axis in points.cells.axes:
        if axis.name != response.name and axis.kind == "levels" and (axis.numbers is None or axis.bins == 2):
            for level, label in _lonely(points.cells, axis, response):
                inside = points.along(axis.name, (np.arange(axis.bins) == level).astype(float)) > 0
                # terms that are there for this level alone; of a reference level, all
                own = [not made.X[~inside, j].any() for j in range(len(none))]
                reason = f"separation: {axis.name} {label} has one response but for noise: an estimate runs off"
                none = [old or (reason if mine or not any(own) else None) for old, mine in zip(none, own, strict=True)]
    return none


def _overlap(points: Points, response: CellAxis, eta: Array) -> bool:
    """Return whether rows whose whole cell is on the wrong side of the fit are more than noise."""
    cells = points.cells
    # points of a cell are last along each axis: (bins, points a bin) for every axis
    sizes = [
        size for axis, whole in zip(cells.axes, points.shape, strict=True) for size in (axis.bins, whole // axis.bins)
    ]
    each = eta.reshape(sizes)
    own = tuple(range(1, len(sizes), 2))
    high, low = each.max(axis=own), each.min(axis=own)
    # 0 and 1 along the response's axis
    at = cells.names.index(response.name)
    y = np.arange(2.0).reshape([2 if i == at else 1 for i in range(len(cells.axes))])
    wrong = ((y > 0) & (high < 0)) | ((y == 0) & (low > 0))
    # by how many of them the fit expects there: the most telling weights, if it is right
    weight = np.where(wrong, np.exp(-np.logaddexp(0.0, np.minimum(np.abs(high), np.abs(low)))), 0.0)
    noise = cells.variance * float((weight**2).sum()) - cells.shared * float(weight.sum()) ** 2
    found = float((cells.counts * weight).sum())
    return found > CLEAR * np.sqrt(max(noise, 0.0)) or not wrong.any()


def _lonely(cells: CellCounts, axis: CellAxis, response: CellAxis) -> list[tuple[int, str]]:
    """Return the levels of a factor, with labels, that have rows, all of one response as far as noise lets see."""
    table = cells.margin((axis.name, response.name))
    noise = CLEAR * np.sqrt(table.own_variance)
    seen = table.counts[: axis.bins, :2] > noise
    labels = axis.labels or ()
    return [(level, labels[level]) for level in range(axis.bins) if seen[level].sum() == 1]

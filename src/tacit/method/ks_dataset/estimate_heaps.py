"""Rows at single points of cells, as the points of a data set show them: heaps that nobody declared.

A cell that clearly has more than the mean of the two beside it may have what is beyond that at one point, anywhere in
it.  The middle is taken; the way to either end of the cell counts as not known, as a standard deviation, all cells one
way and each on its own (`fits.heaps.bin_heaps` says why a 95% interval then holds).  Where the law is smooth nothing is
clear, and nothing is added.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array

CLEAR: Final = 3.0
"""Standard deviations beyond the mean of its neighbours from which a cell's points are no accident."""


def heaped_shares(shares: Array, errors: Array) -> Array:
    """Return which shares of the rows may be at one point of each cell, shape (m,); none of the first and the last.

    shares: of all cells.  errors: draws of their errors, shape (draws, m).

    >>> heaped_shares(np.array([0.1, 0.1, 0.6, 0.1, 0.1]), np.full((9, 5), 0.01)).tolist()
    [0.0, 0.0, 0.5, 0.0, 0.0]
    """
    beyond = _beyond(shares[None, :])[0]
    spread = np.sqrt((_beyond(errors) ** 2).mean(axis=0))
    found = np.zeros(len(shares))
    found[1:-1] = np.where((beyond > CLEAR * spread) & (beyond > 0), beyond, 0.0)
    return found


def unknown_places(heaped: Array, reach: Array, away: Array) -> Array:
    """Return the covariance of what is not known of mean and variance, shape (2, 2).

    heaped: shares at one point of each cell.  reach: from its middle to its last value.  away: of its middle from the
    mean.
    """
    tilt = np.stack([heaped * reach, 2 * away * heaped * reach])
    # even rows of a cell have a third of reach**2 as their variance; those at a point have none, or reach**2 off
    bend = 2 / 3 * float((heaped * reach**2).sum())
    one_way = tilt.sum(axis=1)
    return np.outer(one_way, one_way) + tilt @ tilt.T + np.diag([0.0, bend**2])


def _beyond(values: Array) -> Array:
    """Return what inner cells have beyond the mean of the two beside them, shape (rows, m - 2)."""
    return values[:, 1:-1] - (values[:, :-2] + values[:, 2:]) / 2

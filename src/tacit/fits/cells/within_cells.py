"""Places within bins, from how the density rises from one cell to the next.  Plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array

STEPS: Final = 3
"""Newton's, from the exponential's place."""


@dataclass(frozen=True)
class BinShape:
    """Densities within bins on [0, 1], exp(rise u) made one, plus hollow (1 - 6 u + 6 u**2), 0 or more.

    rise, hollow: of any one shape; `at` takes those of rows.
    """

    rise: Array
    hollow: Array

    def at(self, cells: tuple[NDArray[np.int64], ...]) -> BinShape:
        """Return the shapes in the cells of n rows, given by indices along each column, shape (n,) each."""
        return BinShape(self.rise[cells], self.hollow[cells])

    def places(self, share: Array) -> Array:
        """Return the places at shares of the density, shape (n,).

        >>> shape = BinShape(np.zeros(3), np.array([0.0, 0.5, -0.5]))
        >>> shape.places(np.full(3, 0.25)).round(3)
        array([0.25 , 0.202, 0.293])
        """
        found = places_within(self.rise, share)
        size = np.maximum(np.abs(self.rise), 1e-6)
        # never so hollow that the density is below 0 where the exponential is least
        least = size / np.expm1(np.minimum(size, 500.0))
        hollow = np.clip(self.hollow, -least, least)
        if not hollow.any():
            return found
        k = np.where(np.abs(self.rise) < 1e-6, 1e-6, self.rise)
        # from the end towards which the exponential falls: no overflow
        back, a = k > 0, np.abs(k)
        for _ in range(STEPS):
            v = np.where(back, 1 - found, found)
            left = -np.expm1(-a * v) / -np.expm1(-a)
            below = np.where(back, 1 - left, left) + hollow * found * (1 - found) * (1 - 2 * found)
            density = a * np.exp(-a * v) / -np.expm1(-a) + hollow * (1 - 6 * found * (1 - found))
            # where there is next to no density steps are shorter, and nothing depends on the place
            found = np.clip(found - (below - share) / np.maximum(density, 0.2), 0.0, 1.0)
        return found


def slopes_within(probabilities: Array, widths: tuple[Array | None, ...]) -> tuple[Array | None, ...]:
    """Return along each column by how much the logarithm of the density rises over each cell, from its neighbours.

    widths: of the bins of a column, shape (bins,), or None for levels; cells after the bins (missing values, beyond
    the bounds) have slope 0.  An end bin has the slope between it and its neighbour; where a neighbour is empty, the
    slope is 0.  Arrays of the shape of the probabilities, or None.

    A cell's probability is the mean of the density over it, whose logarithm's slope is g' = l' + h**2 l' l'' / 12 to
    second order in the widths h (of each column; for a normal density exactly so, as a covariance of V + h**2 / 12 has
    taken the place of V): what is returned is l', from differences of g.

    >>> exponential = np.exp(-np.arange(4.0))
    >>> slopes_within(exponential, (np.ones(4),))[0]
    array([-1., -1., -1., -1.])
    """
    with np.errstate(divide="ignore"):
        log = np.log(probabilities)
    binned = [axis for axis, h in enumerate(widths) if h is not None]
    for axis in binned:
        log = log - np.log(_padded(widths[axis], axis, log.shape))
    raw = {axis: _rise(log, axis, widths[axis]) for axis in binned}
    found = dict[int, Array]()
    for axis in binned:
        h = _padded(widths[axis], axis, log.shape)
        bend = sum(h * _rise(raw[axis] / h, other, widths[other]) * raw[other] for other in binned)
        found[axis] = raw[axis] - np.clip(bend / 12, -np.abs(raw[axis]) / 2, np.abs(raw[axis]) / 2)
    return tuple(found.get(axis) for axis in range(len(widths)))


def _padded(widths: Array | None, axis: int, shape: tuple[int, ...]) -> Array:
    """Return widths of the cells of a column, 1 for those after its bins, in a shape that broadcasts to the cells."""
    assert widths is not None
    found = np.append(widths, np.ones(shape[axis] - len(widths)))
    return found.reshape([-1 if i == axis else 1 for i in range(len(shape))])


def _rise(values: Array, axis: int, widths: Array | None) -> Array:
    """Return by how much values rise over each bin of a column, from its neighbours; 0 where that is not finite."""
    assert widths is not None
    v = np.moveaxis(values, axis, 0)
    found = np.zeros_like(v)
    bins = len(widths)
    if bins > 1:
        wide = (slice(None), *(None,) * (v.ndim - 1))
        middles = np.cumsum(widths) - widths / 2
        left, right = np.maximum(np.arange(bins) - 1, 0), np.minimum(np.arange(bins) + 1, bins - 1)
        with np.errstate(invalid="ignore"):
            rise = (v[right] - v[left]) / (middles[right] - middles[left])[wide] * widths[wide]
        found[:bins] = np.where(np.isfinite(rise), rise, 0.0)
    return np.moveaxis(found, 0, axis)


def places_within(slope: Array, share: Array) -> Array:
    """Return places in [0, 1] with density in proportion to exp(slope * place), at shares of it; shapes (n,).

    >>> places_within(np.array([0.0, 2.0, -2.0]), np.array([0.5, 0.5, 0.5])).round(3)
    array([0.5  , 0.717, 0.283])
    """
    flat = np.abs(slope) < 1e-8
    k = np.where(flat, 1.0, slope)
    # from the end towards which it rises: no overflow for a steep one
    a = np.abs(k)
    from_end = -np.log1p((1 - np.where(k > 0, share, 1 - share)) * np.expm1(-a)) / a
    return np.where(flat, share, np.where(k > 0, 1 - from_end, from_end))

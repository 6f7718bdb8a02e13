"""Shares at or below values, and moments, as weighted sums of the shares of all cells.  Plain arrays.

Where the column declares heaps, half of a cell's rows are taken to be at its heaps (`fits.heaps.heaped_cells`).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.densities.column_values import JointColumn
from tacit.fits.heaps.heaped_cells import HeapedCells
from tacit.method.kernel_density.estimate_kernel import KernelFit, ends_of
from tacit.release.parts import Axis

FINE: Final = 4_096
"""Places of the grid over which distribution functions and moments are integrated."""


def below(fit: KernelFit, one: JointColumn, axis: Axis, ends: Array) -> tuple[Array, Array]:
    """Return weights of the shares below places of the support, (n, cells), and what is not known of them, (n,).

    fit: of the column alone.  ends: in its units.
    """
    whole, t = integrated(fit, one), (ends - one.lower) / one.length
    each_cell: list[Array] = [np.interp(t, np.linspace(0, 1, FINE + 1), own) for own in whole.T]
    weights: Array = np.stack(each_cell, axis=1)
    off = _off(fit, one, axis, np.clip(t, 0.0, 1.0))
    heaped = HeapedCells.of(ends_of(axis), axis.heaped_at)
    if heaped is None:
        return weights, off
    cells = weights.shape[1]
    cell = np.clip(np.searchsorted(heaped.edges, ends + 1e-9 * one.length, side="right") - 1, 0, cells - 1)
    before, each = np.tri(cells, cells, -1)[cell], fit.probable[cell]
    smooth = np.divide((weights - before) @ fit.probable, each, out=np.zeros(len(ends)), where=each > 0)
    taken, unknown = heaped.below(cell, ends, np.clip(smooth, 0.0, 1.0))
    moved = np.flatnonzero(unknown > 0)
    # the share of the cell's own rows
    weights[moved] = before[moved] + taken[moved, None] * np.eye(cells)[cell[moved]]
    # both are of where in their cells rows are
    return weights, np.maximum(unknown * each, off)


def _off(fit: KernelFit, one: JointColumn, axis: Axis, t: Array) -> Array:
    """Return what shares below places t are seen to be off by, but for declared heaps, (n,): of cells of these."""
    own = fit if axis.heaped_at is None else fit.of_whole_heaps(ends_of(axis), axis.heaped_at)
    if own is None or own.reason is not None:
        return np.zeros(len(t))
    whole = integrated(own, one)
    each_cell: list[Array] = [np.interp(t, np.linspace(0, 1, FINE + 1), column) for column in whole.T]
    shapes = own.shapes(one.unit / one.length)
    return own.beside(np.stack(each_cell, axis=1), shapes.below(t), shapes, t)


def first_moments(fit: KernelFit, one: JointColumn, axis: Axis) -> tuple[Array, Array]:
    """Return weights of the first two moments on [0, 1], (2, cells), and what all rows at heaps would add, (cells, 2).

    fit: of the column alone.
    """
    middles, (edges,) = (np.arange(FINE) + 0.5) / FINE, fit.edges
    parts, powers = np.diff(integrated(fit, one), axis=0), np.stack([middles, middles**2])
    heaped = HeapedCells.of(ends_of(axis), axis.heaped_at)
    cells = parts.shape[1]
    if heaped is None:
        return powers @ parts, np.zeros((cells, 2))
    # of each cell what its places add, shape (2, cells of places, cells of weights)
    starts = np.searchsorted(middles, edges[:-1])
    smooth = np.stack([np.add.reduceat(power[:, None] * parts, starts, axis=0) for power in powers])
    center, square = heaped.moments()
    at = (center - one.lower) / one.length
    # the variance within values, which is taken off again, is that of spread values
    spread = (square - center**2 + one.within) / one.length**2
    heaps = np.stack([at, at**2 + spread])[:, :, None] * np.eye(cells)
    away = np.where(heaped.own[:, None], heaps - smooth, 0.0)
    return (smooth + away / 2).sum(axis=1), (away @ fit.probable).T


def integrated(fit: KernelFit, one: JointColumn) -> Array:
    """Return the weights of the integral of the density from 0 on, at FINE + 1 places, shape (FINE + 1, cells).

    At the ends of a cell it is the sum of the cells before, which has no bias; within cells it follows the polynomials,
    or is even where a cell is one whole number, day or multiple.
    """
    places, (edges,) = np.linspace(0, 1, FINE + 1), fit.edges
    own = np.zeros((FINE + 1, len(edges) - 1))
    single = float(np.median(np.diff(edges))) * one.length < 1.5 * one.unit
    if not single:
        (weights,) = fit.weights(fit.limiting, ((places[1:] + places[:-1]) / 2)[:, None])
        own[1:] = np.cumsum(weights, axis=0) / FINE
    exact = np.tri(len(edges), len(edges) - 1, -1)
    for cell in range(len(edges) - 1):
        missed = exact[:, cell] - np.interp(edges, places, own[:, cell])
        own[:, cell] += np.interp(places, edges, missed)
    return own

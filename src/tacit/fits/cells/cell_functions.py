"""Public functions of cells whose means a log-linear model keeps: of one column, of two, of three.  Plain arrays.

Of one column: of levels the indicators of those that the counts can tell from noise; of numbers the shares of groups of
neighbouring bins, each large enough to be told from noise, and the mean and mean square of the bins' middles.
Of two: products of the middles and of their squares, means and mean squares of numbers by level, and shares of levels
by level.  Of three: the products of the first function of each.  Cells for missing values and values beyond the bounds
are levels of their own.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellAxis

CLEAR: Final = 4.0
"""A group of bins, or a level, is told from the others where it holds this many standard deviations of its noise."""


def functions(axes: tuple[AxisFunctions, ...], order: int) -> Array:
    """Return the functions of all cells, shape (cells, p), centred on even cells; order: of how many columns."""
    shape = tuple(axis.size for axis in axes)
    made = [_spread(one, (i,), shape) for i, axis in enumerate(axes) for one in axis.own]
    for size in range(2, min(order, len(axes)) + 1):
        for places in combinations(range(len(axes)), size):
            made += [_spread(one, places, shape) for one in _products([axes[i] for i in places])]
    found = np.stack(made, axis=1) if made else np.zeros((int(np.prod(shape)), 0))
    return found - found.mean(axis=0)


def number_of_functions(axes: tuple[AxisFunctions, ...], order: int) -> int:
    """Return how many functions `functions` makes."""
    many = sum(len(axis.own) for axis in axes)
    for size in range(2, min(order, len(axes)) + 1):
        for some in combinations(axes, size):
            many += int(np.prod([len(_main(axis, size)) for axis in some]))
    return many


class AxisFunctions:
    """Functions of one column: `own` of its margin, `main` for products with others; shape (cells,) each."""

    def __init__(self, axis: CellAxis, possible: NDArray[np.int64], counts: Array, noise: float) -> None:
        """possible: indices of the axis's cells that are used, shape (cells,).

        counts: of the column's margin, in these.  noise: standard deviation of each.
        """
        self.size = len(counts)
        bins = int((possible < axis.bins).sum())
        self.numeric = (axis.kind == "continuous" or axis.numbers is not None) and bins > 2
        levels = list(_levels(counts, noise, bins if self.numeric else 0))
        if not self.numeric:
            # the last is known from the others
            self.own, self.main = tuple(levels[:-1]), tuple(levels[:-1])
            return
        inside = (np.arange(self.size) < bins).astype(np.float64)
        x = inside * _scores(axis.centers[possible[:bins]], self.size)
        square = inside * (x**2 - float((x**2).sum()) / bins)
        groups = [_indicator(self.size, group) for group in _groups(counts[:bins], noise)]
        self.own = (*groups[:-1], x, square, *levels)
        self.main = (x, square, *levels)


def _scores(middle: Array, size: int) -> Array:
    """Return the middles of bins on [-1, 1]; 0 for other cells."""
    center, half = (middle[0] + middle[-1]) / 2, (middle[-1] - middle[0]) / 2
    return np.append((middle - center) / half, np.zeros(size - len(middle)))


def _groups(counts: Array, noise: float) -> list[Array]:
    """Return indices of neighbouring bins whose counts together are clear of their noise; every bin is in one."""
    groups, now, held = list[list[int]](), list[int](), 0.0
    for i, count in enumerate(counts.tolist()):
        now.append(i)
        held += count
        if held > CLEAR * noise * len(now) ** 0.5:
            groups.append(now)
            now, held = [], 0.0
    if now and groups:
        groups[-1] += now
    return [np.array(one) for one in (groups or [now])]


def _levels(counts: Array, noise: float, first: int) -> list[Array]:
    """Return indicators of the cells from `first` on that are clear of noise, and of all the others together."""
    size = len(counts)
    clear = [i for i in range(first, size) if counts[i] > CLEAR * noise]
    rest = [i for i in range(first, size) if i not in clear]
    found = [_indicator(size, np.array([i])) for i in clear]
    return [*found, _indicator(size, np.array(rest))] if rest else found


def _indicator(size: int, at: Array) -> Array:
    found = np.zeros(size)
    found[at.astype(np.int64)] = 1.0
    return found


def _products(axes: list[AxisFunctions]) -> list[Array]:
    """Return products of the columns' functions, shape (cells of the first, ...) each."""
    found = [np.ones(())]
    for axis in axes:
        found = [one[..., None] * other for one in found for other in _main(axis, len(axes))]
    return found


def _main(axis: AxisFunctions, columns: int) -> tuple[Array, ...]:
    """Return a column's functions in products of so many columns: of three only means, and levels."""
    return axis.main if columns == 2 or not axis.numeric else axis.main[:1]


def _spread(one: Array, places: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """Return a function of some columns as one of all cells, shape (cells,)."""
    wide = [shape[i] if i in places else 1 for i in range(len(shape))]
    return np.broadcast_to(one.reshape(wide), shape).reshape(-1)

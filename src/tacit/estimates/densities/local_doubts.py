"""Where counts of neighbouring cells say more than a smooth estimate of their density resolves.

Of every cell the residual is its noisy share less what the estimate says of it.  Compared with 0 are sums of residuals
over 1 to LONGEST neighbouring cells, which a spike or a pole makes large, and the difference of the sums of as many
cells to the left and to the right of an edge, which a jump makes large; each in its own standard errors.  The largest
of all exceeds its quantile under no doubt in a share RATE of releases: that quantile is found from draws of the errors,
Laplace noises included.
What is not found here may still be there: no test from the release alone finds every jump or spike, and no band of a
width that adapts holds a density that may have them [Low 1997; Genovese & Wasserman 2008].  Limits are therefore
of the density as far as it is resolved, and this says where that is known to differ.
Plain arrays; post-processing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array

LONGEST: Final = 4
"""Most cells of a sum."""
RATE: Final = 0.03
"""Share of releases of a density without doubt in which one is found: of the smallest quantile that draws have."""
LEAST: Final = 0.1
"""Standard error of a sum of residuals, in that of the shares themselves, below which it says nothing."""
USUAL: Final = 0.9
"""Quantile of the mean squared residual, under no misfit, up to which it is taken for noise."""
DRAWS: Final = 1_000
"""Draws of the errors of all residuals."""


def doubted(residuals: Array, drawn: Array, errors_of_cells: Array) -> NDArray[np.bool_]:
    """Return the cells in doubt, shape (cells,): those of the largest sum or difference, then of others not near it.

    residuals: shape (cells,).  drawn: draws of their errors, shape (draws, cells).  errors_of_cells: standard errors of
    the shares themselves, shape (cells,): where residuals have next to none of it the estimate follows the shares.

    >>> drawn = np.random.default_rng(0).standard_normal((1_000, 9))
    >>> doubted(np.array([0, 0, 0, 0, 9, 0, 0, 0, 0.0]), drawn, np.ones(9)).nonzero()[0].tolist()
    [3, 4, 5]
    """
    found, cells = np.zeros(len(residuals), dtype=bool), len(residuals)
    largest, each = np.zeros(len(drawn)), list[tuple[float, int, int]]()
    ahead = np.concatenate([[0.0], np.cumsum(errors_of_cells**2)])
    for (first, last, value), (_, _, errors) in zip(_sums(residuals), _sums(drawn), strict=True):
        deviation = np.sqrt((errors**2).mean(axis=0))
        known = deviation > LEAST * np.sqrt(ahead[last] - ahead[first])
        if not known.any():
            continue
        largest = np.maximum(largest, np.abs(errors[:, known] / deviation[known]).max(axis=1))
        scaled = np.abs(np.divide(value, deviation, out=np.zeros_like(value), where=known))
        each += [(float(z), int(a), int(b)) for z, a, b in zip(scaled, first, last, strict=True)]
    threshold = float(np.quantile(largest, 1 - RATE, method="higher"))
    near = np.zeros(cells, dtype=bool)
    for z, a, b in sorted(each, reverse=True):
        if z <= threshold:
            break
        if not near[a:b].any():
            # an estimate spreads what it does not resolve over the cells beside it
            found[max(0, a - 1) : b + 1] = True
            near[max(0, a - LONGEST) : b + LONGEST] = True
    return found


def misfit(residuals: Array, drawn: Array, found: bool) -> float:
    """Return which part of the squared residuals of all cells is more than noise, from 0 to 1.

    Squares are in units of their variances; what their mean is in one of ten draws counts as noise.  1 where doubts are
    found, or where the largest residual is beyond what it is in one of ten draws.

    >>> drawn = np.random.default_rng(0).standard_normal((1_000, 20))
    >>> misfit(np.full(20, 0.9), drawn, False), misfit(np.full(20, 5.0), drawn, False)
    (0.0, 1.0)
    """
    variance = (drawn**2).mean(axis=0)
    kept = variance > 0
    if found or not kept.any():
        return float(found)
    squares, own = drawn[:, kept] ** 2 / variance[kept], residuals[kept] ** 2 / variance[kept]
    chance, largest = (float(np.quantile(one, USUAL, method="higher")) for one in (squares.mean(1), squares.max(1)))
    return 1.0 if own.max() > largest else max(0.0, 1 - chance / max(float(own.mean()), 1e-300))


def _sums(values: Array) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Array]]:
    """Yield first cells, the cells after the last ones, and sums or differences, over the last axis of values."""
    cells = values.shape[-1]
    ahead = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1)], axis=-1)
    every: NDArray[np.int64] = np.arange(cells + 1, dtype=np.int64)
    for size in range(1, min(LONGEST, cells) + 1):
        first = every[:-size]
        yield first, first + size, ahead[..., first + size] - ahead[..., first]
        if 2 * size <= cells:
            first = every[: -2 * size]
            middle = ahead[..., first + size]
            yield first, first + 2 * size, ahead[..., first + 2 * size] - 2 * middle + ahead[..., first]


def peaks(found: NDArray[np.bool_], edges: Array, shares: Array) -> NDArray[np.bool_]:
    """Return which cells in doubt are peaks: of a larger mean density than those beside them.

    How high a density is within a peak that is not resolved no count tells; elsewhere those beside bound it.

    >>> found = np.array([False, True, True, True])
    >>> peaks(found, np.linspace(0, 1, 5), np.array([0.4, 0.1, 0.3, 0.2])).tolist()
    [False, False, True, False]
    """
    density = np.concatenate([[-np.inf], shares / np.diff(edges), [-np.inf]])
    return found & (density[1:-1] > density[:-2]) & (density[1:-1] > density[2:])


def ranges(found: NDArray[np.bool_], edges: Array) -> tuple[tuple[float, float], ...]:
    """Return the ranges that neighbouring cells in doubt make up.

    >>> ranges(np.array([True, True, False, True]), np.linspace(0, 1, 5))
    ((0.0, 0.5), (0.75, 1.0))
    """
    steps = np.flatnonzero(np.diff(np.concatenate([[False], found, [False]]).astype(np.int64)))
    return tuple((float(edges[a]), float(edges[b])) for a, b in zip(steps[::2], steps[1::2], strict=True))


def in_units(found: tuple[tuple[float, float], ...], lower: float, upper: float) -> tuple[tuple[float, float], ...]:
    """Return ranges of [0, 1] in the units of a column from lower to upper.

    >>> in_units(((0.25, 0.5),), 10.0, 30.0)
    ((15.0, 20.0),)
    """
    return tuple((lower + (upper - lower) * a, lower + (upper - lower) * b) for a, b in found)

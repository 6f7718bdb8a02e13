"""How plausible it is, by its counts, that a column's rows are at points: heaped columns beside smooth ones.

Third differences of the logarithms of bins' densities are 0 for exponential and for normal laws, and small for others
but where a density begins or ends within few bins.  Where values are told at few places, each bin's logarithm is off on
its own, by how many of the places it has: third differences are as large as that makes them.  Of both kinds of columns
the chance of the third differences is found, with noise and sampling error as normal, averaged over sizes that laws of
one mode or two have in automatic bins (`INNER`, `OUTER`), and that heaps have (`HEAPED`).  Their ratio is a Bayes
factor: in columns that are as the second kind has them it is as small as r with a chance of r at most.
Source: Kass & Raftery 1995 (Bayes factors).
"""

from __future__ import annotations

from itertools import product
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.cells.log_densities import LogDensities

INNER: Final = ((0.03, 0.45), (0.15, 0.3), (0.4, 0.15), (1.5, 0.1))
"""Standard deviations of a smooth column's third differences, and how many columns in one have them."""
OUTER: Final = ((0.05, 0.4), (0.4, 0.3), (1.2, 0.3))
"""The same of the first and of the last, if more: densities begin and end there."""
HEAPED: Final = (0.3, 0.6, 1.2)
"""Standard deviations of bins' logarithms where rows are at points, each as likely."""
PRIOR: Final = 4.0
"""How many times as plausible as a smooth column a heaped one is taken to be before its counts are looked at."""
FEWEST: Final = 4
"""Bins of a third difference."""
PIECE: Final = 40
"""Bins that are looked at together, at most: the work grows with their cube."""


def heaps_plausible(seen: LogDensities) -> float:
    """Return the odds of heaps against none, at most 1: 1 where counts say little.

    >>> from tacit.fits.cells.cell_arrays import CellAxis
    >>> axis, x = CellAxis("x", "continuous", np.arange(10.0)), np.arange(9.0)
    >>> smooth, odd = 2_000 * np.exp(-((x - 4) ** 2) / 8), np.array([0.0, 800, 1_500, 700, 1_900, 800, 600, 900, 0])
    >>> [round(heaps_plausible(LogDensities.of(axis, counts, 8.0)), 3) for counts in (smooth, odd)]
    [0.0, 1.0]
    """
    found = np.log(PRIOR)
    for piece in pieces(seen):
        found += _log_ratio(seen.middles[piece], seen.log[piece], seen.spread[:, piece].sum(axis=0))
    return float(np.exp(min(found, 0.0)))


def pieces(seen: LogDensities) -> list[slice]:
    """Return runs of filled bins that may be compared, of FEWEST to PIECE."""
    joined = seen.filled[1:] & seen.filled[:-1] & seen.alike
    ends = np.append(np.flatnonzero(~joined), len(seen.log) - 1) + 1
    found, first = list[slice](), 0
    for end in ends.tolist():
        found += [slice(at, min(at + PIECE, end)) for at in range(first, end, PIECE)]
        first = end
    return [one for one in found if one.stop - one.start >= FEWEST and seen.filled[one.start]]


def _log_ratio(x: Array, log: Array, spread: Array) -> float:
    """Return the logarithm of the Bayes factor of heaps; spread: variances of the logarithms."""
    D = third_matrix(x)
    off = D @ log
    scales, chances = _scales(len(off))
    known = (D * spread) @ D.T + scales[:, :, None] * np.eye(len(off))
    own = D @ D.T
    smooth = float(np.logaddexp.reduce(chances + _normal(off, known)))
    heaped = [float(np.logaddexp.reduce(chances + _normal(off, known + size**2 * own))) for size in HEAPED]
    return float(np.logaddexp.reduce(heaped)) - float(np.log(len(HEAPED))) - smooth


def third_matrix(x: Array) -> Array:
    """Return the matrix of third differences at places x, scaled as 1, -3, 3, -1 at even ones."""
    four = np.lib.stride_tricks.sliding_window_view(x, FEWEST)
    apart = four[:, :, None] - four[:, None, :] + np.eye(FEWEST)
    weights = 1 / apart.prod(axis=2)
    weights *= np.sqrt(20 / (weights**2).sum(axis=1, keepdims=True))
    found = np.zeros((len(four), len(x)))
    rows, at = np.arange(len(four))[:, None], np.arange(FEWEST)
    found[rows, rows + at] = weights
    return found


def _scales(many: int) -> tuple[Array, Array]:
    """Return variances of a smooth column's third differences, shape (kinds, many), and the kinds' log chances."""
    kinds = list(product(INNER, OUTER, OUTER))
    found = np.repeat([[inner[0]] for inner, _, _ in kinds], many, axis=1)
    found[:, 0] = np.maximum(found[:, 0], [low[0] for _, low, _ in kinds])
    found[:, -1] = np.maximum(found[:, -1], [high[0] for _, _, high in kinds])
    return found**2, np.log([inner[1] * low[1] * high[1] for inner, low, high in kinds])


def _normal(off: Array, covariance: Array) -> Array:
    """Return the logarithms of normal densities, up to a constant, for covariances of shape (kinds, n, n)."""
    root = np.linalg.cholesky(covariance)
    each = np.linalg.solve(root, np.broadcast_to(off[:, None], (*root.shape[:2], 1)))[..., 0]
    out: Array = -np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1) - (each**2).sum(axis=1) / 2
    return out

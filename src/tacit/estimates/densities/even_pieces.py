"""Densities of pieces that are even beside a smooth one, averaged over all ways to cut a range.  Plain arrays.

The shares of the bins of a piece are those of a base times its height; heights are normal about 1 with standard
deviation HEIGHTS, and each inner edge of bins ends a piece with one of CHANCES, all alike.  Sums over all cuts are
exact, by recursion from either end [Barry & Hartigan 1992; Fearnhead 2006]: no search chooses edges one after another,
in which both ends of a box would have to gain alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.densities.density_models import CELLS

HEIGHTS: Final = 1.0
"""Standard deviation of a piece's height beside the base."""
CHANCES: Final = (0.02, 0.05, 0.1)
"""Chances that an edge ends a piece."""
LEAST_SHARE: Final = 1e-6
"""Of the base in a bin."""


@dataclass(frozen=True)
class AveragedPieces:
    """A density whose heights have been averaged over: it has no coordinates left.

    found: shares of the cells.  kinked: whether pieces are straight and meet (`linear_pieces`), not even.
    """

    found: Array
    kinked: bool = False
    plain: bool = False

    @property
    def precision(self) -> Array:
        """Of no coordinates."""
        return np.zeros(0)

    def cells(self, theta: Array) -> Array:
        """Return the shares of the cells."""
        return self.found

    def slopes(self, theta: Array, cells: Array) -> Array:
        """Return their derivatives by no coordinates."""
        return np.zeros((CELLS, 0))


def pieces(values: Array, variance: Array, base: Array) -> tuple[float, Array]:
    """Return the logarithm of the marginal likelihood beside that of the base, and mean heights, shape (bins,).

    values: shares of bins, with their variances.  base: shares by a smooth density.

    >>> base, values = np.full(40, 1 / 40), np.repeat([0.02, 0.05, 0.02], [15, 10, 15])
    >>> gain, heights = pieces(values, np.full(40, 1e-5), base)
    >>> bool(gain > 10), heights[[5, 20, 35]].round(1).tolist()
    (True, [0.8, 2.0, 0.8])
    """
    base = np.maximum(base, LEAST_SHARE)
    squares, left = (ahead(base * one / variance) for one in (base, values - base))
    # of each piece, from an edge to a later one
    number = np.arange(len(values) + 1)
    curvature = np.maximum(squares - squares[:, None], 0.0) + HEIGHTS**-2
    moved = (left - left[:, None]) / curvature
    own = curvature * moved**2 / 2 - np.log(curvature * HEIGHTS**2) / 2
    own = np.where(number > number[:, None], own, -np.inf)
    made = [_cut(own, chance) for chance in CHANCES]
    gains = np.array([gain for gain, _ in made])
    shares = np.exp(gains - log_sum(gains))
    parts = np.tensordot(shares, np.array([part for _, part in made]), axes=1) * (1 + moved)
    # each piece reaches from its first bin to its last
    heights = np.cumsum(parts.sum(axis=1) - parts.sum(axis=0))[:-1]
    return float(log_sum(gains) - np.log(len(CHANCES))), heights


def _cut(own: Array, chance: float) -> tuple[float, Array]:
    """Return the logarithm of the sum over all cuts, and the posterior chance of each piece."""
    edges = len(own)
    number, ended = np.arange(edges), np.full(edges, np.log(chance))
    ended[[0, -1]] = 0.0
    whole = own + (number - number[:, None] - 1) * np.log1p(-chance)
    before, after = np.full((2, edges), -np.inf)
    before[0] = after[-1] = 0.0
    for k in range(1, edges):
        before[k] = log_sum(before[:k] + whole[:k, k]) + ended[k]
    for k in range(edges - 2, -1, -1):
        after[k] = log_sum(after[k + 1 :] + whole[k, k + 1 :]) + ended[k]
    total = float(before[-1])
    # the edge after a piece counts in `after`, that before it in `before`
    return total, np.exp(before[:, None] + whole + after - total)


def log_sum(logs: Array) -> float:
    """Return the logarithm of a sum, from those of its summands."""
    top = float(logs.max())
    return top + float(np.log(np.exp(logs - top).sum()))


def ahead(values: Array) -> Array:
    """Return the sums of all values before each edge of bins, shape (bins + 1,)."""
    return np.concatenate([[0.0], np.cumsum(values)])

"""Densities that are straight between kinks, averaged over all places of these and all heights.  Plain arrays.

A density is straight between nodes that are kinks, and continuous.  Nodes are edges of bins, at most MOST of them; each
inner one is a kink with one of CHANCES, all alike, and the height of the density at a kink, or at an end, is normal
about 1 with standard deviation HEIGHTS, and above 0.  Heights are on a grid of POINTS at each node, about another
estimate: sums over all places of kinks and all heights at once are then exact, by recursion from either end, as those
of `even_pieces` are [Fearnhead 2006].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.densities.density_models import middles
from tacit.estimates.densities.even_pieces import ahead, log_sum

HEIGHTS: Final = 1.0
"""Standard deviation of a height about 1."""
CHANCES: Final = (0.03, 0.1)
"""Chances that a node is a kink."""
MOST: Final = 50
"""Most pieces between nodes."""
POINTS: Final = 24
"""Heights at each node."""
APART: Final = 0.9
"""Between heights, in standard errors of an average within WINDOW of the node."""
WINDOW: Final = 0.1


@dataclass(frozen=True)
class Heights:
    """Nodes, and a grid of heights at each.  log_prior: of the heights, widths of the grid included."""

    nodes: Array
    grid: Array
    log_prior: Array


def heights(edges: Array, variance: Array, near: Array) -> Heights:
    """Return nodes and heights about another estimate.

    edges: of the bins, from 0 to 1.  variance: of shares.  near: density on cells.
    """
    every = max(1, -(-(len(edges) - 1) // MOST))
    nodes = np.unique(np.append(edges[::every], 1.0))
    middle = (edges[1:] + edges[:-1]) / 2
    # bins may be wider than the window
    far = np.abs(middle - nodes[:, None])
    inside = (far <= np.maximum(WINDOW, far.min(axis=1, keepdims=True))).astype(float)
    error = np.sqrt(inside @ variance) / (inside @ np.diff(edges))
    center = np.interp(nodes, middles(), near)
    apart = APART * error
    lowest = np.maximum(center - apart * (POINTS - 1) / 2, apart / 2)
    grid = lowest[:, None] + apart[:, None] * np.arange(POINTS)
    log_prior = np.log(apart / HEIGHTS / np.sqrt(2 * np.pi))[:, None] - ((grid - 1) / HEIGHTS) ** 2 / 2
    return Heights(nodes, grid, log_prior)


def kinked(values: Array, variance: Array, edges: Array, near: Array) -> tuple[float, Array]:
    """Return the logarithm of the marginal likelihood beside that of even shares, and the mean density on cells.

    values: shares of bins, with their variances.
    """
    own = heights(edges, variance, near)
    best, ratios = _best(_pieces(values, variance, edges, own), own)
    made = [_summed(best[-1], ratios, own, chance) for chance in CHANCES]
    gains = np.array([gain for gain, _, _ in made])
    shares = np.exp(gains - log_sum(gains))
    left, right = (np.tensordot(shares, np.array([one[k] for one in made]), axes=1) for k in (1, 2))
    return float(log_sum(gains) - np.log(len(CHANCES))), _density(own.nodes, left, right)


def _pieces(values: Array, variance: Array, edges: Array, own: Heights) -> Iterator[Array]:
    """Yield for each node but the first the logarithms of likelihoods of straight pieces that end there.

    Shape (earlier nodes, their heights, heights of the node).
    """
    widths, middle = np.diff(edges), (edges[1:] + edges[:-1]) / 2
    at = np.searchsorted(edges, own.nodes - 1e-12)
    squares = [ahead(widths**2 / variance * middle**k)[at] for k in range(3)]
    left = [ahead(widths * (values - widths) / variance * middle**k)[at] for k in range(2)]
    above = own.grid - 1
    for k in range(1, len(own.nodes)):
        a, b = own.nodes[:k], own.nodes[k]
        long, (s0, s1, s2), (r0, r1) = b - a, (one[k] - one[:k] for one in squares), (one[k] - one[:k] for one in left)
        # a height counts by how near a bin is to its node
        at_a, at_b = (b * r0 - r1) / long, (r1 - a * r0) / long
        aa, bb = (s2 - 2 * b * s1 + b**2 * s0) / long**2, (s2 - 2 * a * s1 + a**2 * s0) / long**2
        ab, u, v = (-s2 + (a + b) * s1 - a * b * s0) / long**2, above[:k], above[k]
        of_a = at_a[:, None] * u - aa[:, None] * u**2 / 2
        of_b = at_b[:, None] * v - bb[:, None] * v**2 / 2
        yield of_a[:, :, None] + of_b[:, None, :] - (ab[:, None] * u)[:, :, None] * v


def _best(pieces: Iterator[Array], own: Heights) -> tuple[Array, list[Array]]:
    """Return the most that kinks and heights up to a node's height reach, and each piece beside what is best there.

    Ratios are at most 1, and 1 along the best, so that sums of their products neither overflow nor vanish.
    """
    best, ratios = [own.log_prior[0]], list[Array]()
    for k, logs in enumerate(pieces, start=1):
        whole = logs + np.array(best)[:, :, None]
        top = whole.max(axis=(0, 1))
        ratios.append(np.exp(whole - top))
        best.append(top + own.log_prior[k])
    return np.array(best), ratios


def _summed(last: Array, ratios: list[Array], own: Heights, chance: float) -> tuple[float, Array, Array]:
    """Return the logarithm of the sum over all kinks and heights, and mean heights at the ends of pieces.

    Of each piece the heights at its first and at its last node, times its posterior chance, shape (nodes, nodes).
    """
    nodes = len(own.nodes)
    before, after = np.zeros((2, nodes, POINTS))
    before[0], after[-1] = 1.0, np.exp(last - last.max())
    # no kink at the nodes within a piece, one at its end
    chances = [(1 - chance) ** np.arange(k - 1, -1, -1.0) * (chance if k < nodes - 1 else 1.0) for k in range(nodes)]
    for k in range(1, nodes):
        before[k] = (chances[k][:, None] * before[:k]).ravel() @ ratios[k - 1].reshape(-1, POINTS)
    left, right = np.zeros((2, nodes, nodes))
    for k in range(nodes - 1, 0, -1):
        # what ends here reaches all earlier nodes
        reached = chances[k][:, None] * (ratios[k - 1] @ after[k])
        after[:k] += reached
        left[:k, k] = (before[:k] * own.grid[:k] * reached).sum(axis=1)
        each = np.matmul(before[:k, None, :], ratios[k - 1])[:, 0]
        right[:k, k] = chances[k] * (each @ (own.grid[k] * after[k]))
    total = float(before[-1] @ after[-1])
    return float(np.log(total) + last.max()), left / total, right / total


def _density(nodes: Array, left: Array, right: Array) -> Array:
    """Return the mean density on cells from heights at the ends of pieces."""
    a, b = nodes[:, None], nodes
    long = np.where(b > a, b - a, 1.0)
    slope, start = (right - left) / long, (left * b - right * a) / long
    # a piece reaches from its first node to its last
    over = [np.cumsum(one.sum(axis=1) - one.sum(axis=0))[:-1] for one in (slope, start)]
    t = middles()
    place = np.clip(np.searchsorted(nodes, t) - 1, 0, len(nodes) - 2)
    return over[0][place] * t + over[1][place]

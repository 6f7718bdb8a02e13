"""Weights of cells in a kernel estimate of a density: local polynomials on counts of cells of any width.

Near a place x a density on [0, 1] is f(t) = sum of beta_l ((t - x) / h)**l, l up to the degree.  With c_b the middle of
cell b, s_b its share, and k_b = exp(-(c_b - x)**2 / (2 h**2)),
    sum over b of k_b ((c_b - x) / h)**j s_b,        j from 0 to the degree,
has the expectation sum over l of G_jl beta_l, where G_jl is the sum over b of k_b ((c_b - x) / h)**j times the
integral of ((t - x) / h)**l over cell b.  Solved for beta_0 this is a weighted sum of shares, without bias for
polynomials of that degree: what cells average out is made up for, and the ends of [0, 1] need no correction.
Degree 1 has the bias of a kernel estimate, of order h**2, up to the ends; degree 2 leaves h**4 within, and h**3 at the
ends.
Plain arrays; post-processing.  Source: [Fan & Gijbels 1996, chapter 3] (local polynomials), [Calonico, Cattaneo &
Farrell 2018] (intervals from a degree more); theory §3.5.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.base.arrays import Array

LEAST: Final = 0.45
"""Smallest bandwidth of the weights themselves, in widths of a cell."""


def inner_bandwidth(edges: Array, bandwidth: float) -> float:
    """Return the bandwidth of weights on cells: what cells smooth by themselves is taken off, down to LEAST widths.

    >>> round(inner_bandwidth(np.linspace(0, 1, 11), 0.1), 4)
    0.0957
    """
    width = 1 / (len(edges) - 1)
    return float(np.sqrt(max(bandwidth**2 - width**2 / 12, (LEAST * width) ** 2)))


def kernel_weights(edges: Array, places: Array, bandwidth: float, degree: int) -> Array:
    """Return the weights of cells' shares in the density at places, shape (places, cells).

    edges: of the cells, ascending from 0 to 1.  bandwidth: standard deviation of the kernel, cells included.  degree:
    of the polynomial, lower where there are fewer cells.

    >>> edges = np.linspace(0, 1, 6)
    >>> kernel_weights(edges, np.array([0.0, 0.5]), 0.2, 1) @ np.diff(edges)
    array([1., 1.])
    """
    degree = min(degree, len(edges) - 2)
    h = inner_bandwidth(edges, bandwidth)
    middles = (edges[1:] + edges[:-1]) / 2
    u = (middles - places[:, None]) / h
    # the nearest cell has weight 1, so that no place is without weights
    near = np.exp(-(u**2 - (u**2).min(axis=1, keepdims=True)) / 2)
    orders = np.arange(degree + 1)
    over = near[:, None, :] * u[:, None, :] ** orders[:, None]
    ends = ((edges - places[:, None]) / h)[:, None, :] ** (orders[:, None] + 1)
    integrals = h * np.diff(ends, axis=2) / (orders[:, None] + 1)
    first = np.zeros((degree + 1, 1))
    first[0] = 1.0
    right = np.broadcast_to(first, (len(places), *first.shape))
    solved: Array = np.asarray(np.linalg.solve(integrals @ over.transpose(0, 2, 1), right), dtype=np.float64)
    return (over * solved).sum(axis=1)

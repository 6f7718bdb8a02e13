"""What is not known within bins, as an error of a fit; and how its points' weights depend on a column's own counts.

The rule of an axis (`bin_rules`) is made from the axis's noisy margin.  So a count moves a fit twice: through its own
cell's weight, and through the rule; the second influence is found here by differences.  A rule made otherwise moves the
fit by the difference of weights times the points' influences: each edge's density by what is not known of it, each
bin's mean and the tails by what no count tells (`bin_doubts`), rows at points by where these may be (`bin_heaps`), and
the curvature of cells' shares by a part of itself, for what is of higher order than the parabola through three bins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.heaps.bin_heaps import unknown_points
from tacit.fits.heaps.lattice_evidence import lattices_of
from tacit.fits.within_bins.bin_doubts import hidden_means, other_tails
from tacit.fits.within_bins.bin_rules import MarginRule, Parts, nearby
from tacit.fits.within_bins.bin_shapes import Edges, edge_densities
from tacit.fits.within_bins.cell_points import Points

SHARES: Final = 1 / 2
"""Part of what the curvature of shares does to a fit that counts as not known."""
STEP: Final = 1e-4
"""Relative step of the differences by which the influence of a margin's counts is found."""


@dataclass(frozen=True)
class BinErrors:
    """influence: of each cell's count through the rules, shape (cells, p).  unknown: covariance, shape (p, p).

    shares: sum over axes of the squared movement of the fit by all slopes of shares together, shape (p, p).  curved: of
    `unknown`, the part of the curvature of shares.
    """

    influence: Array
    unknown: Array
    shares: Array
    curved: Array


def bin_errors(points: Points, influence: Array, unseen: bool = False, told: bool = True) -> BinErrors:
    """Return the errors of a fit from the influence of each point's weight, shape (points, p).

    unseen: whether what no test of counts looks at is not known (`HiddenHeaps.unseen`), as means and variances want it;
    slopes were held without.  told: whether lattices that the counts leave plausible are not known either
    (`lattice_evidence`).
    """
    cells, p = points.cells, influence.shape[-1]
    through = np.zeros((*cells.counts.shape, p))
    unknown, shares, curved = np.zeros((3, p, p))
    for at, margin in enumerate(points.margins):
        if margin is not None and margin.axis.within.any():
            along, off, share, bent = _axis(points, margin, at, influence, unseen, told)
            shape = [1] * cells.counts.ndim
            shape[at] = margin.axis.bins
            through += along.reshape(*shape, p)
            unknown += off
            shares += share
            curved += bent
    return BinErrors(through.reshape(-1, p), unknown + curved, shares, curved)


def _axis(
    points: Points, margin: MarginRule, at: int, influence: Array, unseen: bool, told: bool
) -> tuple[Array, Array, Array, Array]:
    """Return the influence of the margin's counts, shape (K, p), and matrices of `BinErrors`, shape (p, p)."""
    cells, K, p = points.cells, margin.axis.bins, influence.shape[-1]
    # influences of the axis's points by the other columns' cells, shape (K, 3, others, p), and counts, (K, others)
    value = np.moveaxis(points.gathered(influence, but=at), at, 0).reshape(K, 3, -1, p)
    counts = np.moveaxis(cells.counts, at, 0).reshape(K, -1)
    near = nearby(K)
    own = np.einsum("kjop,ko->kjp", value, counts)
    # shape (K, 3 points, 3 bins, p): what the weight of a bin's neighbour at a point of the bin brings
    band = np.einsum("kjop,kto->kjtp", value, counts[near])

    def moved(parts: Parts) -> Array:
        shared = np.einsum("...kj,...kt,kjtp->...p", parts.grow, parts.slope, band)
        bent = np.einsum("...kj,...kt,kjtp->...p", parts.bend, parts.curvature, band)
        return np.einsum("...kj,kjp->...p", parts.base, own) + shared + bent

    m, edges = margin.counts, margin.edges
    each, up, down = _stepped(margin.axis, margin.smooth, margin.variance)
    step = np.diag(each)
    along = (moved(margin.parts(m + each, up)) - moved(margin.parts(m - each, down))) / (2 * step[:, None])
    doubt = _doubt(edges, up, down, step, np.maximum(m, 0.0) + margin.variance)
    here = margin.parts(m, edges)
    off = moved(margin.parts(m, replace(edges, used=edges.used + np.diag(doubt)))) - moved(here)
    hidden = hidden_means(margin.axis, edges, margin.rough, margin.unseen if unseen else 0.0)
    hidden = np.hypot(hidden, margin.heaped.off(margin.axis.widths))
    pushed = moved(margin.parts(m, edges, np.diag(hidden))) - moved(here)
    tails = other_tails(margin.axis, edges, up, down, step, np.maximum(m, 0.0) + margin.variance)
    tail = np.array([moved(margin.parts(m, edges, shapes=one)) - moved(here) for one in tails]).reshape(-1, p)
    taken, points_off = margin.points, np.zeros((p, p))
    if taken is not None:
        points_off = unknown_points(
            margin.axis, taken, lambda one: moved(margin.parts(m, edges, points=one)), moved(here)
        )
    # the curvature of shares, as weights of the cells' counts; in end bins it moves slopes as well
    weight = np.zeros((K, *value.shape[2:]))
    own_bend = here.bend + here.grow * here.halfway[:, None]
    bent = np.einsum("kj,kt,kjop->ktop", own_bend, here.curvature, value)
    np.add.at(weight, near, bent)
    spread = np.maximum(counts, 0.0) + cells.variance
    noise = np.einsum("ko,kop->p", spread, weight**2)
    if told and (lattices := lattices_of(margin.axis, m, margin.variance)) is not None:
        elsewhere = moved(margin.parts(m, edges, lattices.moved(margin.axis.bounds))) - moved(here)
        points_off = points_off + one_of(elsewhere)
    # edges are wrong each on its own, and all one way where their densities bend alike
    together = edges.lean @ off
    curved = less_noise(np.einsum("ko,kop->p", counts, weight), noise)
    unknown = sum((one.T @ one for one in (off, pushed, tail)), np.outer(together, together) + points_off)
    grown: Array = np.einsum("kj,kt,kjtp->p", here.grow, here.slope, band)
    shared: Array = np.outer(grown, grown)
    return along, unknown, shared, SHARES**2 * curved


def edge_doubts(axis: CellAxis, counts: Array, variance: float) -> tuple[Edges, Array]:
    """Return the densities at edges of a column, and what is not known of each but for noise, shape (K + 1,).

    counts: noisy, shape (K,).  variance: of the noise of each.
    """
    edges = edge_densities(axis, counts, variance)
    each, up, down = _stepped(axis, counts, variance)
    return edges, _doubt(edges, up, down, np.diag(each), np.maximum(counts, 0.0) + variance)


def _stepped(axis: CellAxis, counts: Array, variance: float) -> tuple[Array, Edges, Edges]:
    """Return a small step of each count, shape (K, K), and the densities at edges after it, up and down."""
    each = np.diag(STEP * (np.maximum(counts, 0.0) + np.sqrt(variance) + 1))
    return each, edge_densities(axis, counts + each, variance), edge_densities(axis, counts - each, variance)


def _doubt(edges: Edges, up: Edges, down: Edges, step: Array, spread: Array) -> Array:
    """Return what is not known of each edge's density, less what of it is noise of counts of variance `spread`."""
    slope = (up.unknown - down.unknown) / (2 * step[:, None])
    return np.sqrt(np.maximum(edges.unknown**2 - spread @ slope**2, 0.0))


def one_of(off: Array) -> Array:
    """Return a covariance of one of several movements, shape (L, p): of each part the largest."""
    total, most = off.T @ off, (off**2).max(axis=0)
    scale = np.sqrt(most / np.where(np.diag(total) > 0, np.diag(total), 1.0))
    return total * np.outer(scale, scale)


def less_noise(off: Array, noise: Array) -> Array:
    """Return the outer product of a movement, shape (p,), each part of it less its noise."""
    kept = np.sign(off) * np.sqrt(np.maximum(off**2 - noise, 0.0))
    return np.outer(kept, kept)

"""The density within bins from the counts of one column: edges' densities, and each bin's mean, spread and skewness.

A bin of width h with mean density f and densities f_L, f_R at its edges is taken as an exponential of slope
kappa = (f_R - f_L) / f, which is exact for exponentials; for a slope that is small its first moment about the middle,
h**2 (f_R - f_L) / 12, is that of the parabola with these three numbers, and adds up to nothing over bins of equal
width but for the ends (the densities at edges belong to two bins), which is why smooth densities in equal bins need
almost no correction.  Edges' densities are interpolated in two ways: as a cubic that has the four nearest bins' counts
(of fourth order where the density is smooth; linear in the counts), and as a line through the logarithms of the two
mean densities (positive, and good where neighbours differ by much).  The more two neighbours differ, the more the
second counts.  How far the two are apart says what is not known of an edge.  Ends of columns: `bin_ends`.
Sources: Colella & Woodward 1984 (parabolas from edges' values); theory §7.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.cells.bin_ends import EDGE, EDGE_DOUBT, breaks, end_density, no_break
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.cells.exponential_bins import STEEPEST, langevin
from tacit.fits.heaps.bin_heaps import declared_heaps

NARROW_HEAP: Final = 20
"""A neighbour this many times narrower than a bin is there for values heaped on one place, and says nothing of it."""
MIXED: Final = 20.0
"""Ratio of five bins' densities beyond which their scatter about a smooth curve is no sign of heaps."""
SMOOTH: Final = 0.07
"""Scatter about a smooth curve that bins of skewed densities have without heaps, near where the density begins."""
STEEP: Final = np.log(3.0)
"""Neighbours whose densities differ by this factor (in logarithms) have an edge halfway between both interpolations."""


@dataclass(frozen=True)
class BinShapes:
    """Central moments of the density within each bin about its middle, in column units; each of shape (..., K).

    shift: mean minus middle.  variance: about the mean.  third: the third central moment.
    """

    shift: Array
    variance: Array
    third: Array


@lru_cache(maxsize=256)
def _cubic(edges: tuple[float, ...]) -> Array:
    """Weights of mean densities, shape (K + 1, K), for the density at each edge: the polynomial with nearby counts."""
    e, K = np.array(edges), len(edges) - 1
    found = np.zeros((K + 1, K))
    for at in range(K + 1):
        # four bins about an inner edge, three at an end: higher orders run off there
        around = 2 if 0 < at < K else 3
        first, last = max(at - around, 0), min(at + around, K)
        near = e[first : last + 1] - e[at]
        near = near / float(np.abs(near).max())
        power = np.arange(1, last - first + 1)
        # mean of t**(j-1) over each bin; the value at t = 0 is the first coefficient
        means = np.diff(near[:, None] ** power, axis=0) / power / np.diff(near)[:, None]
        found[at, first:last] = np.linalg.inv(means)[0]
    return found


def positive(counts: Array, variance: float) -> Array:
    """Return counts that are above 0 and near those given where these are well above the noise; smooth in them."""
    return (counts + np.sqrt(counts**2 + 4 * (variance + 1.0))) / 2


@dataclass(frozen=True)
class Edges:
    """Densities at the edges of a column's bins, in counts for a unit.

    mean: mean densities of the bins, shape (..., K), positive.  used: densities at edges, shape (..., K + 1); beyond
    the ends they may be negative, for a bin that is empty near its end.  unknown: how far these may be off, likewise.
    lean: signs of the cubic less the line through logarithms, 0 at ends: where these are alike, errors may add up.
    """

    mean: Array
    used: Array
    unknown: Array
    lean: Array


def edge_densities(axis: CellAxis, counts: Array, variance: float) -> Edges:
    """Return the densities at edges from the noisy counts of one column, shape (..., K), of noise `variance` each.

    Bins on two sides of an edge of which one is far narrower say nothing of each other; the density is the wider one's.
    """
    m = positive(counts, variance)
    h, K = axis.widths, axis.bins
    # a single bin far narrower than both beside it; several narrow ones in a row are there for a dense column
    beside = np.minimum(np.append(np.inf, h[:-1]), np.append(h[1:], np.inf))
    heaps = np.flatnonzero(h * NARROW_HEAP < np.where(np.isfinite(beside), beside, 0.0))
    cuts = sorted({0, K, *heaps.tolist(), *(heaps + 1).tolist()})
    out = Edges(m / h, *(np.zeros((*m.shape[:-1], K + 1)) for _ in range(3)))
    runs = [(first, last) for first, last in pairwise(cuts)]
    # the wider run's last, so that its edges stand
    for first, last in sorted(runs, key=lambda run: float(h[run[0] : run[1]].max())):
        part = _run(axis.bounds[first : last + 1], m[..., first:last], variance)
        at = slice(first, last + 1)
        out.used[..., at], out.unknown[..., at], out.lean[..., at] = part.used, part.unknown, part.lean
    return out


def _run(bounds: Array, m: Array, variance: float) -> Edges:
    """Return the densities at edges of bins next to each other, none far narrower than its neighbours; m: positive."""
    widths, x, bins = np.diff(bounds), (bounds[1:] + bounds[:-1]) / 2, len(bounds) - 1
    f = m / widths
    if bins == 1:
        flat = np.concatenate([f, f], axis=-1)
        # two edges that are off by twice the mean density make UNKNOWN
        return Edges(f, flat, 2 * flat, np.zeros(flat.shape))
    log = np.log(f)
    smooth = f @ _cubic(tuple(bounds.tolist())).T
    part = (bounds[1:-1] - x[:-1]) / (x[1:] - x[:-1])
    gap = np.diff(log, axis=-1)
    steep = np.exp(log[..., :-1] + part * gap)
    # what of a difference of logarithms is more than its own noise
    spread = (m + variance) / m**2
    steepness2 = np.maximum(gap**2 - spread[..., :-1] - spread[..., 1:], 0.0)
    share = 1 / (1 + (steepness2 / STEEP**2) ** 2)
    low, high = np.minimum(f[..., :-1], f[..., 1:]), np.maximum(f[..., :-1], f[..., 1:])
    cubic = np.clip(smooth[..., 1:-1], low / 2, 1.5 * high)
    inner = share * cubic + (1 - share) * steep
    slopes = np.zeros((2, 2, *m.shape[:-1]))
    broken = [no_break(m.shape[:-1])] * 2
    if bins > 2:
        # of logarithms in the bins beside the end bins, and by how much they grow towards the end, a unit each
        rise = np.diff(np.log(inner), axis=-1) / widths[1:-1]
        slopes[:, 0] = rise[..., 0], -rise[..., -1]
        if bins > 3:
            slopes[:, 1] = (
                (rise[..., 0] - rise[..., 1]) / (x[2] - x[1]),
                (rise[..., -2] - rise[..., -1]) / (x[-2] - x[-3]),
            )
        broken = [breaks(log, inner[..., 0], bounds), breaks(log[..., ::-1], inner[..., -1], bounds[::-1])]
        inner = inner.copy()
        for at, one in zip((0, -1), broken, strict=True):
            inner[..., at] += EDGE * one.edge
    ends = [
        end_density(f[..., at], inner[..., at], slopes[at], widths[at], widths[beside], broken[at])
        for at, beside in ((0, min(1, bins - 1)), (-1, max(-2, -bins)))
    ]
    used = np.concatenate([ends[0][0][..., None], inner, ends[1][0][..., None]], axis=-1)
    # both interpolations cross here and there: an edge is known at most twice as well as those beside it
    apart = np.abs(cubic - steep) / inner
    wide = np.concatenate([apart[..., :1], apart, apart[..., -1:]], axis=-1)
    apart = np.maximum(apart, np.maximum(wide[..., :-2], wide[..., 2:]) / 2) * inner
    for at, one in zip((0, -1), broken, strict=True):
        apart[..., at] = np.hypot(apart[..., at], EDGE_DOUBT * one.edge)
    unknown = np.concatenate([ends[0][1][..., None], apart, ends[1][1][..., None]], axis=-1)
    lean = np.zeros(used.shape)
    lean[..., 1:-1] = np.sign(cubic - steep)
    return Edges(f, used, unknown, lean)


def shapes_of(axis: CellAxis, mean: Array, at_edges: Array) -> BinShapes:
    """Return the moments within bins from mean densities, shape (..., K), and densities at edges, (..., K + 1)."""
    kappa = np.clip((at_edges[..., 1:] - at_edges[..., :-1]) / mean, -STEEPEST, STEEPEST)
    shift, variance, third = langevin(kappa)
    # edges higher than an exponential has them: a hollow bin, its values lie further apart; ends are not so well known
    safe = np.where(np.abs(kappa) < 1e-3, 1.0, kappa)
    expected = np.where(np.abs(kappa) < 1e-3, 1.0, safe / 2 / np.tanh(safe / 2))
    hollow = np.clip((at_edges[..., 1:] + at_edges[..., :-1]) / (2 * mean) - expected, -1.0, 1.0)
    hollow[..., [0, -1]] = 0.0
    variance = np.clip(variance + hollow / 30, variance / 2, 2 * variance)
    # bins of whole numbers: within**2 in the place of h**2 / 12, as for a line
    h, part = axis.widths, 12 * axis.within**2 / axis.widths**2
    return BinShapes(h * shift * part, h**2 * variance * part, h**3 * third * part)


def roughness(axis: CellAxis, counts: Array, variance: float) -> Array:
    """Return by how much the logarithms of bins' mean densities scatter about a smooth curve, shape (K,), less noise.

    0 for fewer than 5 bins.  Second differences of second differences of the logarithms, which are nearly 0 for smooth
    densities in bins of any width; values heaped on round numbers, of which some bins have more than others, show.
    Bins without a declared heap scatter no more than among each other: what those with one have more is explained.
    """
    heaps, x, h = declared_heaps(axis.bounds, axis.heaped_at), axis.centers, axis.widths
    found = _scatter(x, h, counts, variance)
    if heaps is not None:
        none = heaps.count == 0
        found[none] = np.minimum(found[none], _scatter(x[none], h[none], counts[none], variance))
    return found


def _scatter(x: Array, widths: Array, counts: Array, variance: float) -> Array:
    """Return `roughness` of bins with these middles and widths."""
    K = len(x)
    if K < 5:
        return np.zeros(K)
    m = positive(counts, variance)
    part = (x[2:] - x[1:-1]) / (x[2:] - x[:-2])
    D = np.zeros((K, K))
    own = np.arange(1, K - 1)
    D[own, own], D[own, own - 1], D[own, own + 1] = 1.0, -part, part - 1
    twice = (D @ D)[2:-2]
    twice /= np.sqrt((twice**2).sum(axis=1, keepdims=True))
    log = np.log(m / widths)
    found = np.maximum((twice @ log) ** 2 - twice**2 @ ((m + variance) / m**2), 0.0)
    # where a density begins or ends its logarithm is no smooth curve, heaps or none
    five = np.lib.stride_tricks.sliding_window_view(log, 5)
    filled = np.lib.stride_tricks.sliding_window_view(m > 5 * np.sqrt(variance + 1), 5).all(axis=1)
    found *= filled & (np.ptp(five, axis=1) < np.log(MIXED))
    # of the nearest three: heaps show in one bin and hide in the next
    wide = np.pad(found, 3, mode="edge")
    return np.sqrt(np.maximum(np.convolve(wide, np.ones(3) / 3, mode="valid") - SMOOTH**2, 0.0))

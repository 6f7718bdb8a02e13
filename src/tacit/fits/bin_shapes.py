"""The density within bins from the counts of one column: edges' densities, and each bin's mean, spread and skewness.

A bin of width h with mean density f and densities f_L, f_R at its edges is taken as an exponential of slope
kappa = (f_R - f_L) / f, which is exact for exponentials; for a slope that is small its first moment about the middle,
h**2 (f_R - f_L) / 12, is that of the parabola with these three numbers, and adds up to nothing over bins of equal
width but for the ends (the densities at edges belong to two bins), which is why smooth densities in equal bins need
almost no correction.  Edges' densities are interpolated in two ways: as a cubic that has the four nearest bins' counts
(of fourth order where the density is smooth; linear in the counts), and as a line through the logarithms of the two
mean densities (positive, and good where neighbours differ by much).  The more two neighbours differ, the more the
second counts.  How far the two are apart says what is not known of an edge (`alternatives`).
Sources: Colella & Woodward 1984 (parabolas from edges' values); theory §7.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.cell_arrays import CellAxis

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


def langevin(kappa: Array) -> tuple[Array, Array, Array]:
    """Mean, variance and third cumulant of the density prop. to exp(kappa u) on [-1/2, 1/2].

    >>> [float(one.round(4)) for one in langevin(np.array(2.0))]
    [0.1565, 0.069, -0.0123]
    """
    k = np.asarray(kappa, dtype=np.float64)
    small = np.abs(k) < 1e-2
    safe = np.where(small, 1.0, np.clip(k, -500, 500))
    sinh = np.sinh(safe / 2)
    coth = np.cosh(safe / 2) / sinh
    mean = np.where(small, k / 12 - k**3 / 720, coth / 2 - 1 / safe)
    variance = np.where(small, 1 / 12 - k**2 / 240, 1 / safe**2 - 1 / (4 * sinh**2))
    # the derivative of the variance in kappa: the next cumulant
    third = np.where(small, -k / 120, coth / (4 * sinh**2) - 2 / safe**3)
    return mean, variance, third


def steepness(ratio: Array) -> Array:
    """Return kappa of the exponential whose density at its right edge is `ratio` times its mean: kappa/(1-exp(-kappa)).

    >>> steepness(np.array([1.0, 2 / (1 - np.exp(-2.0))])).round(6)
    array([0., 2.])
    """
    rho = np.asarray(ratio, dtype=np.float64)
    # beyond the root of a convex increasing function, from where Newton's steps only fall
    k = np.where(rho > 1, 2 * (rho - 1) - np.maximum(rho - 2, 0.0), np.log(rho))
    for _ in range(8):
        flat = np.abs(k) < 1e-6
        safe = np.where(flat, 1.0, k)
        grown = np.exp(-np.clip(safe, -50, 700))
        value = np.where(flat, 1 + k / 2, safe / (1 - grown))
        slope = np.where(flat, 0.5, (1 - grown - safe * grown) / (1 - grown) ** 2)
        k = k - (value - rho) / slope
    return k


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
    cuts = [0, *(np.flatnonzero(np.abs(np.diff(np.log(h))) > np.log(NARROW_HEAP)) + 1).tolist(), K]
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
        return Edges(f, flat, flat, np.zeros(flat.shape))
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
    # slopes of logarithms in the bins beside the end bins, times the widths of these
    slopes = [np.zeros(m.shape[:-1])] * 2
    if bins > 2:
        rise = np.log(inner[..., 1:] / inner[..., :-1])
        slopes = [rise[..., 0] * widths[0] / widths[1], -rise[..., -1] * widths[-1] / widths[-2]]
    ends = [_end(f[..., at], inner[..., at], slope) for at, slope in zip((0, -1), slopes, strict=True)]
    used = np.concatenate([ends[0][0][..., None], inner, ends[1][0][..., None]], axis=-1)
    # both interpolations cross here and there: an edge is known at most twice as well as those beside it
    # of steep neighbours the cubic says little, and its distance less of the other's error
    apart = np.abs(cubic - steep) / inner * (0.25 + 0.75 * share)
    wide = np.concatenate([apart[..., :1], apart, apart[..., -1:]], axis=-1)
    apart = np.maximum(apart, np.maximum(wide[..., :-2], wide[..., 2:]) / 2) * inner
    unknown = np.concatenate([ends[0][1][..., None], apart, ends[1][1][..., None]], axis=-1)
    lean = np.zeros(used.shape)
    lean[..., 1:-1] = np.sign(cubic - steep)
    return Edges(f, used, unknown, lean)


def _end(mean: Array, inner: Array, slope: Array) -> tuple[Array, Array]:
    """Return the density at an end of the column, and how far it may be off.

    mean: mean density of the end bin.  inner: density at its inner edge.  slope: of the logarithm of the density in
    the bin beside it, towards the inside, times the end bin's width.  The exponential with the first two numbers fits
    a tail, whose slope it continues.  Where the slope is less, the density begins near the end, and the bin's mean is
    further inside; furthest where the bin is empty first and then has the inner edge's density.  How far between these
    two, by the part of the slope that is there, and what remains unknown, is read off lognormal, gamma, normal, beta,
    exponential, Student and Pareto laws and a mixture of normals, in equal and unequal bins; no theory has it.
    """
    ratio = np.clip(inner / mean, 1e-2, 40.0)
    kappa = steepness(ratio)
    near = langevin(kappa)[0]
    rising = ratio > 1
    half = np.where(rising, (0.5 - 1 / (2 * ratio) - near) / 2, np.abs(ratio / (1 + ratio) - 0.5 - near))
    there = np.clip(slope * kappa / (kappa**2 + 0.01), -0.2, 1.0)
    part = np.where(rising, np.clip(1.75 * (1 - there) - 0.25, 0.0, 1.9), 0.0)
    # a tail may be heavier than exponential, which matters in bins wide beside it
    heavy = np.maximum(0.0, (kappa - 2.5) / 2) * np.clip((there - 0.6) / 0.25, 0.0, 1.0)
    lost = 0.12 + 0.38 * np.clip((1 - there) / 0.4, 0.0, 1.0) + heavy
    off = half * np.where(rising, lost, np.clip(0.1 - 0.3 * kappa, 0.1, 1.0))
    tilt = _untilted(near + half * part)
    # how the mean moves with the tilt is the variance
    return inner - tilt * mean, off / np.maximum(langevin(tilt)[1], 0.01) * mean


def _untilted(shift: Array) -> Array:
    """Return kappa of the exponential on [-1/2, 1/2] with mean `shift`: the inverse of `langevin`."""
    u = np.clip(2 * shift, -0.95, 0.95)
    k = 2 * u * (3 - u**2) / (1 - u**2)  # Cohen's approximation, within 5%
    for _ in range(3):
        mean, variance, _ = langevin(k)
        k = k - (mean - u / 2) / variance
    return k


def shapes_of(axis: CellAxis, mean: Array, at_edges: Array) -> BinShapes:
    """Return the moments within bins from mean densities, shape (..., K), and densities at edges, (..., K + 1)."""
    kappa = np.clip((at_edges[..., 1:] - at_edges[..., :-1]) / mean, -40.0, 40.0)
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
    """
    K, x = axis.bins, axis.centers
    if K < 5:
        return np.zeros(K)
    m = positive(counts, variance)
    part = (x[2:] - x[1:-1]) / (x[2:] - x[:-2])
    D = np.zeros((K, K))
    own = np.arange(1, K - 1)
    D[own, own], D[own, own - 1], D[own, own + 1] = 1.0, -part, part - 1
    twice = (D @ D)[2:-2]
    twice /= np.sqrt((twice**2).sum(axis=1, keepdims=True))
    log = np.log(m / axis.widths)
    found = np.maximum((twice @ log) ** 2 - twice**2 @ ((m + variance) / m**2), 0.0)
    # where a density begins or ends its logarithm is no smooth curve, heaps or none
    five = np.lib.stride_tricks.sliding_window_view(log, 5)
    filled = np.lib.stride_tricks.sliding_window_view(m > 5 * np.sqrt(variance + 1), 5).all(axis=1)
    found *= filled & (np.ptp(five, axis=1) < np.log(MIXED))
    # of the nearest three: heaps show in one bin and hide in the next
    wide = np.pad(found, 3, mode="edge")
    return np.sqrt(np.maximum(np.convolve(wide, np.ones(3) / 3, mode="valid") - SMOOTH**2, 0.0))

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
STEEPEST: Final = 400.0
"""Largest slope of a logarithm over a bin: its values are then within 1/400 of an edge."""
UNKNOWN: Final = 0.25
"""Standard deviation of the mean of an end bin of which nothing is known, in bins: about that of an even density."""
STEEP: Final = np.log(3.0)
"""Neighbours whose densities differ by this factor (in logarithms) have an edge halfway between both interpolations."""


END_MOVE, END_DOUBT, HEAP_MOVE, HEAP_DOUBT, EDGE_MOVE, EDGE_DOUBT = 0.3, 0.4, 0.45, 0.45, 0.3, 0.5
TAIL = 2.0


@dataclass(frozen=True)
class Break:
    gap: Array
    edge: Array
    shift: Array
    spare: Array
    c: Array


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
    breaks = [Break(*np.zeros((5, *m.shape[:-1]))) for _ in range(2)]
    if bins > 2:
        # of logarithms in the bins beside the end bins, and by how much they grow towards the end, a unit each
        rise = np.diff(np.log(inner), axis=-1) / widths[1:-1]
        slopes[:, 0] = rise[..., 0], -rise[..., -1]
        if bins > 3:
            slopes[:, 1] = (
                (rise[..., 0] - rise[..., 1]) / (x[2] - x[1]),
                (rise[..., -2] - rise[..., -1]) / (x[-2] - x[-3]),
            )
        breaks = [_broken(log, inner, x, bounds), _broken(log[..., ::-1], inner[..., ::-1], -x[::-1], -bounds[::-1])]
        inner = inner.copy()
        for at, one in zip((0, -1), breaks, strict=True):
            inner[..., at] += EDGE_MOVE * one.edge
    ends = [
        _end(f[..., at], inner[..., at], slopes[at], widths[at], widths[beside], breaks[at])
        for at, beside in ((0, min(1, bins - 1)), (-1, max(-2, -bins)))
    ]
    used = np.concatenate([ends[0][0][..., None], inner, ends[1][0][..., None]], axis=-1)
    # both interpolations cross here and there: an edge is known at most twice as well as those beside it
    apart = np.abs(cubic - steep) / inner
    wide = np.concatenate([apart[..., :1], apart, apart[..., -1:]], axis=-1)
    apart = np.maximum(apart, np.maximum(wide[..., :-2], wide[..., 2:]) / 2) * inner
    for at, one in zip((0, -1), breaks, strict=True):
        apart[..., at] = np.hypot(apart[..., at], EDGE_DOUBT * one.edge)
    unknown = np.concatenate([ends[0][1][..., None], apart, ends[1][1][..., None]], axis=-1)
    lean = np.zeros(used.shape)
    lean[..., 1:-1] = np.sign(cubic - steep)
    return Edges(f, used, unknown, lean)


def _nearer(one: Array, other: Array) -> Array:
    """Return the number nearer to 0 of two of one sign, else 0."""
    return np.where(one * other > 0, np.sign(one) * np.minimum(np.abs(one), np.abs(other)), 0.0)


def _broken(log: Array, inner: Array, x: Array, bounds: Array) -> Break:
    h, end = bounds[1] - bounds[0], bounds[1]
    s = (log[..., 1] - log[..., 2]) / (x[2] - x[1])
    edge = log[..., 1] + s * (x[1] - end)
    gap = log[..., 0] - edge - _grown(s * h)
    reach = np.exp(edge) - inner[..., 0]
    if log.shape[-1] > 3:
        s2 = (log[..., 2] - log[..., 3]) / (x[3] - x[2])
        curve = (s - s2) / ((x[3] - x[1]) / 2)
        far = s + curve * ((x[1] + x[2]) / 2 - (end + x[0]) / 2)
        near = s + curve * ((x[1] + x[2]) / 2 - (end + x[1]) / 2)
        bent = log[..., 1] + near * (x[1] - end)
        gap = _nearer(gap, log[..., 0] - bent - _grown(far * h))
        reach = _nearer(reach, np.exp(bent) - inner[..., 0])
    gap = np.clip(gap, -6, 6)
    c = np.clip(s * h, -30, 30)
    c = np.where(np.abs(c) < 1e-6, 1e-6, c)
    kept = np.exp(np.minimum(gap, 0.0))
    begin = -np.log(kept * -np.expm1(-c) + np.exp(-c)) / c
    begin = np.clip(begin, 0.0, 1.0)
    hollow = begin + (1 - begin) * (0.5 + langevin(-c * (1 - begin))[0])
    heaped = np.exp(-np.maximum(gap, 0.0)) * (0.5 + langevin(-c)[0])
    part = np.exp(TAIL * np.minimum(c, 0.0)) / (1 + (c / 4) ** 4)
    return Break(gap, reach * part, np.where(gap < 0, hollow, heaped) - 0.5, part, c)


def _grown(k: Array) -> Array:
    """log of the mean over [0, 1] of exp(k u)."""
    k = np.clip(k, -30, 30)
    safe = np.where(np.abs(k) < 1e-4, 1.0, k)
    return np.where(np.abs(k) < 1e-4, k / 2, np.log(np.expm1(safe) / safe))


def _end(mean: Array, inner: Array, slopes: Array, width: float, beside: float, broken: Break) -> tuple[Array, Array]:
    """Return the density at an end of the column, and how far it may be off.

    mean: mean density of the end bin.  inner: density at its inner edge.  slopes: of the logarithm of the density in
    the bin beside it towards the inside, and by how much that grows towards the end, for a unit, shape (2, ...).
    width, beside: of the end bin and of that beside it.

    Two exponentials are near: that with the first two numbers, of slope kappa, and the one continued from the inside.
    Where they agree, the density goes on to the end.  Where the first is steeper, the density bends down or begins in
    the bin: the parabola through mean, edge and slope has its mean inside of the exponential's by half of what the
    exponential's own mean moves from one slope to the other.  That half is taken, and all of it counts as not known.
    Logarithms that bend are continued bent in steep tails, whose values are near the inner edge; a quarter of what the
    straight ones would move counts as not known there.  Where the density rises to the end, it may as well have a peak
    in the bin, as at zero most columns of positive numbers have: a line is taken, and all of its slope is not known.
    """
    ratio = np.clip(inner / mean, 1e-2, STEEPEST)
    kappa = steepness(ratio)
    near, variance, _ = langevin(kappa)
    rising = ratio > 1
    line = (ratio - 1) / 6
    spread = np.where(rising, variance, 1 / 12)
    # steep tails bend as the logarithm did before
    bent = slopes[1] * (beside / 2 + width * (0.5 - near)) * (1 - 12 * spread)
    moved = (kappa - width * (slopes[0] + bent)) * spread
    straight = np.abs(kappa - width * slopes[0]) * spread
    # furthest inside: empty first, and then the inner edge's density
    room = np.where(rising, (ratio - 1) / (2 * ratio) - near, UNKNOWN)
    shift = np.where(rising, near, line) + np.clip(moved / 2, 0.0, room)
    off = np.minimum(np.maximum(np.maximum(np.abs(moved), straight / 4), -line), UNKNOWN)
    reach = np.where(broken.gap < 0, np.maximum(broken.shift - shift, 0.0), np.minimum(broken.shift - shift, 0.0))
    reach = np.where(broken.gap == 0, 0.0, reach) * broken.spare
    up = np.maximum(broken.c, 0.0)
    shift = shift + np.where(reach > 0, END_MOVE, HEAP_MOVE) * (1 + up / (1 + up)) * reach
    off = np.hypot(off, np.where(reach > 0, END_DOUBT, HEAP_DOUBT) * reach)
    tilt = _untilted(shift)
    # how the mean moves with the tilt is the variance
    return inner - tilt * mean, off / np.maximum(langevin(tilt)[1], 1 / STEEPEST**2) * mean


def _untilted(shift: Array) -> Array:
    """Return kappa of the exponential on [-1/2, 1/2] with mean `shift`: the inverse of `langevin`."""
    u = np.clip(2 * shift, 2 / STEEPEST - 1, 1 - 2 / STEEPEST)
    k = 2 * u * (3 - u**2) / (1 - u**2)  # Cohen's approximation, within 5%
    for _ in range(3):
        mean, variance, _ = langevin(k)
        k = k - (mean - u / 2) / variance
    return k


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

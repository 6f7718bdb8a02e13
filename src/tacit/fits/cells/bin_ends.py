"""The bin at an end of a column: where its values lie, which is known from one side alone.

Two things are asked of the counts.  Whether the density goes on to the end as it does in the bins beside (`end_density`
without a break), and whether the end bin holds as many rows as these suggest (`breaks`).  Fewer: the density begins in
the bin, as that of most positive numbers does, and the bin's values lie further inside; more: a part of the rows is at
the very end, as zeros are.  A gamma law of shape 1.5 in bins of its mean's size has two fifths of its rows in the first
bin, as many in the second, and a mean that is a tenth of a bin further inside than a straight density has it.  How far
between a smooth density and the extreme the truth lies, no count says: it is taken as it was for laws of many
kinds, and most of the way to the extreme counts as not known.  Where the density falls to the end, as to a bound that
cuts a tail off, rows beyond it are at the bound: whatever any way of going on (straight, bent as before, or half as
much again towards less) leaves over may be there, and all of the way counts as not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.cells.exponential_bins import STEEPEST, langevin, log_mean, steepness, untilted

UNKNOWN: Final = 0.25
"""Standard deviation of the mean of an end bin of which nothing is known, in bins: about that of an even density."""
BEGUN: Final = 0.3
"""Part of the way taken to the mean of a density that begins abruptly in the end bin, where it is level before; up to
twice as much where it rises to the end.  Gamma, lognormal, inverse Gaussian and chi-square laws were .25 to .4 of the
way where level and .4 to .6 where rising; those that do begin abruptly (Pareto) all of it, or a little more."""
BEGUN_DOUBT: Final = 0.4
"""Part of the way that counts as not known: an abrupt beginning is within two of it."""
HEAPED: Final = 0.45
"""The same part for rows that are more than the bins beside suggest: infinite densities at the end (gamma of a shape
below 1) were .4 to .7 of the way, spikes at zero .9 to 1.4."""
HEAPED_DOUBT: Final = 0.45
"""What of it counts as not known."""
EDGE: Final = 0.3
"""Part of the way from the density at the end bin's inner edge to what the inside alone says of it."""
EDGE_DOUBT: Final = 0.5
"""Part of that way that counts as not known."""
FALLING: Final = 2.0
"""Rate at which a beginning counts for less the more the density falls towards the end."""
LEVEL: Final = 0.3
"""Growth of the logarithm over the end bin beyond which what only one way of going on leaves over counts for little."""
MORE: Final = 0.5
"""Part by which a bend towards less may be larger in an end bin: a law that ends near a bound hides rows there."""
RISING: Final = 4.0
"""Growth of the logarithm over the end bin beyond which the bins beside are no ground for what it should hold."""
FARTHEST: Final = 6.0
"""Largest logarithm of a ratio that is looked at."""


@dataclass(frozen=True)
class Break:
    """How an end bin breaks with the bins beside it, towards the inside.

    gap: logarithm of its count over what the bins beside suggest.  shift: mean minus middle, in bins towards the
    inside, if what is missing is missing at the end, or what is too much is there.  moved: what of this is due to the
    gap.  rise: growth of the logarithm over the bin as the bins beside suggest, 0 where it falls.  edge: what the
    density at the inner edge would be more, were the end bin left out.  weight: how much the gap counts.  clamped,
    all_moved: shift and moved of the larger gap that one way of going on leaves, 0 where there is none; of the way
    there `alone` counts.
    """

    gap: Array
    shift: Array
    moved: Array
    rise: Array
    edge: Array
    weight: Array
    clamped: Array
    all_moved: Array
    alone: Array


def no_break(shape: tuple[int, ...]) -> Break:
    """Return what there is to say of an end with fewer than two bins beside it."""
    return Break(*np.zeros((9, *shape)))


def breaks(log: Array, inner: Array, bounds: Array) -> Break:
    """Return the break at a column's first bin.

    log: logarithms of the mean densities, shape (..., K), K > 2.  inner: density at the first inner edge, shape (...).
    bounds: of the bins, shape (K + 1,); falling ones are those of a column turned round.
    """
    x, edge = (bounds[1:] + bounds[:-1]) / 2, bounds[1]
    width = np.abs(edge - bounds[0])
    # slopes are outwards: how much the logarithm grows towards the end
    at, slope = np.abs(x - edge), (log[..., 1] - log[..., 2]) / np.abs(x[2] - x[1])
    # the mean density of an exponential is above that in the middle
    kappa = slope * np.abs(bounds[2] - edge)
    center = log[..., 1] - log_mean(kappa) + kappa / 2
    begins = center + slope * at[1]
    gap = most = log[..., 0] - begins - log_mean(slope * width)
    more = np.exp(begins) - inner
    if log.shape[-1] > 3:
        before = (log[..., 2] - log[..., 3]) / np.abs(x[3] - x[2])
        bend = (slope - before) / (np.abs(x[3] - x[1]) / 2)
        # continued straight or bent as before: what both say, so that a normal density has no break
        middle = (at[1] + at[2]) / 2
        bent = center + (slope + bend * (middle - at[1] / 2)) * at[1]
        other = log[..., 0] - bent - log_mean((slope + bend * (middle + at[0] / 2)) * width)
        # a tail that ends near its bound bends more the nearer it is
        by = bend + MORE * np.minimum(bend, 0.0)
        falls = log[..., 0] - center - (slope + by * (middle - at[1] / 2)) * at[1]
        falls = falls - log_mean((slope + by * (middle + at[0] / 2)) * width)
        gap, most = _nearer(gap, other), np.maximum(np.maximum(gap, other), falls)
        more = _nearer(more, np.exp(bent) - inner)
    gap, most = np.clip(gap, -FARTHEST, FARTHEST), np.clip(most, 0.0, FARTHEST)
    rise = np.clip(slope * width, -30.0, 30.0)
    known: Array = 1 / (1 + (rise / RISING) ** 4)
    less: Array = known * np.exp(FALLING * np.minimum(rise, 0.0))
    up = np.maximum(rise, 0.0)
    none, shift, clamped = (_extreme(one, rise) for one in (0 * gap, gap, most))
    alone = known / (1 + (up / LEVEL) ** 2)
    weight = np.where(gap > 0, known, less)
    return Break(gap, shift, shift - none, up, less * more, weight, clamped, clamped - none, alone)


def _nearer(one: Array, other: Array) -> Array:
    """Return the number nearer to 0 of two of one sign, else 0."""
    return np.where(one * other > 0, np.sign(one) * np.minimum(np.abs(one), np.abs(other)), 0.0)


def _extreme(gap: Array, rise: Array) -> Array:
    """Return the mean minus the middle, in bins towards the inside, of a density with all of its gap at the end.

    The bin is [0, 1] from the end, the density without a gap exp(-rise u).
    """
    c = np.where(np.abs(rise) < 1e-6, 1e-6, rise)
    # begins at t, where so much is left beyond t: exp(-c t) - exp(-c) = exp(gap) (1 - exp(-c))
    t = np.clip(-np.log(np.exp(np.minimum(gap, 0.0)) * -np.expm1(-c) + np.exp(-c)) / c, 0.0, 1.0)
    begun = t + (1 - t) * (0.5 + langevin(-c * (1 - t))[0])
    heaped = np.exp(-np.maximum(gap, 0.0)) * (0.5 + langevin(-c)[0])
    return np.where(gap < 0, begun, heaped) - 0.5


def end_density(
    mean: Array, inner: Array, slopes: Array, width: float, beside: float, broken: Break
) -> tuple[Array, Array]:
    """Return the density at an end of the column, and how far it may be off.

    mean: mean density of the end bin.  inner: density at its inner edge.  slopes: of the logarithm of the density in
    the bin beside it towards the inside, and by how much that grows towards the end, for a unit, shape (2, ...).
    width, beside: of the end bin and of that beside it.  broken: how the end bin breaks with the bins beside it.

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
    begun = broken.gap < 0
    # no further than a density that begins in the bin, or is heaped at its end
    apart = np.clip(broken.shift - shift, np.minimum(broken.moved, 0.0), np.maximum(broken.moved, 0.0))
    reach: Array = broken.weight * apart
    # towards the end is negative
    least = broken.alone * np.clip(broken.clamped - shift, broken.all_moved, 0.0)
    taken = np.where(begun, BEGUN, HEAPED) * (1 + broken.rise / (1 + broken.rise)) * reach
    shift = shift + taken
    rest = np.where(begun, BEGUN_DOUBT * reach, np.minimum(HEAPED_DOUBT * reach, np.minimum(least - taken, 0.0)))
    off = np.hypot(off, rest)
    tilt = untilted(shift)
    # how the mean moves with the tilt is the variance
    return inner - tilt * mean, off / np.maximum(langevin(tilt)[1], 1 / STEEPEST**2) * mean

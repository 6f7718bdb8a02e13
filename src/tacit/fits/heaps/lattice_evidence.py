"""Columns told in multiples of one number, from any place on, as counts in bins of unequal widths show them.

Values told to the nearest of places s apart are, to an edge of a bin, as if the edge were halfway between the two
places about it.  So the counts are those of the column before it was told, in bins with other edges; where only a part
p of the rows is told so, with edges moved by p of the way.  In bins of one width that is a multiple of s all edges move
alike: no count shows it, and means are off by up to s / 2.  In bins of other widths, and of unequal ones, as automatic
bins have them, the logarithms of densities scatter about a smooth curve by what the edges move, unless the right places
are taken.  Where places are further apart than bins are wide, bins without one are empty: they are joined to the next.

Of each spacing the chance of the counts, averaged over places and parts, is held against that with edges as they are
(`heap_evidence` has the law of third differences): a Bayes factor.  Times PRIOR, and at most 1, it is what part of the
variance of the movement counts; of the places and parts that the counts leave open, the one that moves most.
Source: Heitjan & Rubin 1990 (coarse and heaped data).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.cells.log_densities import FILLED, HIDDEN, LogDensities
from tacit.fits.heaps.heap_evidence import INNER, OUTER, pieces, third_matrix

ROUND: Final = 0.03
"""How many times as plausible as a smooth column one told in multiples of a round number is, counts unseen."""
PRIOR: Final = 0.02
"""The same of all other spacings and places together."""
DIGITS: Final = (1.0, 2.0, 2.5, 5.0)
"""First digits of round spacings."""
PARTS: Final = (0.3, 0.6, 0.95)
"""Parts of the rows that are told so, each as likely."""
PHASES: Final = 8
"""Places at which a lattice may begin, in a spacing."""
FINEST: Final = 5.0
"""Spacings that are looked at are no smaller than the narrowest bin over this."""
ROUND_FINEST: Final = 12.0
"""The same of round ones, of which there are few."""
COARSEST: Final = 1.2
"""And no larger than the widest bin times this: beyond, bins without a place are holes."""
DRIFT: Final = 0.25
"""Two spacings next to each other differ by this part of a spacing from one end of the filled bins to the other."""
OPEN: Final = 0.05
"""Places are open that are this many times as plausible as the best, or more."""
UNEQUAL: Final = 0.02
"""Bins whose widths are within this part of each other are of one width."""
LEAST: Final = 0.1
"""Odds below which spacings that are not round are left out: of so many, some are always open."""
FEWEST: Final = 6
"""Filled bins in a row from which something is concluded."""
HOLE: Final = 0.1
"""Part of what bins beside it hold that a bin without a place may have, at most."""
HOLLOW: Final = 10.0
"""How many times as plausible such bins are where places are further apart than in a smooth column."""
MATTERS: Final = 0.35
"""Spacings, times the part of rows that are told so, are large if they are this part of a bin or more."""
CLEAR: Final = 20.0
"""How many times as plausible as all other spacings together one is that is named."""


@dataclass(frozen=True)
class Lattices:
    """What may be of lattices: L of them, spacings, first places, parts of rows and odds, shape (L,) each.

    clear: the round spacing that is more plausible than all others together, by a factor of CLEAR; None where none is.
    """

    spacing: Array
    first: Array
    part: Array
    odds: Array
    clear: float | None = None

    def moved(self, bounds: Array) -> Array:
        """Return by how much means of bins with K + 1 bounds differ from those without lattices, shape (L, K).

        Times the square root of the odds, as a standard deviation.
        """
        told = nearest_edges(bounds, self.spacing[:, None], self.first[:, None])
        widths, wide = np.diff(told), np.diff(bounds)
        # of a bin's rows; those at places lie about the middle of the edges that they have
        share = self.part[:, None] * widths / ((1 - self.part[:, None]) * wide + self.part[:, None] * widths)
        off = (told[:, 1:] + told[:, :-1] - bounds[1:] - bounds[:-1]) / 2
        return np.sqrt(self.odds)[:, None] * np.where(widths > 0, share * off, 0.0)

    def stepped(self, low: Array, high: Array, u: Array, smooth: Array) -> Array:
        """Return how far shares of bins' rows below their fractions u may be from smooth ones, as standard deviations.

        low, high: bounds of the bins, u and smooth likewise of shape (m,).
        """
        s, first, part = self.spacing[:, None], self.first[:, None], self.part[:, None]
        place = low + u * (high - low)
        begins, ends = np.ceil((low - first) / s - 1e-9), np.ceil((high - first) / s - 1e-9)
        many = np.maximum(ends - begins, 0.0)
        below = np.clip(np.ceil((place - first) / s - 1e-9) - begins, 0.0, many)
        upto = np.clip(np.floor((place - first) / s + 1e-9) + 1 - begins, 0.0, many)
        told = part * many * s / (part * many * s + (1 - part) * (high - low))
        off = np.maximum(np.abs(below / np.maximum(many, 1.0) - smooth), np.abs(upto / np.maximum(many, 1.0) - smooth))
        found: Array = (np.sqrt(self.odds)[:, None] * np.where(many > 0, told * off, 0.0)).max(axis=0)
        return np.where((u > 0) & (u < 1), found, 0.0)


def nearest_edges(bounds: Array, spacing: Array, first: Array) -> Array:
    """Return where bounds are to values that are told to places: halfway between two, the lower one below the bound.

    >>> nearest_edges(np.array([0.0, 4.0, 10.0]), np.array([[5.0]]), np.array([[1.0]])).tolist()
    [[-1.5, 3.5, 8.5]]
    """
    # a place at a bound is in the bin above
    made: Array = first + spacing * (np.ceil((bounds - first) / spacing - 1e-9) - 0.5)
    return made


def unequal(edges: Array) -> bool:
    """Return whether bins with these edges are not all of one width."""
    widths = np.diff(edges)
    return bool(np.ptp(widths) > UNEQUAL * widths.max())


def lattices_of(axis: CellAxis, counts: Array, variance: float) -> Lattices | None:
    """Return the lattices that noisy counts, shape (K,), with noise of a variance each, leave plausible, or None."""
    if axis.step or axis.heaped_at:
        return None
    return _found(tuple(axis.bounds.tolist()), tuple(counts.tolist()), float(variance))


# notes ask again what errors asked, of as many groups
@lru_cache(maxsize=1_024)
def _found(bounds: tuple[float, ...], given: tuple[float, ...], variance: float) -> Lattices | None:
    ends, counts, variances, holes = _joined(np.array(bounds), np.array(given), variance)
    seen = LogDensities.of(CellAxis("", "continuous", ends), counts, variances)
    # a bin and the empty one above it are wider than others
    double = np.isin(ends[1:], holes[:, 1])
    seen = replace(seen, alike=seen.alike | double[1:] | double[:-1])
    own = _longest(seen)
    if own is None:
        return None
    edges = ends[own.start : own.stop + 1]
    inner = holes[(holes[:, 0] >= edges[0]) & (holes[:, 1] <= edges[-1])]
    rows = np.maximum(counts[own], 0.0)
    shares, more = rows / max(rows.sum(), 1.0), HOLLOW if len(inner) else 1.0
    found, logs, spacings = list[Array](), list[float](), list[float]()
    for asked, prior in ((_round(edges), ROUND), (_any(edges), PRIOR)):
        chance = np.where(_empty(inner, asked), _over_none(seen, own, edges, asked), -np.inf)
        # round spacings one by one, others together
        for group in np.unique(asked[0]) if prior == ROUND else [0.0]:
            at = np.flatnonzero((asked[0] == group) | (group == 0))
            log = float(np.log(prior * more / len(at)) + np.logaddexp.reduce(chance[at]))
            logs.append(log)
            spacings.append(float(group))
            odds = float(np.exp(min(log, 0.0)))
            if odds >= LEAST:
                kept = at[_most(asked[:, at], chance[at], edges, shares)]
                found.append(np.array([*asked[:, kept], np.full(len(kept), odds)]))
    if not found:
        return None
    spacing, first, part, odds = np.concatenate(found, axis=1)
    return Lattices(spacing, first, part, odds, _clear(np.array(logs), spacings))


def _most(asked: Array, chance: Array, edges: Array, shares: Array) -> list[int]:
    """Return which open lattices move the mean most, either way, and the most plausible one.

    asked, chance: of each lattice, shapes (3, L) and (L,).  shares: of all rows, in bins with these edges.
    """
    at = np.flatnonzero(chance >= chance.max() + np.log(OPEN))
    off = Lattices(asked[0, at], asked[1, at], asked[2, at], np.ones(len(at))).moved(edges) @ shares
    return sorted({int(at[off.argmin()]), int(at[off.argmax()]), int(chance.argmax())})


def _joined(bounds: Array, counts: Array, variance: float) -> tuple[Array, Array, Array, Array]:
    """Return bounds, counts and their variances with bins without a row joined to those below; and bounds of these.

    Where all rows are at places further apart than a bin is wide, some bins have none: they hold what noise may,
    between two that hold much more.  Shapes (J + 1,), (J,), (J,) and (holes, 2).
    """
    hidden = np.maximum(counts, 0.0) + HIDDEN * np.sqrt(variance + 1.0)
    filled = counts > FILLED * np.sqrt(variance + np.maximum(counts, 1.0))
    beside = np.minimum(counts[:-2], counts[2:])
    hole = np.zeros(len(counts), dtype=np.bool_)
    hole[1:-1] = ~filled[1:-1] & filled[:-2] & filled[2:] & (hidden[1:-1] < HOLE * beside)
    kept = np.flatnonzero(~hole)
    many = np.diff(np.append(kept, len(counts)))
    found = np.stack([bounds[:-1][hole], bounds[1:][hole]], axis=1)
    return np.append(bounds[kept], bounds[-1]), np.add.reduceat(counts, kept), variance * many, found


def _empty(holes: Array, asked: Array) -> NDArray[np.bool_]:
    """Return which lattices leave bins between such bounds, shape (holes, 2), without a row, shape (L,)."""
    # all rows are at places, of which none is between
    spacing, first = asked[:2, :, None]
    low, high = nearest_edges(holes[:, 0], spacing, first), nearest_edges(holes[:, 1], spacing, first)
    none: NDArray[np.bool_] = (high - low < spacing / 2).all(axis=1)
    return none & ((asked[2] == max(PARTS)) | (len(holes) == 0))


def _longest(seen: LogDensities) -> slice | None:
    """Return the longest run of filled bins, of FEWEST or more: phases of a lattice drift from one run to the next."""
    runs = [one for one in pieces(seen) if one.stop - one.start >= FEWEST]
    return max(runs, key=lambda one: one.stop - one.start) if runs else None


def _clear(logs: Array, spacings: list[float]) -> float | None:
    """Return the spacing of the largest of these logarithms of odds, if it stands out and is a round one (not 0)."""
    best = int(logs.argmax())
    others = np.logaddexp.reduce(np.delete(logs, best)) if len(logs) > 1 else -np.inf
    return spacings[best] or None if logs[best] >= np.log(CLEAR) + others else None


def would_show(axis: CellAxis, counts: Array, variance: float, error: float | None = None, mean: bool = False) -> bool:
    """Return whether such counts, shape (K,), would show rows told in round multiples that matter.

    That is, whether each such lattice would be found (`lattices_of`) if third differences were just what it makes them.
    Those matter of all rows with spacings of a third of a bin or more, and of a part of them with larger ones
    (MATTERS); beside an error that is told those that move by as much: a place within a bin, or the mean.
    """
    seen = LogDensities.of(axis, counts, variance)
    own = _longest(seen)
    if own is None and error is None:
        return False
    used = slice(0, axis.bins) if own is None else own
    edges = axis.bounds[used.start : used.stop + 1]
    asked = _round(edges)
    wide = asked[:, _matter(asked, edges, np.maximum(counts, 0.0), used, error, mean)]
    if own is None or not wide.size:
        return not wide.size
    off, noise = _differences(seen, own, edges, wide)
    each = _chances(np.zeros((1, off.shape[1])), noise) - _chances(off, noise)
    # of a spacing's places and parts that are averaged over, one is right
    few = np.log(ROUND) - np.log(len(PARTS) * 2) - np.log(LEAST)
    return bool((each + few >= 0).all())


def _matter(asked: Array, edges: Array, rows: Array, used: slice, error: float | None, mean: bool) -> NDArray[np.bool_]:
    """Return which lattices matter in bins with these edges, shape (L,); rows: of all bins, of which some are used."""
    if error is None:
        return asked[0] * asked[2] >= MATTERS * np.diff(edges).min()
    if not mean:
        return asked[0] * asked[2] / 2 > error
    moved = Lattices(asked[0], asked[1], asked[2], np.ones(len(asked[0]))).moved(edges) @ rows[used]
    return np.abs(moved) > error * max(rows.sum(), 1.0)


def _round(edges: Array) -> Array:
    """Return round spacings, with places that are their multiples or halfway between, and parts, shape (3, L)."""
    widths = np.diff(edges)
    low, high = float(widths.min()) / ROUND_FINEST, float(widths.max()) * COARSEST
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    near = np.array(sorted(digits * 10.0**power for power in powers for digits in DIGITS))
    near = near[(near >= low) & (near <= high)]
    s, phase, part = np.meshgrid(near, [0.0, 0.5], PARTS, indexing="ij")
    return np.stack([s, s * phase, part]).reshape(3, -1)


def _any(edges: Array) -> Array:
    """Return spacings, first places and parts that are looked at whatever the numbers are, shape (3, L)."""
    widths, span = np.diff(edges), edges[-1] - edges[0]
    low, high = float(widths.min()) / FINEST, float(widths.max()) * COARSEST
    # evenly in how many places there are between the ends
    many = np.arange(span / high, span / low, DRIFT)
    s, phase, part = np.meshgrid(span / many, np.arange(PHASES) / PHASES, PARTS, indexing="ij")
    return np.stack([s, edges[0] + s * phase, part]).reshape(3, -1)


def _over_none(seen: LogDensities, own: slice, edges: Array, asked: Array) -> Array:
    """Return the logarithm of each lattice's chance over that of none, shape (L,)."""
    more, noise = _differences(seen, own, edges, asked)
    off = third_matrix((edges[1:] + edges[:-1]) / 2) @ seen.log[own]
    return _chances(off - more, noise) - _chances(off[None], noise)


def _differences(seen: LogDensities, own: slice, edges: Array, asked: Array) -> tuple[Array, Array]:
    """Return the third differences that each lattice makes, shape (L, n), and the covariance of their noise."""
    x = (edges[1:] + edges[:-1]) / 2
    D = third_matrix(x)
    wider, moved = _told(edges.tobytes(), asked.tobytes())
    # edges wider apart, and middles further up: logarithms of densities are more for both
    more = wider + moved @ (np.gradient(seen.log[own], x)[:, None] * D.T)
    return more, (D * seen.spread[:, own].sum(axis=0)) @ D.T


# of many groups with the same edges
@lru_cache(maxsize=8)
def _told(bounds: bytes, given: bytes) -> tuple[Array, Array]:
    """Return third differences of the logarithms by which lattices make bins wider, and movements of middles."""
    edges, asked = np.frombuffer(bounds), np.frombuffer(given).reshape(3, -1)
    spacing, first, part = asked[:, :, None]
    told = nearest_edges(edges, spacing, first) - edges
    wider = np.log(np.maximum(1 + part * np.diff(told) / np.diff(edges), 0.02))
    D = third_matrix((edges[1:] + edges[:-1]) / 2)
    return wider @ D.T, part * (told[:, 1:] + told[:, :-1]) / 2


def _chances(off: Array, noise: Array) -> Array:
    """Return the logarithms of chances of third differences, shape (L, n), in a smooth column; noise: covariance."""
    kinds, logs = list[Array](), list[float]()
    # axes of the noise are those of its sum with any scale; the first and the last scale are a change of rank 2
    own, axes = np.linalg.eigh(noise)
    z, ends = off @ axes, axes[[0, -1]]
    squares = z**2
    for size, weight in INNER:
        known = 1 / (own + size**2)
        inner = (np.log(known).sum() - squares @ known) / 2
        at, cross = z @ (ends * known).T, (ends * known) @ ends.T
        for end, chance in OUTER:
            more = max(end**2 - size**2, 0.0)
            grown = np.eye(2) + more * cross
            less = more * ((at @ np.linalg.inv(grown)) * at).sum(axis=1)
            kinds.append(inner + (less - np.linalg.slogdet(grown)[1]) / 2)
            logs.append(float(np.log(weight * chance)))
    out: Array = np.logaddexp.reduce(np.array(kinds) + np.array(logs)[:, None], axis=0)
    return out

"""Correction of means of blocks for clamping to the box.  Post-processing: costs nothing.

Estimates of blocks are clamped to the parameter's box, which biases their mean where the box ends near it.  The mean
without the clamp is found from the released mean and variance, as if a power of the estimates was normal
(`estimates.box_censoring`).  Where noise hides the variance, it is averaged over what the variance may be
(`estimate_spread`), and its spread counts as an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.noisy_terms.box_censoring import unclamped_means
from tacit.estimates.noisy_terms.interval_inversion import LinearInversion
from tacit.estimates.noisy_terms.noisy_moments import Moments, block_moments, integers
from tacit.estimates.terms import ColumnTerms
from tacit.method.blocks.estimate_spread import SeenSpread, Spreads, variance_of_spread
from tacit.models.boxes import DOMAINS, LINKS
from tacit.release.parts import Grid, Part

Flags: TypeAlias = NDArray[np.bool_]
NEAR: Final = 4.0
"""Distance from an end of the box, in standard deviations of a block, beyond which clamping is negligible."""
CLEAR: Final = 6.0
"""Least ratio of the variance of blocks to the standard deviation of its noise for it to be used in the correction.
The variance is never taken below one such standard deviation, so that with a ratio near 1 chance would decide.
"""
MOST: Final = 0.2
"""Largest share of blocks beyond an end that is corrected: with more, the result rests on the assumed law alone."""
GUESS: Final = 0.15
"""Standard error of the correction, as a part of it: about the error found where a sixth of the blocks of 20 rows lie
beyond an end (docs/reference/blocks.md).
"""
TOLD: Final = 0.01
"""Smallest share of blocks beyond an end that a note mentions."""
FURTHEST: Final = 6.0
"""Standard deviations of noise beyond which an end takes no interval away."""
PLACES: Final = 16
"""Places in half a box, and again between two of them, at which it is tried whether an interval would be given up."""
BEYOND: Final = "more than a fifth of the blocks' estimates lie beyond an end of the box: a wider one is needed"


@dataclass(frozen=True)
class Ends:
    """Ends at which estimates of a parameter are clamped, infinite where the box reaches the end of its domain.

    power: the power of the parameter whose estimates are nearly normal (`Order`).
    """

    low: float
    high: float
    power: float


def ends_of(law: Any, words: Mapping[str, Any], part: Part) -> Ends | None:
    """Return the ends of a part from public facts; None for a statistic, whose range may be its whole domain.

    law: the family; or None or a `tacit.Model`, of which only the box is known.
    """
    from tacit.models.family import Family

    grid = cast(Grid, part.grid)
    if words["family"] == "Statistic":
        return None
    if not isinstance(law, Family):
        # of a user's model a box from 0 is taken for a domain that ends there, where nothing is cut off
        return Ends(grid.lower if grid.lower else -math.inf, grid.upper, 1.0)
    # where the box ends with the domain, no estimate lies beyond: that end clamps nothing
    link = next(one.link for one in law.parameters if one.name == part.label)
    first, last = next(DOMAINS[kind] for kind, own in LINKS.items() if own == link)
    low = -math.inf if grid.lower == first else grid.lower
    return Ends(low, math.inf if grid.upper == last else grid.upper, law.order(part.label).power)


@dataclass(frozen=True)
class FreedMeans:
    """Means without the clamp, shape (m,), and the share of blocks beyond an end, shape (m,).

    slopes: derivatives of the value in the clamped mean and variance, shape (2, m).  sampling: variance of one block's
    contribution to the corrected mean, shape (m,).
    """

    value: Array
    share: Array
    slopes: Array
    sampling: Array


@dataclass(frozen=True)
class SpreadMeans:
    """Means without the clamp for each variance that a block may have, and their chances, each of shape (S, m)."""

    value: Array
    chance: Array

    @property
    def expected(self) -> Array:
        """The mean over the chances, shape (m,)."""
        return np.asarray((self.chance * self.value).sum(axis=0), dtype=np.float64)

    @property
    def variance(self) -> Array:
        """The variance over the chances, shape (m,)."""
        return np.asarray((self.chance * (self.value - self.expected) ** 2).sum(axis=0), dtype=np.float64)


@dataclass(frozen=True)
class FreedTerms:
    """Terms of means without the clamp, and the share of blocks beyond an end, shape (m,).

    spread: what they may be for want of the variance of blocks; None where it is known, or nothing is corrected.  Its
    variance is among the sampling variance of `terms`.
    """

    terms: ColumnTerms
    share: Array
    spread: SpreadMeans | None = None


def means_without_clamp(
    mean: Array, variance: Array, ends: Ends, *, free: bool = False, most: float = MOST
) -> FreedMeans:
    """Return means without the clamp, from the mean and variance of clamped estimates, each of shape (m,).

    Means that no end is near, or whose variance is 0, stay unchanged.  The share is 1 where the equations have no
    solution or a mean lies at an end; with a share above `most`, too, values stay unchanged.
    free: see `unclamped_means`.
    """
    gap = np.minimum(mean - ends.low, ends.high - mean)
    at = (gap > 0) & (gap < NEAR * np.sqrt(variance))
    value, share, sampling = mean.copy(), np.where((gap <= 0) & (variance > 0), 1.0, 0.0), variance.copy()
    # uncorrected: the value is the mean itself, derivative 1 in the mean and 0 in the variance
    slopes = np.stack([np.ones_like(mean), np.zeros_like(mean)])
    if at.any():
        found = unclamped_means(mean[at], variance[at], ends.low, ends.high, ends.power, free=free)
        share[at] = np.where(np.isnan(found.value), 1.0, found.share)
        known = (share[at] <= most) & ~np.isnan(found.value)
        value[at] = np.where(known, found.value, mean[at])
        sampling[at] = np.where(known, found.sampling, variance[at])
        slopes[:, at] = np.where(known, found.slopes, slopes[:, at])
    return FreedMeans(value, share, slopes, sampling)


ByLaw: TypeAlias = Callable[[Array], Array | None]
"""Map values of a parameter, shape (m,), to the model's variance of a block's estimate; None where it is unknown."""


@dataclass(frozen=True)
class NoisyBlock:
    """What is released of the variance of one block's estimate, each of shape (m,).

    free: what the variance of the mean is multiplied by for that of one block.  variance: the latter; found: the same,
    also where noise makes it negative.  loadings: its loadings on the noises, shape (m, noises); noise: its standard
    error due to them.  clear: whether noise does not hide it.  blur: the variance below which the distance of the mean
    from an end is unknown: with noise above half a block's standard deviation.
    """

    free: Array
    variance: Array
    found: Array
    loadings: Array
    noise: Array
    clear: Flags
    blur: Array

    @property
    def shown(self) -> Array:
        """The variance where it is known, else 0."""
        return np.where(self.clear & (self.blur < self.variance), self.variance, 0.0)


def noisy_block(made: ColumnTerms, part: Part, cells: Array | None = None) -> NoisyBlock:
    """Return that of one cell or several; cells: the released integers, if not all."""
    noisy, grid = block_moments(part, integers(part) if cells is None else cells), cast(Grid, part.grid)
    # terms hold the variance of the mean, (q - m**2) / (k - 1) or / N
    free = np.maximum(noisy.size - noisy.public, 1.0)
    variance = np.maximum(made.variance, 1e-300) * free
    loadings = variance_loadings(made, variance, noisy, grid)
    noise = np.sqrt((loadings**2).sum(axis=-1) * part.law.variance())
    size = np.maximum(noisy.size, 1.0)
    mean, (n, total, square) = noisy.total / size, noisy.squares
    # the squares about the mean; of blocks with variances of their own these, whatever the mean is
    found = ((grid.upper - grid.lower) / 2) ** 2 * (square - 2 * mean * total + mean**2 * n) / size
    return NoisyBlock(free, variance, found, loadings, noise, noise <= variance / CLEAR, 4 * made.privacy_variance)


def seen_spread(
    made: ColumnTerms, part: Part, ends: Ends, lawful: ByLaw, rows: float, cells: Array | None = None
) -> SeenSpread | None:
    """Return what a release says of the variance of a block's estimate; None where nothing is to be corrected.

    rows: of a block, 0 where that is not public.  Of a family the guess is its law's variance at the released mean.
    """
    one = noisy_block(made, part, cells)
    gap = np.minimum(made.value - ends.low, ends.high - made.value)
    # the model is evaluated only where it may matter
    if not (gap < NEAR * np.sqrt(np.maximum(one.found, 0.0) + 3 * one.noise)).any():
        return None
    guess = lawful(made.value)
    known = guess is not None
    guess = np.full_like(made.value, 1 / max(rows, 1.0)) if guess is None else guess
    chance = variance_of_spread(part.parameters["blocks"], rows)
    return SeenSpread(made.value, one.found, one.noise, guess, known, ends.low, ends.high, ends.power, chance)


def terms_without_clamp(
    made: ColumnTerms, part: Part, ends: Ends, spreads: Spreads | None, cells: Array | None = None
) -> FreedTerms:
    """Return terms of the means without the clamp.

    The result is linear in the noises of mean and variance to first order.  Where noise hides the variance of blocks,
    `spreads` stands in its place.  Where no block is near an end the terms stay unchanged.  With a share above MOST, a
    reason replaces the interval.
    """
    grid = cast(Grid, part.grid)
    one = noisy_block(made, part, cells)
    box = grid.upper - grid.lower
    # shape (2, m, noises): loadings of the mean, then of the variance
    loads = np.stack([made.loadings, one.loadings])
    found = means_without_clamp(made.value, one.shown, ends)
    spread = None
    if spreads is not None and not one.clear.all():
        found, spread = _with_spreads(found, made.value, one, ends, spreads)
    if not found.share.any():
        return FreedTerms(made, found.share)
    # a variance of 0 stands for "hidden by noise"; the released one is put back for the error
    found = replace(found, sampling=np.where(found.sampling > 0, found.sampling, one.variance))
    lost = found.share > MOST
    value = np.clip(found.value, grid.lower, grid.upper)
    guess = (GUESS * (value - made.value)) ** 2 + (0.0 if spread is None else spread.variance)
    # lost: an error far wider than the box, so that the value weighs nothing beside others
    sampling = np.where(lost, (10 * box) ** 2, found.sampling / one.free + guess)
    # chain rule: d value = slope in the mean * d mean + slope in the variance * d variance
    loadings = (found.slopes[:, :, None] * loads).sum(axis=0)
    inversion = LinearInversion(value, sampling, loadings, made.law, grid.lower, grid.upper)
    reasons = tuple(BEYOND if gone else reason for gone, reason in zip(lost, made.reasons, strict=True))
    block = replace(made, value=value, variance=sampling, loadings=loadings, inversion=inversion, reasons=reasons)
    return FreedTerms(block, found.share, spread)


def kept_between(made: ColumnTerms, part: Part, ends: Ends, spreads: Spreads | None) -> tuple[float, float]:
    """Return between which released means a parameter's interval is kept, infinite where no end takes it away.

    With the variance of blocks as it is, beyond them a share above MOST of the blocks would lie beyond an end.
    """
    one, grid = noisy_block(made, part), cast(Grid, part.grid)
    variance, free = one.shown, False
    if spreads is not None and not one.clear[0]:
        variance, free = _not_blurred(spreads.middle, one), True

    def lost(at: Array) -> Flags:
        return means_without_clamp(at, np.broadcast_to(variance, at.shape), ends, free=free).share > MOST

    limits = [-math.inf, math.inf]
    for i, end in enumerate((ends.low, ends.high)):
        apart = abs(float(made.value[0]) - end)
        # a share of MOST lies beyond an end less than half of NEAR from the mean
        reach = NEAR / 2 * float(variance[0]) ** 0.5
        reach += FURTHEST * float((made.variance + made.privacy_variance)[0]) ** 0.5
        if not math.isfinite(end) or apart > reach:
            continue
        # a mean at the end itself has no share; the share grows from the middle towards the end
        inside = (grid.lower + grid.upper) / 2
        outside = end + (inside - end) * 1e-6
        for _ in range(2):
            places = np.linspace(inside, outside, PLACES)
            with np.errstate(all="ignore"):  # what has no solution at the end itself counts as lost
                gone = np.flatnonzero(lost(places))
            if not len(gone):
                break
            limits[i] = inside = float(places[max(gone[0] - 1, 0)])
            outside = float(places[gone[0]])
    return limits[0], limits[1]


def _not_blurred(variance: Array, one: NoisyBlock) -> Array:
    """Return the variance, or 0 where noise hides how far the mean is from an end."""
    return np.where(one.blur < variance, variance, 0.0)


def _with_spreads(
    found: FreedMeans, mean: Array, one: NoisyBlock, ends: Ends, spreads: Spreads
) -> tuple[FreedMeans, SpreadMeans]:
    """Return `found` with `spreads` used wherever the variance of the blocks is hidden by noise."""
    # what share lies beyond an end is said by the middle variance, as the limits of `kept_between` are
    middle = means_without_clamp(mean, _not_blurred(spreads.middle, one), ends, free=True)
    tried = np.where(one.blur < spreads.middle, spreads.variance, 0.0)
    shape = tried.shape
    flat = np.broadcast_to(mean, shape).reshape(-1)
    each = means_without_clamp(flat, tried.reshape(-1), ends, free=True, most=1.0)
    hidden, known = ~one.clear, (middle.share <= MOST) & (middle.share > 0)
    value = np.where(hidden & known, each.value.reshape(shape), found.value)
    chance = spreads.chance
    averaged = SpreadMeans(value, chance)

    def mean_of(values: Array) -> Array:
        return np.asarray((chance * values.reshape(*values.shape[:-1], *shape)).sum(axis=-2), dtype=np.float64)

    freed = FreedMeans(
        np.where(hidden, averaged.expected, found.value),
        np.where(hidden, middle.share, found.share),
        np.where(hidden & known, mean_of(each.slopes), np.where(hidden, middle.slopes, found.slopes)),
        np.where(hidden & known, mean_of(each.sampling), np.where(hidden, 0.0, found.sampling)),
    )
    return freed, averaged


def by_law(law: Any, names: Sequence[str], values: Array, place: int, rows: float) -> ByLaw:
    """Return the variance of a block's estimate by the model, as a function of the parameter at index `place`.

    values: released values, shape (p,), at which the other parameters stay.  rows: rows of a block.  The variance is
    unknown for a `tacit.Model`, for regressions, and where only some parameters were released.
    """
    from tacit.errors import ModelError
    from tacit.models import scores
    from tacit.models.family import Family

    def of(mean: Array) -> Array | None:
        if not isinstance(law, Family) or tuple(names) != law.names or not rows:
            return None
        order, found = law.order(names[place]), np.empty_like(mean)
        for i, value in enumerate(mean):
            at = values.copy()
            at[place] = value
            try:
                inverse = np.linalg.inv(np.asarray(law.fisher(scores.inner(law, at)), dtype=np.float64))
            except (ModelError, np.linalg.LinAlgError):
                return None
            # (1 / tI)(1 + v / t), the variance in small blocks (theory §2)
            found[i] = inverse[place, place] / rows * (1 + order.v / rows)
        return found

    return of


def variance_loadings(made: ColumnTerms, variance: Array, noisy: Moments, grid: Grid) -> Array:
    """Return the loadings of the variance of blocks on the noises, shape (m, noises).

    On the box scaled to [-1, 1] it is C(m) / N, C(m) = Q - 2 m S + m**2 N of `squares`, where m = S / N is the mean.
    Its derivative is (dQ - 2 m dS + m**2 dN) / N, of `squares`, less C(m) / N times dN / N; dN = 0 where every block
    counts.  The derivative in m is 0: it is (-2 S + 2 m N) / N, or C(m) does not depend on m.
    """
    half = (grid.upper - grid.lower) / 2
    m = ((made.value - (grid.lower + grid.upper) / 2) / half)[:, None]
    of_mean = (variance / half**2)[:, None]
    size = np.maximum(noisy.size, 1.0)[:, None]
    size_load, total_load, square_load = noisy.square_loadings
    squares = square_load - 2 * m * total_load + m**2 * size_load
    return half**2 / size * (squares - of_mean * noisy.loadings[0])


def clamp_note(label: str, share: float, by: float) -> str:
    """Return the note on a correction for clamping; by: its size in standard errors."""
    return (
        f"{label}: about {share:.0%} of the blocks' estimates lie beyond an end of the box; what it took off, "
        f"{abs(by):.1f} standard errors, is put back as if a power of them was normal; a wider box needs no such guess"
    )

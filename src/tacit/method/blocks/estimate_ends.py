"""Correction of means of blocks for clamping to the box.  Post-processing: costs nothing.

Estimates of blocks are clamped to the parameter's box, which biases their mean where the box ends near it.  The mean
without the clamp is found from the released mean and variance, as if a power of the estimates was normal
(`estimates.box_censoring`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.box_censoring import unclamped_means
from tacit.estimates.interval_inversion import LinearInversion
from tacit.estimates.noisy_moments import Moments, block_moments, integers
from tacit.estimates.terms import ColumnTerms
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


def means_without_clamp(mean: Array, variance: Array, ends: Ends, *, free: bool = False) -> FreedMeans:
    """Return means without the clamp, from the mean and variance of clamped estimates, each of shape (m,).

    Means that no end is near, or whose variance is 0, stay unchanged.  The share is 1 where the equations have no
    solution or a mean lies at an end; with a share above MOST, too, values stay unchanged.
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
        known = share[at] <= MOST
        value[at] = np.where(known, found.value, mean[at])
        sampling[at] = np.where(known, found.sampling, variance[at])
        slopes[:, at] = np.where(known, found.slopes, slopes[:, at])
    return FreedMeans(value, share, slopes, sampling)


ByLaw: TypeAlias = Callable[[Array], Array | None]
"""Map values of a parameter, shape (m,), to the model's variance of a block's estimate; None where it is unknown."""


@dataclass(frozen=True)
class _NoisyBlock:
    """What is released of the variance of one block's estimate, each of shape (m,).

    free: what the variance of the mean is multiplied by for that of one block.  variance: the latter.  loadings: its
    loadings on the noises, shape (m, noises).  clear: whether noise does not hide it.  blur: the variance below which
    the distance of the mean from an end is unknown: with noise above half a block's standard deviation.
    """

    free: Array
    variance: Array
    loadings: Array
    clear: Flags
    blur: Array

    @property
    def shown(self) -> Array:
        """The variance where it is known, else 0."""
        return np.where(self.clear & (self.blur < self.variance), self.variance, 0.0)


def _block(made: ColumnTerms, part: Part, cells: Array | None = None) -> _NoisyBlock:
    """Return that of one cell or several; cells: the released integers, if not all."""
    noisy = block_moments(part, integers(part) if cells is None else cells)
    # terms hold the variance of the mean, (q - m**2) / (k - 1) or / N
    free = np.maximum(noisy.size - noisy.public, 1.0)
    variance = np.maximum(made.variance, 1e-300) * free
    loadings = variance_loadings(made, variance, noisy, cast(Grid, part.grid))
    clear = (loadings**2).sum(axis=-1) * part.law.variance() <= (variance / CLEAR) ** 2
    return _NoisyBlock(free, variance, loadings, clear, 4 * made.privacy_variance)


def terms_without_clamp(
    made: ColumnTerms, part: Part, ends: Ends, lawful: ByLaw, cells: Array | None = None
) -> tuple[ColumnTerms, Array]:
    """Return terms of the means without the clamp, and the share of blocks beyond an end, shape (m,).

    The result is linear in the noises of mean and variance to first order.  Where noise hides the variance of blocks,
    the model's variance is used in its place, and the sampling error stays as released.  Where no block is near an end,
    or neither variance is known, the terms stay unchanged.  With a share above MOST, a reason replaces the interval.
    """
    grid = cast(Grid, part.grid)
    one = _block(made, part, cells)
    free, variance, clear, blur, box = one.free, one.variance, one.clear, one.blur, grid.upper - grid.lower
    # shape (2, m, noises): loadings of the mean, then of the variance
    loads = np.stack([made.loadings, one.loadings])
    found = means_without_clamp(made.value, one.shown, ends)
    gap = np.minimum(made.value - ends.low, ends.high - made.value)
    if (~clear & (gap < 2 * NEAR * np.sqrt(variance))).any():  # the model is evaluated only where it may matter
        found = _with_model_variance(found, made.value, variance, clear, blur, ends, lawful)
    if not found.share.any():
        return made, found.share
    # a variance of 0 stands for "hidden by noise" in `freed`; the released one is put back for the error
    found = replace(found, sampling=np.where(clear | (found.sampling > 0), found.sampling, variance))
    lost = found.share > MOST
    value = np.clip(found.value, grid.lower, grid.upper)
    guess = (GUESS * (value - made.value)) ** 2
    # lost: an error far wider than the box, so that the value weighs nothing beside others
    sampling = np.where(lost, (10 * box) ** 2, found.sampling / free + guess)
    # chain rule: d value = slope in the mean * d mean + slope in the variance * d variance
    loadings = (found.slopes[:, :, None] * loads).sum(axis=0)
    inversion = LinearInversion(value, sampling, loadings, made.law, grid.lower, grid.upper)
    reasons = tuple(BEYOND if gone else reason for gone, reason in zip(lost, made.reasons, strict=True))
    block = replace(made, value=value, variance=sampling, loadings=loadings, inversion=inversion, reasons=reasons)
    return block, found.share


def kept_between(made: ColumnTerms, part: Part, ends: Ends, lawful: ByLaw) -> tuple[float, float]:
    """Return between which released means a parameter's interval is kept, infinite where no end takes it away.

    With the released variance as it is, beyond them a share above MOST of the blocks would lie beyond an end.
    """
    one, grid = _block(made, part), cast(Grid, part.grid)

    def lost(at: Array) -> Flags:
        found = means_without_clamp(at, np.broadcast_to(one.shown, at.shape), ends)
        if not one.clear[0]:
            variance, clear = np.broadcast_to(one.variance, at.shape), np.broadcast_to(one.clear, at.shape)
            found = _with_model_variance(found, at, variance, clear, one.blur, ends, lawful)
        return found.share > MOST

    limits = [-math.inf, math.inf]
    for i, end in enumerate((ends.low, ends.high)):
        apart = abs(float(made.value[0]) - end)
        reach = 2 * NEAR * float(one.variance[0]) ** 0.5 + FURTHEST * float(made.privacy_variance[0]) ** 0.5
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


def _with_model_variance(
    found: FreedMeans, mean: Array, variance: Array, clear: Flags, blur: Array, ends: Ends, lawful: ByLaw
) -> FreedMeans:
    """Return `found` with the model's variance used wherever the variance of the blocks is hidden by noise.

    The sampling variance there stays the released one, which noise made larger.
    """
    asked = lawful(mean)
    if asked is None:
        return found
    first = means_without_clamp(mean, np.where(blur < asked, asked, 0.0), ends, free=True)
    again = lawful(first.value)  # the model's variance depends on the parameter: once more at the corrected value
    other = first if again is None else means_without_clamp(mean, np.where(blur < again, again, 0.0), ends, free=True)
    return FreedMeans(
        np.where(clear, found.value, other.value),
        np.where(clear, found.share, other.share),
        np.where(clear, found.slopes, other.slopes),
        np.where(clear, found.sampling, variance * other.slopes[0] ** 2),
    )


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

"""What the box takes off means of blocks, put back: `ends`, on a release's numbers.  Post-processing, costs nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.box_censoring import undone
from tacit.estimates.interval_inversion import LinearInversion
from tacit.estimates.noisy_moments import Moments, integers, moments
from tacit.estimates.terms import ColumnTerms
from tacit.models.boxes import DOMAINS, LINKS
from tacit.release.parts import Grid, Part

Flags: TypeAlias = NDArray[np.bool_]
NEAR: Final = 4.0
"""Standard deviations of a block from an end of the box, beyond which nothing is clamped that would matter."""
CLEAR: Final = 6.0
"""The variance of blocks is at least so many standard deviations of its own noise, or it says nothing of the clamp: it
is never taken below one of them, so that few would let chance decide.
"""
MOST: Final = 0.2
"""Part of the blocks beyond an end, at most: with more the law there is a guess."""
GUESS: Final = 0.15
"""Part of what is put back that counts as a standard error: about what is missing or too much where a sixth of the
blocks of 20 rows is beyond an end (docs/reference/blocks.md).
"""
TOLD: Final = 0.01
"""Share of the blocks beyond an end from which on a note says so."""
BEYOND: Final = "more than a fifth of the blocks' estimates lie beyond an end of the box: a wider one is needed"


@dataclass(frozen=True)
class Ends:
    """Where estimates of a parameter are clamped, infinite at an end of what it can be, and their power (`Order`)."""

    low: float
    high: float
    power: float


def ends_of(law: Any, words: Mapping[str, Any], part: Part) -> Ends | None:
    """Of a part, from public words; None of statistics, whose ranges may be all that they can be.

    law: the family, or None or a `tacit.Model`, of which a file says no more than the box.
    """
    from tacit.models.family import Family

    grid = cast(Grid, part.grid)
    if words["family"] == "Statistic":
        return None
    if not isinstance(law, Family):
        return Ends(grid.lower if grid.lower else -math.inf, grid.upper, 1.0)
    link = next(one.link for one in law.parameters if one.name == part.label)
    first, last = next(DOMAINS[kind] for kind, own in LINKS.items() if own == link)
    low = -math.inf if grid.lower == first else grid.lower
    return Ends(low, math.inf if grid.upper == last else grid.upper, law.order(part.label).power)


@dataclass(frozen=True)
class Freed:
    """Means without the clamp, shape (m,), and the share of the blocks beyond an end.

    slopes: shape (2, m), derivatives in mean and variance.  sampling: what one block gives to the variance of a mean.
    """

    value: Array
    share: Array
    slopes: Array
    sampling: Array


def freed(mean: Array, variance: Array, ends: Ends, *, free: bool = False) -> Freed:
    """Mean and variance of clamped estimates, shape (m,) -> means without the clamp; as they are where none is near.

    share: 1 where the equations have no answer, or a mean is at an end; with one above MOST values stay as they are.
    A variance of 0 asks for nothing.  free: see `undone`.
    """
    gap = np.minimum(mean - ends.low, ends.high - mean)
    at = (gap > 0) & (gap < NEAR * np.sqrt(variance))
    value, share, sampling = mean.copy(), np.where((gap <= 0) & (variance > 0), 1.0, 0.0), variance.copy()
    slopes = np.stack([np.ones_like(mean), np.zeros_like(mean)])
    if at.any():
        found = undone(mean[at], variance[at], ends.low, ends.high, ends.power, free=free)
        share[at] = np.where(np.isnan(found.value), 1.0, found.share)
        known = share[at] <= MOST
        value[at] = np.where(known, found.value, mean[at])
        sampling[at] = np.where(known, found.sampling, variance[at])
        slopes[:, at] = np.where(known, found.slopes, slopes[:, at])
    return Freed(value, share, slopes, sampling)


ByLaw: TypeAlias = Callable[[Array], Array | None]
"""Values of a parameter, shape (m,) -> the variance of a block's estimate by the law; None where it is not known."""


def opened(
    made: ColumnTerms, part: Part, ends: Ends, lawful: ByLaw, cells: Array | None = None
) -> tuple[ColumnTerms, Array]:
    """A block of means of clamped estimates -> that of the means without the clamp, and the share beyond an end, (m,).

    Linear in the noise to first order, as in a mean and a variance.  Where noise hides the variance of blocks, that of
    the law stands for it, and the sampling error stays as it was found.  Where no block is near an end, or neither is
    known, all stays as it is.  With a share above MOST there is a reason in place of an interval.
    """
    k, grid = part.parameters["blocks"], cast(Grid, part.grid)
    noisy = moments("plain", part.parameters, integers(part) if cells is None else cells, k)
    variance, box = np.maximum(made.variance, 1e-300) * max(k - 1, 1), grid.upper - grid.lower
    loads = np.stack([made.loadings, _of_variance(made, noisy, grid, k)])
    clear = (loads[1] ** 2).sum(axis=-1) * part.law.variance() <= (variance / CLEAR) ** 2
    blur = 4 * made.privacy_variance  # a mean with more noise than half a block's deviation is nowhere in particular
    found = freed(made.value, np.where(clear & (blur < variance), variance, 0.0), ends)
    gap = np.minimum(made.value - ends.low, ends.high - made.value)
    if (~clear & (gap < 2 * NEAR * np.sqrt(variance))).any():  # the law is asked only where it may matter
        found = _hidden(found, made.value, variance, clear, blur, ends, lawful)
    if not found.share.any():
        return made, found.share
    found = replace(found, sampling=np.where(clear | (found.sampling > 0), found.sampling, variance))
    lost = found.share > MOST
    value = np.clip(found.value, grid.lower, grid.upper)
    guess = (GUESS * (value - made.value)) ** 2
    sampling = np.where(lost, (10 * box) ** 2, found.sampling / max(k - 1, 1) + guess)
    loadings = (found.slopes[:, :, None] * loads).sum(axis=0)
    inversion = LinearInversion(value, sampling, loadings, made.law, grid.lower, grid.upper)
    reasons = tuple(BEYOND if gone else reason for gone, reason in zip(lost, made.reasons, strict=True))
    block = replace(made, value=value, variance=sampling, loadings=loadings, inversion=inversion, reasons=reasons)
    return block, found.share


def _hidden(found: Freed, mean: Array, variance: Array, clear: Flags, blur: Array, ends: Ends, lawful: ByLaw) -> Freed:
    """By the law's variance where that of the blocks is not clear; its own sampling variance, which noise made larger,
    stays.
    """
    asked = lawful(mean)
    if asked is None:
        return found
    first = freed(mean, np.where(blur < asked, asked, 0.0), ends, free=True)
    again = lawful(first.value)
    other = first if again is None else freed(mean, np.where(blur < again, again, 0.0), ends, free=True)
    return Freed(
        np.where(clear, found.value, other.value),
        np.where(clear, found.share, other.share),
        np.where(clear, found.slopes, other.slopes),
        np.where(clear, found.sampling, variance * other.slopes[0] ** 2),
    )


def by_law(law: Any, names: Sequence[str], values: Array, place: int, rows: float) -> ByLaw:
    """Of the parameter at `place` of all those of a family, the others at their released values, shape (p,).

    rows: of a block.  Never known of a `tacit.Model`, of regressions, or where only some parameters were released.
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
            found[i] = inverse[place, place] / rows * (1 + order.v / rows)
        return found

    return of


def _of_variance(made: ColumnTerms, noisy: Moments, grid: Grid, k: int) -> Array:
    """How the variance of the blocks reacts to the noises, shape (m, noises): q - m**2 on the u scale."""
    half = (grid.upper - grid.lower) / 2
    m = (made.value - (grid.lower + grid.upper) / 2) / half
    return half**2 / k * (noisy.loadings[2] - 2 * m[:, None] * noisy.loadings[1])


def told(label: str, share: float, by: float) -> str:
    """What a reader must know of a clamp that was undone; by: how far, in standard errors."""
    return (
        f"{label}: about {share:.0%} of the blocks' estimates lie beyond an end of the box; what it took off, "
        f"{abs(by):.1f} standard errors, is put back as if a power of them was normal; a wider box needs no such guess"
    )

"""What the box takes off means of blocks, put back: `ends`, on a release's numbers.  Post-processing, costs nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import numpy as np

from tacit.inference.decode import Moments, integers, moments
from tacit.inference.ends import undone
from tacit.inference.invert import Linear
from tacit.inference.laws import Array
from tacit.inference.terms import Block
from tacit.models.boxes import DOMAINS, LINKS
from tacit.release import Grid, Part

NEAR: Final = 4.0
"""Standard deviations of a block from an end of the box, beyond which nothing is clamped that would matter."""
CLEAR: Final = 3.0
"""The variance of blocks is at least so many standard deviations of its own noise, or it says nothing of the clamp."""
MOST: Final = 0.25
"""Part of the blocks beyond an end, at most: with more the law there is a guess."""
TOLD: Final = 0.01
BEYOND: Final = "more than a quarter of the blocks' estimates lie beyond an end of the box: a wider one is needed"


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


def freed(mean: Array, variance: Array, ends: Ends) -> Freed:
    """Mean and variance of clamped estimates, shape (m,) -> means without the clamp; as they are where none is near.

    share: 1 where the equations have no answer; with one above MOST values stay as they are.
    """
    sd = np.sqrt(variance)
    gap = np.minimum(mean - ends.low, ends.high - mean)
    at = (gap > 0) & (gap < NEAR * sd)
    value, share, sampling = mean.copy(), np.zeros_like(mean), variance.copy()
    slopes = np.stack([np.ones_like(mean), np.zeros_like(mean)])
    if at.any():
        found = undone(mean[at], variance[at], ends.low, ends.high, ends.power)
        share[at] = np.where(np.isnan(found.value), 1.0, found.share)
        known = share[at] <= MOST
        value[at] = np.where(known, found.value, mean[at])
        sampling[at] = np.where(known, found.sampling, variance[at])
        slopes[:, at] = np.where(known, found.slopes, slopes[:, at])
    return Freed(value, share, slopes, sampling)


def opened(made: Block, part: Part, ends: Ends, cells: Array | None = None) -> tuple[Block, Array]:
    """A block of means of clamped estimates -> that of the means without the clamp, and the share beyond an end, (m,).

    Linear in the noise to first order, as in a mean and a variance.  Where noise hides the variance, or no block is
    near an end, all stays as it is.  With a share above MOST there is a reason in place of an interval.
    """
    k, grid = part.parameters["blocks"], cast(Grid, part.grid)
    noisy = moments("plain", part.parameters, integers(part) if cells is None else cells, k)
    variance, box = np.maximum(made.variance, 1e-300) * max(k - 1, 1), grid.upper - grid.lower
    loads = np.stack([made.loadings, _of_variance(made, noisy, grid, k)])
    clear = (loads[1] ** 2).sum(axis=-1) * part.law.variance() <= (variance / CLEAR) ** 2
    found = freed(made.value, np.where(clear, variance, 0.0), ends)
    if not found.share.any():
        return made, found.share
    lost = found.share > MOST
    value = np.clip(found.value, grid.lower, grid.upper)
    sampling = np.where(lost, (10 * box) ** 2, np.where(clear, found.sampling, variance) / max(k - 1, 1))
    loadings = (found.slopes[:, :, None] * loads).sum(axis=0)
    inversion = Linear(value, sampling, loadings, made.law, grid.lower, grid.upper)
    reasons = tuple(BEYOND if gone else reason for gone, reason in zip(lost, made.reasons, strict=True))
    block = replace(made, value=value, variance=sampling, loadings=loadings, inversion=inversion, reasons=reasons)
    return block, found.share


def _of_variance(made: Block, noisy: Moments, grid: Grid, k: int) -> Array:
    """How the variance of the blocks reacts to the noises, shape (m, noises): q - m**2 on the u scale."""
    half = (grid.upper - grid.lower) / 2
    m = (made.value - (grid.lower + grid.upper) / 2) / half
    return half**2 / k * (noisy.loadings[2] - 2 * m[:, None] * noisy.loadings[1])


def told(label: str, share: float, by: float) -> str:
    """What a reader must know of a clamp that was undone; by: how far, in standard errors."""
    return (
        f"{label}: about {share:.0%} of the blocks' estimates lie beyond an end of the box; what it took off, "
        f"{abs(by):.1f} standard errors, is put back as if a power of them was normal: a wider box needs no such guess"
    )

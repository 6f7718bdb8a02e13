"""The variance of a block's estimate by resampling the block's rows.  INSIDE the wall.

Definition
    For each block and each parameter: the variance, over resamples of the block's own rows, of the estimate that is
    made of a resample, scaled to the rows of the block (`resampling`).  Resamples are drawn by a public hash of the
    number of the block, the number of the resample and the place in it: a block's numbers are a function of its rows
    and of public numbers alone, and one row changes those of one block.  A block of which fewer than half the resamples
    have an estimate has none (NaN); `mechanism_means.sums` puts the largest possible variance in its place.
Sensitivity, noise, cost
    See `mechanism_means`: where this variance stands in for v (G - v), nothing changes.
Failures
    Nothing here raises an error on rows; how long resamples take is not protected, as that of blocks is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.method.blocks.mechanism_labels import Blocks
from tacit.method.blocks.resampling import LITTLE, WITHOUT, BlockResamples
from tacit.models.block_function import Statistic
from tacit.models.hashed_words import ODD, mixed
from tacit.models.likelihood import Likelihood
from tacit.models.weighted_blocks import weighted_maxima

HELD: Final = 2**22
"""Numbers in the resamples that are estimated at a time."""

Sizes = NDArray[np.int64]
Estimates = Callable[[Blocks], NDArray[np.float64]]


def own_variances(
    found: Blocks, how: BlockResamples, model: Likelihood | Statistic, estimates: Estimates
) -> NDArray[np.float64]:
    """READS ROWS.  Return the variance of each block's estimate, shape (blocks, parameters); NaN where it has none.

    estimates: what the mechanism makes of blocks, shape (blocks, parameters).
    """
    if how.way == LITTLE and not isinstance(model, Statistic):
        # a row drawn many times is one row of that weight: n rows cost no more than the block has
        drawn, sizes = weighted_maxima(model, found.values, found.sizes, how.resamples, how.rows, weights_of)
        return _scaled(drawn, np.full_like(sizes, how.rows), sizes, how)
    most = found.sizes - 1 if how.way == WITHOUT else found.sizes
    rows = np.full_like(found.sizes, how.rows) if how.way == LITTLE else np.minimum(how.rows, np.maximum(most, 0))
    rows = np.where(found.sizes > 0, rows, 0)
    return _scaled(_of_resamples(found, rows, how, estimates), rows, found.sizes, how)


def hashed(block: NDArray[np.int64], resample: NDArray[np.int64], places: int) -> NDArray[np.uint64]:
    """Return words of 64 bits for places 0, ..., places - 1 of some resamples, shape (resamples, places).

    block, resample: numbers of the block and of the resample in it, shape (resamples,), below 2**31 and 2**14.
    """
    first = (block.astype(np.uint64) << np.uint64(14)) + resample.astype(np.uint64)
    # two rounds: the second takes the place, so that no two counters meet
    own = mixed(first)[:, None] + np.arange(1, places + 1, dtype=np.uint64) * ODD
    return mixed(own)


def weights_of(block: NDArray[np.int64], resamples: int, rows: int, sizes: Sizes, capacity: int) -> NDArray[np.float64]:
    """Return how often each of a block's rows is drawn, shape (blocks, resamples, capacity): `rows` draws in each."""
    made = np.zeros((len(block), resamples, capacity))
    for i, (number, size) in enumerate(zip(block, sizes.tolist(), strict=True)):
        for b in range(resamples) if size else ():
            drawn = _draws(hashed(np.array([number]), np.array([b]), rows), np.array([size]))[0]
            made[i, b] = np.bincount(drawn, minlength=capacity)
    return made


def _of_resamples(found: Blocks, rows: Sizes, how: BlockResamples, estimates: Estimates) -> NDArray[np.float64]:
    """READS ROWS.  Return the estimates of all resamples, shape (blocks, resamples, parameters)."""
    many, room = len(found.sizes) * how.resamples, max(1, int(how.rows))
    step = min(many, max(1, HELD // (room * found.values.shape[2])))
    made: list[NDArray[np.float64]] = []
    for first in range(0, many, step):
        pair = np.arange(first, min(first + step, many))
        block, own = pair // how.resamples, _places(pair, found.sizes, rows, how, room)
        values = np.zeros((step, room, found.values.shape[2]))
        values[: len(pair)] = found.values[block[:, None], own]
        # the last of them are filled up with empty ones: compiled code is for one shape
        sizes = np.append(rows[block], np.zeros(step - len(pair), dtype=np.int64))
        made.append(estimates(Blocks(values, sizes))[: len(pair)])
    return np.concatenate(made).reshape(len(found.sizes), how.resamples, -1)


def _places(pair: Sizes, sizes: Sizes, rows: Sizes, how: BlockResamples, room: int) -> Sizes:
    """Return the places of the drawn rows in their blocks, in ascending order, shape (pairs, room); 0 beyond them."""
    block, resample = pair // how.resamples, pair % how.resamples
    size, wanted = sizes[block], rows[block]
    if how.way == WITHOUT:
        words = hashed(block, resample, int(sizes.max(initial=1)))
        # shifted words are below 2**63: places beyond the block's rows sort last
        used = np.less(np.arange(words.shape[1], dtype=np.int64), size[:, None], dtype=np.bool_)
        words = np.where(used, words >> np.uint64(1), np.uint64(2**64 - 1))
        drawn = np.argsort(words, axis=1)[:, :room]
        drawn = np.pad(drawn, ((0, 0), (0, room - drawn.shape[1])))
    else:
        drawn = _draws(hashed(block, resample, room), size)
    beyond = np.greater_equal(np.arange(room, dtype=np.int64), wanted[:, None], dtype=np.bool_)
    # rows in ascending order, as blocks have them, and whatever lies behind them at the end
    last = np.full_like(drawn, np.iinfo(np.int64).max)
    return np.where(beyond, 0, np.sort(np.where(beyond, last, drawn), axis=1))


def _scaled(drawn: NDArray[np.float64], rows: Sizes, sizes: Sizes, how: BlockResamples) -> NDArray[np.float64]:
    """Return variances over resamples, axis 1, scaled from `rows` rows of a resample to the rows of a block."""
    fine = np.isfinite(drawn.sum(axis=2, keepdims=True))
    many = fine.sum(axis=1)
    with np.errstate(all="ignore"):
        mean = np.where(fine, drawn, 0.0).sum(axis=1, keepdims=True) / many[:, None]
        spread = (np.where(fine, drawn - mean, 0.0) ** 2).sum(axis=1) / (many - 1)
        # with replacement V (t - 1) / t / R: the empirical variance has the divisor t; without, V (1 / R - 1 / t)
        left = sizes - rows if how.way == WITHOUT else sizes - 1
        found = spread * (rows / left)[:, None]
    known = (2 * many >= how.resamples) & (many >= 2) & (left > 0)[:, None]
    return np.where(known, found, np.nan)


def _draws(words: NDArray[np.uint64], sizes: Sizes) -> Sizes:
    """Return numbers below the sizes, one row of words for each, from the upper 32 bits."""
    return ((words >> np.uint64(32)) * sizes.astype(np.uint64)[:, None] >> np.uint64(32)).astype(np.int64)

"""Built-in statistics of blocks: computed for all blocks at once, each from the rows of its block alone.

values: shape (k, capacity) or (k, capacity, columns), the rows of a block in ascending order, then arbitrary padding.
sizes: rows of each block, shape (k,).  Each function returns shape (k, 1), NaN where the statistic is undefined.  Sums
run over all places of a block in one order, so that a result depends on the rows of the block only as a set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.models.boxes import Array
from tacit.models.hashed_words import ODD, mixed

Sizes = NDArray[np.int64]


def median(values: Array, sizes: Sizes) -> Array:
    """Return the median; the mean of the two middle rows where their number is even.

    >>> median(np.array([[1.0, 2, 9], [1, 4, 0]]), np.array([3, 2])).ravel().tolist()
    [2.0, 2.5]
    """
    return _at(values, sizes, 0.5)


def midmean(values: Array, sizes: Sizes) -> Array:
    """Return the mean of the middle half: of the rows left when a quarter, rounded down, is cut off at both ends.

    >>> midmean(np.array([[1.0, 2, 3, 99]]), np.array([4])).tolist()
    [[2.5]]
    """
    place, cut = np.arange(values.shape[1], dtype=np.int64), (sizes // 4)[:, None]
    kept: NDArray[np.bool_] = (place >= cut) & (place < sizes[:, None] - cut)
    with np.errstate(all="ignore"):
        return np.where(kept, values, 0.0).sum(axis=1, keepdims=True) / kept.sum(axis=1, keepdims=True)


def iqr(values: Array, sizes: Sizes) -> Array:
    """Return the distance between the quartiles, by linear interpolation.

    >>> iqr(np.array([[1.0, 2, 3, 4, 5]]), np.array([5])).tolist()
    [[2.0]]
    """
    return _at(values, sizes, 0.75) - _at(values, sizes, 0.25)


def correlation(values: Array, sizes: Sizes) -> Array:
    """Return Pearson's correlation of two columns; NaN where one of them is constant.

    >>> rows = np.array([[[1.0, 3], [2, 2], [3, 1], [0, 0]]])
    >>> correlation(rows, np.array([3])).round(6).tolist()
    [[-1.0]]
    """
    used: NDArray[np.bool_] = (np.arange(values.shape[1], dtype=np.int64) < sizes[:, None])[:, :, None]
    with np.errstate(all="ignore"):
        centered = np.where(
            used, values - np.where(used, values, 0.0).sum(axis=1, keepdims=True) / sizes[:, None, None], 0.0
        )
        # Scaled before they are squared, so that large values do not overflow.
        scale = np.abs(centered).max(axis=1, keepdims=True)
        x, y = np.moveaxis(centered / scale, 2, 0)
        return (x * y).sum(axis=1, keepdims=True) / np.sqrt((x * x).sum(1) * (y * y).sum(1))[:, None]


def split(values: Array, sizes: Sizes) -> tuple[tuple[Array, Sizes], tuple[Array, Sizes]]:
    """Return two halves of each block, rows still in order, drawn by a public hash of the block's number and its rows.

    Ranks that went to one half whatever the rows are would be the same in every table: what such halves of few blocks
    add to a median has no mean of 0 then, and no interval counts it.  The rows make the draw a new one in each table.

    >>> [half[1].tolist() for half in split(np.array([[1.0, 2, 3, 4, 5]]), np.array([5]))]
    [[2], [3]]
    """
    place = np.arange(values.shape[1], dtype=np.uint64)
    used: NDArray[np.bool_] = np.less(np.arange(values.shape[1], dtype=np.int64), sizes[:, None], dtype=np.bool_)
    number = np.arange(len(values), dtype=np.uint64)
    keys = mixed(mixed(_digests(values, used) + number)[:, None] + place * ODD)
    # shifted keys are below 2**63: padding sorts last
    keys = np.where(used, keys >> np.uint64(1), np.uint64(2**64 - 1))
    first: NDArray[np.bool_] = np.argsort(np.argsort(keys, axis=1), axis=1) < (sizes // 2)[:, None]
    return (_chosen(values, first), sizes // 2), (_chosen(values, used & ~first), sizes - sizes // 2)


def _digests(values: Array, used: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return a hash of the rows of each block, shape (k,), whatever the padding; equal numbers count as equal."""
    cells = values if values.ndim == 3 else values[:, :, None]
    # -0.0 + 0.0 = 0.0; products and sums wrap modulo 2**64
    bits = (np.where(used[:, :, None], cells, 0.0) + 0.0).view(np.uint64)
    place = np.arange(bits.shape[1] * bits.shape[2], dtype=np.uint64).reshape(bits.shape[1:]) + np.uint64(1)
    words: NDArray[np.uint64] = np.where(used[:, :, None], mixed(bits + place * ODD), np.uint64(0))
    return words.sum(axis=(1, 2), dtype=np.uint64)


def _chosen(values: Array, kept: NDArray[np.bool_]) -> Array:
    """Return the values with the kept rows moved to the front, in their order."""
    # False sorts before True, and stably: kept rows come first, in their order
    order = np.argsort(~kept, axis=1, kind="stable")
    return np.take_along_axis(values, order if values.ndim == 2 else order[:, :, None], axis=1)


def _at(values: Array, sizes: Sizes, p: float) -> Array:
    """Return a quantile of sorted rows by linear interpolation."""
    place = p * np.maximum(sizes - 1, 0)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, np.maximum(sizes - 1, 0))
    rows = np.arange(len(values))
    share = place - low
    with np.errstate(all="ignore"):
        found = values[rows, low] * (1 - share) + values[rows, high] * share
    return np.where(sizes > 0, found, np.nan)[:, None]


STATISTICS: Final[dict[str, tuple[int, Callable[[Array, Sizes], Array]]]] = {
    "median": (1, median),
    "midmean": (1, midmean),
    "iqr": (1, iqr),
    "correlation": (2, correlation),
}
"""For each name, the number of columns of a row, and the function."""

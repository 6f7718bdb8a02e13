"""Blocks of equal size, where the number of rows is public: labels of rows from ranks of words.  INSIDE the wall.

Every one of the n rows of the table has a random 64-bit word, also the rows that are left out.  The row whose word has
rank r is in block floor(r k / n), so that blocks have floor(n / k) rows or one more.  Ranks of independent words are a
uniformly random permutation of the rows, whatever their order is.  (Words that are equal, with probability below
n**2 / 2**65, go to the same block.)  The words at which blocks begin (`cuts`) depend on the words alone, on no row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.source.engine import Words
from tacit.source.row_arrays import CHUNK, of_places
from tacit.source.shared_blocks import shared

HELD: Final = 2**26
"""Words that are ranked at a time: half a gigabyte."""
LAST: Final = 2**64 - 1
TOP: Final = 2**16
"""Ranges of equal length, by the upper 16 bits, that words are told apart by first."""
PART: Final = 2**16
"""Words that are worked on at a time."""


def cuts(own: Words, blocks: int) -> Words:
    """Return the words at which the second, third, ... block begins, shape (blocks - 1,), from the words of all rows.

    >>> cuts(np.array([40, 10, 30, 20], dtype=np.uint64), 2).tolist()
    [30]
    """
    starts = _starts(len(own), blocks)
    starts = starts[starts < len(own)]
    counts = np.asarray(sum(shared(_parts(own), _counted), np.zeros(TOP, dtype=np.int64)))
    ends = np.cumsum(counts)
    # the ranges in which a block begins: only their words are ranked one by one
    ranges = np.searchsorted(ends, starts, side="right")
    wanted = np.zeros(TOP, dtype=np.bool_)
    wanted[ranges] = True
    some = np.sort(np.concatenate([own[:0], *(one for each in shared(_parts(own), _among(wanted)) for one in each)]))
    # words of other ranges that are less
    passed = np.cumsum(np.where(wanted, 0, counts))
    return _filled(some[starts - passed[ranges]], blocks)


def keyed_cuts(key: bytes, rows: int, blocks: int, held: int = HELD) -> Words:
    """Return the same for words made of a key and the rows' places, in as many passes as memory needs."""
    starts, passes = _starts(rows, blocks), -(-rows // held)
    made, below = list[Words](), 0
    for i in range(passes):
        # each pass ranks the words of one range of values; `below` is the number of words under that range
        low, high = i * 2**64 // passes, (i + 1) * 2**64 // passes - 1
        some = np.sort(np.concatenate([_between(key, at, rows, low, high) for at in range(0, rows, CHUNK)]))
        here = starts[(starts >= below) & (starts < below + len(some))]
        # ranks among all words, less those below this range
        made.append(some[here - below])
        below += len(some)
    return _filled(np.concatenate(made), blocks)


def words_of_equal_blocks(own: Words, at: Words) -> Words:
    """Return words from which `mechanism_labels` reads the blocks of equal size; at: the cuts.

    The upper 32 bits become the smallest number that is read as the block; the lower 32 bits stay.
    """
    low = np.arange(TOP, dtype=np.uint64) << np.uint64(48)
    first, last = _upper(low, at), _upper(low | np.uint64(2**48 - 1), at)
    made = np.empty(len(own), dtype=np.uint64)

    def work(parts: Iterator[slice]) -> None:
        for part in parts:
            some = own[part]
            top = _top(some)
            upper = first[top]
            # where a block begins within a range, each of its words is compared with the cuts
            unsure = np.flatnonzero(upper != last[top])
            upper[unsure] = _upper(some[unsure], at)
            made[part] = (upper << np.uint64(32)) | (some & np.uint64(2**32 - 1))

    shared([slice(i, i + PART) for i in range(0, len(own), PART)], work)
    return made


def _upper(own: Words, at: Words) -> Words:
    """Return the smallest number of 32 bits that is read as the block of each word; at: the cuts."""
    blocks = len(at) + 1
    # "right": a word equal to a cut is the first of the block that begins there
    label = np.searchsorted(at, own, side="right").astype(np.uint64)
    # ceil(label 2**32 / blocks), which floor(u blocks / 2**32) maps back to the label
    return ((label << np.uint64(32)) + np.uint64(blocks - 1)) // np.uint64(blocks)


def _top(own: Words) -> NDArray[np.int64]:
    """Return the range that each word is in."""
    return (own >> np.uint64(48)).view(np.int64)


def _parts(own: Words) -> list[Words]:
    return [own[i : i + PART] for i in range(0, len(own), PART)]


def _counted(parts: Iterator[Words]) -> NDArray[np.int64]:
    """Return the number of words in each range."""
    found = np.zeros(TOP, dtype=np.int64)
    for own in parts:
        found += np.bincount(_top(own), minlength=TOP)
    return found


def _among(wanted: NDArray[np.bool_]) -> Callable[[Iterator[Words]], list[Words]]:
    """Return what picks the words of some ranges."""
    return lambda parts: [own[wanted[_top(own)]] for own in parts]


def _starts(rows: int, blocks: int) -> NDArray[np.int64]:
    """Return the ranks at which the second, third, ... block begins: the smallest r with floor(r k / n) = b."""
    return np.array([-(-b * rows // blocks) for b in range(1, blocks)], dtype=np.int64)


def _filled(found: Words, blocks: int) -> Words:
    """Return all cuts: the largest word stands for blocks that begin beyond the last row."""
    return np.concatenate([found, np.full(blocks - 1 - len(found), LAST, dtype=np.uint64)])


def _between(key: bytes, first: int, rows: int, low: int, high: int) -> Words:
    """Return the words between `low` and `high` of one chunk of places, which starts at place `first`."""
    own = of_places(key, first, min(CHUNK, rows - first))
    return own[(own >= np.uint64(low)) & (own <= np.uint64(high))]

"""Blocks of equal size, where the number of rows is public: words of rows by their ranks.  INSIDE the wall.

All n rows of the table have words, those that are left out too; the row whose word has rank r sits in block
floor(r k / n), so that blocks have floor(n / k) or one seat more.  Ranks of independent words are a uniformly random
permutation of the rows, whatever their order is (words that tie, with probability below n**2 / 2**65, share a seat's
block).  Where blocks begin (`cuts`) is a function of words alone: no row is looked at.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.source.engine import Words
from tacit.source.row_arrays import CHUNK, of_places

HELD: Final = 2**26
"""Words that are ranked at a time: half a gigabyte."""
LAST: Final = 2**64 - 1


def cuts(own: Words, blocks: int) -> Words:
    """The words at which the second, third, ... block begins, shape (blocks - 1,), of the words of all rows.

    >>> cuts(np.array([40, 10, 30, 20], dtype=np.uint64), 2).tolist()
    [30]
    """
    return _at(np.sort(own), _starts(len(own), blocks))


def keyed_cuts(key: bytes, rows: int, blocks: int, held: int = HELD) -> Words:
    """The same of words by a key and the rows' places, in as many passes over the words as memory needs."""
    starts, passes = _starts(rows, blocks), -(-rows // held)
    made, below = list[Words](), 0
    for i in range(passes):
        low, high = i * 2**64 // passes, (i + 1) * 2**64 // passes - 1
        some = np.sort(np.concatenate([_between(key, at, rows, low, high) for at in range(0, rows, CHUNK)]))
        here = starts[(starts >= below) & (starts < below + len(some))]
        made.append(some[here - below])
        below += len(some)
    return _filled(np.concatenate(made), blocks)


def seated(own: Words, at: Words) -> Words:
    """Words whose blocks, as `blocks` reads them off, are those of their ranks; at: the cuts.

    The upper half is the first that is read as the block, the lower half stays.
    """
    blocks = len(at) + 1
    label = np.searchsorted(at, own, side="right").astype(np.uint64)
    upper = ((label << np.uint64(32)) + np.uint64(blocks - 1)) // np.uint64(blocks)
    return (upper << np.uint64(32)) | (own & np.uint64(2**32 - 1))


def _starts(rows: int, blocks: int) -> NDArray[np.int64]:
    """Ranks at which the second, third, ... block begins: the first r with floor(r k / n) = b."""
    return np.array([-(-b * rows // blocks) for b in range(1, blocks)], dtype=np.int64)


def _at(ranked: Words, starts: NDArray[np.int64]) -> Words:
    """The words of some ranks; no word where there are no more rows."""
    return _filled(ranked[starts[starts < len(ranked)]], len(starts) + 1)


def _filled(found: Words, blocks: int) -> Words:
    return np.concatenate([found, np.full(blocks - 1 - len(found), LAST, dtype=np.uint64)])


def _between(key: bytes, first: int, rows: int, low: int, high: int) -> Words:
    """Words of the places of one chunk that are in a range."""
    own = of_places(key, first, min(CHUNK, rows - first))
    return own[(own >= np.uint64(low)) & (own <= np.uint64(high))]

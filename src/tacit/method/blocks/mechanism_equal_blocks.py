"""Blocks of equal size, where the number of rows is public: labels of rows from ranks of words.  INSIDE the wall.

Every one of the n rows of the table has a random 64-bit word, also the rows that are left out.  The row whose word has
rank r is in block floor(r k / n), so that blocks have floor(n / k) rows or one more.  Ranks of independent words are a
uniformly random permutation of the rows, whatever their order is.  (Words that are equal, with probability below
n**2 / 2**65, go to the same block.)  The words at which blocks begin (`cuts`) depend on the words alone, on no row.

Of a large table that is read once, bits of a word are drawn when they are needed (`drawn_labels`): the upper 16 of each
row, a few more where a block begins among words with the same upper ones, and the lower ones where it begins among
words with the same of both.  Words in which any two of those tie are drawn again, so that the permutation is exactly
uniform.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.source.engine import Words
from tacit.source.engine_sums.row_arrays import CHUNK, of_places, system_random_words
from tacit.source.shared_blocks import shared

HELD: Final = 2**26
"""Words that are ranked at a time: half a gigabyte."""
LAST: Final = 2**64 - 1
UNSURE: Final = 2**32 - 1
"""Stands for a range with words of several blocks: no block's number, since there are fewer than 2**31 blocks."""
TOP: Final = 17
"""Upper bits that words are told apart by first, at most: they are the number of one of 2**TOP ranges."""
FEW: Final = 2**8
"""Words below which all are ranked one by one."""
UPPERS: Final = 2**16
MORE: Final = 2**4
"""Ranges that a range of upper bits is divided into where a block begins within it."""
SPLIT: Final = 2**16 - 1
"""Stands for a range of words of several blocks: no block's number, since there are at most MOST."""
MOST: Final = 2**14
"""Blocks up to which most words are told apart by their upper 16 bits."""
COUNTED: Final = 2**20
"""Words that are counted at a time: many, for as many counts."""
PART: Final = 2**16
"""Words that are worked on at a time."""


def cuts(own: Words, blocks: int) -> Words:
    """Return the words at which the second, third, ... block begins, shape (blocks - 1,), from the words of all rows.

    >>> cuts(np.array([40, 10, 30, 20], dtype=np.uint64), 2).tolist()
    [30]
    """
    starts = _starts(len(own), blocks)
    starts = starts[starts < len(own)]
    if len(own) < FEW:
        return _filled(np.sort(own)[starts], blocks)
    bits = _bits(own)
    counts = np.asarray(sum(shared(_parts(own), partial(_counted, bits)), np.zeros(2**bits, dtype=np.int64)))
    ends = np.cumsum(counts)
    # the ranges in which a block begins: only their words are ranked one by one
    ranges = np.searchsorted(ends, starts, side="right")
    wanted = np.zeros(2**bits, dtype=np.bool_)
    wanted[ranges] = True
    found = shared(_parts(own), partial(_among, bits, wanted))
    some = np.sort(np.concatenate([own[:0], *(one for each in found for one in each)]))
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


def drawn_labels(rows: int, blocks: int) -> NDArray[np.uint16]:
    """Return the block of each of `rows` rows, by fresh words of the operating system, shape (rows,).

    blocks: at most MOST.

    >>> np.bincount(drawn_labels(1_000, 3)).tolist()
    [334, 333, 333]
    """
    upper = system_random_words(-(-rows // 4)).view(np.uint16)[:rows]
    counts = np.asarray(sum(shared([upper[i : i + COUNTED] for i in range(0, rows, COUNTED)], _counted_uppers)))
    below = np.cumsum(counts) - counts
    table, split = _table(counts, below, rows, blocks)
    labels = np.empty(rows, dtype=np.uint16)

    def work(parts: Iterator[slice]) -> list[NDArray[np.int64]]:
        found = list[NDArray[np.int64]]()
        for part in parts:
            # any of 16 bits is a place of the table; NumPy would copy to raise an error
            np.take(table, upper[part], out=labels[part], mode="clip")
            found.append(np.flatnonzero(labels[part] == SPLIT) + part.start)
        return found

    found = shared([slice(i, i + PART) for i in range(0, rows, PART)], work)
    some = np.concatenate([np.zeros(0, dtype=np.int64), *(one for each in found for one in each)])
    labels[some] = _labels_within((np.cumsum(split) - 1)[upper[some]], below[split], rows, blocks)
    return labels


def sizes(rows: int, blocks: int) -> NDArray[np.int64]:
    """Return how many of all rows each block has, shape (blocks,).

    >>> sizes(8, 3).tolist()
    [3, 3, 2]
    """
    return np.diff(_starts(rows, blocks), prepend=0, append=rows)


def _table(
    counts: NDArray[np.int64], below: NDArray[np.int64], rows: int, blocks: int
) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
    """Return the block of each range of words, SPLIT where a block begins within, and which ranges these are.

    counts: words in each range.  below: words in all ranges before it.
    """
    first, last = below * blocks // rows, (below + np.maximum(counts, 1) - 1) * blocks // rows
    return np.where(first != last, SPLIT, first).astype(np.uint16), first != last


def _labels_within(ranges: NDArray[np.int64], below: NDArray[np.int64], rows: int, blocks: int) -> NDArray[np.uint16]:
    """Return the block of each word of the ranges in which a block begins, by bits that are drawn here.

    ranges: the number of each word's range, below MOST.  below: words in all ranges before each, as in `_table`.
    """
    # some more bits tell most words apart from those between which a block begins
    more = system_random_words(-(-len(ranges) // 8)).view(np.uint8)[: len(ranges)] & np.uint8(MORE - 1)
    finer = ranges * MORE + more
    counts = np.bincount(finer, minlength=MORE * len(below))
    each = counts.reshape(-1, MORE)
    before = (below[:, None] + np.cumsum(each, axis=1) - each).reshape(-1)
    table, split = _table(counts, before, rows, blocks)
    labels = table[finer]
    some = np.flatnonzero(labels == SPLIT)
    # ranks within their ranges, and words before these
    order, own = _in_order((np.cumsum(split) - 1)[finer[some]]), counts[split]
    rank = np.arange(len(some), dtype=np.int64) + np.repeat(before[split] - np.cumsum(own) + own, own)
    labels[some[order]] = rank * blocks // rows
    return labels


def _in_order(ranges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw the lower bits of words in these ranges of upper ones, below MOST; return the places of words in order."""
    # the place itself is in the lowest bits: to sort numbers is several times faster than to sort places
    bits = len(ranges).bit_length()
    places, mask = np.arange(len(ranges), dtype=np.uint64), np.uint64(2**bits - 1)
    high = ranges.astype(np.uint64) << np.uint64(50)
    own = np.sort(high | ((system_random_words(len(ranges)) >> np.uint64(14)) & ~mask) | places)
    if not ((own[1:] ^ own[:-1]) <= mask).any():
        return (own & mask).astype(np.int64)
    # some are equal but for their places: longer ones are drawn, until all differ
    while True:
        own = high | (system_random_words(len(ranges)) >> np.uint64(14))
        order = np.argsort(own)
        if (np.diff(own[order]) > 0).all():
            return order


def _counted_uppers(parts: Iterator[NDArray[np.uint16]]) -> NDArray[np.int64]:
    found = np.zeros(UPPERS, dtype=np.int64)
    for upper in parts:
        found += np.bincount(upper, minlength=UPPERS)
    return found


def words_of_labels(labels: NDArray[np.uint16], blocks: int) -> Words:
    """Return words from which `mechanism_labels` reads these blocks."""
    return _uppers(np.arange(blocks, dtype=np.uint64), blocks)[labels] << np.uint64(32)


def words_of_equal_blocks(own: Words, at: Words) -> Words:
    """Return words from which `mechanism_labels` reads the blocks of equal size; at: the cuts.

    The upper 32 bits become the smallest number that is read as the block; the lower 32 bits stay.
    """
    if len(own) < FEW:
        return _labelled(_upper(own, at), own)
    made, bits = np.empty(len(own), dtype=np.uint64), _bits(own)
    low = np.arange(2**bits, dtype=np.uint64) << np.uint64(64 - bits)
    # the blocks of the least and the greatest word of each range
    first, last = _upper(low, at), _upper(low | np.uint64(2 ** (64 - bits) - 1), at)
    table = np.where(first == last, first, np.uint64(UNSURE)).astype(np.uint32)

    def work(parts: Iterator[slice]) -> None:
        for part in parts:
            some = own[part]
            upper = table[_top(some, bits)].astype(np.uint64)
            # where a block begins within a range, each of its words is compared with the cuts
            unsure = np.flatnonzero(upper == np.uint64(UNSURE))
            upper[unsure] = _upper(some[unsure], at)
            made[part] = _labelled(upper, some)

    shared([slice(i, i + PART) for i in range(0, len(own), PART)], work)
    return made


def _upper(own: Words, at: Words) -> Words:
    """Return the smallest number of 32 bits that is read as the block of each word; at: the cuts."""
    blocks = len(at) + 1
    # "right": a word equal to a cut is the first of the block that begins there
    label = np.searchsorted(at, own, side="right").astype(np.uint64)
    return _uppers(label, blocks)


def _uppers(label: Words, blocks: int) -> Words:
    """Return the smallest number of 32 bits that is read as each block."""
    # ceil(label 2**32 / blocks), which floor(u blocks / 2**32) maps back to the label
    return ((label << np.uint64(32)) + np.uint64(blocks - 1)) // np.uint64(blocks)


def _labelled(upper: Words, own: Words) -> Words:
    """Return words with these upper 32 bits and their own lower ones."""
    return (upper << np.uint64(32)) | (own & np.uint64(2**32 - 1))


def _bits(own: Words) -> int:
    """Return the number of upper bits: few for few words, since there is something to do for each range."""
    return min(TOP, len(own).bit_length() - 4)


def _top(own: Words, bits: int) -> NDArray[np.int64]:
    """Return the range that each word is in."""
    return (own >> np.uint64(64 - bits)).view(np.int64)


def _parts(own: NDArray[Any]) -> list[NDArray[Any]]:
    return [own[i : i + PART] for i in range(0, len(own), PART)]


def _counted(bits: int, parts: Iterator[Words]) -> NDArray[np.int64]:
    """Return the number of words in each range."""
    found = np.zeros(2**bits, dtype=np.int64)
    for own in parts:
        found += np.bincount(_top(own, bits), minlength=2**bits)
    return found


def _among(bits: int, wanted: NDArray[np.bool_], parts: Iterator[Words]) -> list[Words]:
    """Return the words of some ranges."""
    return [own[wanted[_top(own, bits)]] for own in parts]


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

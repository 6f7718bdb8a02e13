"""Blocks of rows by fresh secret labels, for mechanisms that sample and aggregate.  INSIDE the wall.

Every row (person) has a random 64-bit word of its own, used for one release and dropped.  It decides the row's block,
and which rows a full block leaves out.  Words do not depend on the rows, so neighbouring tables are compared with the
same words: a row that is replaced keeps its word, and one that is added or removed changes no other's.  So exactly one
block changes (theory §2, erratum E2), whatever the number of rows is; that a file is sorted does no harm.  What a block
holds is a function of its own rows and their words: sorted, and padded to a public capacity.

Where the number n of rows is public (replace-one, without persons) blocks have equal size: the rank of a word, not the
word, decides the block (`mechanism_equal_blocks`).  Ranks are a uniformly random permutation of n places; rows that are
left out of the model have places too.  Neighbours are compared with the same permutation, the row that replaces another
in its place: one block changes.

A small table is read once, and its words come from the operating system.  A large table, of a source whose rows keep
their places, is read piece by piece, once for each group of as many blocks as memory holds; its words are a function of
a key from the operating system, which is dropped with the release.  Memory is that of one group, whatever the table.
On a cluster, rows go to the machine of their group of blocks, and only the blocks' numbers come back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.method.blocks import mechanism_equal_blocks as equal_blocks
from tacit.rows.row_map import Unit
from tacit.schema.predicates.numeric_expressions import ColumnCell
from tacit.schema.predicates.typed_conditions import Predicate
from tacit.source import Source
from tacit.source.engine import Words
from tacit.source.engine_sums.row_arrays import RowArrays, system_random_words
from tacit.source.shared_blocks import shared

LARGEST: Final = 2**31
SMALL: Final = 2**24
"""Numbers in all blocks (blocks x capacity x columns) up to which a table is read once and held in memory."""
GROUP: Final = 2**26
"""Numbers in the blocks that one pass over a larger table fills: half a gigabyte, and as much again for words."""
PART: Final = 2**20
"""Rows that are sorted by their blocks at a time: they fit a processor's cache."""
FEW: Final = 16
"""Rows of a block, on average, from which on they are copied block by block."""
MANY: Final = 2**16
"""Rows from which on words of equal blocks are drawn bit by bit."""
SORTED: Final = 128
"""Blocks whose rows are sorted at a time: the array of indices is as large as the rows."""


@dataclass(frozen=True)
class Blocks:
    """Rows in blocks.

    values: shape (blocks, capacity, columns), the rows of a block in ascending order, then zeros.
    sizes: shape (blocks,), rows in each.
    """

    values: NDArray[np.float64]
    sizes: NDArray[np.int64]


def words(rows: RowArrays, blocks: int, public: int | None) -> Words:
    """READS ROWS.  Return a fresh word for each row, the same for all rows of a person, shape (rows,).

    public: the number of all rows of the table, where blocks have equal size; else None.
    """
    if public is not None:
        _unchanged(rows, public)
        own = system_random_words(public)  # independent words: any of them may be those of the rows left out
        return equal_blocks.words_of_equal_blocks(own[: len(rows.values)], equal_blocks.cuts(own, blocks))
    if rows.owners is None:
        return system_random_words(len(rows.values))
    owners = rows.owners + 1  # rows without a person, of owner -1, are one person's
    # one word for each person, then looked up for each row
    return system_random_words(int(owners.max(initial=0)) + 1)[owners]


def _unchanged(rows: RowArrays, public: int) -> None:
    """READS ROWS.  Raise RuntimeError where there are more rows than there were."""
    if len(rows.values) > public:
        raise RuntimeError("the table changed while it was read")


def random_places(rows: int) -> NDArray[np.uint16]:
    """Return a fresh number in {0, ..., 2**16 - 1} for each row, uniform, and so is its remainder by a power of two."""
    # as many words as hold so many numbers of 16 bits
    return system_random_words(-(-rows // 4)).view(np.uint16)[:rows]


def groups(
    source: Source,
    cells: Sequence[ColumnCell],
    unit: Unit | None,
    where: Predicate | None,
    blocks: int,
    capacity: int,
    public: int | None,
    answer: Callable[[Blocks], NDArray[np.float64]],
    direct: Callable[[RowArrays, NDArray[Any], NDArray[np.int64] | None], NDArray[np.float64] | None],
) -> Iterator[NDArray[np.float64]]:
    """READS ROWS.  Yield what `answer` makes of all blocks of complete rows, group by group; their number is public.

    direct: makes the same of rows, their labels, and how many have each, if known, without blocks, or nothing.  It has
    a table that is read once.
    """
    # the choice of the way rests on public numbers; so does the number of passes
    many, key, place = blocks * capacity * len(cells), os.urandom(32), None
    size = max(1, GROUP // (capacity * len(cells)))
    for first in range(0, blocks, size):
        found = source.pieces(cells, unit, where, key) if many > SMALL else None
        if found is None:
            rows = source.complete(cells, unit, where)
            labels, own, sizes = _labelled(rows, blocks, public)
            made = direct(rows, labels, sizes)
            yield answer(packed(rows, own(), blocks, capacity)) if made is None else made
            return
        if public is not None and place is None:
            place = _equal_block_words(key, public, blocks)
        group = Group(blocks, capacity, len(cells), first, min(size, blocks - first))
        for values, own in found:
            group.add(values, own if place is None else place(own))
        yield answer(group.blocks())


def _labelled(
    rows: RowArrays, blocks: int, public: int | None
) -> tuple[NDArray[Any], Callable[[], Words], NDArray[np.int64] | None]:
    """READS ROWS.  Return the block of each row, by fresh words, a function that returns words of these blocks, and
    how many rows each block has, where it is known.
    """
    if public is None or public < MANY or blocks > equal_blocks.MOST:
        own = words(rows, blocks, public)
        return _labels(own, blocks), lambda: own, None
    _unchanged(rows, public)
    # any of the places may be those of the rows left out, as in `words`
    labels = equal_blocks.drawn_labels(public, blocks)[: len(rows.values)]
    sizes = equal_blocks.sizes(public, blocks) if len(labels) == public else None
    return labels, lambda: equal_blocks.words_of_labels(labels, blocks), sizes


def spread(
    source: Source,
    cells: Sequence[ColumnCell],
    unit: Unit | None,
    where: Predicate | None,
    blocks: int,
    capacity: int,
    public: int | None,
    answer: Callable[[Blocks], NDArray[np.float64]],
    default: NDArray[np.float64],
) -> NDArray[np.float64] | None:
    """READS ROWS on the machines of a cluster.  Return the numbers of every block, shape (blocks, p); None elsewhere.

    Blocks of a group to which no row belongs have the default, as every empty block has.
    """
    size, key = max(1, SMALL // 16 // (capacity * len(cells))), os.urandom(32)
    of = partial(_of_group, answer, blocks, capacity, size)
    place = None if public is None else partial(_equal_block_words, key, public, blocks)
    found = source.spread(cells, unit, where, key, place, partial(_group, blocks, size), of, len(default))
    if found is None:
        return None
    # a group without rows sends nothing, although its blocks count
    made = np.tile(default, (blocks, 1))
    for number, values in found.items():
        made[number * size : number * size + len(values)] = values
    return made


def _labels(own: Words, blocks: int) -> NDArray[np.int64]:
    """Return floor(u blocks / 2**32) for the upper 32 bits u of each word: a block from 0 to blocks - 1."""
    # blocks < 2**31, so that the product stays below 2**63; shares of blocks differ by 2**-32, whatever the rows
    return (((own >> np.uint64(32)) * np.uint64(blocks)) >> np.uint64(32)).astype(np.int64)


def parts(numbers: int, most: int) -> int:
    """Return in how many parts `numbers` numbers are read, about `most` at a time: public."""
    return max(1, -(-numbers // most))


def part_of(parts: int, own: Words) -> NDArray[np.int64]:
    """Return the part that each word is in."""
    return _labels(own, parts)


def _equal_block_words(key: bytes, public: int, blocks: int) -> Callable[[Words], Words]:
    """Return the function from words, made of a key and places, to words of blocks of equal size."""
    return partial(equal_blocks.words_of_equal_blocks, at=equal_blocks.keyed_cuts(key, public, blocks))


def _group(blocks: int, size: int, own: Words) -> NDArray[np.int64]:
    """Return the group of `size` blocks that each word is in."""
    return _labels(own, blocks) // size


def _of_group(
    answer: Callable[[Blocks], NDArray[np.float64]],
    blocks: int,
    capacity: int,
    size: int,
    number: int,
    values: NDArray[np.float64],
    own: Words,
) -> NDArray[np.float64]:
    """READS ROWS.  Return the numbers of the blocks of one group from all of its rows."""
    group = Group(blocks, capacity, values.shape[1], number * size, min(size, blocks - number * size))
    group.add(values, own)
    return answer(group.blocks())


def packed(rows: RowArrays, own: Words, blocks: int, capacity: int) -> Blocks:
    """READS ROWS.  Return the rows in blocks by their words; too full a block keeps those of the lowest words."""
    group = Group(blocks, capacity, rows.values.shape[1], 0, blocks, words=False)
    # words are kept only where some block is too full: it is seldom so, and never of blocks of equal size
    if not group.add(rows.values, own):
        group = Group(blocks, capacity, rows.values.shape[1], 0, blocks)
        group.add(rows.values, own)
    return group.blocks()


class Group:
    """Some consecutive blocks, filled with rows: what they hold in the end does not depend on the order of rows."""

    def __init__(self, blocks: int, capacity: int, columns: int, first: int, count: int, *, words: bool = True) -> None:
        """Hold `count` of all `blocks`, from number `first` on; words: whether a block may become too full."""
        if not 0 < blocks < LARGEST:
            raise ArithmeticError(f"{blocks} blocks cannot be labelled")
        self._all, self._first, self._capacity = blocks, first, capacity
        self._values = np.empty((count, capacity, columns))
        self._words = np.empty((count, capacity), dtype=np.uint64) if words else None
        self._sizes = np.zeros(count, dtype=np.int64)
        self._lock = Lock()

    def add(self, values: NDArray[np.float64], own: Words) -> bool:
        """READS ROWS.  Add rows, shape (rows, columns), by their words; rows of other blocks are passed over.

        False, and of no use any more, where a block is too full and words are not held.
        """

        def work(parts: Iterator[slice]) -> bool:
            return all(self._add(values[part], own[part]) for part in parts)

        return all(shared([slice(at, at + PART) for at in range(0, len(values), PART)], work, apart=1))

    def _add(self, values: NDArray[np.float64], own: Words) -> bool:
        """READS ROWS.  Add some rows.

        Numbers that sort as equal are made equal bit by bit (-0.0 and 0.0, all NaN): else what a block holds would
        depend on the order in which its rows came.
        """
        # a copy, and -0.0 + 0.0 = 0.0
        values = values + 0.0
        values[np.isnan(values)] = np.nan
        count = len(self._sizes)
        labels = _labels(own, self._all) - self._first
        if count < self._all:
            here = np.flatnonzero((labels >= 0) & (labels < count))
            labels, values, own = labels[here], values[here], own[here]
        # NumPy sorts 16-bit integers by radix, in linear time
        order = np.argsort(labels.astype(np.uint16) if count <= 2**16 else labels, kind="stable")
        new = np.bincount(labels, minlength=count)
        values = np.take(values, order, axis=0)
        # of one thread at a time: places in a block are taken one after another
        with self._lock:
            return self._put(values, None if self._words is None else own[order], new)

    def _put(self, values: NDArray[np.float64], own: Words | None, new: Any) -> bool:
        """Put rows in the order of their labels behind those that the blocks hold; new: how many, for each block."""
        crowded = self._sizes + new > self._capacity
        starts = np.cumsum(new) - new
        if crowded.any():
            if own is None:
                return False
            for block in np.flatnonzero(crowded & (new > 0)):
                at = slice(starts[block], starts[block] + new[block])
                self._keep_lowest(int(block), values[at], own[at])
        easy = np.flatnonzero((new > 0) & ~crowded)
        if len(easy) * FEW < len(values):
            for block, at, many, held in zip(
                *(x[easy].tolist() for x in (np.arange(len(new)), starts, new, self._sizes)), strict=True
            ):
                self._values[block, held : held + many] = values[at : at + many]
                if self._words is not None and own is not None:
                    self._words[block, held : held + many] = own[at : at + many]
        else:
            labels = np.repeat(np.arange(len(new)), new)
            # rank among the new rows of the block, after those that it holds already
            place = np.arange(len(labels)) - starts[labels] + self._sizes[labels]
            kept = ~crowded[labels]
            labels, place = labels[kept], place[kept]
            self._values[labels, place] = values[kept]
            if self._words is not None and own is not None:
                self._words[labels, place] = own[kept]
        self._sizes = np.where(crowded, self._capacity, self._sizes + new)
        return True

    def _keep_lowest(self, block: int, values: NDArray[np.float64], own: Words) -> None:
        """Keep, of a block's rows and new ones, those of the lowest words; equal words are ordered by their rows."""
        assert self._words is not None
        size = int(self._sizes[block])
        values = np.concatenate([self._values[block, :size], values])
        own = np.concatenate([self._words[block, :size], own])
        # the last key sorts first: by word, then by the columns in their order
        kept = np.lexsort((*values.T[::-1], own))[: self._capacity]
        self._values[block], self._words[block] = values[kept], own[kept]

    def blocks(self) -> Blocks:
        """Return the blocks with rows in ascending order; nothing can be added afterwards."""
        # words are needed no longer: their memory is given back before sorting
        self._words = None
        # rows that all blocks have
        full = int(self._sizes.min())
        rest = self._values[:, full:]
        unused = np.arange(full, self._capacity) >= self._sizes[:, None]
        # sorts behind the rows of the block
        rest[unused] = np.inf
        shared([self._values[at : at + SORTED] for at in range(0, len(self._values), SORTED)], _sort_all)
        rest[unused] = 0.0
        return Blocks(self._values, self._sizes)


def _sort_all(parts: Iterator[NDArray[np.float64]]) -> None:
    for some in parts:
        _sort_rows(some)


def _sort_rows(values: NDArray[np.float64]) -> None:
    """Sort the rows of each block in place, by the first column, then the second, ...; infinite numbers come last."""
    if values.shape[2] == 1:
        values[:, :, 0].sort(axis=1)
        return
    order = np.lexsort(tuple(np.moveaxis(values, 2, 0)[::-1]), axis=1)
    values[:] = np.take_along_axis(values, order[:, :, None], axis=1)

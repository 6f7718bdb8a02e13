"""Blocks by fresh words: one row touches one block under both relations, and a block depends on its own rows alone."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from tacit.method.blocks import block_sizes
from tacit.method.blocks import mechanism_equal_blocks as equal_blocks
from tacit.method.blocks import mechanism_labels as labels
from tacit.method.blocks.block_sizes import capacity
from tacit.method.blocks.mechanism_labels import Blocks, packed, words
from tacit.source.engine_sums.row_arrays import RowArrays

NUMBERS = st.sampled_from([-1e300, -1.0, 0.0, -0.0, 1.0, 2.5, 1e300])


def blocks_of(values: np.ndarray, own: np.ndarray, k: int, room: int, owners: np.ndarray | None = None) -> Blocks:
    return packed(RowArrays(values, owners), own, k, room)


def changed(a: Blocks, b: Blocks) -> int:
    return int(((a.values != b.values).any(axis=(1, 2)) | (a.sizes != b.sizes)).sum())


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=30),
    other=st.tuples(NUMBERS, NUMBERS),
    k=st.integers(1, 6),
    room=st.integers(1, 5),
    seed=st.integers(0, 2**32 - 1),
)
def test_one_row_touches_one_block_under_both_relations(
    rows: list[tuple[float, float]], other: tuple[float, float], k: int, room: int, seed: int
) -> None:
    """The row's own word stays: full blocks, equal rows, and any order of reading included."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, 2**64, len(rows), dtype=np.uint64)
    table = np.array(rows)
    first = blocks_of(table, own, k, room)
    i = int(rng.integers(len(rows)))
    replaced = table.copy()
    replaced[i] = other
    assert changed(first, blocks_of(replaced, own, k, room)) <= 1
    without = np.delete(table, i, axis=0), np.delete(own, i)
    assert changed(first, blocks_of(*without, k, room)) <= 1
    order = rng.permutation(len(rows))
    assert changed(first, blocks_of(table[order], own[order], k, room)) == 0


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.tuples(st.integers(0, 4), NUMBERS), min_size=1, max_size=30), seed=st.integers(0, 2**32 - 1))
def test_all_rows_of_a_person_are_in_one_block(rows: list[tuple[int, float]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    own = rng.integers(0, 2**64, 6, dtype=np.uint64)
    owners, values = np.array([owner for owner, _ in rows]), np.array([[x] for _, x in rows])
    first = blocks_of(values, own[owners], 3, 4, owners)
    kept = owners != owners[0]
    assert changed(first, blocks_of(values[kept], own[owners[kept]], 3, 4, owners[kept])) <= 1
    order = rng.permutation(len(rows))
    assert changed(first, blocks_of(values[order], own[owners[order]], 3, 4, owners[order])) == 0


def test_rows_stand_sorted_and_padded() -> None:
    values = np.array([[3.0, 1.0], [1.0, 9.0], [3.0, 0.0], [2.0, 2.0]])
    own = np.array([1, 2, 3, 2**63], dtype=np.uint64)
    made = blocks_of(values, own, 2, 4)
    assert made.sizes.tolist() == [3, 1]
    assert made.values[0].tolist() == [[1, 9], [3, 0], [3, 1], [0, 0]]
    assert made.values[1].tolist() == [[2, 2], [0, 0], [0, 0], [0, 0]]
    full = blocks_of(values, own, 1, 2)  # the lowest words stay
    assert full.sizes.tolist() == [2]
    assert full.values[0].tolist() == [[1, 9], [3, 1]]


def test_words_are_fresh_and_one_for_each_person() -> None:
    rows = RowArrays(np.zeros((1_000, 1)), np.repeat(np.arange(-1, 99), 10))
    own = words(rows, 7, None)
    assert len(set(own.tolist())) == 100  # two alike with probability 2**-51
    assert (own.reshape(100, 10) == own.reshape(100, 10)[:, :1]).all()
    assert set(words(rows, 7, None).tolist()).isdisjoint(own.tolist())


def test_places_in_a_batch_are_fresh_and_of_sixteen_bits() -> None:
    for rows in (0, 1, 4, 1_001):
        one, other = labels.random_places(rows), labels.random_places(rows)
        assert len(one) == len(other) == rows
        assert one.max(initial=np.uint64(0)) < 2**16
    # all 1,001 alike with probability far below 1e-6; more than half of the values differ, and are spread out
    assert (one != other).mean() > 0.5
    assert one.mean() > 2**14


def test_blocks_have_sizes_of_independent_labels_and_seldom_overflow() -> None:
    """Chi-square of 400 sizes; beyond with probability 1e-6.  Overflow of one of 400: about 4e-7."""
    n, k = 40_000, 400
    rows = RowArrays(np.arange(n, dtype=np.float64)[:, None], None)
    made = packed(rows, words(rows, k, None), k, capacity(n, k))
    assert made.sizes.sum() == n
    assert ((made.sizes - n / k) ** 2).sum() / (n / k) < chi2.isf(1e-6, k - 1)
    first = made.values[0, : made.sizes[0], 0]
    assert abs(first.mean() - n / 2) < 5.5 * n / np.sqrt(12 * made.sizes[0])  # a sorted file: 4e-8


@pytest.mark.parametrize(("n", "k"), [(1_000, 10), (40_000, 400), (100_000, 1_000), (10_000, 2_000), (500, 500)])
def test_capacity_is_for_all_but_rare_blocks(n: int, k: int) -> None:
    """The exact law of a block's size: beyond its room with probability 1e-8 at most, and not for much more room."""
    assert binom.sf(capacity(n, k), n, 1 / k) < 1e-8
    assert binom.sf(capacity(n, k) // 2, n, 1 / k) > 1e-8


# Blocks of equal size ------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(n=st.integers(1, 60), k=st.integers(1, 70), seed=st.integers(0, 2**32 - 1))
def test_seats_are_shared_out_by_ranks_and_as_equal_as_can_be(n: int, k: int, seed: int) -> None:
    """Against ranks as they are defined; also where blocks are more than rows, and with words of any size."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, 2**64, n, dtype=np.uint64)
    made = blocks_of(np.zeros((n, 1)), equal_blocks.words_of_equal_blocks(own, equal_blocks.cuts(own, k)), k, n)
    rank = np.argsort(np.argsort(own))
    assert made.sizes.tolist() == np.bincount(rank * k // n, minlength=k).tolist()
    assert made.sizes.max() - made.sizes.min() <= 1
    assert made.sizes.max() == block_sizes.equal_capacity(n, k)


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.tuples(NUMBERS, st.booleans()), min_size=2, max_size=30),
    other=st.tuples(NUMBERS, st.booleans()),
    k=st.integers(1, 6),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_row_that_is_replaced_gives_its_seat_to_the_other(
    rows: list[tuple[float, bool]], other: tuple[float, bool], k: int, seed: int
) -> None:
    """Complete or left out, either of them: with the same words of all n rows one block changes."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, 2**64, len(rows), dtype=np.uint64)
    i = int(rng.integers(len(rows)))
    words_ = equal_blocks.words_of_equal_blocks(own, equal_blocks.cuts(own, k))

    def made(table: list[tuple[float, bool]]) -> Blocks:
        there = np.array([complete for _, complete in table])
        return blocks_of(
            np.array([[x] for x, _ in table])[there], words_[there], k, block_sizes.equal_capacity(len(rows), k)
        )

    assert changed(made(rows), made([*rows[:i], other, *rows[i + 1 :]])) <= 1


@pytest.mark.parametrize("spread", [64, 50, 47, 4])
@pytest.mark.parametrize(("n", "k"), [(5_000, 7), (5_000, 4_999), (300, 400)])
def test_blocks_begin_at_the_same_words_however_these_are_ranked(
    n: int, k: int, spread: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words over all ranges of the upper bits, over a few, in one, and with many that are equal."""
    monkeypatch.setattr(equal_blocks, "PART", 512)
    own = np.random.default_rng(n + k).integers(0, 2**spread, n, dtype=np.uint64)
    cuts = equal_blocks.cuts(own, k)
    starts = np.array([-(-b * n // k) for b in range(1, k)])
    ends = np.full(int((starts >= n).sum()), 2**64 - 1, dtype=np.uint64)
    # arrays, since pytest takes minutes to tell long lists apart
    assert np.array_equal(cuts, np.concatenate([np.sort(own)[starts[starts < n]], ends]))
    made = equal_blocks.words_of_equal_blocks(own, cuts)
    label = np.searchsorted(cuts, own, side="right")
    assert np.array_equal((made >> np.uint64(32)) * np.uint64(k) >> np.uint64(32), label.astype(np.uint64))
    assert (made & np.uint64(2**32 - 1) == own & np.uint64(2**32 - 1)).all()


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize(("k", "room"), [(5, 400), (5, 900), (900, 2), (900, 90)])
def test_a_large_table_fills_blocks_as_a_small_one_does(
    columns: int, k: int, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some rows at a time or at once, block by block or all together, with blocks that are too full or none."""
    rng = np.random.default_rng(k + room)
    values, own = rng.normal(0, 1, (3_000, columns)).round(1), rng.integers(0, 2**64, 3_000, dtype=np.uint64)
    label = (own >> np.uint64(32)) * np.uint64(k) >> np.uint64(32)
    for part, few in ((2**20, 16), (70, 16), (500, 10**9), (500, 0)):
        monkeypatch.setattr(labels, "PART", part)
        monkeypatch.setattr(labels, "FEW", few)
        monkeypatch.setattr(labels, "SORTED", 3)
        made = blocks_of(values, own, k, room)
        for block in range(k):
            here = np.flatnonzero(label == block)
            kept = values[here[np.argsort(own[here])][:room]]
            assert made.sizes[block] == len(kept)
            assert made.values[block, : len(kept)].tolist() == sorted(kept.tolist())
            assert not made.values[block, len(kept) :].any()


def test_every_way_to_share_out_seats_is_as_likely_and_the_order_of_rows_has_no_say() -> None:
    """Two of five rows are left out; the other three have five seats in blocks of 3 and 2: 7 ways, by their chances.

    Chi-square of 20,000 draws, 6 degrees: beyond the limit with probability 1e-6.
    """
    table, found = RowArrays(np.arange(3.0)[:, None], None), Counter[tuple[int, ...]]()
    for _ in range(20_000):
        own = words(table, 2, 5)
        found[tuple((own >> np.uint64(63)).tolist())] += 1
    ways = Counter(tuple(seat * 2 // 5 for seat in three) for three in permutations(range(5), 3))
    expected = {way: 20_000 * many / 60 for way, many in ways.items()}
    assert set(found) == set(ways)
    assert sum((found[way] - e) ** 2 / e for way, e in expected.items()) < chi2.isf(1e-6, 6)
    with pytest.raises(RuntimeError, match="changed"):
        words(table, 2, 2)


@pytest.mark.parametrize("k", [0, 2**31])
def test_numbers_of_blocks_that_cannot_be_labelled(k: int) -> None:
    with pytest.raises(ArithmeticError):
        blocks_of(np.zeros((1, 1)), np.zeros(1, dtype=np.uint64), k, 1)


def test_an_empty_table_has_empty_blocks() -> None:
    rows = RowArrays(np.zeros((0, 2)), None)
    made = packed(rows, words(rows, 3, None), 3, 4)
    assert made.sizes.tolist() == [0, 0, 0]
    assert not made.values.any()

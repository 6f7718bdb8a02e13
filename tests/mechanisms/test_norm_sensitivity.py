"""Sensitivities of sums of norm-clipped vectors and their products: never exceeded, and approached, over all pairs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tacit.method.shared.norm_sensitivity import DIAGONAL, OFF, vectors_and_products
from tacit.rows.norm_clip import NormClip
from tacit.rows.row_products import averages

Ints = np.ndarray


def ball(size: int, most: int) -> Ints:
    """All integer vectors of a norm of at most `most`."""
    every = np.array(list(product(range(-most, most + 1), repeat=size)))
    return every[(every**2).sum(axis=1) <= most**2]


def released(w: Ints, first: int, second: int, shift: int = 0) -> Ints:
    """The integers of each row."""
    i, j = np.triu_indices(w.shape[1])
    weight = np.where(i == j, DIAGONAL, OFF) * second
    return np.hstack([first * w, weight * ((w[:, i] * w[:, j]) >> shift)])


def largest(made: Ints) -> int:
    """The largest squared distance of two rows of integers."""
    squares = (made**2).sum(axis=1)
    return int((squares[:, None] + squares[None] - 2 * made @ made.T).max())


@pytest.mark.parametrize(("size", "most"), [(1, 9), (2, 12), (3, 6), (4, 3)])
@pytest.mark.parametrize(("first", "second"), [(1, 0), (0, 1), (3, 1), (7, 1), (60, 1), (84, 1), (200, 1), (21, 3)])
def test_the_bound_holds_for_all_pairs_and_is_approached(size: int, most: int, first: int, second: int) -> None:
    made = released(ball(size, most), first, second)
    for neighbors, found in (("replace-one", largest(made)), ("add-remove", int((made**2).sum(axis=1).max()))):
        declared = vectors_and_products(most, first, second, neighbors, size=size)
        assert found <= declared
        # one entry has no two axes, and small balls few angles
        enough = 0.95 if size > 1 and most > 5 else 0.49
        assert found >= (1.0 if neighbors == "add-remove" else enough) * declared, found / declared


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_large_vectors_never_exceed_it(neighbors: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        size, most = int(rng.integers(1, 12)), int(rng.integers(20, 1024))
        first, second = int(rng.integers(0, 8 * most)), int(rng.integers(0, 3))
        z = rng.integers(-1024, 1025, (300, size))
        clip = NormClip(tuple(map(tuple, (2 * np.eye(size, dtype=int)).tolist())), 1, most)
        clip.check()
        w = clip.numpy(z)
        made = released(np.vstack([w, -w[:20], np.zeros((1, size), dtype=np.int64)]), first, second)
        found = largest(made) if neighbors == "replace-one" else int((made**2).sum(axis=1).max())
        assert found <= vectors_and_products(most, first, second, neighbors, size=size)


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize(("first", "shift"), [(0, 1), (30, 1), (60, 3), (0, 4)])
def test_products_that_are_rounded_down(neighbors: str, first: int, shift: int) -> None:
    made = released(ball(3, 12)[::3], first, 2, shift)
    declared = vectors_and_products(12, first, 2, neighbors, size=3, shift=shift)
    found = largest(made) if neighbors == "replace-one" else int((made**2).sum(axis=1).max())
    # rounding is most of small products: the bound allows for the worst of every entry at once
    assert 0.2 * declared < found <= declared


def test_means_of_persons_are_within_the_bound_of_rows_and_their_rounding() -> None:
    rng = np.random.default_rng(6)
    w = ball(3, 6)
    rows = released(w, 40, 1)
    declared = vectors_and_products(6, 40, 1, "replace-one", size=3, persons=True)
    worst = 0
    for _ in range(300):
        chosen = rows[rng.integers(0, len(rows), 12)]
        # few rows of each, so that extremes come about
        who = np.sort(rng.integers(0, 6, 12))
        means = np.stack(averages(list(chosen.T), who), axis=1)
        worst = max(worst, largest(means))
    assert 0.5 * declared < worst <= declared

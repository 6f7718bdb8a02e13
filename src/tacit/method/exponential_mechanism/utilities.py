"""Utilities of candidates from counts of cells, and how much a neighbour changes them.  Public arithmetic; no data.

The proofs are in `mechanism`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.method.exponential_mechanism.query import ExponentialMechanism

Integers = NDArray[np.int64]


def weights_of(query: ExponentialMechanism, cells: int) -> Integers:
    """Return the number of each candidate for each cell, shape (candidates, cells); 1 of each cell's own by default."""
    if not query.candidates:
        return np.eye(cells, dtype=np.int64)
    return np.array([numbers for _, numbers in query.candidates], dtype=np.int64)


def spread_of(query: ExponentialMechanism, weights: Integers, *, replaces: bool, leaves: bool) -> int:
    """Return the most by which a row changes the difference of two candidates' utilities.

    replaces: whether a row is replaced, not added or removed.  leaves: whether a row may be in no cell.

    >>> query = ExponentialMechanism("ill", {"screen": [0, 4], "wait": [1, 0]})
    >>> spread_of(query, weights_of(query, 2), replaces=True, leaves=False)
    5
    """
    if query.utility == "ks":
        return 2
    return max(int((one.max(axis=0) - one.min(axis=0)).max()) for one in _changes(weights, replaces, leaves))


def sensitivity_of(query: ExponentialMechanism, weights: Integers, *, replaces: bool, leaves: bool) -> int:
    """Return the most by which a row changes a utility.

    >>> query = ExponentialMechanism("ill", {"screen": [0, 4], "wait": [1, 0]})
    >>> sensitivity_of(query, weights_of(query, 2), replaces=True, leaves=False)
    4
    """
    if query.utility == "ks":
        return 1
    return max(int(np.abs(one).max()) for one in _changes(weights, replaces, leaves))


def _changes(weights: Integers, replaces: bool, leaves: bool) -> Any:
    """Yield the changes of all candidates' utilities by a row, shape (candidates, cells), for each cell it was in."""
    if leaves or not replaces:
        yield weights
    if replaces:
        # out of cell i into any other
        for i in range(weights.shape[1]):
            yield weights - weights[:, i : i + 1]


def utilities(query: ExponentialMechanism, weights: Integers, counts: Sequence[int]) -> list[int]:
    """Return the utility of each candidate; counts: rows (weight of persons) in each cell.

    >>> query = ExponentialMechanism("ill", {"screen": [0, 4], "wait": [1, 0]})
    >>> utilities(query, weights_of(query, 2), [10, 3])
    [12, 10]
    >>> query = ExponentialMechanism("ill", {"even": [1, 1], "rare": [0, 1]}, "ks")
    >>> utilities(query, weights_of(query, 2), [10, 3])
    [-4, -10]
    """
    if query.utility == "ks":
        return [_distance(counts, one) for one in weights.tolist()]
    # Python integers: products may exceed 64 bits
    return [sum(w * n for w, n in zip(one, counts, strict=True)) for one in weights.tolist()]


def _distance(counts: Sequence[int], numbers: Sequence[int]) -> int:
    """Return -ceil(max_i |k N_i - N S_i| / k)."""
    k, N = sum(numbers), sum(counts)
    gaps = zip(accumulate(map(int, counts)), accumulate(numbers), strict=True)
    most = max(abs(k * n - N * s) for n, s in gaps)
    # rounded up, and then with a minus sign: -most / k rounded down
    return -most // k

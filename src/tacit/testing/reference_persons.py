"""Rows reduced to persons, in NumPy: the reference of `source.person_sums`, for simulations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_map import PersonWeight, RowMap

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ReferenceRows:
    """Rows (or persons) that count: their places in the table, cells, values and weights; arrays of one length."""

    index: Ints
    cell: Ints
    v: Ints
    weight: Ints


def codes(values: Any) -> Ints:
    """Whose row each row is, as numbers from 0; all that is missing is one person."""
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    listed = [None if x is None or x != x else x for x in array.tolist()]
    known = {x: i for i, x in enumerate(dict.fromkeys(listed))}
    return np.array([known[x] for x in listed], dtype=np.int64)


def persons(
    rows: ReferenceRows,
    who: Ints,
    weight: RowMap | PersonWeight | None,
    weighed: tuple[ReferenceRows, Ints] | None = None,
) -> ReferenceRows:
    """One entry for each person and cell: the mean, floor(sum / count + 1/2), and the person's share.

    weighed: where the share is of weights, the rows that have one (as v), and whose they are.
    """
    width = 1 + max(int(one.cell.max(initial=0)) for one in (rows, weighed[0] if weighed else rows))
    pairs, place = np.unique(who * width + rows.cell, return_inverse=True)
    count = np.bincount(place, minlength=len(pairs)).astype(np.int64)
    total = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(total, place, rows.v)
    mean = np.floor(total / np.maximum(count, 1) + 0.5).astype(np.int64)
    share = np.ones(len(pairs), dtype=np.int64)
    if isinstance(weight, PersonWeight) and weighed is not None:
        share = _shares(*weighed, weight, pairs, width)
    elif isinstance(weight, PersonWeight):
        person = pairs // width
        every = np.bincount(person, weights=count).astype(np.int64)[person] if len(pairs) else count
        cap = weight.cap or 1
        share = weight.G * np.minimum(every, cap) * count // (cap * np.maximum(every, 1))
    return ReferenceRows(np.arange(len(pairs)), pairs % width, mean, share)


def _shares(rows: ReferenceRows, who: Ints, share: PersonWeight, wanted: Ints, width: int) -> Ints:
    """`PersonWeight.weighed` of each wanted person and cell; 0 where no row has a weight."""
    pairs, place = np.unique(who * width + rows.cell, return_inverse=True)
    own = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(own, place, rows.v)
    every = np.bincount(who).astype(np.int64)[pairs // width] if len(pairs) else own
    cap = share.cap or 1
    value = own * np.minimum(every, cap) // (cap * np.maximum(every, 1))
    known = dict(zip(pairs.tolist(), value.tolist(), strict=True))
    return np.array([known.get(pair, 0) for pair in wanted.tolist()], dtype=np.int64)

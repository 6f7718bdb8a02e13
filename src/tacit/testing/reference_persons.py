"""Reduction of rows to persons in NumPy: the reference for `source.engine_sums.person_sums`, used in simulations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_map import PersonWeight, RowMap

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ReferenceRows:
    """The rows (or persons) that are added up: their index, cell, value and weight, arrays of the same length."""

    index: Ints
    cell: Ints
    v: Ints
    weight: Ints


def codes(values: Any) -> Ints:
    """Return the person of each row, numbered from 0; all rows without a person are one person."""
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    # NaN is unequal to itself: as None it is one person like any missing identifier
    listed = [None if x is None or x != x else x for x in array.tolist()]
    known = {x: i for i, x in enumerate(dict.fromkeys(listed))}
    return np.array([known[x] for x in listed], dtype=np.int64)


def persons(
    rows: ReferenceRows,
    who: Ints,
    weight: RowMap | PersonWeight | None,
    weighed: tuple[ReferenceRows, Ints] | None = None,
) -> ReferenceRows:
    """Return one entry for each person and cell, with the mean value floor(sum / count + 1/2) and the person's share.

    The index of an entry is the person's number.

    who: the person of each row.  weighed: where shares are of weights, the rows with a weight (as v) and their persons.
    """
    # (person, cell) as one integer
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
        # rounded down, so that a person's shares add up to at most the whole
        share = weight.G * np.minimum(every, cap) * count // (cap * np.maximum(every, 1))
    return ReferenceRows(pairs // width, pairs % width, mean, share)


def _shares(rows: ReferenceRows, who: Ints, share: PersonWeight, wanted: Ints, width: int) -> Ints:
    """Return `PersonWeight.weighed` of each wanted person and cell; 0 where no row has a weight."""
    pairs, place = np.unique(who * width + rows.cell, return_inverse=True)
    own = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(own, place, rows.v)
    every = np.bincount(who).astype(np.int64)[pairs // width] if len(pairs) else own
    cap = share.cap or 1
    value = own * np.minimum(every, cap) // (cap * np.maximum(every, 1))
    known = dict(zip(pairs.tolist(), value.tolist(), strict=True))
    return np.array([known.get(pair, 0) for pair in wanted.tolist()], dtype=np.int64)

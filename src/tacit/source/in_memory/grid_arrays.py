"""Grid values of arrays in memory, in NumPy: the same integers as `RowMap.numpy`, some rows at a time.  INSIDE.

Of a finite x the reference is v = floor(clamp(y, 0, steps) + 1/2) with y = (x - lower) * (steps / (upper - lower)),
and the ends where x is at or beyond a bound.  The clamp alone gives these: below the lower bound y <= 0; at the upper
one y is steps, rounded three times, and the half that is added moves it far above steps - 1/2; beyond it y is no less,
since every operation is monotone.  As is the addition of 1/2, which may therefore come before the clamp.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_map import KeyMap, RowMap
from tacit.source.shared_blocks import Buffers

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class GridMaps:
    """The maps of some columns, applied to all of them at once.

    short: whether integers have 16 bits where all fit.
    """

    maps: tuple[RowMap, ...]
    short: bool = False

    def values(self, cells: Sequence[NDArray[Any]], buffers: Buffers) -> tuple[Floats, dict[int, Mask]]:
        """READS ROWS.  Return `whole` as floats, and the absent cells: v is 0 there.

        The array is used again for the next rows.
        """
        whole, absent = self.whole(cells, buffers)
        x = buffers.array("grid", whole.shape)
        np.copyto(x, whole)
        return x, absent

    def whole(self, cells: Sequence[NDArray[Any]], buffers: Buffers) -> tuple[NDArray[Any], dict[int, Mask]]:
        """READS ROWS.  Return v, integers of shape (maps, rows), and the absent cells of a map, by its index.

        v is 0 there; of a map without absent cells there is no mask.  Integers have 32 bits (`short`: 16) where all
        fit.  The array is used again for the next rows.
        """
        found = buffers.array("whole", (len(self.maps), len(cells[0])), self._kind)
        absent = dict[int, Mask]()
        for i, (at, one) in enumerate(zip(self.maps, cells, strict=True)):
            if not (_simple(at) and _set(at, one, found[i], buffers)):
                # columns with missing cells, by the reference
                found[i], present = at.numpy(np.asarray(one, dtype=np.float64))
                if not present.all():
                    absent[i] = ~present
        return found, absent

    @cached_property
    def _kind(self) -> type[np.signedinteger[Any]]:
        """The integers in which all v fit."""
        most = max(at.G for at in self.maps)
        return np.int16 if self.short and most < 2**15 - 1 else np.int32 if most < 2**31 - 1 else np.int64


def _set(at: RowMap, cells: NDArray[Any], whole: NDArray[Any], buffers: Buffers) -> bool:
    """READS ROWS.  Set v of some cells, or return False where one of them is not finite."""
    x = buffers.array("scaled", whole.shape)
    if cells.dtype == np.float64:
        np.subtract(cells, at.lower, out=x)
    else:
        # integers become floats, rounded to nearest as by every engine
        np.copyto(x, cells)
        x -= at.lower
    x *= at.steps / (at.upper - at.lower)
    x += 0.5
    # bits of floats that are not negative are in their order, and those of others are above them: 0 <= x < steps + 1
    # needs no clamp, for its floor is in {0, ..., steps}
    if x.view(np.uint64).max(initial=0) >= np.float64(at.steps + 1).view(np.uint64):
        if not np.isfinite(cells).all():
            return False
        # the half is added already: no float is rounded after this clamp
        _clamp(x, 0.5, at.steps + 0.5)
    # of positive numbers the cast is the floor
    np.copyto(whole, x, casting="unsafe")
    # the last word on the range, in integers: whatever the floats were, v ends in {0, ..., steps} here
    _clamp(whole, 0, at.steps)
    if at.factor != 1:
        whole *= at.factor
    return True


def _clamp(x: NDArray[Any], low: float, high: float) -> None:
    """Clamp in place."""
    np.clip(x, low, high, out=x)


def _simple(at: RowMap) -> bool:
    """Whether finite cells need the clamp alone."""
    return at.kind != "boolean" and math.isfinite(at.upper - at.lower)


def level_places(key: KeyMap, cells: NDArray[Any]) -> NDArray[np.int64]:
    """Return the index of the level of each cell, -1 where absent.

    cells: codes; of text, the place of its level, from 1 (`Reading`).  NaN where missing.
    """
    x = np.asarray(cells, dtype=np.float64)
    text = isinstance(key.levels[0], str)
    # places from 1 in few bits, each added where its level is: levels differ
    found = np.zeros(x.shape, dtype=np.uint8 if len(key.levels) < 2**8 else np.int32)
    for i, level in enumerate(key.levels):
        found += np.equal(x, i + 1.0 if text else float(level)).view(np.uint8) * found.dtype.type(i + 1)
    places = found.astype(np.int64) - 1
    return places if key.missing is None else np.where(found == 0, key.missing, places)

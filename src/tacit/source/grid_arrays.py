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
        x, odd = buffers.array("grid", (len(self.maps), len(cells[0]))), dict[int, tuple[Any, Mask]]()
        for i, (at, one) in enumerate(zip(self.maps, cells, strict=True)):
            if one.dtype == np.float64:
                np.subtract(one, at.lower, out=x[i])
            else:
                # integers become floats, rounded to nearest as by every engine
                np.copyto(x[i], one)
                x[i] -= at.lower
            # a difference of finite numbers may overflow; one of others is never finite
            finite = np.isfinite(x[i], out=buffers.array("finite", x[i].shape, np.bool_)).all()
            if not (finite and _simple(at)):
                # columns with missing cells, by the reference
                odd[i] = at.numpy(np.asarray(one, dtype=np.float64))
        x *= self._scale
        x += 0.5
        # the half is added already: no float is rounded after this clamp
        _clamp(x, 0.5, self._most + 0.5)
        whole = buffers.array("whole", x.shape, self._most.dtype)
        # of positive numbers the cast is the floor
        np.copyto(whole, x, casting="unsafe")
        # the last word on the range, in integers: whatever the floats were, v ends in {0, ..., steps} here
        _clamp(whole, 0, self._most)
        if self._factor is not None:
            whole *= self._factor
        for i, (v, _) in odd.items():
            whole[i] = v
        return whole, {i: ~present for i, (_, present) in odd.items() if not present.all()}

    @cached_property
    def _scale(self) -> Floats:
        """Grid steps for one unit of each column, of shape (maps, 1)."""
        return np.array([[at.steps / (at.upper - at.lower)] for at in self.maps], dtype=np.float64)

    @cached_property
    def _factor(self) -> NDArray[Any] | None:
        """Factors, of shape (maps, 1); None where they change nothing."""
        found = np.array([[at.factor] for at in self.maps], dtype=self._most.dtype)
        return found if (found != 1).any() else None

    @cached_property
    def _most(self) -> NDArray[Any]:
        """The numbers of steps, of shape (maps, 1), in as many bits as v; a single one where all are alike."""
        found = [at.steps for at in self.maps]
        most = max(at.G for at in self.maps)
        wide = np.int16 if self.short and most < 2**15 - 1 else np.int32 if most < 2**31 - 1 else np.int64
        return np.array(found[0] if len(set(found)) == 1 else [[one] for one in found], dtype=wide)


def _clamp(x: NDArray[Any], low: float, high: Any) -> None:
    """Clamp in place, row by row where bounds differ: NumPy is slower with an array of bounds."""
    if np.ndim(high):
        for one, most in zip(x, high.reshape(-1).tolist(), strict=True):
            np.clip(one, low, most, out=one)
    else:
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

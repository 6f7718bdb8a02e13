"""How many data sets are within a level of a table: enclosures in floats, exact counts in integers, and the data set of
each number.  Public arithmetic; no data of its own.

A data set is a path S_1 <= ... <= S_m = k.  f_i(s) = number of ways to have S_i = s and to stay within the band before:
f_0(0) = 1, and f_i(s) = f_{i-1}(0) + ... + f_{i-1}(s) where s is in the band, else 0.  So each step is one cumulative
sum, all terms are non-negative, and A(level) = sum_s f_{m-1}(s).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from math import isqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.method.ks_dataset.bands import Bands
from tacit.noise.tail_bounds import Bounds

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
UNIT: Final = 2.0**-53
RESCALED: Final = 16
"""Steps between two divisions by a power of 2: sums of up to 2**15 terms grow by less than 2**240 in between."""
SMALLEST: Final = 2.0**-600
"""Numbers of paths so much smaller than the largest of a row are rounded up to this part of it."""
AT_ONCE: Final = 100_000
"""Numbers held at a time: levels in a group times the width of its widest band."""


@dataclass(frozen=True)
class Enclosed:
    """Numbers of data sets by level: about mantissa * 2**exponent, shapes (levels,), with a relative error below
    2**-digits; only an upper bound where `above`.
    """

    mantissa: Array
    exponent: Integers
    above: NDArray[np.bool_]
    digits: int

    @property
    def log(self) -> Array:
        """Natural logarithms, to a few units of the last place; -infinity of 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.mantissa) + self.exponent * np.log(2.0)

    def bounds(self, at: int) -> Bounds:
        """Return the least and the largest integer that the number of level number `at` may be."""
        if self.mantissa[at] == 0.0:
            return 0, 0
        whole, shift = int(self.mantissa[at] * 2.0**53), int(self.exponent[at]) - 53
        # the whole number, and what it may be off by, in units of 2**-64
        off = (whole << 64 >> self.digits) + 1
        low, high = (whole << 64) - off, (whole << 64) + off
        up = shift - 64
        # whole numbers within the bounds: rounded up and down
        least, most = (low << up, high << up) if up >= 0 else (-(-low >> -up), high >> -up)
        return 0 if self.above[at] else least, most


def enclosed(bands: Bands, levels: Integers) -> Enclosed:
    """Return enclosures of the numbers of data sets of at most each level; levels rise.

    Each step adds at most W numbers, none negative, W the widest band: its relative error is below W u / (1 - W u), u =
    2**-53, in whatever order they are added (IEEE 754), and divisions by powers of 2 are exact.  After m steps the
    relative error is below 2 m W u where m W u < 1/4, as it is: W <= 5,001 and m <= 2,000.

    >>> enclosed(Bands.of([3, 0, 1], 2), np.array([0, 1, 2, 4])).mantissa
    array([0.  , 0.75, 0.75, 0.75])
    """
    low, high = bands.ends_of_levels(levels)
    widest = np.maximum((high - low).max(axis=0, initial=0) + 1, 1)
    groups = _groups(widest)
    made = [_group(low[:, one], high[:, one], int(widest[one].max())) for one in groups]
    mantissa, exponent, above = (np.concatenate(part) for part in zip(*made, strict=True))
    steps = 2 * bands.cells * int(widest.max())
    return Enclosed(mantissa, exponent, above, 53 - steps.bit_length())


def _groups(widest: Integers) -> list[slice]:
    """Return neighbouring levels in groups of about AT_ONCE numbers: widths rise, so that few are padded."""
    found, first = list[slice](), 0
    while first < len(widest):
        last = first + 1
        while last < len(widest) and (last + 1 - first) * widest[last] <= AT_ONCE and widest[last] <= 2 * widest[first]:
            last += 1
        found.append(slice(first, last))
        first = last
    return found


def _group(low: Integers, high: Integers, width: int) -> tuple[Array, Integers, NDArray[np.bool_]]:
    """Return mantissas, exponents and whether only above; low, high: shape (m - 1, levels)."""
    many = low.shape[1]
    now, place = np.zeros((many, width)), np.arange(width)
    now[:, 0] = 1.0
    exponent, above = np.zeros(many, dtype=np.int64), np.zeros(many, dtype=np.bool_)
    base = np.arange(0, many * width, width, dtype=np.int64)[:, None]
    before = np.zeros(many, dtype=np.int64)
    for i in range(len(low)):
        sums = np.cumsum(now, axis=1)
        shift = low[i] - before
        # beyond the last place of a row its sum is the whole sum
        at = np.minimum(shift[:, None] + place, width - 1)
        now = sums.reshape(-1)[base + at]
        now[place > (high[i] - low[i])[:, None]] = 0.0
        before = low[i]
        if i % RESCALED == RESCALED - 1:
            now, exponent, above = _rescaled(now, exponent, above)
    now, exponent, above = _rescaled(now, exponent, above)
    mantissa, more = np.frexp(now.sum(axis=1))
    return mantissa, exponent + more, above


def _rescaled(now: Array, exponent: Integers, above: NDArray[np.bool_]) -> tuple[Array, Integers, NDArray[np.bool_]]:
    """Return rows divided by powers of 2, such that the largest of each is from 1/2 to 1."""
    _, by = np.frexp(now.max(axis=1))
    now = np.ldexp(now, -by[:, None])
    tiny = (now > 0.0) & (now < SMALLEST)
    # sums of upper bounds are upper bounds
    return np.where(tiny, SMALLEST, now), exponent + by, above | tiny.any(axis=1)


def count(bands: Bands, level: int) -> int:
    """Return the exact number of data sets of at most a level.

    >>> [count(Bands.of([3, 0, 1], 2), level) for level in range(5)]
    [0, 3, 3, 6, 6]
    """
    return Paths(bands, level).total


class Paths:
    """All data sets of at most a level, in a fixed order, numbered from 0 to total - 1.

    Rows of cumulative sums are kept at every so many cells, and those in between found again when they are needed.
    """

    def __init__(self, bands: Bands, level: int) -> None:
        self.bands, self.every = bands, isqrt(bands.cells) + 1
        self.low, self.high = bands.ends(level)
        # of boundary 0: one path, with no points
        self.kept: dict[int, list[int]] = {}
        row = [1]
        for i in range(bands.cells):
            if i % self.every == 0:
                self.kept[i] = row
            if i < bands.cells - 1:
                row = self._next(row, i)
        self.total = row[-1] if row else 0

    def _next(self, sums: list[int], i: int) -> list[int]:
        """Return cumulative sums of f at boundary i + 1 from those at boundary i."""
        before, first, last = self.low[i - 1] if i else 0, self.low[i], self.high[i]
        if not sums or last < first:
            return []
        end = len(sums) - 1
        return list(accumulate(sums[min(s - before, end)] for s in range(first, last + 1)))

    def points(self, number: int) -> tuple[int, ...]:
        """Return the points in each cell of data set number `number`, 0 <= number < total.

        >>> [Paths(Bands.of([3, 0, 1], 2), 2).points(i) for i in range(3)]
        [(1, 0, 1), (1, 1, 0), (2, 0, 0)]
        """
        cells, found, after = self.bands.cells, list[int](), self.bands.size
        rows: list[list[int]] = []
        for i in range(cells - 1, -1, -1):
            first = i - i % self.every
            if not rows or i % self.every == self.every - 1:
                rows = [self.kept[first]]
                while len(rows) <= i - first:
                    rows.append(self._next(rows[-1], first + len(rows) - 1))
            sums, low = rows[i - first], self.low[i - 1] if i else 0
            # the place of S_i among the ways to be at most where the next one is
            at = bisect_right(sums, number)
            number -= sums[at - 1] if at else 0
            found.append(after - (low + at))
            after = low + at
        return tuple(reversed(found))

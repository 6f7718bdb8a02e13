"""Sums of products that have the same weight and the same divisor, of rows that are held, in NumPy.  INSIDE the wall.

Sums of products are BLAS's (`held_products` has why they are exact).  Where the weight of a product of two coordinates
is a square, as psi**2 is, it is the product of two entries of one vector psi w: BLAS then computes half of the matrix,
and bits are taken once.

Of products a that are divided, floor(a / 2**s) = (a - a mod 2**s) / 2**s.  Sums of a are BLAS's again; a mod 2**s is
the lowest s bits of a, for which the lowest 32 bits of the factors suffice: products of 32-bit integers that wrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_products import Product
from tacit.source.in_memory.block_factors import UNWEIGHTED, BlockFactors, Weight, dots, matrix
from tacit.source.shared_blocks import Buffers

Floats = NDArray[Any]
Ints = NDArray[np.int64]
FEW_PLACES: Final = 3
"""Numbers that are told by counting rows, not by adding up, less one."""


@dataclass(frozen=True)
class AlikeProducts:
    """Products with the same powers of the score and of the row's weight (`times`), and the same divisor 2**shift,
    before which the same integer is added (`plus`; 0 where remainders are taken).

    places: their indices in the question.  first, second: indices of their coordinates (entries of the vector), the
    last for none.  runs: of products of two, by the first coordinate: the second ones, and positions in `places`.
    ones: positions of the others.  low: whether remainders are those of 32-bit integers.  ends: least and largest value
    of floor((psi + plus) / 2**shift), where that has few values.
    """

    power: int
    size: bool
    shift: int
    times: int
    plus: int
    places: Ints
    first: Ints
    second: Ints
    runs: tuple[tuple[int, slice | Ints, Ints], ...]
    ones: Ints
    none: int
    low: bool
    ends: tuple[int, int] | None

    @classmethod
    def of(
        cls,
        products: Sequence[Product],
        places: list[int],
        none: int,
        alike: tuple[int, bool, int, int, int],
        low: bool,
        clip: int,
    ) -> AlikeProducts:
        """Return those of `products` that are alike; none: the index of the factor that is 1; clip: largest |psi|."""
        two = np.array([(*products[i].of, none, none)[:2] for i in places], dtype=np.int64)
        first, second = two[:, 0], two[:, 1]
        pair = second < none
        runs = list[tuple[int, slice | Ints, Ints]]()
        for one in np.unique(first[pair]):
            at = np.flatnonzero(pair & (first == one))
            other = second[at]
            runs.append((int(one), _slice(other), at))
        shift, plus = alike[2], alike[4]
        ends = (plus - clip) >> shift, (plus + clip) >> shift
        return cls(
            *alike,
            np.array(places),
            first,
            second,
            tuple(runs),
            np.flatnonzero(~pair),
            none,
            low,
            ends if ends[1] - ends[0] <= FEW_PLACES else None,
        )

    @cached_property
    def few(self) -> bool:
        """Whether products are added up one by one, not all at once."""
        return self.shift == 0 and len(self.places) <= 3 * (self.none + 1)

    @cached_property
    def square(self) -> bool:
        """Whether they are products of the entries of one vector: the weight's root is then asked for in its place."""
        return bool(self.runs) and not self.few and self.power % 2 == 0 and self.times % 2 == 0

    @cached_property
    def weight(self) -> Weight:
        """What factors are multiplied by: of squares the root of the products' weight."""
        half = 2 if self.square else 1
        return self.size and self.power > 0, self.power // half, self.times // half

    def add(self, out: Floats, rows: BlockFactors) -> None:
        """Set these sums of weight times coordinates over 2**shift, each product rounded down."""
        if self.few:
            out[self.places] = self._few(rows)
            return
        if self.runs:
            out[self.places] = self._pairs(rows)
        for i in self.ones:
            out[self.places[i]] = self._alone(rows, int(self.first[i]))

    @property
    def whole(self) -> bool:
        """Whether sums of products are added up before they are divided."""
        return self.shift == 0 or self.low

    def _few(self, rows: BlockFactors) -> Floats:
        """Return sums that are not divided, row by row."""
        found, (alone, pairs), (only, first, second) = np.empty(len(self.places)), self._by_first, self._rows_of_few
        if self.weight in rows.paired and len(alone) and self.first[alone[-1]] < self.none:
            found[alone] = rows.moments(self.weight)[only, -1]
        else:
            some = self.first[alone]
            found[alone] = [self._alone(rows, int(j)) for j in some] if len(some) < 2 else self._many(rows, only)
        if len(pairs):
            found[pairs] = dots(rows.times(self.weight)[first], rows.times(UNWEIGHTED)[second])
        return found

    def _many(self, rows: BlockFactors, only: slice | Ints) -> Floats:
        """Return the sums of products with one coordinate each, or with none."""
        some, weight = rows.times(UNWEIGHTED)[only], rows.weight(self.weight)
        return dots(some, rows.times(UNWEIGHTED)[-1] if weight is None else weight)

    def _alone(self, rows: BlockFactors, j: int) -> float:
        """Return the sum of products with one coordinate, or with none."""
        whole = (self.size, self.power, self.times)
        if self.ends is not None and self.shift and j == self.none and whole == (False, 1, 0):
            return self._counted(rows.psi, *self.ends)
        weight, factor = rows.weight(whole), rows.factors[j]
        if not self.shift and (weight is None or j == self.none):
            return float(np.sum(factor if weight is None else weight, dtype=np.float64))
        terms = rows.buffers.array("terms", factor.shape)
        np.multiply(1.0 if weight is None else weight, factor, out=terms)
        if self.shift:
            terms += self.plus
            terms *= 2.0**-self.shift
            np.floor(terms, out=terms)
        return float(terms.sum())

    def _counted(self, psi: Floats, least: int, most: int) -> float:
        """Return the sum of floor((psi + plus) / 2**shift), which is `least`, ..., `most`, by counting rows."""
        above = (np.count_nonzero(psi >= (at << self.shift) - self.plus) for at in range(least + 1, most + 1))
        return float(least * len(psi) + sum(above))

    @cached_property
    def _by_first(self) -> tuple[Ints, Ints]:
        """Positions of products of one coordinate or none, and of two, by their first coordinate."""
        order = np.argsort(self.first, kind="stable")
        alone = np.isin(order, self.ones)
        return order[alone], order[~alone]

    @cached_property
    def _rows_of_few(self) -> tuple[slice | Ints, ...]:
        """Rows of factors: of products of one coordinate or none, and the first and second ones of products of two."""
        alone, pairs = self._by_first
        return tuple(_slice(one) for one in (self.first[alone], self.first[pairs], self.second[pairs]))

    def _pairs(self, rows: BlockFactors) -> Floats:
        """Return the sums of products of two coordinates, and anything for the others."""
        scale, buffers = 2.0**-self.shift, rows.buffers
        if self.square and not self.shift:
            return rows.moments(self.weight)[self._rows_of_pairs, self.second]
        left = rows.times(self.weight)
        right = left if self.square else rows.times(UNWEIGHTED)
        if self.whole:
            found = rows.moments(self.weight) if self.square else matrix(left, right)
            found = found[self._rows_of_pairs, self.second]
            if self.shift:
                found -= self._remainders(left, right, buffers)
                found *= scale
            return found
        found = np.empty(len(self.places))
        for first, seconds, at in self.runs:
            terms = right[seconds] * (left[first] * scale) + self.plus * scale
            found[at] = np.floor(terms, out=terms).sum(axis=1)
        return found

    @cached_property
    def _rows_of_pairs(self) -> Ints:
        """Rows of a matrix of products, which has none of the factor 1."""
        return np.minimum(self.first, self.none - 1)

    def _remainders(self, left: Floats, right: Floats, buffers: Buffers) -> Floats:
        """Return the sums of remainders of products of two coordinates on division by 2**shift."""
        # two's complement: the lowest bits of a product are those of the product of the lowest bits
        first_ones = _bits(left, "first ones", buffers)
        second_ones = first_ones if left is right else _bits(right, "second ones", buffers)
        found, most = np.zeros(len(self.places)), max(len(at) for _, _, at in self.runs)
        room, mask = buffers.array("remainders", (most, left.shape[1]), np.uint32), np.uint32(2**self.shift - 1)
        for first, seconds, at in self.runs:
            terms = room[: len(at)]
            np.multiply(second_ones[seconds], first_ones[first], out=terms)
            np.bitwise_and(terms, mask, out=terms)
            # BLOCK remainders below 2**shift: their sum is below 2**32 where `low` is true
            found[at] = np.add.reduce(terms, axis=1, dtype=np.uint32)
        return found


def _slice(places: Ints) -> slice | Ints:
    """Return indices as a slice where they follow each other: nothing is copied then."""
    first = int(places[0]) if len(places) else 0
    return slice(first, first + len(places)) if bool((np.diff(places) == 1).all()) else places


def _bits(numbers: Floats, name: str, buffers: Buffers) -> NDArray[np.uint32]:
    """Return whole numbers in -2**31 < x < 2**31 modulo 2**32."""
    found = buffers.array(name, numbers.shape, np.int32)
    np.copyto(found, numbers, casting="unsafe")
    return found.view(np.uint32)

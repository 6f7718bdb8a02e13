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
from tacit.source.block_factors import BlockFactors, Weight
from tacit.source.shared_blocks import Buffers

Floats = NDArray[Any]
Ints = NDArray[np.int64]
ALONE: Final = 2**19 - 1
"""Multiplications of a product of matrices that BLAS does not share among threads of its own, one less than where it
begins to: these would wait for each other, and for those of `shared_blocks`, at every block."""
LONGEST: Final = 2**11
"""Rows of a product of matrices at most: some tens of factors of so many rows lie in a processor's inner cache."""
WHOLE: Final = 16
"""Numbers of float32 in a line of the processor's cache (`shared_blocks.LINE`)."""
FEW_PLACES: Final = 3
"""Numbers that are told by counting rows, not by adding up, less one."""
UNWEIGHTED: Final[Weight] = (False, 0, 0)


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
    def _weight(self) -> Weight:
        """What factors are multiplied by: of squares the root of the products' weight."""
        half = 2 if self.square else 1
        return self.size and self.power > 0, self.power // half, self.times // half

    def add(self, out: Floats, rows: BlockFactors) -> None:
        """Set these sums of weight times coordinates over 2**shift, each product rounded down."""
        if self.few:
            out[self.places] = self._few(rows)
        elif not self.runs and self.shift:
            out[self.places] = self._alone(rows)
        else:
            left = rows.times(self._weight)
            right = left if self.square else rows.times(UNWEIGHTED)
            if self.square:
                left = right = left[: self._used]
            found = None if self.shift and not self.low else _with_itself(left) if self.square else matrix(left, right)
            out[self.places] = self._divided(found, left, right, rows.buffers)

    def _few(self, rows: BlockFactors) -> Floats:
        """Return sums that are not divided, row by row."""
        found, (alone, pairs), (only, first, second) = np.empty(len(self.places)), self._by_first, self._rows_of_few
        if len(alone) == 1 and self.first[alone[0]] == self.none:
            weight = rows.weight(self._weight)
            found[alone] = rows.factors.shape[1] if weight is None else weight.sum()
        elif len(alone):
            np.add.reduce(rows.times(self._weight)[only], axis=1, out=found[: len(alone)])
            found[alone] = found[: len(alone)].copy()
        if len(pairs):
            found[pairs] = np.vecdot(rows.times(self._weight)[first], rows.times(UNWEIGHTED)[second])
        return found

    def _alone(self, rows: BlockFactors) -> list[float]:
        """Return sums of products of at most one coordinate that are divided."""
        if all(self.first == self.none) and self._weight == (False, 1, 0) and self.ends is not None:
            return [self._counted(rows.psi, *self.ends)] * len(self.first)
        found, terms = list[float](), rows.buffers.array("terms", rows.factors.shape[1:])
        weight = rows.weight(self._weight)
        for j in self.first:
            factor = 1.0 if j == self.none else rows.factors[j]
            np.multiply(1.0 if weight is None else weight, factor, out=terms)
            terms += self.plus
            terms *= 2.0**-self.shift
            found.append(float(np.floor(terms, out=terms).sum()))
        return found

    def _counted(self, psi: Floats, least: int, most: int) -> float:
        """Return the sum of floor((psi + plus) / 2**shift), which is `least`, ..., `most`, by counting rows."""
        above = (np.count_nonzero(psi >= (at << self.shift) - self.plus) for at in range(least + 1, most + 1))
        return float(least * len(psi) + sum(above))

    @cached_property
    def _used(self) -> int:
        """Number of the first factors that are multiplied; BLAS is quickest at whole fours."""
        used = int(max(self.first.max(), self.second.max())) + 1
        return used + 1 if used % 4 == 3 and used <= self.none else used

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

    def _divided(self, products: Floats | None, left: Floats, right: Floats, buffers: Buffers) -> Floats:
        """Return the sums of left times right, rounded down; products: the matrix of those that are not divided."""
        scale = 2.0**-self.shift
        if products is not None:
            # of the others, too, and set again below where they are divided
            found = products[self.first, self.second]
            if self.shift == 0:
                return found
            found -= self._remainders(left, right, buffers)
            found *= scale
        else:
            found = np.empty(len(self.places))
            for first, seconds, at in self.runs:
                terms = right[seconds] * (left[first] * scale) + self.plus * scale
                found[at] = np.floor(terms, out=terms).sum(axis=1)
        for i in self.ones:
            terms = left[self.first[i]] * right[self.second[i]]
            found[i] = np.floor((terms + self.plus) * scale).sum()
        return found

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


def matrix(left: Floats, right: Floats) -> Floats:
    """Return left right', some rows at a time."""
    step, found = step_of(len(left) * len(right)), np.zeros((len(left), len(right)))
    for at in range(0, left.shape[1], step):
        found += left[:, at : at + step] @ right[:, at : at + step].T
    return found


def _with_itself(x: Floats) -> Floats:
    """Return x x'."""
    found = np.empty((len(x), len(x)))
    # of two shapes: not a product with itself, for which BLAS is half as fast where vectors are short
    if len(x) > 1:
        found[:-1] = matrix(x[:-1], x)
    found[-1] = np.append(found[:-1, -1], np.vecdot(x[-1], x[-1]))
    return found


def step_of(many: int) -> int:
    """Return how many rows a product of matrices has at a time, of so many multiplications for a row.

    Whole lines of the processor's cache where that is possible.
    """
    step = min(ALONE // many, LONGEST)
    return step - step % WHOLE if step > WHOLE else step


def _bits(numbers: Floats, name: str, buffers: Buffers) -> NDArray[np.uint32]:
    """Return whole numbers in -2**31 < x < 2**31 modulo 2**32."""
    found = buffers.array(name, numbers.shape, np.int32)
    np.copyto(found, numbers, casting="unsafe")
    return found.view(np.uint32)

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
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_products import Product
from tacit.source.shared_blocks import Buffers

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ALONE: Final = 2**19 - 1
"""Multiplications of a product of matrices that BLAS does not share among threads of its own, one less than where it
begins to: these would wait for each other, and for those of `shared_blocks`, at every block."""
ALONE_OF_ITSELF: Final = 16
"""Rows of a matrix whose product with itself BLAS does not share among threads, however long the rows are."""


@dataclass(frozen=True)
class AlikeProducts:
    """Products with the same powers of the score and of the row's weight (`times`), and the same divisor 2**shift,
    before which the same integer is added (`plus`; 0 where remainders are taken).

    places: their indices in the question.  first, second: indices of their coordinates (entries of the vector), the
    last for none.  runs: of products of two, by the first coordinate: the second ones, and positions in `places`.
    ones: positions of the others.  low: whether remainders are those of 32-bit integers.
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

    @classmethod
    def of(
        cls,
        products: Sequence[Product],
        places: list[int],
        none: int,
        alike: tuple[int, bool, int, int, int],
        low: bool,
    ) -> AlikeProducts:
        """Return those of `products` that are alike; none: the index of the factor that is 1."""
        two = np.array([(*products[i].of, none, none)[:2] for i in places], dtype=np.int64)
        first, second = two[:, 0], two[:, 1]
        pair = second < none
        runs = list[tuple[int, slice | Ints, Ints]]()
        for one in np.unique(first[pair]):
            at = np.flatnonzero(pair & (first == one))
            other = second[at]
            runs.append((int(one), _slice(other), at))
        return cls(*alike, np.array(places), first, second, tuple(runs), np.flatnonzero(~pair), none, low)

    @cached_property
    def few(self) -> bool:
        """Whether products are added up one by one, not all at once."""
        return self.shift == 0 and len(self.places) <= 3 * (self.none + 1)

    @cached_property
    def square(self) -> bool:
        """Whether they are products of the entries of one vector: the weight's root is then asked for in its place."""
        return bool(self.runs) and not self.few and self.power % 2 == 0 and self.times % 2 == 0

    def add(self, out: Floats, factors: Floats, weight: Floats | None, buffers: Buffers) -> None:
        """Set these sums of weight times coordinates over 2**shift, each product rounded down.

        weight: None where it is 1; its root where `square` holds.
        """
        if self.few:
            out[self.places] = self._few(factors, weight)
        elif not self.runs and self.shift:
            out[self.places] = self._alone(factors, weight, buffers)
        elif self.square:
            out[self.places] = self._squares(factors, weight, buffers)
        else:
            weighted = buffers.array("weighted", factors.shape)
            np.multiply(factors, 1.0 if weight is None else weight, out=weighted)
            found = matrix(weighted, factors) if self.shift == 0 or self.low else None
            out[self.places] = self._divided(found, weighted, factors, buffers)

    def _few(self, factors: Floats, weight: Floats | None) -> Floats:
        """Return sums that are not divided, row by row."""
        found, (alone, pairs), (only, first, second) = np.empty(len(self.places)), self._by_first, self._rows_of_few
        if len(alone):
            found[alone] = np.vecdot(factors[only], factors[-1] if weight is None else weight)
        if len(pairs):
            left, right = factors[first], factors[second]
            found[pairs] = np.vecdot(left if weight is None else left * weight, right)
        return found

    def _alone(self, factors: Floats, weight: Floats | None, buffers: Buffers) -> list[float]:
        """Return sums of products of at most one coordinate that are divided."""
        found, terms = list[float](), buffers.array("terms", factors.shape[1:])
        for j in self.first:
            if j == self.none or weight is None:
                np.add(factors[j] if weight is None else weight, self.plus, out=terms)
            else:
                np.multiply(factors[j], weight, out=terms)
                terms += self.plus
            terms *= 2.0**-self.shift
            found.append(float(np.floor(terms, out=terms).sum()))
        return found

    def _squares(self, factors: Floats, root: Floats | None, buffers: Buffers) -> Floats:
        """Return sums of products of root times factors with themselves."""
        own = factors[: self._used]
        if root is not None:
            own = buffers.array("weighted", factors.shape)[: self._used]
            np.multiply(factors[: self._used], root, out=own)
        return self._divided(_with_itself(own) if self.shift == 0 or self.low else None, own, own, buffers)

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
    step, found = ALONE // (len(left) * len(right)), np.zeros((len(left), len(right)))
    for at in range(0, left.shape[1], step):
        found += left[:, at : at + step] @ right[:, at : at + step].T
    return found


def _with_itself(x: Floats) -> Floats:
    """Return x x'."""
    if len(x) <= ALONE_OF_ITSELF:
        return np.asarray(x @ x.T)
    found = np.empty((len(x), len(x)))
    # of two shapes: not a product with itself, which BLAS would share among threads
    found[:-1] = matrix(x[:-1], x)
    found[-1] = np.append(found[:-1, -1], np.vecdot(x[-1], x[-1]))
    return found


def _bits(numbers: Floats, name: str, buffers: Buffers) -> NDArray[np.uint32]:
    """Return whole numbers in -2**31 < x < 2**31 modulo 2**32."""
    found = buffers.array(name, numbers.shape, np.int32)
    np.copyto(found, numbers, casting="unsafe")
    return found.view(np.uint32)

"""Integer products that one row adds to the sums of a regression, with their NumPy reference.  No data here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.rows.coordinates import EXACT, SIGN, H
from tacit.rows.norm_clip import NormClip
from tacit.rows.piecewise_score import PiecewiseScore
from tacit.rows.row_map import MAX_ROWS, KeyMap, RowMap, Unit
from tacit.rows.row_weight import STEPS, weighed

LARGEST: Final = 2**20
"""Largest absolute value that a row may add to a sum: sums over 2**42 rows stay below 2**63."""
SUM_SHIFT: Final = 18
"""Sums are divided by at most 2**SUM_SHIFT: a row adds a quotient of at most LARGEST and a remainder of less, and
summands of 2**14 rows stay below 2**53."""
FINER: Final = 2**4
"""How many times more a row with a weight may add, of a table of so many times fewer rows: its scores are as fine."""


@dataclass(frozen=True)
class Coordinate:
    """One integer coordinate z of a row, |z| <= half: a product of numeric columns and of indicators of levels.

    numbers: row maps to {0, ..., G}, G <= 2 half and even, each centred at G / 2; k of them make round(product /
    half**(k - 1)), none make H.  marks: (key, level), a factor of 1 at that level and 0 elsewhere; for the level SIGN
    -1 at the first of two levels and 1 at the second.  half: a power of two, H unless products are of a norm-clipped
    vector, which is on a scale of its own.
    """

    numbers: tuple[RowMap, ...] = ()
    marks: tuple[tuple[KeyMap, int], ...] = ()
    half: int = H

    @property
    def divisor(self) -> int:
        """half**(k - 1) for k numbers, a power of two; 1 where nothing is divided."""
        return self.half ** max(0, len(self.numbers) - 1)

    def check(self) -> None:
        """Raise ArithmeticError where a number exceeds `half`, or a step could round."""
        if self.half & (self.half - 1) or self.half < H or any(2 * self.half < at.G for at in self.numbers):
            raise ArithmeticError("a coordinate beyond its bound")
        if 2 * self.half ** len(self.numbers) >= EXACT:
            raise ArithmeticError("a product of coordinates beyond exact integers")

    def numpy(
        self, values: Mapping[RowMap, NDArray[np.int64]], places: Mapping[KeyMap, NDArray[np.int64]], rows: int
    ) -> NDArray[np.int64]:
        """Reference: return z, shape (rows,), from grid values and from indices of levels (-1 where absent)."""
        z = np.full(rows, 1 if self.numbers else H, dtype=np.int64)
        for at in self.numbers:
            # each factor lies in -half, ..., half
            z = z * (values[at] - at.G // 2)
        if self.divisor > 1:
            # rounded: divided by half for each factor but one, so that again |z| <= half
            z = (z + self.divisor // 2) // self.divisor
        for key, level in self.marks:
            at = places[key]
            z = z * (np.where(at == 1, 1, -1) if level == SIGN else np.where(at == level, 1, 0))
        return z


@dataclass(frozen=True)
class ClippedResidual:
    """The clipped residual of a row: psi = clamp(floor(sum_j weights_j z_j / 2**shift + 1/2), -clip, clip).

    The constants are public: at first only the response has a weight, later they are chosen from released integers.
    Whatever their values, psi is an integer with |psi| <= clip.
    """

    weights: tuple[int, ...]
    shift: int
    clip: int

    def check(self, reach: int = H) -> None:
        """Raise ArithmeticError where a step could round: the sum of |weights| reach plus 2**shift is EXACT or more.

        reach: largest |z|.
        """
        if sum(map(abs, self.weights)) * reach + 2**self.shift >= EXACT or self.shift < 1:
            raise ArithmeticError("a residual beyond exact integers")

    def numpy(self, z: NDArray[np.int64]) -> NDArray[np.int64]:
        """Reference: return psi, shape (rows,), for z of shape (rows, coordinates)."""
        total = z @ np.array(self.weights, dtype=np.int64)
        return np.clip((total + 2 ** (self.shift - 1)) // 2**self.shift, -self.clip, self.clip)


@dataclass(frozen=True)
class Product:
    """A summand of a row: floor((psi**power * prod_j z_j + plus) / 2**shift), with at most two coordinates z_j.

    of: indices of the coordinates, or of the entries of a norm-clipped vector where the question has one.  size:
    whether `PiecewiseScore.sizes` stands in place of psi.  times: power of the row's weight a that is a factor, too;
    psi and size have it within them.  plus: an integer, where a product is divided: what the last step rounds down.
    sum_shift: the sum over rows is divided by 2**sum_shift and rounded down, once.
    """

    of: tuple[int, ...]
    power: int = 0
    shift: int = 0
    size: bool = False
    times: int = 0
    plus: int = 0
    sum_shift: int = 0

    def total(self, summands: NDArray[np.int64]) -> int:
        """Return the sum of the summands of all rows, divided where it is.

        The same as of every engine: sums of quotients and of remainders stay below 2**63 where sums of summands do not.

        >>> Product((0, 0), sum_shift=2).total(np.array([3, 3, -1]))
        1
        """
        return self.rounded(int((summands >> self.sum_shift).sum()), int((summands & (2**self.sum_shift - 1)).sum()))

    def rounded(self, quotients: int, remainders: int) -> int:
        """Return floor(sum / 2**sum_shift) from the sums of quotients, rounded down, and of remainders."""
        return quotients + (remainders >> self.sum_shift)

    def numpy(
        self,
        z: NDArray[np.int64],
        psi: NDArray[np.int64],
        sizes: NDArray[np.int64],
        a: NDArray[np.int64] | None = None,
    ) -> NDArray[np.int64]:
        """Reference: return the summand of each row, shape (rows,); a: weights, where rows have them."""
        # power 0 gives 1: a product of coordinates alone
        total = (sizes if self.size else psi) ** self.power
        if a is not None:
            total = total * a**self.times
        for j in self.of:
            total = total * z[:, j]
        return (total + self.plus) // 2**self.shift


@dataclass(frozen=True)
class ProductOfMeans:
    """A summand of a person: floor(a b / 2**shift) of two of the person's means, given by indices of products."""

    of: tuple[int, int]
    shift: int

    def numpy(self, means: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Reference: return the summand of each person, shape (persons,)."""
        return means[self.of[0]] * means[self.of[1]] // 2**self.shift


@dataclass(frozen=True)
class CrossProducts:
    """A request to a source: sums of products of coordinates over complete rows, those without a missing cell.

    score: the residual or score psi that products are multiplied by, a function of the coordinates.  norm: if given,
    products are of the entries of the row's norm-clipped vector in place of coordinates.  unit: if given, sums are over
    persons: each adds the rounded mean of every product over the person's complete rows, and products of those means
    (`between`); a person without a complete row adds nothing.  aside: so many of the first products are not summed: of
    persons, only products of their means are.  weight: if given, a column of weights a on STEPS steps; psi and size are
    multiplied by a / STEPS and rounded (`rows.row_weight`), and a row without a weight is not complete.
    """

    coordinates: tuple[Coordinate, ...]
    products: tuple[Product, ...]
    score: ClippedResidual | PiecewiseScore | None = None
    unit: Unit | None = None
    between: tuple[ProductOfMeans, ...] = ()
    norm: NormClip | None = None
    aside: int = 0
    weight: RowMap | None = None

    @property
    def maps(self) -> tuple[RowMap, ...]:
        """Row maps of the numeric columns that are read."""
        own = () if self.weight is None else (self.weight,)
        return tuple(dict.fromkeys((*(at for one in self.coordinates for at in one.numbers), *own)))

    @property
    def most_rows(self) -> int:
        """Largest number of rows whose sums stay below 2**63."""
        return MAX_ROWS if self.weight is None else MAX_ROWS // FINER

    @property
    def keys(self) -> tuple[KeyMap, ...]:
        """Key maps of the columns of levels that are read."""
        return tuple(dict.fromkeys(key for one in self.coordinates for key, _ in one.marks))

    def check(self) -> None:
        """Raise ArithmeticError where a summand could exceed LARGEST, or an intermediate value could reach EXACT."""
        reach = max((one.half for one in self.coordinates), default=H)
        for one in self.coordinates:
            one.check()
        if reach > H and self.norm is None:
            raise ArithmeticError("a coordinate beyond H whose products are released as they are")
        if isinstance(self.score, PiecewiseScore) and self.coordinates[-1].half > H:
            raise ArithmeticError("a response beyond H")
        if self.score is not None:
            self.score.check(reach)
        if self.norm is not None:
            self.norm.check(reach)
        if self.weight is not None and self.weight.G != STEPS:
            raise ArithmeticError("weights on another grid than rows have")
        if self.weight is None and any(one.times for one in self.products):
            raise ArithmeticError("a weight of rows that have none")
        largest = LARGEST if self.weight is None else LARGEST * FINER
        if any(one.plus and not one.shift for one in self.products):
            raise ArithmeticError("an addition to a product that is not divided")
        divided = max((one.sum_shift for one in self.products), default=0)
        if divided > SUM_SHIFT or (divided and (self.unit is not None or self.weight is not None)):
            raise ArithmeticError("a sum that is divided further than proven, or of persons, or of rows with weights")
        # most products differ in their coordinates alone
        kinds = {(len(one.of), one.power, one.shift, one.times, one.plus, one.sum_shift): one for one in self.products}
        for one in kinds.values():
            _check(self._unshifted(one), one.shift + one.sum_shift, largest)
        for one in self.between:
            _check(self.most(one.of[0]) * self.most(one.of[1]), one.shift, largest)

    def most(self, place: int) -> int:
        """Return a bound on |summand| of a product, given by its index, and so on a person's mean of it."""
        one = self.products[place]
        return self._unshifted(one) >> one.shift

    def _unshifted(self, one: Product) -> int:
        """Return a bound on |summand| of a product before it is divided."""
        entry = H if self.norm is None else self.norm.most
        # 0 ** 0 = 1: without a score, products have the power 0
        return entry ** len(one.of) * (self.score.clip if self.score else 0) ** one.power * STEPS**one.times + abs(
            one.plus
        )

    def numpy(
        self, values: Mapping[RowMap, NDArray[np.int64]], places: Mapping[KeyMap, NDArray[np.int64]], rows: int
    ) -> NDArray[np.int64]:
        """Reference: return coordinates, shape (rows, coordinates); the caller leaves incomplete rows out."""
        return np.stack([one.numpy(values, places, rows) for one in self.coordinates], axis=1)

    def sums(
        self, z: NDArray[np.int64], who: NDArray[np.int64] | None = None, a: NDArray[np.int64] | None = None
    ) -> tuple[int, ...]:
        """Reference: return the sum of each product over rows of coordinates z; who: persons of rows; a: weights."""
        psi = np.ones(len(z), dtype=np.int64) if self.score is None else self.score.numpy(z)
        sizes = self.score.sizes(z, psi) if isinstance(self.score, PiecewiseScore) else psi
        if self.weight is not None:
            assert a is not None
            psi, sizes = weighed(psi, a), weighed(sizes, a)
        factors = z if self.norm is None else self.norm.numpy(z)
        found = [one.numpy(factors, psi, sizes, a) for one in self.products]
        if who is not None:
            found = averages(found, who)
        sums = (one.total(some) for one, some in zip(self.products[self.aside :], found[self.aside :], strict=True))
        return (*sums, *(int(one.numpy(found).sum()) for one in self.between))


def averages(summands: Sequence[NDArray[np.int64]], who: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Reference: return each person's mean of each summand, floor(sum / count + 1/2), shape (persons,).

    >>> averages([np.array([1, 2, -1])], np.array([7, 7, 3]))[0].tolist()
    [-1, 2]
    """
    # rows of a person become neighbours; `reduceat` adds from each start up to the next
    order = np.argsort(who, kind="stable")
    starts = np.flatnonzero(np.diff(who[order], prepend=-1)) if len(who) else np.zeros(0, dtype=np.int64)
    count = np.diff(np.append(starts, len(who)))
    return [(2 * np.add.reduceat(one[order], starts) + count) // (2 * count) if len(who) else one for one in summands]


def _check(most: int, shift: int, largest: int) -> None:
    """Raise ArithmeticError unless values up to `most` are exact, and after the shift at most `largest`."""
    if most >= EXACT or most >> shift > largest:
        raise ArithmeticError(f"a product reaches {most}")

"""What one row adds: integers, written once for NumPy, the reference, and for every engine.  No data here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.rows.coordinates import EXACT, SIGN, H
from tacit.rows.piecewise_score import Bend
from tacit.rows.row_map import KeyMap, RowMap, Unit

LARGEST: Final = 2**20
"""What a row adds to any sum is at most this: sums over 2**42 rows stay below 2**63."""


@dataclass(frozen=True)
class Coordinate:
    """z of a row: the product of its numbers, each from the middle of its grid, and of its marks, in units of 1 / H.

    numbers: maps to {0, ..., G}, G even.  marks: keys and levels: 1 at that level, else 0; SIGN: -1 at the first of
    two, 1 at the second.  k numbers: round(product / H**(k - 1)); none: H times the marks.
    """

    numbers: tuple[RowMap, ...] = ()
    marks: tuple[tuple[KeyMap, int], ...] = ()

    @property
    def divisor(self) -> int:
        """H**(k - 1), a power of two; 1 where nothing is divided."""
        return H ** max(0, len(self.numbers) - 1)

    def numpy(
        self, values: Mapping[RowMap, NDArray[np.int64]], places: Mapping[KeyMap, NDArray[np.int64]], rows: int
    ) -> NDArray[np.int64]:
        """Reference, shape (rows,): grid values, and indices of levels (-1 where absent)."""
        z = np.full(rows, 1 if self.numbers else H, dtype=np.int64)
        for at in self.numbers:
            z = z * (values[at] - at.G // 2)
        if self.divisor > 1:
            z = (z + self.divisor // 2) // self.divisor
        for key, level in self.marks:
            at = places[key]
            z = z * (np.where(at == 1, 1, -1) if level == SIGN else np.where(at == level, 1, 0))
        return z


@dataclass(frozen=True)
class ResidualAim:
    """The residual that is summed: psi = clamp(floor(sum_j weights_j z_j / 2**shift + 1/2), -clip, clip).

    Public: zeros and the response's own at first, then chosen from released integers.  Whatever it says, psi is an
    integer of at most `clip`.
    """

    weights: tuple[int, ...]
    shift: int
    clip: int

    def check(self) -> None:
        """ArithmeticError where a step could round: weights times H, added up, at or above EXACT."""
        if sum(map(abs, self.weights)) * H + 2**self.shift >= EXACT or self.shift < 1:
            raise ArithmeticError("an aim beyond exact integers")

    def numpy(self, z: NDArray[np.int64]) -> NDArray[np.int64]:
        """Reference: z of shape (rows, coordinates) -> psi, shape (rows,)."""
        total = z @ np.array(self.weights, dtype=np.int64)
        return np.clip((total + 2 ** (self.shift - 1)) // 2**self.shift, -self.clip, self.clip)


@dataclass(frozen=True)
class Product:
    """A summand: floor(psi**power * prod z_j / 2**shift), of at most two coordinates.

    size: the row's `Bend.sizes` in place of psi.
    """

    of: tuple[int, ...]
    power: int = 0
    shift: int = 0
    size: bool = False

    def numpy(self, z: NDArray[np.int64], psi: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Reference, shape (rows,)."""
        total = (sizes if self.size else psi) ** self.power
        for j in self.of:
            total = total * z[:, j]
        return total // 2**self.shift


@dataclass(frozen=True)
class Between:
    """A summand of persons: floor(a b / 2**shift), of two of a person's means, by their places among the products."""

    of: tuple[int, int]
    shift: int

    def numpy(self, means: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Reference, shape (persons,)."""
        return means[self.of[0]] * means[self.of[1]] // 2**self.shift


@dataclass(frozen=True)
class Crossed:
    """A question to a source: sums of products of coordinates over complete rows, those without a missing cell.

    unit: of persons instead: a person adds the mean of each product over the person's complete rows, rounded, and then
    `between`; nothing where no row is complete.
    """

    coordinates: tuple[Coordinate, ...]
    products: tuple[Product, ...]
    aim: ResidualAim | Bend | None = None
    unit: Unit | None = None
    between: tuple[Between, ...] = ()

    @property
    def maps(self) -> tuple[RowMap, ...]:
        """Columns of numbers that are read."""
        return tuple(dict.fromkeys(at for one in self.coordinates for at in one.numbers))

    @property
    def keys(self) -> tuple[KeyMap, ...]:
        """Columns of levels that are read."""
        return tuple(dict.fromkeys(key for one in self.coordinates for key, _ in one.marks))

    def check(self) -> None:
        """ArithmeticError where a summand could be beyond LARGEST, or a step of it beyond EXACT."""
        if self.aim is not None:
            self.aim.check()
        for one in self.products:
            _check(H ** len(one.of) * (self.aim.clip if self.aim else 0) ** one.power, one.shift)
        for one in self.between:
            _check(self.most(one.of[0]) * self.most(one.of[1]), one.shift)

    def most(self, place: int) -> int:
        """Largest |summand| of a product, and so of a person's mean of it."""
        one = self.products[place]
        return H ** len(one.of) * (self.aim.clip if self.aim else 0) ** one.power >> one.shift

    def numpy(
        self, values: Mapping[RowMap, NDArray[np.int64]], places: Mapping[KeyMap, NDArray[np.int64]], rows: int
    ) -> NDArray[np.int64]:
        """Reference: coordinates, shape (rows, coordinates); absent rows are the caller's."""
        return np.stack([one.numpy(values, places, rows) for one in self.coordinates], axis=1)

    def sums(self, z: NDArray[np.int64], who: NDArray[np.int64] | None = None) -> tuple[int, ...]:
        """Reference: what each product adds up to over rows of coordinates; who: whose they are, shape (rows,)."""
        psi = np.ones(len(z), dtype=np.int64) if self.aim is None else self.aim.numpy(z)
        sizes = self.aim.sizes(z, psi) if isinstance(self.aim, Bend) else psi
        found = [one.numpy(z, psi, sizes) for one in self.products]
        if who is not None:
            found = averages(found, who)
        return tuple(int(one.sum()) for one in (*found, *(one.numpy(found) for one in self.between)))


def averages(summands: Sequence[NDArray[np.int64]], who: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Reference: each person's means, floor(sum / count + 1/2), shape (persons,).

    >>> averages([np.array([1, 2, -1])], np.array([7, 7, 3]))[0].tolist()
    [-1, 2]
    """
    order = np.argsort(who, kind="stable")
    starts = np.flatnonzero(np.diff(who[order], prepend=-1)) if len(who) else np.zeros(0, dtype=np.int64)
    count = np.diff(np.append(starts, len(who)))
    return [(2 * np.add.reduceat(one[order], starts) + count) // (2 * count) if len(who) else one for one in summands]


def _check(most: int, shift: int) -> None:
    if most >= EXACT or most >> shift > LARGEST:
        raise ArithmeticError(f"a product reaches {most}")

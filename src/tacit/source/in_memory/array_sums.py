"""Exact sums over all rows of a table in memory, in NumPy: what `cell_sums` gives where there is one cell.  INSIDE.

Values and terms are whole numbers in float64, below 2**53 at every step, so that they are exact; a quotient is rounded
once before its floor, as `Polynomial` has it.  Sums over a block of rows stay below 2**53, too, whatever their order.
What public facts do not prove to be so is left to the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_map import MAX_ROWS, Aggregate, Polynomial, RowMap, SumTerm
from tacit.source.engine import Engine
from tacit.source.engine_sums.cell_sums import map_reading
from tacit.source.in_memory.grid_arrays import GridMaps
from tacit.source.in_memory.power_sums import EXACT, shares_powers, sums_by_powers
from tacit.source.shared_blocks import Buffers, shared

Floats = NDArray[np.float64]
ColumnTerms: TypeAlias = tuple[GridMaps, list[int], list[Polynomial]]
BLOCK: Final = 2**16
"""Rows of a block: those of one column fit a processor's cache."""


def added(engine: Engine, sums: Sequence[SumTerm]) -> Aggregate | None:
    """READS ROWS.  Return the sums over all rows; None where the columns do not lie in memory, or a sum may round."""
    terms = tuple(dict.fromkeys(one for one in sums if one.rowmap is not None))
    if not terms or any(one.weight is not None for one in sums) or not all(map(_exact, terms)):
        return None
    asked = RowSums(terms)
    columns = engine.in_memory([map_reading(at) for at in asked.maps])
    if columns is None:
        return None
    rows = len(columns[0])
    if rows > MAX_ROWS:
        raise ArithmeticError("more rows than the sums are proven for")
    blocks = [[one[at : at + BLOCK] for one in columns] for at in range(0, rows, BLOCK)]
    total = [sum(each) for each in zip(*shared(blocks, asked.over, whole=True), strict=True)]
    # `ONE` without a column counts all rows
    return Aggregate(rows, (tuple(rows if one.rowmap is None else total[terms.index(one)] for one in sums),))


def _exact(one: SumTerm) -> bool:
    """Whether every step of a term is exact, and so is a sum over a block."""
    return one.rowmap is not None and stays_exact(one.polynomial, one.rowmap.G)


def stays_exact(polynomial: Polynomial, G: int) -> bool:
    """Whether every step of a polynomial of v in {0, ..., G} is below EXACT, and so is a sum over a block."""
    steps = sum(abs(c) * G**k for k, c in enumerate(polynomial.coefficients))
    return steps < EXACT and polynomial.bound(G) * BLOCK <= EXACT


def polynomial_sums(polynomials: Sequence[Polynomial], v: NDArray[np.int32], G: int, buffers: Buffers) -> list[int]:
    """Return the sums of polynomials of grid values in {0, ..., G}: those of `Polynomial.numpy`, exactly."""
    total = [0] * len(polynomials)
    for at in range(0, len(v), BLOCK):
        some = v[at : at + BLOCK]
        for i, one in enumerate(sums_of_block(polynomials, some, G, buffers)):
            total[i] += one
    return total


def sums_of_block(polynomials: Sequence[Polynomial], v: NDArray[Any], G: int, buffers: Buffers) -> list[int]:
    """Return the sums over at most BLOCK values."""
    x = buffers.array("v", v.shape)
    np.copyto(x, v)
    easy = [v.dtype == np.int32 and shares_powers(one, G) for one in polynomials]
    shared_ones = sums_by_powers([one for one, fits in zip(polynomials, easy, strict=True) if fits], v, x, buffers)
    found, left = list[int](), iter(shared_ones)
    for one, fits in zip(polynomials, easy, strict=True):
        if fits:
            found.append(next(left))
        elif len(one.coefficients) == 1:
            found.append(len(v) * one(0))
        elif stays_exact(one, G):
            found.append(int(evaluated(one, x, buffers).sum()))
        else:
            found.append(int(one.numpy(v.astype(np.int64)).sum()))
    return found


@dataclass(frozen=True)
class RowSums:
    """Sums of different terms, each of one column."""

    terms: tuple[SumTerm, ...]

    @cached_property
    def maps(self) -> tuple[RowMap, ...]:
        """The maps of the columns that are read."""
        return tuple(dict.fromkeys(at for one in self.terms for at in one.maps))

    def over(self, blocks: Iterator[Sequence[NDArray[Any]]]) -> list[int]:
        """READS ROWS.  Return the sum of each term over blocks of at most BLOCK rows."""
        buffers, total = Buffers(), [0] * len(self.terms)
        for cells in blocks:
            for (grid, places, polynomials), column in zip(self._columns, cells, strict=True):
                whole, absent = grid.whole([column], buffers)
                found = sums_of_block(polynomials, whole[0], grid.maps[0].G, buffers)
                gone = int(np.count_nonzero(absent[0])) if absent else 0
                for i, polynomial, one in zip(places, polynomials, found, strict=True):
                    # an absent cell has v = 0 here, and adds nothing
                    total[i] += one - gone * polynomial(0)
        return total

    @cached_property
    def _columns(self) -> list[ColumnTerms]:
        return column_terms(self.maps, self.terms)


def column_terms(maps: Sequence[RowMap], terms: Sequence[SumTerm]) -> list[ColumnTerms]:
    """Return for each column its map, its terms by their indices, and their polynomials."""
    places = [[i for i, one in enumerate(terms) if one.maps[0] == at] for at in maps]
    return [(GridMaps((at,)), some, [terms[i].polynomial for i in some]) for at, some in zip(maps, places, strict=True)]


def evaluated(polynomial: Polynomial, v: Floats, buffers: Buffers) -> Floats:
    """Return a polynomial of v that is no constant; the array is used again for the next one."""
    *lower, highest = polynomial.coefficients
    found = buffers.array("term", v.shape)
    # Horner's rule
    np.multiply(v, float(highest), out=found)
    for k, c in enumerate(reversed(lower)):
        if k:
            found *= v
        if c:
            found += float(c)
    if polynomial.divisor == 1:
        return found
    if polynomial.divisor & (polynomial.divisor - 1) == 0:
        # a product with a power of two is exact, and faster
        found *= 1 / polynomial.divisor
    else:
        found /= float(polynomial.divisor)
    return np.floor(found, out=found)

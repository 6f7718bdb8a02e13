"""Exact sums over all rows of a table in memory, in NumPy: what `cell_sums` gives where there is one cell.  INSIDE.

Values and terms are whole numbers in float64, below 2**53 at every step, so that they are exact; a quotient is rounded
once before its floor, as `Polynomial` has it.  Sums over a block of rows stay below 2**53, too, whatever their order.
What public facts do not prove to be so is left to the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_map import MAX_ROWS, Aggregate, Polynomial, RowMap, SumTerm
from tacit.source.cell_sums import map_reading
from tacit.source.engine import Engine
from tacit.source.grid_arrays import GridMaps
from tacit.source.shared_blocks import Buffers, shared

Floats = NDArray[np.float64]
EXACT: Final = 2**53
"""Whole numbers up to this one are exact in float64."""
BLOCK: Final = 2**15
"""Rows of a block: those of a few columns fit a processor's cache."""


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
    return one.rowmap is not None and _stays_exact(one.polynomial, one.rowmap.G)


def _stays_exact(polynomial: Polynomial, G: int) -> bool:
    """Whether every step of a polynomial of v in {0, ..., G} is below EXACT, and so is a sum over a block."""
    steps = sum(abs(c) * G**k for k, c in enumerate(polynomial.coefficients))
    return steps < EXACT and polynomial.bound(G) * BLOCK <= EXACT


def polynomial_sum(polynomial: Polynomial, v: NDArray[np.int64], G: int) -> int:
    """Return the sum of a polynomial of grid values in {0, ..., G}: that of `Polynomial.numpy`, exactly."""
    if len(polynomial.coefficients) == 1:
        return len(v) * polynomial(0)
    if not _stays_exact(polynomial, G):
        return int(polynomial.numpy(v).sum())
    buffers, total = Buffers(), 0
    for at in range(0, len(v), BLOCK):
        x = buffers.array("v", v[at : at + BLOCK].shape)
        np.copyto(x, v[at : at + BLOCK])
        total += int(_evaluated(polynomial, x, buffers).sum())
    return total


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
        buffers, grid, total = Buffers(), GridMaps(self.maps), [0] * len(self.terms)
        for cells in blocks:
            values, absent = grid.values(cells, buffers)
            for i, one in enumerate(self.terms):
                place = self.maps.index(one.maps[0])
                gone, constant = absent.get(place), len(one.polynomial.coefficients) == 1
                if constant:
                    there = len(cells[0]) - (0 if gone is None else int(np.count_nonzero(gone)))
                    total[i] += there * one.polynomial(0)
                    continue
                found = _evaluated(one.polynomial, values[place], buffers)
                total[i] += int(found.sum() if gone is None else found[~gone].sum())
        return total


def _evaluated(polynomial: Polynomial, v: Floats, buffers: Buffers) -> Floats:
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

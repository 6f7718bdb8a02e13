"""Exact sums by cell, or under a condition, of a table in memory, in NumPy: what `cell_sums` gives.  INSIDE the wall.

Each row has the number of its cell in row-major order of the keys' levels, from 1 on; 0 where a level is absent or the
condition does not hold.  Terms are whole numbers in float64, and their sums over a block of rows stay below 2**53
(`array_sums`), in each cell too, since terms of one sign only get fewer and bounds are of absolute values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_map import MAX_ROWS, Aggregate, KeyMap, Polynomial, RowMap, SumTerm
from tacit.schema.predicates.arithmetic import Reference
from tacit.schema.predicates.row_values import evaluate
from tacit.schema.predicates.typed_conditions import Predicate
from tacit.source.engine import Engine
from tacit.source.engine_sums.cell_counts import numbered_reading
from tacit.source.engine_sums.cell_expressions import SHORT
from tacit.source.engine_sums.cell_sums import cell_reading, map_reading
from tacit.source.in_memory.array_sums import ColumnTerms, column_terms, evaluated, stays_exact, sums_of_block
from tacit.source.in_memory.grid_arrays import level_places
from tacit.source.shared_blocks import Buffers, shared

Ints = NDArray[np.int64]
BLOCK: Final = 2**14
"""Rows of a block: what a condition is evaluated with fits a processor's cache."""
MOST: Final = 2**12
"""Cells up to which sums are made here: each block of rows costs something for each of them."""


def added_by_cell(
    engine: Engine, keys: Sequence[KeyMap], sums: Sequence[SumTerm], where: Predicate | None
) -> Aggregate | None:
    """READS ROWS.  Return the sums of every cell; None where columns do not lie in memory, or a sum may round."""
    terms = tuple(dict.fromkeys(one for one in sums if one.rowmap is not None))
    asked = CellArraySums(tuple(keys), terms, where)
    if not asked.exact or any(one.weight is not None for one in sums):
        return None
    conditions = () if where is None else where.cells
    readings = [*map(map_reading, asked.maps), *map(numbered_reading, keys), *map(cell_reading, conditions)]
    columns = engine.in_memory(readings)
    if columns is None:
        return None
    rows = len(columns[0])
    if rows > MAX_ROWS or rows * max([1, *(one.bound for one in terms)]) >= 2**63:
        return None
    blocks = [[one[at : at + BLOCK] for one in columns] for at in range(0, rows, BLOCK)]
    total = np.zeros((1 + len(terms), asked.cells), dtype=np.int64)
    for found in shared(blocks, asked.over, whole=True):
        total += found
    # without a column a term counts the rows of a cell
    order = [0 if one.rowmap is None else 1 + terms.index(one) for one in sums]
    return Aggregate(rows, tuple(tuple(total[order, cell].tolist()) for cell in range(asked.cells)))


@dataclass(frozen=True)
class CellArraySums:
    """Sums of different terms, each of one column, in each cell, over rows for which a condition holds."""

    keys: tuple[KeyMap, ...]
    terms: tuple[SumTerm, ...]
    where: Predicate | None

    @property
    def cells(self) -> int:
        """Number of cells."""
        return prod(key.size for key in self.keys)

    @property
    def exact(self) -> bool:
        """Whether every step is exact, and keys are of few levels: functions of public facts."""
        cells = () if self.where is None else self.where.cells
        keys = [*self.keys, *(one.key for one in cells if one.key is not None)]
        few = all(key.kind in ("category", "boolean") and len(key.levels) <= SHORT for key in keys)
        terms = all(stays_exact(one.polynomial, at.G) for one in self.terms for at in one.maps)
        return few and terms and self.cells <= MOST

    @cached_property
    def maps(self) -> tuple[RowMap, ...]:
        """The maps of the columns that are added up."""
        return tuple(dict.fromkeys(at for one in self.terms for at in one.maps))

    def over(self, blocks: Iterator[Sequence[NDArray[Any]]]) -> Ints:
        """READS ROWS.  Return the number of rows and the sum of each term over blocks of rows, shape (terms, cells)."""
        buffers, total = Buffers(), np.zeros((1 + len(self.terms), self.cells), dtype=np.int64)
        many, more = len(self.maps), len(self.maps) + len(self.keys)
        for cells in blocks:
            bins = self._bins(cells[many:more], self._kept(cells[more:], len(cells[0])))
            total[0] += self._counted(bins)
            for (grid, places, polynomials), column in zip(self._columns, cells[:many], strict=True):
                whole, absent = grid.whole([column], buffers)
                here = bins * ~absent[0] if absent else bins
                found = self._alone if self.cells == 1 else self._each
                for i, one in zip(places, found(polynomials, whole[0], grid.maps[0].G, here, buffers), strict=True):
                    total[1 + i] += one
        return total

    def _counted(self, bins: NDArray[Any]) -> Any:
        return np.count_nonzero(bins) if self.cells == 1 else np.bincount(bins, minlength=self.cells + 1)[1:]

    def _alone(
        self, polynomials: list[Polynomial], v: NDArray[Any], G: int, here: NDArray[np.uint8], buffers: Buffers
    ) -> list[int]:
        """Return sums over the rows of a single cell, in place; here: 1 for them, 0 for others."""
        # a row that is in no cell has v = 0, and adds nothing
        v *= here
        out = len(here) - int(np.count_nonzero(here))
        each = zip(polynomials, sums_of_block(polynomials, v, G, buffers), strict=True)
        return [found - out * one(0) for one, found in each]

    def _each(
        self, polynomials: list[Polynomial], v: NDArray[Any], G: int, here: Ints, buffers: Buffers
    ) -> list[NDArray[Any]]:
        """Return sums over the rows of each cell; here: cells from 1 on, 0 for none."""
        x, each = v.astype(np.float64), list[NDArray[Any]]()
        for one in polynomials:
            if len(one.coefficients) == 1:
                each.append(self._counted(here) * one(0))
            else:
                found = np.bincount(here, evaluated(one, x, buffers), minlength=self.cells + 1)
                # whole numbers below 2**53
                each.append(found[1:].astype(np.int64))
        return each

    def _kept(self, conditions: Sequence[Any], rows: int) -> NDArray[np.uint8]:
        """Return 1 for the rows for which the condition holds, 0 for others."""
        if self.where is None:
            return np.ones(rows, dtype=np.uint8)
        read = dict[Any, Any]()
        for cell, one in zip(self.where.cells, conditions, strict=True):
            if cell.key is None:
                read[cell] = np.asarray(one, dtype=np.float64)
            else:
                index = level_places(cell.key, one)
                read[cell] = np.where(index < 0, np.nan, index)
        return np.asarray(evaluate(self.where, read, Reference()), dtype=np.bool_).view(np.uint8)

    def _bins(self, levels: Sequence[Any], kept: NDArray[np.uint8]) -> NDArray[Any]:
        """Return the number of each row's cell, from 1 on, 0 where it is in none."""
        if not self.keys:
            return kept
        place, kept = np.zeros(len(kept), dtype=np.int64), kept.copy()
        for key, one in zip(self.keys, levels, strict=True):
            found = level_places(key, one)
            kept *= (found >= 0).view(np.uint8)
            place *= key.size
            place += found
        if self.cells == 1:
            return kept
        place += 1
        place *= kept
        return place

    @cached_property
    def _columns(self) -> list[ColumnTerms]:
        return column_terms(self.maps, self.terms)

"""Simulation of sample and aggregate: the mechanism's exact integers with seeded labels, which protect nobody."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.blocks import mechanism_equal_blocks as equal_blocks
from tacit.method.blocks.design import BlockPlan
from tacit.method.blocks.mechanism_means import exact
from tacit.method.shared.measurement import Measurement
from tacit.schema.predicates.computed_columns import Computed
from tacit.schema.predicates.numeric_expressions import ColumnCell
from tacit.source.engine_sums.row_arrays import RowArrays
from tacit.testing.reference_persons import codes
from tacit.testing.reference_table import Table_, computed, holds


def exact_blocks(shape: Measurement, table: Table_, rng: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
    """Return the integers before noise, one array of shape (1, 2) a parameter."""
    rows = complete(shape, table)
    return tuple(np.array(cells, dtype=np.int64) for cells in exact(shape, rows, labels(shape, rows, rng)))


def labels(shape: Measurement, rows: RowArrays, rng: np.random.Generator) -> NDArray[np.uint64]:
    """Return seeded words of rows, shape (rows,), the same for all rows of a person.

    For blocks of equal size, words are drawn for all public rows and turned into labels as by the mechanism.
    """
    plan = cast(BlockPlan, shape.blocks)
    if plan.rows is not None:
        # for all public rows, also those that are not complete: cuts must not depend on which are
        own = rng.integers(0, 2**64, plan.rows, dtype=np.uint64)
        return equal_blocks.words_of_equal_blocks(own[: len(rows.values)], equal_blocks.cuts(own, plan.blocks))
    if rows.owners is None:
        return rng.integers(0, 2**64, len(rows.values), dtype=np.uint64)
    return rng.integers(0, 2**64, int(rows.owners.max(initial=0)) + 1, dtype=np.uint64)[rows.owners]


def complete(shape: Measurement, table: Table_) -> RowArrays:
    """Return the complete cases, computed in NumPy; every engine must give the same, in any order."""
    cells = cast(BlockPlan, shape.blocks).cells
    kept = np.ones(len(next(iter(table.values()))), dtype=np.bool_)
    kept = kept if shape.where is None else kept & holds(shape.where, table)
    columns = [_column(cell, table) for cell in cells]
    for column in columns:
        kept = kept & np.isfinite(column)
    owners = None if shape.unit is None else codes(table[shape.unit.source])[kept]
    return RowArrays(np.stack(columns, axis=1)[kept], owners)


def _column(cell: ColumnCell, table: Table_) -> NDArray[np.float64]:
    """Return a column's values, shape (rows,), NaN where missing."""
    return computed(Computed("", cell, (cell,)), table)

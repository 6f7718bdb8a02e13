"""Sample and aggregate in simulation: the mechanism's own integers, with seeded labels; protects nobody."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from tacit.curator.source.rows import Rows
from tacit.mechanisms import seats
from tacit.mechanisms.moments import Design
from tacit.mechanisms.sample_and_aggregate import Plan, exact
from tacit.predicates.computed import Computed
from tacit.predicates.numbers import Cell
from tacit.testing.arrays import Table_, computed, holds
from tacit.testing.persons import codes


def exact_blocks(shape: Design, table: Table_, rng: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
    """Integers before noise, one array of shape (1, 2) a parameter."""
    rows = complete(shape, table)
    return tuple(np.array(cells, dtype=np.int64) for cells in exact(shape, rows, labels(shape, rows, rng)))


def labels(shape: Design, rows: Rows, rng: np.random.Generator) -> NDArray[np.uint64]:
    """Seeded words of rows, the same for all rows of a person; of blocks of equal size as the mechanism has them."""
    plan = cast(Plan, shape.blocks)
    if plan.rows is not None:
        own = rng.integers(0, 2**64, plan.rows, dtype=np.uint64)
        return seats.seated(own[: len(rows.values)], seats.cuts(own, plan.blocks))
    if rows.owners is None:
        return rng.integers(0, 2**64, len(rows.values), dtype=np.uint64)
    return rng.integers(0, 2**64, int(rows.owners.max(initial=0)) + 1, dtype=np.uint64)[rows.owners]


def complete(shape: Design, table: Table_) -> Rows:
    """The complete cases in NumPy: what every engine must equal, but for their order."""
    cells = cast(Plan, shape.blocks).cells
    kept = np.ones(len(next(iter(table.values()))), dtype=np.bool_)
    kept = kept if shape.where is None else kept & holds(shape.where, table)
    columns = [_column(cell, table) for cell in cells]
    for column in columns:
        kept = kept & np.isfinite(column)
    owners = None if shape.unit is None else codes(table[shape.unit.source])[kept]
    return Rows(np.stack(columns, axis=1)[kept], owners)


def _column(cell: Cell, table: Table_) -> NDArray[np.float64]:
    """Values as conditions see them, NaN where missing."""
    return computed(Computed("", cell, (cell,)), table)

"""Rows as floats, for statistics that no engine computes: complete cases of some columns.  INSIDE the wall.

Values are those that conditions and computed columns see (`predicates.numbers`): clamped to the column's bounds where
it has some, missing ones with a declared place there, levels by their index.  A row with another missing value in one
of the columns, or for which a condition does not hold, is left out on the engine.  What comes back has no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.curator.source import expressions as ex
from tacit.curator.source.engines import Engine
from tacit.curator.source.kinds import Reading
from tacit.curator.source.sums import cell_reading
from tacit.predicates.computed import Computed
from tacit.predicates.evaluate import compute, evaluate
from tacit.predicates.numbers import Cell
from tacit.predicates.typed import Predicate
from tacit.rowmap import Unit


@dataclass(frozen=True)
class Rows:
    """values: shape (rows, columns).  owners: shape (rows,), one number a person, or None where a row is a person."""

    values: NDArray[np.float64]
    owners: NDArray[np.int64] | None


def complete(engine: Engine, cells: Sequence[Cell], unit: Unit | None = None, where: Predicate | None = None) -> Rows:
    """READS ROWS.  The complete cases of `cells`, and whose they are."""
    conditions = () if where is None else where.cells
    read = list(dict.fromkeys([*cells, *conditions]))
    owner = [] if unit is None else [Reading(unit.source, "unit")]
    frame = engine.read([*(cell_reading(cell) for cell in read), *owner])
    named = [ex.condition_cell(cell, f"c{i}").alias(f"x{i}") for i, cell in enumerate(read)]
    tools = ex.Engine(frame.select(*named, *([nw.col(f"c{len(read)}").alias("u")] if owner else [])))
    column = {cell: nw.col(f"x{i}") for i, cell in enumerate(read)}
    values = [compute(Computed("", cell, (cell,)), {cell: column[cell]}, tools) for cell in cells]
    kept = tools.truth(True) if where is None else evaluate(where, {cell: column[cell] for cell in conditions}, tools)
    made = tools.frame.with_columns(kept.alias("k"), *(one.alias(f"v{i}") for i, one in enumerate(values)))
    here: Any = nw.col("k")
    for i in range(len(cells)):
        here = here & ~nw.col(f"v{i}").is_null()
    names = [f"v{i}" for i in range(len(cells))]
    found = engine.arrays(made.filter(here).select(*names, *(["u"] if owner else [])))
    table = np.stack([np.asarray(found[name], dtype=np.float64) for name in names], axis=1)
    return Rows(table, _owners(found["u"]) if owner else None)


def _owners(given: Any) -> NDArray[np.int64]:
    """One number for each different value; rows of nobody are one person's."""
    from tacit.untyped import pandas

    values = np.ma.getdata(given)
    gone = np.ma.getmaskarray(given)
    if values.dtype == object:
        values = np.array([bytes(one) if isinstance(one, bytearray) else one for one in values], dtype=object)
    codes = np.asarray(pandas().factorize(values)[0], dtype=np.int64)
    codes[gone] = -1
    return codes

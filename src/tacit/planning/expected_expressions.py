"""Expressions of a regression's formula on made-up rows: computed from the columns that they read, as in the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_map import GRID, KeyMap, RowMap
from tacit.schema.predicates.arithmetic import Reference
from tacit.schema.predicates.computed_columns import Computed
from tacit.schema.predicates.numeric_expressions import ColumnCell
from tacit.schema.predicates.row_values import compute

Ints = NDArray[np.int64]
LEVELS: Final = ("category", "boolean")


@dataclass(frozen=True)
class MadeRows:
    """Made-up rows: grid values by column of numbers, and indices of levels by column of levels, shape (rows,) each."""

    values: dict[RowMap, Ints]
    places: dict[KeyMap, Ints]

    def cell(self, cell: ColumnCell, draw: Callable[[Any], Ints]) -> NDArray[np.float64]:
        """Return what an expression reads of a column; `draw` makes the rows of a column that has none so far."""
        if cell.kind in LEVELS:
            key = cell.key or KeyMap(cell.column, cell.source, "boolean", (False, True), ("false", "true"))
            known = next((at for at in self.places if at.source == cell.source), None)
            if known is None:
                self.places[key] = draw(key)
            return self.places[known or key].astype(np.float64)
        # the design refuses a column without bounds
        assert cell.lower is not None
        assert cell.upper is not None
        own = RowMap(cell.column, cell.source, "real", cell.lower, cell.upper, GRID)
        known = next((at for at in self.values if at.source == cell.source), None)
        if known is None:
            self.values[own] = draw(own)
        at = known or own
        return at.lower + (at.upper - at.lower) * (self.values[at] / at.G)

    def add(self, at: RowMap | KeyMap, rule: Computed, draw: Callable[[Any], Ints]) -> NDArray[np.bool_]:
        """Add an expression as a column; return in which rows it has a value, shape (rows,)."""
        read = {cell: self.cell(cell, draw) for cell in rule.cells}
        with np.errstate(all="ignore"):  # what is not finite is missing
            found = np.asarray(compute(rule, read, Reference()), dtype=np.float64)
        known = np.isfinite(found)
        if isinstance(at, RowMap):
            self.values[at] = at.numpy(found)[0]
        else:
            # text levels are numbered from 1, false and true from 0
            self.places[at] = np.where(known, found - rule.texts, 0).astype(np.int64)
        return known

"""Computed columns of a schema, evaluated by the table's own engine.  INSIDE the wall.

The values are floats, and are then treated as the cells of a stored column are: the last step is the clamp in 64-bit
integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.schema.predicates.computed_columns import Computed
from tacit.schema.predicates.row_values import compute
from tacit.source.engine import ClusterWork, Engine, Piece
from tacit.source.engine_sums import cell_expressions as ex
from tacit.source.engine_sums.cell_sums import cell_reading
from tacit.source.reading.column_kinds import ColumnType, Reading


class Computing:
    """An `Engine` that adds computed columns to those of another engine."""

    def __init__(self, engine: Engine, computed: Mapping[str, Computed]) -> None:
        self._engine = engine
        self._computed = computed

    def types(self) -> dict[str, ColumnType]:
        """See `Engine.types`: of the stored columns alone."""
        return self._engine.types()

    def read(self, columns: Sequence[Reading]) -> Any:
        """See `Engine.read`.  A computed column that is read twice is computed once."""
        wanted = list(dict.fromkeys(one.name for one in columns if one.name in self._computed))
        if not wanted:
            return self._engine.read(columns)
        cells = list(dict.fromkeys(cell for name in wanted for cell in self._computed[name].cells))
        plain = [one for one in columns if one.name not in self._computed]
        frame = self._engine.read([*plain, *(cell_reading(cell) for cell in cells)])
        first = len(plain)
        plain_cells = {f"p{i}": nw.col(f"c{i}") for i in range(first)}
        others = {f"x{i}": ex.condition_cell(cell, f"c{first + i}") for i, cell in enumerate(cells)}
        frame = ex.select(frame, plain_cells | others)
        engine = ex.NarwhalsBackend(frame)
        read = {cell: nw.col(f"x{i}") for i, cell in enumerate(cells)}
        made = {name: self._column(name, read, engine) for name in wanted}
        place = iter(range(first))
        chosen = [made[one.name] if one.name in made else nw.col(f"p{next(place)}") for one in columns]
        return ex.select(engine.frame, {f"c{i}": one for i, one in enumerate(chosen)})

    def _column(self, name: str, read: Mapping[Any, Any], engine: ex.NarwhalsBackend) -> Any:
        column = self._computed[name]
        return engine.keep(compute(column, {cell: read[cell] for cell in column.cells}, engine))

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """See `Engine.collect`."""
        return self._engine.collect(frame)

    def arrays(self, frame: Any) -> dict[str, Any]:
        """See `Engine.arrays`."""
        return self._engine.arrays(frame)

    def batches(self, frame: Any) -> Iterator[dict[str, Any]] | None:
        """See `Engine.batches`."""
        return self._engine.batches(frame)

    def in_memory(self, columns: Sequence[Reading]) -> Sequence[NDArray[Any]] | None:
        """See `Engine.in_memory`: of stored columns alone."""
        return None if any(one.name in self._computed for one in columns) else self._engine.in_memory(columns)

    def pieces(self) -> Iterator[Piece] | None:
        """See `Engine.pieces`."""
        found = self._engine.pieces()
        return None if found is None else (Piece(Computing(one.engine, self._computed), one.rows) for one in found)

    def spread(self, frame: Any, columns: int, work: ClusterWork) -> dict[int, NDArray[np.float64]] | None:
        """See `Engine.spread`."""
        return self._engine.spread(frame, columns, work)

    def counting(self) -> Callable[[], int] | None:
        """See `Engine.counting`."""
        return self._engine.counting()

    def probe(self) -> None:
        """See `Engine.probe`."""
        self._engine.probe()

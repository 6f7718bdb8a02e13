"""Arrow columns in memory, scanned by DuckDB: the engine of tables without one of their own.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.base.lazy_imports import arrow
from tacit.source.engine import PLACE, ClusterWork, Piece
from tacit.source.reading import duckdb_cells
from tacit.source.reading.arrow_columns import LazyColumn, plain
from tacit.source.reading.column_kinds import ColumnType, Reading
from tacit.source.reading.duckdb_connection import connection
from tacit.source.reading.duckdb_query import arrays, batches, collect, project
from tacit.source.reading.listed_text import ListedText

PIECE: Final = 2**21
"""Rows of a piece of a table; at least so many where a file has row groups."""


class ArrowColumns:
    """An `Engine` of Arrow columns in memory: pandas, PyArrow, Arrow files, arrays."""

    def __init__(self, columns: Mapping[str, LazyColumn], rows: Callable[[], int]) -> None:
        self._columns = columns
        self._rows = rows

    def types(self) -> dict[str, ColumnType]:
        """See `Engine.types`."""
        return {name: lazy.type for name, lazy in self._columns.items()}

    def read(self, columns: Sequence[Reading]) -> Any:
        """See `Engine.read`.  Columns are renamed a0, a1, ...: DuckDB would confuse names that differ by case only."""
        pa = arrow()
        if not columns:
            # a table of no columns has no rows: one of nulls carries their number
            return nw.from_native(connection().from_arrow(pa.table({"a0": pa.nulls(self._rows(), pa.bool_())})))
        sent = travelling(columns)
        original = [self._columns[name].cells(exact) for name, exact in sent]
        ready = [plain(cells, exact=exact) for cells, (_, exact) in zip(original, sent, strict=True)]
        table = pa.table({f"a{i}": cells for i, cells in enumerate(ready)})
        cells = arrow_cells(columns, sent, [cells.type for cells in original])
        return project(connection().from_arrow(table), cells)

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """See `Engine.collect`."""
        return collect(frame)

    def arrays(self, frame: Any) -> dict[str, Any]:
        """See `Engine.arrays`."""
        return arrays(frame)

    def batches(self, frame: Any) -> Iterator[dict[str, Any]]:
        """See `Engine.batches`."""
        return batches(frame)

    def in_memory(self, columns: Sequence[Reading]) -> list[NDArray[Any]] | None:
        """See `Engine.in_memory`."""
        found = [self._columns[one.name].array if one.how in ("number", "boolean") else None for one in columns]
        whole = [one for one in found if one is not None]
        return whole if whole and len(whole) == len(found) else None

    def pieces(self) -> Iterator[Piece]:
        """See `Engine.pieces`: slices of the columns in memory, each column converted once."""
        # `cache`: each column is converted at the first piece and sliced for all
        rows, whole = self._rows(), {name: cache(lazy.cells) for name, lazy in self._columns.items()}
        for at in range(0, rows, PIECE):
            here = min(PIECE, rows - at)
            made = {name: _part(lazy, whole[name], at, here) for name, lazy in self._columns.items()}
            yield piece(made, here)

    def spread(self, frame: Any, columns: int, work: ClusterWork) -> None:
        """See `Engine.spread`: None, since this engine runs on one machine."""

    def counting(self) -> Callable[[], int]:
        """See `Engine.counting`."""
        return self._rows

    def probe(self) -> None:
        """See `Engine.probe`: memory is always there."""


def travelling(columns: Sequence[Reading]) -> list[tuple[str, bool]]:
    """Return the columns sent as a0, a1, ...: names, and whether different cells must stay different (`plain`)."""
    return list(dict.fromkeys((one.name, one.how == "unit") for one in columns))


def arrow_cells(
    columns: Sequence[Reading], travelling: Sequence[tuple[str, bool]], types: Sequence[Any]
) -> list[str | ListedText]:
    """Return SQL of the cells of columns sent as a0, a1, ..., by their Arrow types before conversion."""
    place = {one: i for i, one in enumerate(travelling)}
    found = [(one, place[one.name, one.how == "unit"]) for one in columns]
    return [duckdb_cells.of_arrow(one, f'"a{i}"', types[i]) for one, i in found]


def _slice(whole: Callable[[bool], Any], exact: bool, at: int, rows: int) -> Any:
    return whole(exact).slice(at, rows)


def _part(lazy: LazyColumn, whole: Callable[[bool], Any], at: int, rows: int) -> LazyColumn:
    """Return so many rows of a column from one on."""
    read, persons = (partial(_slice, whole, exact, at, rows) for exact in (False, True))
    array = None if lazy.array is None else lazy.array[at : at + rows]
    return LazyColumn(lazy.type, read, array, None if lazy.persons is None else persons)


def piece(columns: Mapping[str, LazyColumn], rows: int) -> Piece:
    """Make a `Piece` of columns of so many rows, with the column PLACE."""
    numbers = np.arange(rows, dtype=np.float64)
    place = LazyColumn(ColumnType("place", "number"), lambda: arrow().array(numbers), numbers)
    return Piece(ArrowColumns({**columns, PLACE: place}, lambda: rows), rows)

"""DuckDB: Parquet files, relations, and Arrow columns in memory or streamed.  INSIDE the wall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import narwhals as nw
import numpy as np

from tacit.base.lazy_imports import arrow
from tacit.source import data_files as files
from tacit.source import duckdb_cells as duck_cells
from tacit.source import text_files as text
from tacit.source.column_kinds import ColumnType, Holds, Reading
from tacit.source.engines import PLACE, ClusterWork, Piece
from tacit.source.listed_text import ListedText, quoted
from tacit.source.memory import Lazy, plain

PIECE: Final = 2**21
"""Rows of a piece, about: at least so many where a file has row groups."""

NUMBERS: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER")
MORE: Final = ("UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE")


def holds(name: str) -> Holds:
    """What cells of a DuckDB type are, by its name.

    >>> holds("DECIMAL(10,2)"), holds("ENUM('a', 'b')"), holds("TIMESTAMP WITH TIME ZONE"), holds("INTEGER[]")
    ('number', 'text', 'date', 'other')
    """
    if name.endswith("]"):
        return "other"
    if name in (*NUMBERS, *MORE) or name.startswith("DECIMAL("):
        return "number"
    if name == "VARCHAR" or name.startswith("ENUM("):
        return "text"
    if name == "DATE" or name.startswith("TIMESTAMP"):
        return "date"
    return {"BOOLEAN": "boolean", "UUID": "identifier", '"NULL"': "nothing"}.get(name, "other")  # pyright: ignore


class Relation:
    """An `Engine` of a DuckDB relation, made anew for each query where it is ours.

    make: from the names of the columns that a query needs (None: all of them, for their types) to a relation; DuckDB
    looks at the bounds of every column that a relation names, needed or not, and may fail at one.
    own: its connection is one of `files.connection`, without a collation.
    """

    def __init__(self, make: Callable[[Sequence[str] | None], Any], *, own: bool = False) -> None:
        self._make = make
        self._own = own

    def types(self) -> dict[str, ColumnType]:
        """See `Engine.types`.  DuckDB does not tell a from A: a query could take the one or the other."""
        made = self._make(None)
        names = Counter(name.lower() for name in made.columns)
        found = {name: str(dtype) for name, dtype in zip(made.columns, made.types, strict=True)}
        return {
            name: ColumnType(words, holds(words) if names[name.lower()] == 1 else "several")
            for name, words in found.items()
        }

    def read(self, columns: Sequence[Reading]) -> Any:
        """See `Engine.read`."""
        made = self._make(list(dict.fromkeys(one.name for one in columns)))
        if not columns:
            return nw.from_native(made)
        found = {name: str(dtype) for name, dtype in zip(made.columns, made.types, strict=True)}
        cells = [duck_cells.of_table(one, quoted(one.name), found[one.name], own=self._own) for one in columns]
        return _project(made, cells)

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """See `Engine.collect`."""
        return collect(frame)

    def arrays(self, frame: Any) -> dict[str, Any]:
        """See `Engine.arrays`."""
        return arrays(frame)

    def pieces(self) -> None:
        """See `Engine.pieces`: a query may give rows in any order."""

    def spread(self, frame: Any, columns: int, work: ClusterWork) -> None:
        """See `Engine.spread`: one machine."""

    def counting(self) -> Callable[[], int] | None:
        """See `Engine.counting`: a pass."""

    def probe(self) -> None:
        """See `Engine.probe`: an open result of a user's connection, a file that is gone."""
        self._make(()).limit(0).fetchall()


class Parquet:
    """An `Engine` of Parquet files of one schema: DuckDB reads them, or PyArrow where DuckDB's reader would raise."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._duck = Relation(partial(files.parquet, paths), own=True)

    def types(self) -> dict[str, ColumnType]:
        """See `Engine.types`."""
        return self._duck.types()

    def read(self, columns: Sequence[Reading]) -> Any:
        """See `Engine.read`.  Some cells DuckDB's own reader would raise at: `files.streamed`."""
        if not {one.name for one in columns} & files.streamed(self._paths):
            return self._duck.read(columns)
        travelling = _travelling(columns)
        stream = files.parquet_stream(self._paths, travelling)
        engine = files.connection()
        cells = _arrow_cells(columns, travelling, [field.type for field in stream.schema])
        return _project(engine.from_arrow(stream.reader), cells, engine.sql("SELECT 1"))

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """See `Engine.collect`."""
        return collect(frame)

    def arrays(self, frame: Any) -> dict[str, Any]:
        """See `Engine.arrays`."""
        return arrays(frame)

    def pieces(self) -> Iterator[Piece]:
        """See `Engine.pieces`: row groups of the files, as PyArrow reads them, one column at a time."""
        types = self.types()
        for rows, read in files.parquet_pieces(self._paths, PIECE):
            made = {name: Lazy(one, partial(read, name)) for name, one in types.items()}
            yield _piece(made, rows)

    def spread(self, frame: Any, columns: int, work: ClusterWork) -> None:
        """See `Engine.spread`: one machine."""

    def counting(self) -> Callable[[], int]:
        """See `Engine.counting`: footers say it."""
        return partial(files.parquet_rows, self._paths)

    def probe(self) -> None:
        """See `Engine.probe`: a file that is gone."""
        self._duck.probe()


class ArrowColumns:
    """An `Engine` of Arrow columns in memory: pandas, PyArrow, Arrow files, arrays."""

    def __init__(self, columns: Mapping[str, Lazy], rows: Callable[[], int]) -> None:
        self._columns = columns
        self._rows = rows

    def types(self) -> dict[str, ColumnType]:
        """See `Engine.types`."""
        return {name: lazy.type for name, lazy in self._columns.items()}

    def read(self, columns: Sequence[Reading]) -> Any:
        """See `Engine.read`.  Columns travel as a0, a1, ...: names of any spelling, capitals that differ only."""
        pa = arrow()
        if not columns:
            return nw.from_native(files.connection().from_arrow(pa.table({"a0": pa.nulls(self._rows(), pa.bool_())})))
        travelling = _travelling(columns)
        original = [self._columns[name].read() for name, _ in travelling]
        ready = [plain(cells, exact=exact) for cells, (_, exact) in zip(original, travelling, strict=True)]
        table = pa.table({f"a{i}": cells for i, cells in enumerate(ready)})
        cells = _arrow_cells(columns, travelling, [cells.type for cells in original])
        return _project(files.connection().from_arrow(table), cells)

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """See `Engine.collect`."""
        return collect(frame)

    def arrays(self, frame: Any) -> dict[str, Any]:
        """See `Engine.arrays`."""
        return arrays(frame)

    def pieces(self) -> Iterator[Piece]:
        """See `Engine.pieces`: rows as they stand in memory; a column is converted once."""
        rows, whole = self._rows(), {name: cache(lazy.read) for name, lazy in self._columns.items()}
        for at in range(0, rows, PIECE):
            here = min(PIECE, rows - at)
            made = {
                name: Lazy(lazy.type, partial(_slice, whole[name], at, here)) for name, lazy in self._columns.items()
            }
            yield _piece(made, here)

    def spread(self, frame: Any, columns: int, work: ClusterWork) -> None:
        """See `Engine.spread`: one machine."""

    def counting(self) -> Callable[[], int]:
        """See `Engine.counting`."""
        return self._rows

    def probe(self) -> None:
        """See `Engine.probe`: memory is always there."""


class TextFile:
    """An `Engine` of a text file: cells are text, read as declared; what does not parse is missing."""

    def __init__(self, path: Path, delimiter: str) -> None:
        self._path = path
        self._delimiter = delimiter
        self._names = text.header(path, delimiter)

    def types(self) -> dict[str, ColumnType]:
        """See `Engine.types`."""
        return dict.fromkeys(self._names, ColumnType("text", "anything"))

    def read(self, columns: Sequence[Reading]) -> Any:
        """See `Engine.read`."""
        wanted = list(dict.fromkeys(one.name for one in columns)) or [self._names[0]]
        indices = [self._names.index(name) for name in wanted]
        engine = files.connection()
        made = engine.from_arrow(text.cells(self._path, self._delimiter, len(self._names), indices))
        if not columns:
            return nw.from_native(made)
        cells = [duck_cells.of_text(one, f"nullif(\"a{wanted.index(one.name)}\", '')") for one in columns]
        return _project(made, cells, engine.sql("SELECT 1"))  # the stream can be read once

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """See `Engine.collect`."""
        return collect(frame)

    def arrays(self, frame: Any) -> dict[str, Any]:
        """See `Engine.arrays`."""
        return arrays(frame)

    def pieces(self) -> None:
        """See `Engine.pieces`: lines are read once."""

    def spread(self, frame: Any, columns: int, work: ClusterWork) -> None:
        """See `Engine.spread`: one machine."""

    def counting(self) -> None:
        """See `Engine.counting`: a pass."""

    def probe(self) -> None:
        """See `Engine.probe`: the file is there, with the same names."""
        if text.header(self._path, self._delimiter) != self._names:
            raise OSError("the first line has changed")


def _travelling(columns: Sequence[Reading]) -> list[tuple[str, bool]]:
    """Columns that travel as a0, a1, ...: names, and whether a cell must be told from every other (`arrays.plain`)."""
    return list(dict.fromkeys((one.name, one.how == "unit") for one in columns))


def _arrow_cells(
    columns: Sequence[Reading], travelling: Sequence[tuple[str, bool]], types: Sequence[Any]
) -> list[str | ListedText]:
    """Cells of columns that travel, of Arrow's types as they were."""
    place = {one: i for i, one in enumerate(travelling)}
    found = [(one, place[one.name, one.how == "unit"]) for one in columns]
    return [duck_cells.of_arrow(one, f'"a{i}"', types[i]) for one, i in found]


def _slice(whole: Callable[[], Any], at: int, rows: int) -> Any:
    return whole().slice(at, rows)


def _piece(columns: Mapping[str, Lazy], rows: int) -> Piece:
    """Columns of some rows, and their places."""
    place = Lazy(ColumnType("place", "number"), lambda: arrow().array(np.arange(rows, dtype=np.float64)))
    return Piece(ArrowColumns({**columns, PLACE: place}, lambda: rows), rows)


def collect(frame: Any) -> list[dict[str, Any]]:
    """Rows as Python values, 128-bit sums as integers."""
    relation = frame.to_native()
    rows: list[tuple[Any, ...]] = _fetched(relation.fetchall)
    return [dict(zip(relation.columns, row, strict=True)) for row in rows]


def arrays(frame: Any) -> dict[str, Any]:
    """Columns as NumPy arrays, masked where cells are missing: what stands there is any number."""
    found: dict[str, Any] = _fetched(frame.to_native().fetchnumpy)
    return found


def _fetched(fetch: Callable[[], Any]) -> Any:
    """READS ROWS.  What DuckDB hands over; it tells of Ctrl-C by an error of its own."""
    try:
        return fetch()
    except Exception as error:
        if "interrupted" not in str(error).lower():
            raise
    raise KeyboardInterrupt


def _project(relation: Any, cells: Sequence[str | ListedText], one: Any | None = None) -> Any:
    """Cells as c0, c1, ...; `one`: a relation of one row on the same connection, the relation's own where not given."""
    names = [f'"c{i}"' for i in range(len(cells))]
    text = [cell.text if isinstance(cell, ListedText) else cell for cell in cells]
    made = relation.project(", ".join(f"{cell} AS {name}" for cell, name in zip(text, names, strict=True)))
    for i, cell in enumerate(cells):
        if isinstance(cell, ListedText):
            row = relation.limit(0).aggregate("count(*)") if one is None else one
            levels = row.project(cell.table).project(cell.rows)
            joined = made.set_alias("cells").join(levels.set_alias("levels"), f"{names[i]} = level", how="left")
            made = joined.project(", ".join(f"place AS {name}" if name == names[i] else name for name in names))
    return nw.from_native(made)

"""DuckDB: Parquet files, relations, and Arrow columns in memory or streamed.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import narwhals as nw
import numpy as np

from tacit.curator.source import files, text
from tacit.curator.source.arrays import Lazy, plain
from tacit.curator.source.engines import PLACE, Piece, Work
from tacit.curator.source.kinds import ColumnType, Holds, Reading
from tacit.curator.source.listed import Listed, is_listed, listed, quoted
from tacit.untyped import arrow

PER_DAY: Final = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
KNOWN: Final = {"s": (2**63 - 2) // 10**6, "ms": (2**63 - 2) // 10**3, "us": 2**63 - 2, "ns": 2**63 - 2}
"""The greatest count of each unit that is an instant: one whose microseconds are a 64-bit integer.  A cell beyond it is
missing on every engine alike, as are the last integers, which stand for infinity on some."""

PIECE: Final = 2**21
"""Rows of a piece, about: at least so many where a file has row groups."""

LAST_DAY: Final = 2**31 - 2
"""The same for days."""

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

    own: its connection is one of `files.connection`, without a collation.
    """

    def __init__(self, make: Callable[[], Any], *, own: bool = False) -> None:
        self._make = make
        self._own = own

    def types(self) -> dict[str, ColumnType]:
        """See `Engine.types`."""
        made = self._make()
        names = [str(dtype) for dtype in made.types]
        return {name: ColumnType(words, holds(words)) for name, words in zip(made.columns, names, strict=True)}

    def read(self, columns: Sequence[Reading]) -> Any:
        """See `Engine.read`."""
        made = self._make()
        if not columns:
            return nw.from_native(made)
        found = {name: str(dtype) for name, dtype in zip(made.columns, made.types, strict=True)}
        return _project(made, [_cell(one, quoted(one.name), found[one.name], own=self._own) for one in columns])

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """See `Engine.collect`."""
        return collect(frame)

    def arrays(self, frame: Any) -> dict[str, Any]:
        """See `Engine.arrays`."""
        return arrays(frame)

    def pieces(self) -> None:
        """See `Engine.pieces`: a query may give rows in any order."""

    def spread(self, frame: Any, columns: int, work: Work) -> None:
        """See `Engine.spread`: one machine."""

    def counting(self) -> Callable[[], int] | None:
        """See `Engine.counting`: a pass."""

    def probe(self) -> None:
        """See `Engine.probe`: an open result of a user's connection, a file that is gone."""
        self._make().limit(0).fetchall()


class Parquet:
    """An `Engine` of Parquet files of one schema: DuckDB reads them, or PyArrow where DuckDB's reader would raise."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._duck = Relation(lambda: files.parquet(paths), own=True)

    def types(self) -> dict[str, ColumnType]:
        """See `Engine.types`."""
        return self._duck.types()

    def read(self, columns: Sequence[Reading]) -> Any:
        """See `Engine.read`.  DuckDB raises where milliseconds are too many to be microseconds, as it reads them."""
        dates = {one.name for one in columns if one.how == "date"}
        if not dates & files.milliseconds(self._paths):
            return self._duck.read(columns)
        names = list(dict.fromkeys(one.name for one in columns))
        stream = files.parquet_stream(self._paths, names)
        engine = files.connection()
        place = {name: i for i, name in enumerate(names)}
        cells = [
            _arrow_cell(one, f'"a{place[one.name]}"', stream.schema.field(place[one.name]).type) for one in columns
        ]
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

    def spread(self, frame: Any, columns: int, work: Work) -> None:
        """See `Engine.spread`: one machine."""

    def counting(self) -> Callable[[], int]:
        """See `Engine.counting`: footers say it."""
        return lambda: int(_fetched(files.parquet(self._paths).aggregate("count(*)").fetchall)[0][0])

    def probe(self) -> None:
        """See `Engine.probe`: a file that is gone."""
        self._duck.probe()


class Columns:
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
        names = list(dict.fromkeys(one.name for one in columns))
        original = [self._columns[name].read() for name in names]
        table = pa.table({f"a{i}": plain(cells) for i, cells in enumerate(original)})
        place = {name: i for i, name in enumerate(names)}
        cells = [_arrow_cell(one, f'"a{place[one.name]}"', original[place[one.name]].type) for one in columns]
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

    def spread(self, frame: Any, columns: int, work: Work) -> None:
        """See `Engine.spread`: one machine."""

    def counting(self) -> Callable[[], int]:
        """See `Engine.counting`."""
        return self._rows

    def probe(self) -> None:
        """See `Engine.probe`: memory is always there."""


class Text:
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
        cells = [_text_cell(one, f"nullif(\"a{wanted.index(one.name)}\", '')") for one in columns]
        return _project(made, cells, engine.sql("SELECT 1"))  # the stream can be read once

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """See `Engine.collect`."""
        return collect(frame)

    def arrays(self, frame: Any) -> dict[str, Any]:
        """See `Engine.arrays`."""
        return arrays(frame)

    def pieces(self) -> None:
        """See `Engine.pieces`: lines are read once."""

    def spread(self, frame: Any, columns: int, work: Work) -> None:
        """See `Engine.spread`: one machine."""

    def counting(self) -> None:
        """See `Engine.counting`: a pass."""

    def probe(self) -> None:
        """See `Engine.probe`: the file is there, with the same names."""
        if text.header(self._path, self._delimiter) != self._names:
            raise OSError("the first line has changed")


def _slice(whole: Callable[[], Any], at: int, rows: int) -> Any:
    return whole().slice(at, rows)


def _piece(columns: Mapping[str, Lazy], rows: int) -> Piece:
    """Columns of some rows, and their places."""
    place = Lazy(ColumnType("place", "number"), lambda: arrow().array(np.arange(rows, dtype=np.float64)))
    return Piece(Columns({**columns, PLACE: place}, lambda: rows), rows)


def collect(frame: Any) -> list[dict[str, Any]]:
    """Rows as Python values, 128-bit sums as integers."""
    relation = frame.to_native()
    rows: list[tuple[Any, ...]] = _fetched(relation.fetchall)
    return [dict(zip(relation.columns, row, strict=True)) for row in rows]


def arrays(frame: Any) -> dict[str, Any]:
    """Columns as NumPy arrays."""
    found: dict[str, Any] = _fetched(frame.to_native().fetchnumpy)
    return {name: np.asarray(column) for name, column in found.items()}


def _fetched(fetch: Callable[[], Any]) -> Any:
    """READS ROWS.  What DuckDB hands over; it tells of Ctrl-C by an error of its own."""
    try:
        return fetch()
    except Exception as error:
        if "interrupted" not in str(error).lower():
            raise
    raise KeyboardInterrupt


def _part(cell: str, levels: tuple[str, ...]) -> str:
    """The number that a group of a regular expression finds in a cell's text."""
    pattern, group = levels
    found = f"regexp_extract(CAST({cell} AS VARCHAR), {quoted(pattern, chr(39))}, {int(group)})"
    return f"TRY_CAST(nullif({found}, '') AS DOUBLE)"


def _project(relation: Any, cells: Sequence[str | Listed], one: Any | None = None) -> Any:
    """Cells as c0, c1, ...; `one`: a relation of one row on the same connection, the relation's own where not given."""
    names = [f'"c{i}"' for i in range(len(cells))]
    text = [cell.text if isinstance(cell, Listed) else cell for cell in cells]
    made = relation.project(", ".join(f"{cell} AS {name}" for cell, name in zip(text, names, strict=True)))
    for i, cell in enumerate(cells):
        if isinstance(cell, Listed):
            row = relation.limit(0).aggregate("count(*)") if one is None else one
            levels = row.project(cell.table).project(cell.rows)
            joined = made.set_alias("cells").join(levels.set_alias("levels"), f"{names[i]} = level", how="left")
            made = joined.project(", ".join(f"place AS {name}" if name == names[i] else name for name in names))
    return nw.from_native(made)


def _unit(cell: str, dtype: str) -> str:
    """Whose row it is: text as bytes, since a collation may hold two people equal."""
    if dtype == "VARCHAR" or dtype.startswith("ENUM("):
        return f"encode(CAST({cell} AS VARCHAR))"
    return f"CASE WHEN isfinite({cell}) THEN {cell} + 0.0 END" if dtype in ("FLOAT", "DOUBLE") else cell


def _days(day: str) -> str:
    count = f"({day} - DATE '1970-01-01')"
    known = f"isfinite({day}) AND {count} BETWEEN {-LAST_DAY} AND {LAST_DAY}"
    return f"CASE WHEN {known} THEN CAST({count} AS DOUBLE) END"


def _counted(count: str, unit: str) -> str:
    """Days of an instant counted in `unit` since 1970, in integers: DuckDB's own conversions raise far from today."""
    day, last = PER_DAY[unit], KNOWN[unit]
    whole = f"CAST({count} // {day} - (({count} % {day}) < 0)::BIGINT AS DOUBLE)"
    return f"CASE WHEN {count} BETWEEN {-last} AND {last} THEN {whole} END"


def _cell(one: Reading, cell: str, dtype: str, *, own: bool = True) -> str | Listed:
    if dtype == '"NULL"':
        return "NULL::DOUBLE"
    if one.how in ("text", "index"):
        return listed(cell, one.levels, collated=not own)
    if one.how == "listed":
        return is_listed(cell, one.levels, collated=not own)
    if one.how == "part":
        return _part(cell, one.levels)
    if one.how == "unit":
        return _unit(cell, dtype)
    if one.how != "date":
        return cell
    if dtype == "DATE":
        return _days(cell)
    if dtype.endswith("_NS"):
        return _counted(f"epoch_ns({cell})", "ns")
    zoned = dtype == "TIMESTAMP WITH TIME ZONE"
    return _counted(f"epoch_us({cell if zoned else f'TRY_CAST({cell} AS TIMESTAMP)'})", "us")


def _arrow_cell(one: Reading, cell: str, dtype: Any) -> str | Listed:
    """As `_cell`; timestamps arrive as integers, counted from 1970 in UTC where there is a time zone."""
    is_ = arrow().types
    if is_.is_null(dtype):
        return _cell(one, cell, '"NULL"')
    inner = dtype.value_type if is_.is_dictionary(dtype) else dtype
    if one.how == "unit":
        floats = is_.is_floating(inner) or is_.is_decimal256(inner)
        text = is_.is_string(inner) or is_.is_large_string(inner) or is_.is_string_view(inner)
        return _unit(cell, "DOUBLE" if floats else "VARCHAR" if text else "")
    if not is_.is_timestamp(inner):
        return _cell(one, cell, "DATE")
    return _counted(cell, inner.unit)


def _text_cell(one: Reading, cell: str) -> str | Listed:
    number = f"TRY_CAST({cell} AS DOUBLE)"
    if one.how in ("text", "index"):
        return listed(cell, one.levels, collated=False)
    if one.how == "listed":
        return is_listed(cell, one.levels, collated=False)
    if one.how == "part":
        return _part(cell, one.levels)
    if one.how == "unit":
        return _unit(cell, "VARCHAR")
    if one.how == "date":
        return _days(f"CAST(TRY_CAST({cell} AS TIMESTAMP) AS DATE)")
    if one.how == "number":
        return number
    word = f"lower(trim({cell}))"
    return f"CASE {word} WHEN 'true' THEN 1.0::DOUBLE WHEN 'false' THEN 0.0::DOUBLE ELSE {number} END"

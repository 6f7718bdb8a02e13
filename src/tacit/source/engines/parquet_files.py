"""Parquet files of one schema: DuckDB reads them, or PyArrow where DuckDB's reader would raise.  INSIDE the wall.

Names, types and footers are read when a table is opened; rows only when a query runs.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tacit.base import lazy_imports
from tacit.errors import SourceError
from tacit.source.engine import ClusterWork, Engine, Piece
from tacit.source.engines.duckdb_relation import DuckDBRelation
from tacit.source.reading import arrow_engine
from tacit.source.reading.arrow_columns import LazyColumn, plain
from tacit.source.reading.column_kinds import ColumnType, Reading, check_distinct
from tacit.source.reading.duckdb_connection import connection
from tacit.source.reading.duckdb_query import arrays, batches, collect, project
from tacit.source.reading.listed_text import quoted


def open_engine(paths: Sequence[Path]) -> Engine:
    """The engine of Parquet files, in the order given; SourceError D04 where their columns differ."""
    check_distinct(parquet_names(paths[0]), ignore_case=True)
    if len(paths) > 1:
        same_columns(paths)
    return Parquet(paths)


class Parquet:
    """An `Engine` of Parquet files of one schema: DuckDB reads them, or PyArrow where DuckDB's reader would raise."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._duck = DuckDBRelation(partial(parquet, paths), own=True)

    def types(self) -> dict[str, ColumnType]:
        """See `Engine.types`."""
        return self._duck.types()

    def read(self, columns: Sequence[Reading]) -> Any:
        """See `Engine.read`.  Some cells DuckDB's own reader would raise at: `streamed`."""
        if not {one.name for one in columns} & streamed(self._paths):
            return self._duck.read(columns)
        sent = arrow_engine.travelling(columns)
        stream = parquet_stream(self._paths, sent)
        engine = connection()
        cells = arrow_engine.arrow_cells(columns, sent, [field.type for field in stream.schema])
        # levels come from a relation of their own, since the stream can be read once
        return project(engine.from_arrow(stream.reader), cells, engine.sql("SELECT 1"))

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """See `Engine.collect`."""
        return collect(frame)

    def arrays(self, frame: Any) -> dict[str, Any]:
        """See `Engine.arrays`."""
        return arrays(frame)

    def batches(self, frame: Any) -> Iterator[dict[str, Any]]:
        """See `Engine.batches`."""
        return batches(frame)

    def in_memory(self, columns: Sequence[Reading]) -> None:
        """See `Engine.in_memory`: files."""

    def pieces(self) -> Iterator[Piece]:
        """See `Engine.pieces`: row groups of the files, as PyArrow reads them, one column at a time."""
        types = self.types()
        for rows, read in parquet_pieces(self._paths, arrow_engine.PIECE):
            made = {name: LazyColumn(one, partial(read, name)) for name, one in types.items()}
            yield arrow_engine.piece(made, rows)

    def spread(self, frame: Any, columns: int, work: ClusterWork) -> None:
        """See `Engine.spread`: None, since this engine runs on one machine."""

    def counting(self) -> Callable[[], int]:
        """See `Engine.counting`: footers say it."""
        return partial(parquet_rows, self._paths)

    def probe(self) -> None:
        """See `Engine.probe`: a file that is gone."""
        self._duck.probe()


def parquet(paths: Sequence[Path], columns: Sequence[str] | None = None) -> Any:
    """Return Parquet files as one streamed relation of `columns`; of all columns (None) for their types only.

    Whatever a query names, DuckDB converts the bounds in the footers of, and raises where it cannot: one cell of a
    column that nobody asked for would make the query fail.  So a query names what it needs, and to count rows nothing.
    Bytes that are not UTF-8 read as "?" in their cell: by default one such cell would make the query fail.
    Names of files and columns are taken literally, whatever they contain.
    """
    # DuckDB expands * and ? in names of files
    found = ", ".join(quoted(glob.escape(str(path)), "'") for path in paths)
    named = "*" if columns is None else ", ".join(map(quoted, columns)) or "1 AS a0"
    options = "hive_partitioning = false, utf8_validation = 'replace'"
    return connection().sql(f"SELECT {named} FROM read_parquet([{found}], {options})")


def parquet_names(path: Path) -> list[str]:
    """Return the column names of a file; DuckDB renames those that differ by case only."""
    return list(_parquet(path).schema_arrow.names)


def parquet_rows(paths: Sequence[Path]) -> int:
    """READS ROWS.  Count the rows from the footers; no cell is read."""
    return sum(int(_parquet(path).metadata.num_rows) for path in paths)


def _parquet(path: Path) -> Any:
    """Open a file by PyArrow; 96-bit timestamps are read as microseconds, since nanoseconds end in the year 2262."""
    return lazy_imports.parquet().ParquetFile(path, coerce_int96_timestamp_unit="us")


def streamed(paths: Sequence[Path]) -> frozenset[str]:
    """Return the columns that DuckDB's reader would fail on or change.

    Timestamps in milliseconds, and of 96 bits: it raises at cells beyond microseconds (the latter from 2.0.1 on).
    Decimals of more than 38 digits: it makes floats of them, and two persons one.
    """
    leaves = [one.column(i) for one in (_parquet(path).schema for path in paths) for i in range(len(one))]
    return _coarse(paths) | {one.path for one in leaves if one.physical_type == "INT96"}


def _coarse(paths: Sequence[Path]) -> frozenset[str]:
    """Return the columns whose type PyArrow keeps, and DuckDB takes for another one."""
    is_ = lazy_imports.arrow().types
    fields = [field for path in paths for field in _parquet(path).schema_arrow]
    instants = {field.name for field in fields if is_.is_timestamp(field.type) and field.type.unit in ("s", "ms")}
    return frozenset(instants | {field.name for field in fields if is_.is_decimal256(field.type)})


@dataclass(frozen=True)
class Stream:
    """Batches of columns a0, a1, ..., and their types as in the files."""

    schema: Any
    reader: Any


def parquet_stream(paths: Sequence[Path], columns: Sequence[tuple[str, bool]]) -> Stream:
    """READS ROWS.  Return a stream of columns read by PyArrow, which accepts any cell.

    columns: names, and whether their cells must be told from every other (`arrow_columns.plain`).
    """
    pa = lazy_imports.arrow()
    whole = _parquet(paths[0]).schema_arrow
    names = list(dict.fromkeys(name for name, _ in columns))
    schema = pa.schema([whole.field(name) for name, _ in columns])
    # types of the first file: batches of all files are cast to them
    ready = [_decoded(pa.chunked_array([], whole.field(name).type), exact).type for name, exact in columns]
    sent = pa.schema([(f"a{i}", dtype) for i, dtype in enumerate(ready)])

    def batches() -> Iterator[Any]:
        for path in paths:
            for batch in _parquet(path).iter_batches(columns=names):
                cells = [_decoded(batch.column(batch.schema.get_field_index(name)), exact) for name, exact in columns]
                alike = [cell.cast(dtype, safe=False) for cell, dtype in zip(cells, ready, strict=True)]
                yield pa.RecordBatch.from_arrays(alike, schema=sent)

    return Stream(schema, pa.RecordBatchReader.from_batches(sent, batches()))


def parquet_pieces(paths: Sequence[Path], least: int) -> Iterator[tuple[int, Callable[[str], Any]]]:
    """Yield consecutive row groups of at least `least` rows, where a file has them: rows, and a reader of columns."""

    def read(path: Path, groups: list[int], name: str) -> Any:
        return _parquet(path).read_row_groups(groups, columns=[name]).column(name)  # "a" brings "a.b" too

    for path in paths:
        sizes = _parquet(path).metadata
        groups, rows = list[int](), 0
        for i in range(sizes.num_row_groups):
            groups, rows = [*groups, i], rows + sizes.row_group(i).num_rows
            # the last groups of a file are a piece however short: pieces do not span files
            if rows and (rows >= least or i == sizes.num_row_groups - 1):
                yield rows, partial(read, path, groups)
                groups, rows = [], 0


def _decoded(cells: Any, exact: bool) -> Any:
    """Convert cells as `plain`, and decode dictionaries, which one file may have where another has none."""
    encoded = lazy_imports.arrow().types.is_dictionary(cells.type)
    return plain(cells.cast(cells.type.value_type) if encoded else cells, exact=exact)


def same_columns(paths: Sequence[Path]) -> None:
    """Raise SourceError D04 unless all files have the names and types of the first: a query would fail midway."""
    first: dict[str, str] | None = None
    for path in paths:
        relation = parquet([path])
        coarse = _coarse([path])
        types = (f"{words} {name in coarse}" for name, words in zip(relation.columns, relation.types, strict=True))
        found = dict(zip(relation.columns, types, strict=True))
        first = found if first is None else first
        if found != first:
            name = next(name for name in (*first, *found) if first.get(name) != found.get(name))
            message = f"column {name!r} of {path} is not that of {paths[0]}: files of one table have the same columns."
            raise SourceError(message, code="D04", hint="write the table again, with one schema")

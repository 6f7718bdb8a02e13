"""Files -> what an engine reads.  Names, types and footers here; rows only when a query runs.  INSIDE the wall."""

from __future__ import annotations

import atexit
import glob
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from tacit.base import lazy_imports as untyped
from tacit.errors import SourceError
from tacit.source.listed_text import quoted
from tacit.source.memory import Lazy, array_type, plain
from tacit.source.pass_progress import WATCHED

_DATABASE: Final[dict[int, Any]] = {}
"""Our database, by process: a forked child makes its own."""


def connection() -> Any:
    """A DuckDB connection of our own, for one query: to the one database that this process has, which stays empty.

    `temp_directory = ''`: confidential rows are never written to disk; sums by public cells need little memory.
    No extension is fetched or loaded: what the wheel has built in will do.
    """
    made = _cursor(_DATABASE.get(os.getpid()))
    if made is None:
        made = _DATABASE.setdefault(os.getpid(), database()).cursor()
    watched = WATCHED.get()
    if watched is not None:
        watched.take(made)
    return made


def _cursor(database: Any) -> Any:
    """None where there is no database, or a failure of the machine has broken it."""
    try:
        made = database.cursor()
        made.execute("SET enable_progress_bar = false")
    except Exception:  # a new one takes its place
        _DATABASE.pop(os.getpid(), None)
        return None
    return made


def database() -> Any:
    """A database in memory with our settings."""
    import duckdb

    made: Any = duckdb.connect(":memory:")
    for setting in ("temp_directory = ''", "enable_progress_bar = false"):
        made.execute(f"SET {setting}")
    for setting in ("autoinstall_known_extensions", "autoload_known_extensions"):
        made.execute(f"SET {setting} = false")
    return made


def _forget() -> None:
    """When the process ends: narwhals' caches keep DuckDB alive, which then fills the console with "leaked" lines."""
    for name in [name for name in sys.modules if name.split(".")[0] == "narwhals"]:
        for value in list(vars(sys.modules[name]).values()):
            clear = getattr(value, "cache_clear", None)
            if callable(clear):
                clear()
    _DATABASE.clear()


atexit.register(_forget)


def parquet(paths: Sequence[Path], columns: Sequence[str] | None = None) -> Any:
    """Parquet files as one relation of some columns, streamed; of all where none are given, for their types only.

    Whatever a query names, DuckDB converts the bounds in the footers of, and raises where it cannot: one cell of a
    column that nobody asked for would make the query fail.  So a query names what it needs, and to count rows nothing.
    Bytes that are not UTF-8 read as "?" in their cell: by default one such cell would make the query fail.
    Names of files and columns are taken literally, whatever they contain.
    """
    found = ", ".join(quoted(glob.escape(str(path)), "'") for path in paths)
    named = "*" if columns is None else ", ".join(map(quoted, columns)) or "1 AS a0"
    options = "hive_partitioning = false, utf8_validation = 'replace'"
    return connection().sql(f"SELECT {named} FROM read_parquet([{found}], {options})")


def parquet_names(path: Path) -> list[str]:
    """Names of the columns as they stand in the file; DuckDB gives those that it cannot tell apart other ones."""
    return list(_parquet(path).schema_arrow.names)


def parquet_rows(paths: Sequence[Path]) -> int:
    """READS ROWS.  How many there are, as the footers say: no cell is looked at."""
    return sum(int(_parquet(path).metadata.num_rows) for path in paths)


def _parquet(path: Path) -> Any:
    """A file as PyArrow reads it: timestamps of 96 bits as microseconds, for nanoseconds end in the year 2262."""
    return untyped.parquet().ParquetFile(path, coerce_int96_timestamp_unit="us")


def streamed(paths: Sequence[Path]) -> frozenset[str]:
    """Columns that DuckDB's reader does not give as they are.

    Timestamps in milliseconds: it raises at cells beyond microseconds.  Decimals of more than 38 digits: it makes
    floats of them, and two persons one.
    """
    is_ = untyped.arrow().types
    fields = [field for path in paths for field in _parquet(path).schema_arrow]
    coarse = {field.name for field in fields if is_.is_timestamp(field.type) and field.type.unit in ("s", "ms")}
    return frozenset(coarse | {field.name for field in fields if is_.is_decimal256(field.type)})


@dataclass(frozen=True)
class Stream:
    """Batches of columns a0, a1, ..., and their types as in the files."""

    schema: Any
    reader: Any


def parquet_stream(paths: Sequence[Path], columns: Sequence[tuple[str, bool]]) -> Stream:
    """READS ROWS.  Columns of Parquet files by PyArrow, which passes on whatever the cells hold.

    columns: names, and whether their cells must be told from every other (`arrays.plain`).
    """
    pa = untyped.arrow()
    whole = _parquet(paths[0]).schema_arrow
    names = list(dict.fromkeys(name for name, _ in columns))
    schema = pa.schema([whole.field(name) for name, _ in columns])
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
    """Consecutive row groups of at least so many rows, where a file has them: rows, and how a column is read."""

    def read(path: Path, groups: list[int], name: str) -> Any:
        return _parquet(path).read_row_groups(groups, columns=[name]).column(name)  # "a" brings "a.b" too

    for path in paths:
        sizes = _parquet(path).metadata
        groups, rows = list[int](), 0
        for i in range(sizes.num_row_groups):
            groups, rows = [*groups, i], rows + sizes.row_group(i).num_rows
            if rows and (rows >= least or i == sizes.num_row_groups - 1):
                yield rows, partial(read, path, groups)
                groups, rows = [], 0


def _decoded(cells: Any, exact: bool) -> Any:
    """As `plain`, no dictionaries: one file may have them where another has none."""
    encoded = untyped.arrow().types.is_dictionary(cells.type)
    return plain(cells.cast(cells.type.value_type) if encoded else cells, exact=exact)


def same_columns(paths: Sequence[Path]) -> None:
    """SourceError D04 unless all files have the names and types of the first: an engine would find out mid-way."""
    first: dict[str, str] | None = None
    for path in paths:
        relation = parquet([path])
        coarse = streamed([path])
        types = (f"{words} {name in coarse}" for name, words in zip(relation.columns, relation.types, strict=True))
        found = dict(zip(relation.columns, types, strict=True))
        first = found if first is None else first
        if found != first:
            name = next(name for name in (*first, *found) if first.get(name) != found.get(name))
            message = f"column {name!r} of {path} is not that of {paths[0]}: files of one table have the same columns."
            raise SourceError(message, code="D04", hint="write the table again, with one schema")


def arrow_file(path: Path) -> list[tuple[str, Lazy]]:
    """Columns of an Arrow IPC file (or stream), memory-mapped; only those of a query are read."""
    schema = _ipc(path, None).schema
    return [
        (name, Lazy(array_type(schema.field(i).type), lambda i=i: arrow_column(path, i)))
        for i, name in enumerate(schema.names)
    ]


def arrow_rows(path: Path) -> int:
    """READS ROWS.  How many there are in an Arrow IPC file, as it says beside its cells."""
    opened = _ipc(path, None)
    counts = getattr(opened, "count_rows", None)
    return int(counts()) if counts is not None else sum(batch.num_rows for batch in opened)


def arrow_column(path: Path, i: int) -> Any:
    """READS ROWS.  One column, as a chunked array."""
    return _ipc(path, [i]).read_all().column(0)


def _ipc(path: Path, fields: list[int] | None) -> Any:
    pa = untyped.arrow()

    options = pa.ipc.IpcReadOptions(included_fields=fields)
    mapped: Any = pa.memory_map(str(path))
    try:
        return pa.ipc.open_file(mapped, options=options)
    except pa.ArrowInvalid:
        mapped.seek(0)
    return pa.ipc.open_stream(mapped, options=options)

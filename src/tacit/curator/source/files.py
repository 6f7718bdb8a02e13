"""Files -> what an engine reads.  Names, types and footers here; rows only when a query runs.  INSIDE the wall."""

from __future__ import annotations

import atexit
import glob
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacit import untyped
from tacit.curator.source.arrays import Lazy, array_type
from tacit.errors import SourceError


def connection() -> Any:
    """A DuckDB connection of our own, for one query.

    `temp_directory = ''`: confidential rows are never written to disk; sums by public cells need little memory.
    No extension is fetched or loaded: what the wheel has built in will do.
    """
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


atexit.register(_forget)


def parquet(paths: Sequence[Path]) -> Any:
    """Parquet files as one relation, streamed.  Names are taken literally, whatever they contain."""
    names = [glob.escape(str(path)) for path in paths]
    return connection().read_parquet(names, hive_partitioning=False)


def same_columns(paths: Sequence[Path]) -> None:
    """SourceError D04 unless all files have the names and types of the first: an engine would find out mid-way."""
    first: dict[str, str] | None = None
    for path in paths:
        relation = parquet([path])
        found = dict(zip(relation.columns, map(str, relation.types), strict=True))
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

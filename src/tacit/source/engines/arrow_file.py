"""Arrow IPC files and streams, memory-mapped.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacit.base.lazy_imports import arrow
from tacit.source.engine import Engine
from tacit.source.reading.arrow_columns import LazyColumn, array_type
from tacit.source.reading.arrow_engine import ArrowColumns
from tacit.source.reading.column_kinds import check_distinct


def open_engine(paths: Sequence[Path]) -> Engine:
    """The engine of one Arrow file."""
    columns = arrow_file(paths[0])
    check_distinct([name for name, _ in columns])
    return ArrowColumns(dict(columns), lambda: arrow_rows(paths[0]))


def arrow_file(path: Path) -> list[tuple[str, LazyColumn]]:
    """Return the columns of an Arrow IPC file (or stream), memory-mapped; only those of a query are read."""
    schema = _ipc(path, None).schema
    return [
        (name, LazyColumn(array_type(schema.field(i).type), lambda i=i: arrow_column(path, i)))
        for i, name in enumerate(schema.names)
    ]


def arrow_rows(path: Path) -> int:
    """READS ROWS.  Count the rows of an Arrow IPC file from its metadata."""
    opened = _ipc(path, None)
    counts = getattr(opened, "count_rows", None)
    return int(counts()) if counts is not None else sum(batch.num_rows for batch in opened)


def arrow_column(path: Path, i: int) -> Any:
    """READS ROWS.  Return one column as a chunked array."""
    return _ipc(path, [i]).read_all().column(0)


def _ipc(path: Path, fields: list[int] | None) -> Any:
    pa = arrow()

    options = pa.ipc.IpcReadOptions(included_fields=fields)
    mapped: Any = pa.memory_map(str(path))
    try:
        return pa.ipc.open_file(mapped, options=options)
    except pa.ArrowInvalid:
        # the attempt as a file has read on; the two formats are told apart only by trying
        mapped.seek(0)
    return pa.ipc.open_stream(mapped, options=options)

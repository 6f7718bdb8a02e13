"""Delimited text files: cells are text, read as the schema declares them.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import narwhals as nw

from tacit.source.engine import ClusterWork, Engine
from tacit.source.reading import duckdb_cells
from tacit.source.reading import text_files as text
from tacit.source.reading.column_kinds import ColumnType, Reading
from tacit.source.reading.duckdb_connection import connection
from tacit.source.reading.duckdb_query import arrays, batches, collect, project

DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}


def open_engine(paths: Sequence[Path]) -> Engine:
    """The engine of one text file."""
    return TextFile(paths[0], DELIMITERS[paths[0].suffix.lower()])


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
        # one column carries the number of rows where none is asked for
        wanted = list(dict.fromkeys(one.name for one in columns)) or [self._names[0]]
        indices = [self._names.index(name) for name in wanted]
        own = connection()
        made = own.from_arrow(text.cells(self._path, self._delimiter, len(self._names), indices))
        if not columns:
            return nw.from_native(made)
        cells = [duckdb_cells.of_text(one, f"nullif(\"a{wanted.index(one.name)}\", '')") for one in columns]
        return project(made, cells, own.sql("SELECT 1"))  # the stream can be read once

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
        """See `Engine.in_memory`: a file."""

    def pieces(self) -> None:
        """See `Engine.pieces`: lines are read once."""

    def spread(self, frame: Any, columns: int, work: ClusterWork) -> None:
        """See `Engine.spread`: None, since this engine runs on one machine."""

    def counting(self) -> None:
        """See `Engine.counting`: a pass."""

    def probe(self) -> None:
        """See `Engine.probe`: the file is there, with the same names."""
        if text.header(self._path, self._delimiter) != self._names:
            raise OSError("the first line has changed")

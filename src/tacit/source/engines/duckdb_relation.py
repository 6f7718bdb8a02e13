"""DuckDB relations, a user's or the library's own, as an engine.  INSIDE the wall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import narwhals as nw

from tacit.source.engine import ClusterWork, Engine
from tacit.source.reading import duckdb_cells
from tacit.source.reading.column_kinds import ColumnType, Holds, Reading
from tacit.source.reading.duckdb_query import arrays, batches, collect, project
from tacit.source.reading.listed_text import quoted

NUMBERS: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER")
MORE: Final = ("UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE")


def holds(name: str) -> Holds:
    """Return what cells of a DuckDB type are, by its name.

    >>> holds("DECIMAL(10,2)"), holds("ENUM('a', 'b')"), holds("TIMESTAMP WITH TIME ZONE"), holds("INTEGER[]")
    ('number', 'text', 'date', 'other')
    """
    # a list or an array, whose name begins with that of its cells
    if name.endswith("]"):
        return "other"
    if name in (*NUMBERS, *MORE) or name.startswith("DECIMAL("):
        return "number"
    if name == "VARCHAR" or name.startswith("ENUM("):
        return "text"
    if name == "DATE" or name.startswith("TIMESTAMP"):
        return "date"
    return {"BOOLEAN": "boolean", "UUID": "identifier", '"NULL"': "nothing"}.get(name, "other")  # pyright: ignore


def open_engine(relation: Any) -> Engine:
    """The engine of a user's relation, on the user's connection."""
    return DuckDBRelation(lambda _: relation)


class DuckDBRelation:
    """An `Engine` of a DuckDB relation; the library's own are made again for each query.

    make: from the names of the columns that a query needs (None: all of them, for their types) to a relation; DuckDB
    looks at the bounds of every column that a relation names, needed or not, and may fail at one.
    own: its connection is one of `duckdb_connection.connection`, without a collation.
    """

    def __init__(self, make: Callable[[Sequence[str] | None], Any], *, own: bool = False) -> None:
        self._make = make
        self._own = own

    def types(self) -> dict[str, ColumnType]:
        """See `Engine.types`.  DuckDB ignores case in names, so a query could take either column."""
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
        cells = [duckdb_cells.of_table(one, quoted(one.name), found[one.name], own=self._own) for one in columns]
        return project(made, cells)

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
        """See `Engine.in_memory`: rows are the engine's."""

    def pieces(self) -> None:
        """See `Engine.pieces`: a query may give rows in any order."""

    def spread(self, frame: Any, columns: int, work: ClusterWork) -> None:
        """See `Engine.spread`: None, since this engine runs on one machine."""

    def counting(self) -> Callable[[], int] | None:
        """See `Engine.counting`: a pass."""

    def probe(self) -> None:
        """See `Engine.probe`: an open result of a user's connection, a file that is gone."""
        self._make(()).limit(0).fetchall()

"""The interface of engines: what narwhals does not offer, such as types, dates as days, and fetching results.

An engine is a file of `engines/` and a line of `engine_registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.source.reading.column_kinds import ColumnType, Reading

Words = NDArray[np.uint64]
PLACE: Final = "\x00place"
"""The column of a piece that numbers its rows: a name that no table has."""


@dataclass(frozen=True)
class Piece:
    """Consecutive rows of a table with an engine of their own, which adds the column PLACE: 0 to rows - 1."""

    engine: Engine
    rows: int


@dataclass(frozen=True)
class ClusterWork:
    """What the machines of a cluster compute from rows: functions and values that are sent to them.

    Each row has a word, 64 random bits, which decides its block.
    words: (persons, rows) -> words of these rows; persons is an Arrow array, or None where a row is a person.
    numbered: None, or makes a function (first, count) -> words of rows by their number in the table.
    group: words -> the group of blocks of each row.
    answer: (group, its rows, shape (rows, columns), their words) -> results, shape (..., numbers).
    """

    words: Callable[[Any, int], Words]
    numbered: Callable[[], Callable[[int, int], Words]] | None
    group: Callable[[Words], NDArray[np.int64]]
    answer: Callable[[int, NDArray[np.float64], Words], NDArray[np.float64]]
    numbers: int


class Engine(Protocol):
    """A native table of one engine.  Methods that read rows say so; the others read names, types and settings only."""

    def types(self) -> dict[str, ColumnType]:
        """Return names and types of the columns."""
        ...

    def read(self, columns: Sequence[Reading]) -> Any:
        """Return a narwhals frame of all rows, columns c0, c1, ... for the readings; no cell may make it raise."""
        ...

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """READS ROWS.  Return the few rows of an aggregated frame, None where a cell is missing."""
        ...

    def arrays(self, frame: Any) -> dict[str, Any]:
        """READS ROWS.  Return the columns of a frame as NumPy arrays, masked where cells are missing."""
        ...

    def batches(self, frame: Any) -> Iterator[dict[str, Any]] | None:
        """READS ROWS.  Yield the columns of a frame as NumPy arrays, some rows at a time, in no order.

        Floats are NaN where null; no other column has nulls.  None where rows are not to leave the engine.
        """
        ...

    def in_memory(self, columns: Sequence[Reading]) -> Sequence[NDArray[Any]] | None:
        """Return columns that lie in memory as arrays of numbers or Booleans, one for each reading, all of one length.

        As float64 each cell is what `read` gives, NaN where it is missing.  None where a column lies elsewhere.
        """
        ...

    def pieces(self) -> Iterator[Piece] | None:
        """Return consecutive pieces of the rows, the same at every call; None where the order of rows may change."""
        ...

    def spread(self, frame: Any, columns: int, work: ClusterWork) -> dict[int, NDArray[np.float64]] | None:
        """READS ROWS, on the machines of a cluster.  Return the results of `work` by the number of their group.

        frame: made from `read`, with columns v0, v1, ..., and u where there are persons.  None on one machine.
        """
        ...

    def counting(self) -> Callable[[], int] | None:
        """Return a function that counts all rows (READS ROWS) without a pass over them; None where there is none."""
        ...

    def probe(self) -> None:
        """Raise any error where a query could not run now."""
        ...

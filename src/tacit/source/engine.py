"""Engines: the native steps that narwhals has no word for (types, dates as days, listed text, collecting)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.source.column_kinds import ColumnType, Reading

Words = NDArray[np.uint64]
PLACE: Final = "\x00place"
"""The column of a piece that says which of its rows a row is: a name that no table has."""


@dataclass(frozen=True)
class Piece:
    """Some of a table's rows behind an engine of their own, which has the column PLACE: 0 to rows - 1."""

    engine: Engine
    rows: int


@dataclass(frozen=True)
class ClusterWork:
    """What machines of a cluster do with rows: plain functions and values, which travel to them.

    words: of rows from their persons (None: of so many rows), once for each row.  numbered: where rows are counted
    through instead, makes what gives words to so many rows from a number on.  group: the group of each word.
    answer: from a group's number, its rows, shape (rows, columns), and their words to numbers, shape (..., p).
    """

    words: Callable[[Any, int], Words]
    numbered: Callable[[], Callable[[int, int], Words]] | None
    group: Callable[[Words], NDArray[np.int64]]
    answer: Callable[[int, NDArray[np.float64], Words], NDArray[np.float64]]
    numbers: int


class Engine(Protocol):
    """A native table and what its engine needs.  Only `collect` reads rows, in one query."""

    def types(self) -> dict[str, ColumnType]:
        """Names and types, without reading a row."""
        ...

    def read(self, columns: Sequence[Reading]) -> Any:
        """A lazy narwhals frame of all rows with columns c0, c1, ..., one for each reading."""
        ...

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """READS ROWS.  The few rows of an aggregated frame."""
        ...

    def arrays(self, frame: Any) -> dict[str, Any]:
        """READS ROWS.  Columns of integers without missing cells, as NumPy arrays."""
        ...

    def pieces(self) -> Iterator[Piece] | None:
        """The rows in consecutive pieces, the same ones at every call; None where rows have no place that lasts."""
        ...

    def spread(self, frame: Any, columns: int, work: ClusterWork) -> dict[int, NDArray[np.float64]] | None:
        """READS ROWS.  What `work` makes of the rows of each of its groups, where they are: by number of the group.

        frame: of `read`, with columns v0, v1, ..., and u where there are persons.  None on an engine of one machine.
        """
        ...

    def counting(self) -> Callable[[], int] | None:
        """How all rows are counted (READS ROWS), where that takes no pass over them; else None."""
        ...

    def probe(self) -> None:
        """Raises anything where a query could not run now.  No row is read."""
        ...

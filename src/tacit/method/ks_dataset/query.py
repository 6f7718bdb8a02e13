"""The question of a whole data set, as plain values.  No data here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from tacit.base.arguments import described
from tacit.errors import QueryError
from tacit.release.query import Needed, Query
from tacit.release.query_checks import column as _column
from tacit.release.query_checks import condition as _condition

if TYPE_CHECKING:
    from tacit.method.ks_dataset.estimate import KSDatasetRelease  # noqa: F401

CELLS: Final = 100
"""Cells where no number is given."""
MOST_CELLS: Final = 2_000
MOST_SIZE: Final = 5_000
"""Most points of a data set: the time that it takes rises with its size and with the cells."""


@dataclass(frozen=True)
class KSDataset(Query["KSDatasetRelease"]):
    """A whole data set of `size` points whose distribution function is near to that of a column.

    By the exponential mechanism over all data sets, with the distance of Kolmogorov and Smirnov.

    column: of numbers or dates, with bounds.  cells: number of cells of the public grid, from 2 to 2,000, equally wide;
    of whole numbers, days and declared multiples no more than there are values.  size: number of points, from 1 to
    5,000 and, where the number of rows is public, no more than there are rows; "auto": min(n**(2/3), n epsilon / 25),
    from the number of rows (or the size_hint) and the price.
    where: of the rows for which a condition holds.  A row with a missing value is left out.
    With a PrivacyUnit persons are counted: a person's rows weigh one in all.

    All data sets of k points in the cells, up to order, are weighed by exp(-epsilon L / 2), L their distance in rows,
    rounded up; one is drawn exactly, with no approximation.  A `Histogram` of the same price is nearer to the rows: the
    data set is for those who need one, of a few hundred points that belong to nobody.
    Raises QueryError Q01 (column=), Q260 (size=), Q261 (cells=); when planned or released Q10, Q12, Q13, Q82 (a size,
    and no number of rows), Q262 (a size above the number of rows), Q263 (a column of one value).
    Source: lecture notes §5.1; McSherry & Talwar 2007; theory §3.9.

    >>> KSDataset("age", size=200).to_dict()
    {'query': 'KSDataset', 'column': 'age', 'size': 200}
    """

    needed: ClassVar = Needed(("column",), "column of KSDataset: none is named.", 'column = "age"')

    column: str
    size: Any = "auto"
    cells: Any = CELLS
    where: str | None = None

    def __post_init__(self) -> None:
        _column("KSDataset", "column", self.column)
        if self.size is None:
            object.__setattr__(self, "size", "auto")
        if not (isinstance(self.size, str) and self.size == "auto") and not _whole(self.size, 1, MOST_SIZE):
            text = f"size of KSDataset is {described(self.size)}: neither 'auto' nor from 1 to {MOST_SIZE:,}."
            raise QueryError(text, code="Q260", hint="size=400, or leave it out")
        if not _whole(self.cells, 2, MOST_CELLS):
            text = f"cells of KSDataset is {described(self.cells)}: not from 2 to {MOST_CELLS:,}."
            raise QueryError(text, code="Q261", hint=f"cells={CELLS}, or leave it out")
        _condition(self)

    @property
    def points(self) -> int | None:
        """The number of points that is asked for; None for "auto"."""
        return None if self.size == "auto" else int(self.size)

    def to_dict(self) -> dict[str, Any]:
        """Plain values only, defaults left out."""
        words: dict[str, Any] = {"query": "KSDataset", "column": self.column}
        words |= {} if self.points is None else {"size": self.points}
        words |= {} if self.cells == CELLS else {"cells": self.cells}
        return words if self.where is None else {**words, "where": self.where}


def _whole(given: Any, least: int, most: int) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and least <= given <= most

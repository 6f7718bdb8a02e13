"""The question of a range, as plain values.  No data here."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.release.query import Needed, Query
from tacit.release.query_checks import column as _column
from tacit.release.query_checks import probability as _probability

if TYPE_CHECKING:
    from tacit.method.ranges.estimate import RangeRelease  # noqa: F401


@dataclass(frozen=True)
class Range(Query["RangeRelease"]):
    """A cheap range of a column with unknown bounds: two of 1, 2, 5, 10, 20, ... between which most rows lie.

    outside: the part of the rows that may lie beyond them, in all.  The bounds of the schema, if any, are not used.
    With a PrivacyUnit the rows of a person have a total weight of one.
    Raises QueryError Q01, Q74.  Source: McSherry & Talwar 2007.

    >>> Range("income").to_dict()
    {'query': 'Range', 'column': 'income'}
    """

    needed: ClassVar = Needed(("column",), "column of Range: none is named.", 'column = "income"')

    column: str
    outside: Any = Fraction(1, 100)

    def __post_init__(self) -> None:
        _column("Range", "column", self.column)
        object.__setattr__(self, "outside", _probability(self.outside, "outside of Range", "outside=0.01"))

"""The question of data quality, as plain values.  No data here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.release.query import Query
from tacit.release.query_checks import Names
from tacit.release.query_checks import names as _names

if TYPE_CHECKING:
    from tacit.method.quality.estimate import QualityRelease  # noqa: F401


@dataclass(frozen=True)
class DataQuality(Query["QualityRelease"]):
    """The noisy shares of each column's cells that are missing, outside the bounds, or not a declared level.

    columns: names of columns; where none is named, all of the schema but a PrivacyUnit.  The private way to learn that
    codes or units are wrong, or bounds too narrow.  Source: theory §12 (Counts).  Raises QueryError Q01, Q02 (names).

    >>> DataQuality("age").to_dict()
    {'query': 'DataQuality', 'columns': ['age']}
    """

    columns: Names = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _names("DataQuality", "columns", self.columns))

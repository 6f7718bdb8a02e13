"""The question of halves, as plain values.  No data here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tacit.release.query import Query
from tacit.release.query_checks import column

if TYPE_CHECKING:
    from tacit.method.halves.estimate import HalvesRelease  # noqa: F401


@dataclass(frozen=True)
class Halves(Query["HalvesRelease"]):
    """How many rows are in the lower and in the upper half of a column's bounds."""

    groups: ClassVar[str] = "columns"
    column: str

    def __post_init__(self) -> None:
        column("Halves", "column", self.column)

    @property
    def columns(self) -> tuple[str, ...]:
        """The column whose halves are the cells."""
        return (self.column,)

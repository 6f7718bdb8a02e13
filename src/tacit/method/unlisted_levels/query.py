"""The question of levels that nobody listed, as plain values.  No data here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.release.query import Needed, Query
from tacit.release.query_checks import column as _column
from tacit.release.query_checks import condition as _condition

if TYPE_CHECKING:
    from tacit.method.unlisted_levels.estimate import UnlistedLevelsRelease  # noqa: F401


@dataclass(frozen=True)
class UnlistedLevels(Query["UnlistedLevelsRelease"]):
    """The levels of a column of text that enough rows have, with their numbers of rows; nobody has to list them.

    column: a `Text` of the schema.  where: of the rows for which a condition holds.
    A level is shown where its noisy count reaches a threshold, which follows from the price; how many others there are
    is not told, only about how many rows they have together.  Cells that are missing have no level, unless the schema
    says what they stand for.  With a PrivacyUnit a person has a weight of one, divided among the levels of the person's
    rows.  `Count(by=…)` and `Histogram(…)` of a single `Text` ask the same.

    The price is a pair (epsilon, delta), or a share of one: nothing shows unlisted levels without a delta.
    Raises QueryError Q01 (column), Q60 (where=); when planned or released, Q10 (no such column), Q250 (another price),
    Q251 (no text).  Source: Korolova et al. 2009, with normal noise; the proof is in `unlisted_levels.mechanism`.

    >>> import tacit as tc
    >>> tc.UnlistedLevels("diagnosis", where="age >= 65").to_dict()
    {'query': 'UnlistedLevels', 'column': 'diagnosis', 'where': 'age >= 65'}
    """

    own_delta: ClassVar = True
    needed: ClassVar = Needed(("column",), "column of UnlistedLevels: none is named.", 'column = "diagnosis"')

    column: str
    where: str | None = None

    def __post_init__(self) -> None:
        _column("UnlistedLevels", "column", self.column)
        _condition(self)

    @property
    def widens_noise(self) -> bool:
        """True: part of delta is for the threshold, so that a ledger of pairs is charged more than the noise alone."""
        return True

    @property
    def columns(self) -> tuple[Any, ...]:
        """The column."""
        return (self.column,)

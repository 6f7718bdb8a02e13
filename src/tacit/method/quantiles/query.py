"""The question of quantiles, as plain values.  No data here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from tacit.base.arguments import described
from tacit.errors import QueryError
from tacit.release.query import Needed, Query
from tacit.release.query_checks import Bins, Names
from tacit.release.query_checks import bins as _bins
from tacit.release.query_checks import column as _column
from tacit.release.query_checks import condition as _condition
from tacit.release.query_checks import names as _names
from tacit.release.query_checks import probability as _probability

if TYPE_CHECKING:
    from tacit.method.quantiles.estimate import QuantilesRelease  # noqa: F401


MOST_PROBS: Final = 20
LEVEL: Final = 0.95
"""Level of the intervals where none is named."""


@dataclass(frozen=True)
class Quantiles(Query["QuantilesRelease"]):
    """Quantiles of a column at probabilities `probs` between 0 and 1, with values clamped to the schema's bounds.

    by, bins, where: groups and a condition on rows, as for `Mean`.  With a PrivacyUnit (and without `by`): quantiles
    of person means.

    Three steps of a public grid are selected for each: the quantile, and the ends of an interval at `level`, which is
    part of the question.  The three are selected together by the exponential mechanism [McSherry & Talwar 2007]; only
    where the price is so small for the number of groups that this would take long, each for itself, at a pure price by
    permute-and-flip [McKenna & Sheldon 2020].
    Of five quantiles or more, without `by`, all are read from one distribution function where intervals are expected to
    be narrower so: cuts of the column are selected by halving ranges [Kaplan, Schnapp & Stemmer 2022], and the rows
    between them counted with noise.  Limits are cuts, and hold at gaps and heaps, too.
    interval=False: only the quantile is selected, at the whole price; nothing then says how far off it may be.  Many
    of them, at a pure price and without `by`, are selected by halving ranges [Kaplan, Schnapp & Stemmer 2022], where
    the probabilities, price and relation say that they are then nearer to their ranks.
    Raises QueryError Q01 (a name), Q74 (probabilities that are none, or more than 20; a level outside 0.5 to 0.9999,
    or beside interval=False; an interval that is neither True nor False).

    >>> Quantiles("income", [0.25, 0.5, 0.75]).to_dict()
    {'query': 'Quantiles', 'column': 'income', 'probs': ['1/4', '1/2', '3/4']}
    """

    needed: ClassVar = Needed(("column",), "column of Quantiles: none is named.", 'column = "income"')

    column: str
    probs: Sequence[Any] = ()
    by: Names = ()
    bins: Bins = ()
    where: str | None = None
    level: float = LEVEL
    interval: bool = True

    def __post_init__(self) -> None:
        _column("Quantiles", "column", self.column)
        object.__setattr__(self, "by", _names("Quantiles", "by", self.by))
        object.__setattr__(self, "bins", _bins("Quantiles", self.bins, self.by))
        if self.column in self.by:
            raise QueryError(f"column {self.column!r} of Quantiles is also in by.", code="Q02", hint="one or the other")
        _condition(self)
        given: Any = self.probs
        several = isinstance(given, list | tuple)
        listed: tuple[object, ...] = tuple(cast("Sequence[object]", given)) if several else (given,)
        # a list too long to be one of probabilities is not looked into: it may be a column
        few = listed if len(listed) <= MOST_PROBS else ()
        object.__setattr__(self, "probs", tuple(sorted({_probability(p) for p in few})))
        if not self.probs or len(self.probs) < len(listed):
            text = f"probs of Quantiles: from 1 to {MOST_PROBS} different ones are answered."
            raise QueryError(text, code="Q74", hint="probs=[0.25, 0.5, 0.75]")
        level: Any = self.level
        if isinstance(level, bool) or not isinstance(level, int | float) or not 0.5 <= level <= 0.9999:
            text = f"level of Quantiles is {described(level)}: not from 0.5 to 0.9999."
            raise QueryError(text, code="Q74", hint="level=0.95")
        if not isinstance(self.interval, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            text = f"interval of Quantiles is {described(self.interval)}: neither True nor False."
            raise QueryError(text, code="Q74", hint="interval=False")
        if not self.interval and level != LEVEL:
            text = f"level of Quantiles is {level!r}, and interval=False asks for points only."
            raise QueryError(text, code="Q74", hint="leave one of the two out")

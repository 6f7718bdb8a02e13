"""The question of a private bootstrap, as plain values.  No data here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from tacit.base.arguments import described
from tacit.errors import QueryError
from tacit.release.query import Needed, Query, query_from_dict

if TYPE_CHECKING:
    from tacit.method.bootstrap.estimate import BootstrapRelease  # noqa: F401

STATISTICS: Final = ("Count", "Mean", "Sum", "Variance", "SufficientStatistics")
"""Questions whose answer is made of sums over rows."""
MOST: Final = 1_000
"""Most replicates of one question."""


@dataclass(frozen=True)
class Bootstrap(Query["BootstrapRelease"]):
    """Noisy bootstrap replicates of means, sums, counts or moments (Brawner & Honaker 2018), with a certified cost.

    statistic: the question that each replicate answers: Mean, Sum or Variance of one or several columns, or Count, with
    `by` and `where`, but without weights; or SufficientStatistics, of which the means of the statistics are released.
    The cells of a histogram are those of a Count: `Count(by=["age", "sex"], bins={"age": 15})`.
    Several columns share the price; columns computed in the schema, as products are, make other moments.
    replicates: how many bootstrap samples are drawn, each with noise of its own, from 2 to 1,000.

    Where the number of rows is public a sample is as many draws with replacement; otherwise each row is taken a
    Poisson(1) number of times.  Columns with more than 4,096 different values are rounded to as many steps between
    their bounds.  With a PrivacyUnit persons are drawn, not rows: a person in several cells with all of them.

    The price is a pair (epsilon, delta).  More replicates need more noise in each: a plain `Mean` at the same price
    tells nearly always more, with a standard error of its own.
    Raises QueryError Q120 (statistic=), Q121 (replicates=); when planned or released, Q122 for a price or a
    statistic that has no proof.  Source: theory §5; the cost is proven in `tacit.privacy.bootstrap_cost`.

    >>> import tacit as tc
    >>> tc.Bootstrap(tc.Mean("age", by="sex"), replicates=20).to_dict()
    {'query': 'Bootstrap', 'statistic': {'query': 'Mean', 'columns': ['age'], 'by': ['sex']}, 'replicates': 20}
    """

    own_delta: ClassVar = True
    needed: ClassVar = Needed(("statistic",), "statistic of Bootstrap: none is named.", 'statistic = tc.Mean("age")')

    statistic: Query[Any]
    replicates: int = 50

    def __post_init__(self) -> None:
        object.__setattr__(self, "statistic", _statistic(self.statistic))
        k = self.replicates
        if isinstance(k, bool) or not isinstance(k, int) or not 2 <= k <= MOST:  # pyright: ignore[reportUnnecessaryIsInstance]
            message = f"replicates of Bootstrap is {described(k)}: not a whole number from 2 to {MOST:,}."
            raise QueryError(message, code="Q121", hint="replicates=50")

    @property
    def widens_noise(self) -> bool:
        """True: noise is that of the certified cost, which is above the sum of the replicates' own."""
        return True

    @property
    def by(self) -> tuple[str, ...]:
        """Columns whose levels are the cells."""
        return getattr(self.statistic, "by", ())

    @property
    def where(self) -> str | None:
        """The condition on rows."""
        return getattr(self.statistic, "where", None)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are averaged or added up; none of counts."""
        what = getattr(self.statistic, "what", None)
        return getattr(self.statistic, "columns", ()) if what is None else (what,)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, with the statistic's own."""
        return {"query": "Bootstrap", "statistic": self.statistic.to_dict(), "replicates": self.replicates}


def _statistic(given: object) -> Query[Any]:
    """Return the statistic, which a document holds as plain values; QueryError Q120 where it is none."""
    made: Any = given
    if isinstance(given, Mapping):
        words = cast("Mapping[object, Any]", given)
        made = query_from_dict({str(key): value for key, value in words.items()}, asked=True)
    kind, hint = type(made).__name__, 'Bootstrap(Mean("age"))'
    if kind == "Histogram":
        text = "statistic of Bootstrap is a Histogram: the counts of its cells are a Count."
        raise QueryError(text, code="Q120", hint='Bootstrap(Count(by="age", bins={"age": 5}))')
    if not isinstance(made, Query) or kind not in STATISTICS:
        what = f"a {kind}" if isinstance(made, Query) else described(cast(object, given))
        text = f"statistic of Bootstrap is {what}: not one of {', '.join(STATISTICS)}."
        raise QueryError(text, code="Q120", hint=hint)
    asked: Any = made  # pyright: ignore[reportUnknownVariableType]
    if getattr(asked, "weights", None) is not None or getattr(asked, "per", None) is not None:
        text = f"statistic of Bootstrap is a weighted {kind}, which has no bootstrap here."
        raise QueryError(text, code="Q120", hint=hint)
    if getattr(asked, "laplace_draws", 1) != 1:
        text = f"statistic of Bootstrap is a {kind} with laplace_draws; replicates have normal noise."
        raise QueryError(text, code="Q120", hint=hint)
    if getattr(asked, "widens_noise", False):
        text = f"statistic of Bootstrap is {kind} by a method with noise of its own."
        raise QueryError(text, code="Q120", hint='leave method="chen-sung" out')
    if getattr(asked, "interval", True) is False:
        text = "statistic of Bootstrap is a Variance with interval=False, which is no sum over rows."
        raise QueryError(text, code="Q120", hint="leave interval=False out")
    return asked

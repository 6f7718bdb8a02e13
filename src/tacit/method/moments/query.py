"""Questions about counts, sums, means and variances, as plain values.  No data here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tacit.base.arguments import described
from tacit.errors import QueryError
from tacit.noise.averaged_laplace import MOST_DRAWS
from tacit.release.query import Needed, Query
from tacit.release.query_checks import Bins, Names
from tacit.release.query_checks import bins as _bins
from tacit.release.query_checks import column as _column
from tacit.release.query_checks import condition as _condition
from tacit.release.query_checks import flags as _flags
from tacit.release.query_checks import names as _names

if TYPE_CHECKING:
    from tacit.method.moments.estimate import MomentsRelease  # noqa: F401


@dataclass(frozen=True)
class Count(Query["MomentsRelease"]):
    """The number of rows in each cell of `by` (categorical or Boolean columns with public levels).

    bins: for columns of numbers in `by`, how many bins of equal width, or their edges: {"age": [18, 30, 65, 93]}; a
    number alone is of all of them.
    where: rows for which a condition holds, in the words of pandas' `query`: "age >= 18 and sex == 'female'".
    weights: a column of weights, clamped to 0 and its upper bound: the sum of the weights, which estimates how many
    there are in the population.  With a PrivacyUnit a person weighs the mean of the weights of the person's rows.
    Under replace-one the number of all rows is public, so `by`, `where` or `weights` is required; under add-remove it
    is private and `Count()` releases it.  Source: theory §12 (Counts, W).
    laplace_draws: at a price in epsilon, the sum of so many draws of its Laplace noise, from 1 to 64.  The cost is that
    of one draw, and the variance so many times as large: noise of a nearly normal shape, never a narrower interval.
    Raises QueryError Q01, Q02 (names), Q60 (where=), Q64 (bins=), Q131 (laplace_draws=).

    >>> Count(by="sex", where="age >= 18").to_dict()
    {'query': 'Count', 'by': ['sex'], 'where': 'age >= 18'}
    """

    by: Names = ()
    bins: Bins = ()
    where: str | None = None
    weights: str | None = None
    laplace_draws: int = 1

    def __post_init__(self) -> None:
        _draws("Count", self.laplace_draws)
        object.__setattr__(self, "by", _names("Count", "by", self.by))
        object.__setattr__(self, "bins", _bins("Count", self.bins, self.by))
        _condition(self)
        _weights("Count", self.weights, self.by)


@dataclass(frozen=True)
class Sum(Query["MomentsRelease"]):
    """The total of one or several columns, values clamped to the schema's bounds, in each cell of `by`.

    weights: a column of weights, from 0 to its upper bound: the total of weight times value.  With a PrivacyUnit the
    rows of a person count as far as `max_rows` of them would, at the person's mean, and at the mean of their weights.
    Its unit is that of the column.  laplace_draws: as of `Count`.  Source: theory §9, §12.
    Raises QueryError Q01, Q02, Q03 (names), Q60 (where=), Q64 (bins=), Q131 (laplace_draws=).

    >>> Sum("income", by=["region", "sex"], weights="weight").to_dict()
    {'query': 'Sum', 'columns': ['income'], 'by': ['region', 'sex'], 'weights': 'weight'}
    """

    needed: ClassVar = Needed(("columns",), "columns of Sum: none is named.", 'columns = "age"')

    columns: Names
    by: Names = ()
    bins: Bins = ()
    where: str | None = None
    weights: str | None = None
    laplace_draws: int = 1

    def __post_init__(self) -> None:
        _draws("Sum", self.laplace_draws)
        _normalise(self)


@dataclass(frozen=True)
class Mean(Query["MomentsRelease"]):
    """The mean of one or several columns, values clamped to the schema's bounds, in each cell of `by`.

    bins: for columns of numbers in `by`, how many bins of equal width, or their edges.
    where: of the rows for which a condition holds, in the words of pandas' `query`.

    The second moment is released with it at no further cost (theory §9, §12), so every estimate has a standard error
    for both sampling and privacy.  The mean of a Boolean column is a proportion.  Several columns in one question, with
    a price in epsilon and without by=, have less noise than as many questions of one column each (theory §1.1).

    weights: a column of weights, clamped to 0 and its upper bound, the cap: sum(w x) / sum(w) (theory §12 W).  With a
    PrivacyUnit a person weighs the mean of the person's row weights (per="row": their sum, for at most max_rows rows).
    per: with a PrivacyUnit, "person" (the default: the mean of person means) or "row" (persons count by their rows, at
    most max_rows of them).
    laplace_draws: as of `Count`; several columns then have independent noises, each at its share of the price.
    Raises QueryError Q01, Q02, Q03 (names), Q60 (where=), Q64 (bins=), Q70 (per=), Q131 (laplace_draws=).

    >>> Mean(["age", "income"], by="sex").to_dict()
    {'query': 'Mean', 'columns': ['age', 'income'], 'by': ['sex']}
    """

    needed: ClassVar = Needed(("columns",), "columns of Mean: none is named.", 'columns = "age"')

    columns: Names
    by: Names = ()
    bins: Bins = ()
    where: str | None = None
    weights: str | None = None
    per: str | None = None
    laplace_draws: int = 1

    def __post_init__(self) -> None:
        _draws("Mean", self.laplace_draws)
        _normalise(self)
        if self.per not in (None, "person", "row"):
            raise QueryError(
                f"per of Mean is {described(self.per)}: neither person nor row.", code="Q70", hint='per="row"'
            )
        object.__setattr__(self, "per", None if self.per == "person" else self.per)


@dataclass(frozen=True)
class Variance(Query["MomentsRelease"]):
    """The variance of one or several columns, values clamped to the schema's bounds, in each cell of `by`.

    Five Bernstein sums give the first four moments for the price of one count (theory §1.3), so the variance has a
    standard error that assumes no normality.  Its unit is the square of the column's.

    interval=False: one noisy integer, without the fourth moment.  Its noise does not depend on the mean; that of
    interval=True, in multiples of it, is 1.7 with the mean at a bound, 1 a quarter of the way from bound to bound, 0.6
    in the middle.  Standard errors are then the largest that such a column can have; for target="table" they are
    exact.  It takes a price in epsilon and a public number of rows that all count: one cell, replace-one, no where=,
    missing values with a place (`missing="none"`, or a value).  Elsewhere the answer is that of interval=True.
    Raises QueryError Q01, Q02, Q03 (names), Q60 (where=), Q64 (bins=), Q81 (interval=).

    >>> Variance("age", by="age", bins={"age": 3})
    Traceback (most recent call last):
    tacit.errors.QueryError: [Q02] column 'age' of Variance is also in by.  Hint: name each column once.  \
Nothing was read or spent.
    >>> Variance("age", by="sex").to_dict()
    {'query': 'Variance', 'columns': ['age'], 'by': ['sex']}
    """

    needed: ClassVar = Needed(("columns",), "columns of Variance: none is named.", 'columns = "age"')

    columns: Names
    by: Names = ()
    bins: Bins = ()
    where: str | None = None
    interval: bool = True

    def __post_init__(self) -> None:
        _normalise(self)
        _flags("Variance", interval=self.interval)


def _draws(kind: str, given: object) -> None:
    """Check a number of Laplace draws; QueryError Q131."""
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= MOST_DRAWS:
        text = f"laplace_draws of {kind} is {described(given)}: not a whole number from 1 to {MOST_DRAWS}."
        raise QueryError(text, code="Q131", hint="laplace_draws=10")


def _normalise(query: Sum | Mean | Variance) -> None:
    """Check the fields and store names as tuples; QueryError Q01, Q02, Q03, Q60, Q64."""
    kind = type(query).__name__
    object.__setattr__(query, "columns", _names(kind, "columns", query.columns))
    object.__setattr__(query, "by", _names(kind, "by", query.by))
    object.__setattr__(query, "bins", _bins(kind, query.bins, query.by))
    if not query.columns:
        raise QueryError(f"columns of {kind}: none is named.", code="Q03", hint=f'{kind}("age")')
    both = [name for name in query.columns if name in query.by]
    if both:
        raise QueryError(f"column {both[0]!r} of {kind} is also in by.", code="Q02", hint="name each column once")
    _condition(query)
    _weights(kind, getattr(query, "weights", None), (*query.columns, *query.by))


def _weights(kind: str, weights: object, others: Sequence[str]) -> None:
    """Check that the weights are a column that the question does not use otherwise; QueryError Q01, Q02."""
    if weights is not None:
        _column(kind, "weights", weights)
    if weights in others:
        raise QueryError(f"column {weights!r} of {kind} is also its weights.", code="Q02", hint="name each column once")

"""The questions of this version, as plain values: the same words in Python, TOML and release files.  No data here.

A query is a frozen dataclass.  `to_dict` and `query_from_dict` are inverse to each other; unknown kinds and keys are
refused with the nearest known word.  What a query reads and costs is in `tacit.mechanisms`; what its release says is in
`tacit.inference`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from tacit.errors import QueryError, nearest
from tacit.linear.query import Regression as Regression
from tacit.logistic import LogisticBins, worded
from tacit.queries_blocks import SampleAndAggregate
from tacit.queries_statistics import SufficientStatistics
from tacit.query_words import Names
from tacit.query_words import bins as _bins
from tacit.query_words import column as _column
from tacit.query_words import condition as _condition
from tacit.query_words import flags as _flags
from tacit.query_words import names as _names
from tacit.query_words import probability as _probability
from tacit.query_words import threshold as _threshold
from tacit.question import Query as Query

if TYPE_CHECKING:
    from tacit.inference.histogram import HistogramRelease  # noqa: F401
    from tacit.inference.moments import MomentsRelease  # noqa: F401  (the R of each query)
    from tacit.inference.quality import QualityRelease  # noqa: F401
    from tacit.inference.quantiles import QuantilesRelease  # noqa: F401
    from tacit.inference.ranges import RangeRelease  # noqa: F401

MOST_PROBS: Final = 20
Bins: TypeAlias = Mapping[str, int | Sequence[float]] | tuple[tuple[str, Any], ...]
OwnBins: TypeAlias = int | Sequence[float] | LogisticBins | Literal["auto"]
AutoBins: TypeAlias = OwnBins | Mapping[str, OwnBins] | tuple[Any, ...]


@dataclass(frozen=True)
class Count(Query["MomentsRelease"]):
    """Number of rows, in each cell of `by` (categorical or Boolean columns with public levels).

    bins: for columns of numbers in `by`, how many bins of equal width, or their edges: {"age": [18, 30, 65, 93]}.
    where: rows for which a condition holds, in the words of pandas' `query`: "age >= 18 and sex == 'female'".
    weights: a column of weights, clamped to 0 and its upper bound: the sum of the weights, which estimates how many
    there are in the population.  With a PrivacyUnit a person weighs the mean of her rows' weights.
    Under replace-one the number of all rows is public, so `by`, `where` or `weights` is required; under add-remove it
    is private and `Count()` releases it.  Source: theory §12 (Counts, W).
    Raises QueryError Q01, Q02 (names), Q60 (where=), Q64 (bins=).

    >>> Count(by="sex", where="age >= 18").to_dict()
    {'query': 'Count', 'by': ['sex'], 'where': 'age >= 18'}
    """

    by: Names = ()
    bins: Bins = ()
    where: str | None = None
    weights: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", _names("Count", "by", self.by))
        object.__setattr__(self, "bins", _bins("Count", self.bins, self.by))
        _condition(self)
        _weights("Count", self.weights, self.by)


@dataclass(frozen=True)
class Sum(Query["MomentsRelease"]):
    """Total of one or several columns, values clamped to the schema's bounds, in each cell of `by`.

    weights: a column of weights, from 0 to its upper bound: the total of weight times value.  With a PrivacyUnit the
    rows of a person count as far as `max_rows` of them would, at the person's mean, and at the mean of their weights.
    Its unit is that of the column.  Source: theory §9, §12.
    Raises QueryError Q01, Q02, Q03 (names), Q60 (where=), Q64 (bins=).

    >>> Sum("income", by=["region", "sex"], weights="weight").to_dict()
    {'query': 'Sum', 'columns': ['income'], 'by': ['region', 'sex'], 'weights': 'weight'}
    """

    columns: Names
    by: Names = ()
    bins: Bins = ()
    where: str | None = None
    weights: str | None = None

    def __post_init__(self) -> None:
        _normalise(self)


@dataclass(frozen=True)
class Mean(Query["MomentsRelease"]):
    """Mean of one or several columns, values clamped to the schema's bounds, in each cell of `by`.

    bins: for columns of numbers in `by`, how many bins of equal width, or their edges.
    where: of the rows for which a condition holds, in the words of pandas' `query`.

    The second moment is released with it at no further cost (theory §9, §12), so every estimate has a standard error
    for both sampling and privacy.  The mean of a Boolean column is a proportion.

    weights: a column of weights, clamped to 0 and its upper bound, the cap: sum(w x) / sum(w) (theory §12 W).  With a
    PrivacyUnit a person weighs the mean of her rows' weights (per="row": their sum, for at most max_rows of them).
    per: with a PrivacyUnit, "person" (the default: the mean of person means) or "row" (persons count by their rows, at
    most max_rows of them).
    Raises QueryError Q01, Q02, Q03 (names), Q60 (where=), Q64 (bins=), Q70 (per=).

    >>> Mean(["age", "income"], by="sex").to_dict()
    {'query': 'Mean', 'columns': ['age', 'income'], 'by': ['sex']}
    """

    columns: Names
    by: Names = ()
    bins: Bins = ()
    where: str | None = None
    weights: str | None = None
    per: str | None = None

    def __post_init__(self) -> None:
        _normalise(self)
        if self.per not in (None, "person", "row"):
            raise QueryError(f"per of Mean is {self.per!r}: neither person nor row.", code="Q70", hint='per="row"')
        object.__setattr__(self, "per", None if self.per == "person" else self.per)


@dataclass(frozen=True)
class Variance(Query["MomentsRelease"]):
    """Variance of one or several columns, values clamped to the schema's bounds, in each cell of `by`.

    Five Bernstein sums give the first four moments for the price of one count (theory §1.3), so the variance has a
    standard error that assumes no normality.  Its unit is the square of the column's.
    Raises QueryError Q01, Q02, Q03 (names), Q60 (where=), Q64 (bins=).

    >>> Variance("age", by="age", bins={"age": 3})
    Traceback (most recent call last):
    tacit.errors.QueryError: [Q02] column 'age' of Variance is also in by.  Hint: name each column once.  \
Nothing was read or spent.
    >>> Variance("age", by="sex").to_dict()
    {'query': 'Variance', 'columns': ['age'], 'by': ['sex']}
    """

    columns: Names
    by: Names = ()
    bins: Bins = ()
    where: str | None = None

    def __post_init__(self) -> None:
        _normalise(self)


@dataclass(frozen=True)
class DataQuality(Query["QualityRelease"]):
    """How many cells of each column are missing, outside the bounds, or no level: shares, with noise.

    columns: those asked about; all of the schema (but a PrivacyUnit) where none is named.  The lawful way to learn that
    codes or units are wrong, or bounds too narrow.  Source: theory §12 (Counts).  Raises QueryError Q01, Q02 (names).

    >>> DataQuality("age").to_dict()
    {'query': 'DataQuality', 'columns': ['age']}
    """

    columns: Names = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _names("DataQuality", "columns", self.columns))


@dataclass(frozen=True)
class Quantiles(Query["QuantilesRelease"]):
    """Quantiles of a column at probabilities `probs`, between 0 and 1; values clamped to the schema's bounds.

    by, bins, where: in each group, of the rows for which a condition holds, as for `Mean`.  With a PrivacyUnit (and
    without `by`): quantiles of person means.

    Three steps of a public grid are selected for each by the exponential mechanism: the quantile, and the ends of an
    interval at `level`, which is part of the question.  [McSherry & Talwar 2007]
    Raises QueryError Q01 (a name), Q74 (probabilities that are none, or more than 20; a level outside 0.5 to 0.9999).

    >>> Quantiles("income", [0.25, 0.5, 0.75]).to_dict()
    {'query': 'Quantiles', 'column': 'income', 'probs': ['1/4', '1/2', '3/4']}
    """

    column: str
    probs: Sequence[Any] = ()
    by: Names = ()
    bins: Bins = ()
    where: str | None = None
    level: float = 0.95

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
        object.__setattr__(self, "probs", tuple(sorted({_probability(p) for p in listed})))
        if not self.probs or len(self.probs) < len(listed) or len(self.probs) > MOST_PROBS:
            text = f"probs of Quantiles: from 1 to {MOST_PROBS} different ones are answered."
            raise QueryError(text, code="Q74", hint="probs=[0.25, 0.5, 0.75]")
        level: Any = self.level
        if isinstance(level, bool) or not isinstance(level, int | float) or not 0.5 <= level <= 0.9999:
            text = f"level of Quantiles is {level!r}: not from 0.5 to 0.9999."
            raise QueryError(text, code="Q74", hint="level=0.95")


@dataclass(frozen=True)
class Histogram(Query["HistogramRelease"]):
    """Number of rows in every cell of `columns`, crossed: one release, and any number of analyses of it.

    bins: for columns of numbers and dates, how many bins of equal width, or their edges (days in ISO text); an Integer
    of at most 200 values has one bin a value where none are given.  Categories and Booleans have their levels.  Of a
    single column without its name, too: bins=64.  `LogisticBins` are of a Real on the whole line, bounds or none; their
    open ends are the cells "below" and "above".
    "auto", of a column or of all: as many as make fits to the cells most accurate, by the number of rows where it is
    public (or the curator's size_hint) and the price; `plan` names them, and the release's axes have their edges.
    where: of the rows for which a condition holds.  A row whose cell is missing and has no level is in no cell.
    missing: a cell of its own for missing values of every column that would otherwise leave the row out.
    outside: cells "below" and "above" for values of bounded columns outside their bounds, which are otherwise in the
    first and the last bin; infinite ones are below or above, and missing otherwise.
    sparse: for very many cells (up to 2**40): only those whose noisy count is `threshold` or more are released, empty
    cells among them as noise would have it; a public number, by default such that few empty cells are expected to pass.
    With a PrivacyUnit persons are counted: a person's rows weigh one in all.
    Raises QueryError Q01 to Q03, Q60, Q64, Q81 (a flag), Q83 (threshold); when it is planned or released Q80 (a level
    called "missing"), Q82 ("auto" without a number of rows).  Source: Lei 2011, Lemma 2; theory §7.

    >>> Histogram(["age", "sex"], bins={"age": 10}).to_dict()
    {'query': 'Histogram', 'columns': ['age', 'sex'], 'bins': {'age': 10}}
    """

    columns: Names
    bins: AutoBins = ()
    where: str | None = None
    missing: bool = False
    outside: bool = False
    sparse: bool = False
    threshold: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _names("Histogram", "columns", self.columns))
        _flags(missing=self.missing, outside=self.outside, sparse=self.sparse)
        _threshold(self.threshold, sparse=self.sparse)
        if not self.columns:
            raise QueryError("columns of Histogram: none is named.", code="Q03", hint='Histogram("age")')
        bins: Any = dict.fromkeys(self.columns, "auto") if self.bins == "auto" else _of_one(self.columns, self.bins)
        object.__setattr__(self, "bins", _bins("Histogram", bins, self.columns, "columns"))
        _condition(self)


def _of_one(columns: Names, bins: Any) -> Any:
    """Bins of a single column, a number or edges, are its own."""
    number = (isinstance(bins, int) and not isinstance(bins, bool)) or isinstance(bins, LogisticBins) or worded(bins)
    given: tuple[Any, ...] = tuple(cast(Any, bins)) if isinstance(bins, list | tuple) else ()
    edges = bool(given) and not any(isinstance(one, list | tuple) for one in given)
    return {columns[0]: cast(Any, bins)} if len(columns) == 1 and (number or edges) else cast(Any, bins)


@dataclass(frozen=True)
class Range(Query["RangeRelease"]):
    """A cheap range of a column of which nothing is known: bounds from 1, 2, 5, 10, 20, ... that hold most rows.

    outside: the part of the rows that may lie beyond them, in all.  The bounds of the schema, if any, are not used.
    With a PrivacyUnit a person's rows weigh one in all.  Raises QueryError Q01, Q74.  Source: McSherry & Talwar 2007.

    >>> Range("income").to_dict()
    {'query': 'Range', 'column': 'income'}
    """

    column: str
    outside: Any = Fraction(1, 100)

    def __post_init__(self) -> None:
        _column("Range", "column", self.column)
        object.__setattr__(self, "outside", _probability(self.outside, "outside of Range", "outside=0.01"))


def _normalise(query: Sum | Mean | Variance) -> None:
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
    """A column name that is not asked about; QueryError Q01, Q02."""
    if weights is not None:
        _column(kind, "weights", weights)
    if weights in others:
        raise QueryError(f"column {weights!r} of {kind} is also its weights.", code="Q02", hint="name each column once")


KINDS: dict[str, type[Query[Any]]] = {
    cls.__name__: cls
    for cls in (
        Count,
        Sum,
        Mean,
        Variance,
        DataQuality,
        Quantiles,
        Range,
        Histogram,
        Regression,
        SampleAndAggregate,
        SufficientStatistics,
    )
}


def query_from_dict(words: Mapping[str, Any]) -> Query[Any]:
    """Inverse of `Query.to_dict`; raises QueryError for an unknown kind, a missing or an unknown key.

    >>> query_from_dict({"query": "Mean", "columns": "age"}) == Mean("age")
    True
    """
    given = dict(words)
    kind = given.pop("query", None)
    if not isinstance(kind, str) or kind not in KINDS:
        guess = nearest(str(kind), list(KINDS))
        known = ", ".join(KINDS)
        raise QueryError(f"query {kind!r} is not one of {known}.", code="Q04", hint=f'query = "{guess or "Mean"}"')
    names = [f.name for f in fields(cast(Any, KINDS[kind]))]
    for key in given:
        if key not in names:
            guess = nearest(key, names) or names[0]
            raise QueryError(f"{kind} has no {key!r}.", code="Q05", hint=f"{guess} = …")
    if kind in ("Quantiles", "Range") and "column" not in given:
        raise QueryError(f"column of {kind}: none is named.", code="Q03", hint='column = "income"')
    if kind == "SampleAndAggregate" and not {"what", "model"} <= set(given):
        text = "what and model of SampleAndAggregate: both are needed."
        raise QueryError(text, code="Q03", hint='what = "wait", model = { family = "Gamma", … }')
    if kind == "SufficientStatistics" and not {"what", "family"} <= set(given):
        text = "what and family of SufficientStatistics: both are needed."
        raise QueryError(text, code="Q03", hint='what = "wait", family = { family = "Gamma", … }')
    if kind in ("Sum", "Mean", "Variance", "Histogram") and "columns" not in given:
        raise QueryError(f"columns of {kind}: none is named.", code="Q03", hint='columns = "age"')
    if kind == "Regression" and "formula" not in given:
        raise QueryError("formula of Regression: there is none.", code="Q03", hint='formula = "income ~ age"')
    return KINDS[kind](**given)

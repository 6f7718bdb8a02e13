"""The ways in which a question could be answered: another question of Tacit's each, and how its answer is read.

A way that cannot answer is listed with the reason.  Public facts only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, cast

from tacit.errors import TacitError
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.bootstrap.query import Bootstrap
from tacit.method.histogram.query import Histogram
from tacit.method.moments.query import Count, Mean, Sum, Variance
from tacit.method.quantiles.query import Quantiles
from tacit.method.regression.query import Regression
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.plan_expected import Expected
from tacit.method.sufficient_statistics.query import SufficientStatistics
from tacit.planning import claims, way_answers
from tacit.planning.claims import Claim
from tacit.planning.way_answers import Assumed
from tacit.privacy import Cost
from tacit.release.query import Query
from tacit.schema import Boolean, Date, Integer, Real

REPLICATES: Final = 50
"""Replicates of the bootstrap that is compared: those of its default."""
DRAWS: Final = 10
"""Laplace draws that are hardly told from a normal variable."""
NARROWEST: Final = 1_000
"""Of the standard deviation of a normal law: how many times less than its range it may be."""
MODELS: Final = {
    "LinearRegression": "linear",
    "LogisticRegression": "logistic",
    "ProbitRegression": "probit",
    "PoissonRegression": "poisson",
    "GammaRegression": "gamma",
}
"""Model of a Regression, by the family of the same regression in blocks."""

Reader = Callable[[Measurement, Assumed], Sequence[Expected]]


@dataclass(frozen=True)
class Way:
    """One way to answer a question.

    name: in words.  query: what is asked instead; None where nothing could be, for the `reason`.  read: the expected
    precision of its answer, a term for each of the question's.  cost: its price, where it is not the one compared.
    """

    name: str
    claim: Claim
    query: Query[Any] | None
    read: Reader = way_answers.own
    cost: Cost | None = None
    reason: str | None = None


def ways_of(query: Any, public: Public, cost: Cost, law: Any = None) -> tuple[Way, ...]:
    """Return the ways to answer a question, the question itself first; law: one that its column may follow, or None."""
    kind = type(query).__name__
    if kind not in _WAYS:
        return (Way(kind, claims.CELL_COUNTS if kind == "Histogram" else claims.OTHER, query),)
    return tuple(_WAYS[kind](query, public, cost, law))


def _mean(query: Mean, public: Public, cost: Cost, law: Any) -> Iterator[Way]:
    yield Way(_drawn("Mean", query.laplace_draws), _claim(query, claims.SUMS), query)
    yield from _other_noise(query, claims.SUMS, cost)
    yield _moments(query, public, "Histogram, its mean", 0)
    yield from _laws_of_mean(query, public, law)
    yield from _replicates(query)


def _drawn(kind: str, draws: int) -> str:
    return kind if draws == 1 else f"{kind}, {draws} Laplace draws"


def _claim(query: Any, claim: Claim) -> Claim:
    return claim if query.laplace_draws == 1 else claims.AVERAGED


def _sum(query: Sum, public: Public, cost: Cost, law: Any) -> Iterator[Way]:
    yield Way(_drawn("Sum", query.laplace_draws), _claim(query, claims.TOTALS), query)
    yield from _other_noise(query, claims.TOTALS, cost)
    yield _mean_times_rows(query, public)
    yield from _replicates(query)


def _count(query: Count, public: Public, cost: Cost, law: Any) -> Iterator[Way]:
    yield Way(_drawn("Count", query.laplace_draws), _claim(query, claims.COUNTS), query)
    yield from _other_noise(query, claims.COUNTS, cost)
    name = "Histogram, its counts"
    if query.weights is not None or not query.by:
        why = "a histogram counts rows, without weights" if query.weights else "it has no column to count by"
        yield Way(name, claims.CELL_COUNTS, None, reason=why)
    else:
        asked = Histogram(query.by, bins=_bins(query), where=query.where)
        yield Way(name, claims.CELL_COUNTS, asked, way_answers.own)
    yield from _replicates(query)


def _variance(query: Variance, public: Public, cost: Cost, law: Any) -> Iterator[Way]:
    yield Way("Variance", claims.SUMS, replace(query, interval=True))
    alone = "Variance, one integer"
    if cost.noise == "laplace":
        yield Way(alone, claims.SUMS, replace(query, interval=False))
    else:
        yield Way(alone, claims.SUMS, None, reason="it is for prices in epsilon alone")
    yield _moments(query, public, "Histogram, its variance", 1)
    yield Way("Bootstrap", claims.REPLICATES, None, reason="its replicates are of a mean, a sum or counts")


def _quantiles(query: Quantiles, public: Public, cost: Cost, law: Any) -> Iterator[Way]:
    yield Way("Quantiles", claims.SELECTED, replace(query, interval=True))
    if query.level == Quantiles("x", [Fraction(1, 2)]).level:
        yield Way("Quantiles, points alone", claims.POINT, replace(query, interval=False))
    probs = tuple(map(float, query.probs))
    read = way_answers.quantiles_of(query.column, probs, query.by)
    yield _cells(query, public, "Histogram, its quantiles", read)
    why = _no_law(query) or ("no law of the column is named: law=tc.families.Lognormal(…)" if law is None else None)
    if why is not None:
        yield Way("SampleAndAggregate", claims.BLOCKS, None, reason=why)
    else:
        yield from _functions_of_law(query, query.column, law, way_answers.quantiles_by_law(probs))
    yield Way("Bootstrap", claims.REPLICATES, None, reason="its replicates are of a mean, a sum or counts")


def _regression(query: Regression, public: Public, cost: Cost, law: Any) -> Iterator[Way]:
    yield Way("Regression, sums over rows", claims.SCORES, replace(query, method="scores"))
    yield Way("Regression, cells", claims.COUNTED, replace(query, method="cells"))
    yield _fitted_cells(query, public)
    why = "it has no regressions: the noisy products of rows are what those of a linear one are"
    yield Way("SufficientStatistics", claims.STATISTICS, None, reason=why)
    why = "it needs a box for each coefficient: SampleAndAggregate([…], LinearRegression(…)) is compared with this"
    yield Way("SampleAndAggregate", claims.BLOCKS, None, reason=why)
    yield Way("Bootstrap", claims.REPLICATES, None, reason="its replicates are of a mean, a sum or counts")


def _law(query: Any, public: Public, cost: Cost, law: Any) -> Iterator[Way]:
    """Yield the ways to the parameters of a law, of a column or of a regression; the question's own first."""
    ways = list(_ways_of_law(query, public))
    mine = "SufficientStatistics" if isinstance(query, SufficientStatistics) else _called(query)
    yield from sorted(ways, key=lambda one: one.name != mine)


def _called(query: SampleAndAggregate) -> str:
    """Return which way of blocks a question asks for."""
    how = "one step" if query.one_step else "winsorised" if query.winsorize else "blocks"
    return f"SampleAndAggregate, {how}"


def _ways_of_law(query: Any, public: Public) -> Iterator[Way]:
    of_statistics = isinstance(query, SufficientStatistics)
    model = query.family if of_statistics else query.model
    columns = (query.what,) if isinstance(query.what, str) else tuple(query.what)
    kind, law, where = model.words["family"], model.law, query.where
    # a box much wider than the answer costs blocks much: it is the one that the question names
    blocks: Any = SampleAndAggregate(columns, law, where=where) if of_statistics else query
    plain = replace(blocks, method="tuned", one_step=False, winsorize=False)
    names = blocks.parameters or (() if law is None else tuple(law.names))
    read = way_answers.first(len(columns)) if kind in MODELS else way_answers.named(names)
    read = way_answers.own if kind == "Statistic" or law is None else read
    yield Way("SampleAndAggregate, blocks", claims.BLOCKS, plain, read)
    window = replace(plain, winsorize=True, blocks=None)
    yield Way("SampleAndAggregate, winsorised", claims.WINDOWS, window, read)
    if kind in MODELS:
        yield from _regressions_of(columns, MODELS[kind], where, public)
        return
    step = "SampleAndAggregate, one step"
    yield _made(step, claims.STEP, lambda: replace(plain, one_step=True, parameters=(), blocks=None), read)
    yield _statistics(query, columns, law)
    yield _fitted_law(columns, kind, law, names, public, where)


def _statistics(query: Any, columns: Sequence[str], law: Any) -> Way:
    name = "SufficientStatistics"
    if isinstance(query, SufficientStatistics):
        return Way(name, claims.STATISTICS, query)
    if len(columns) > 1 or law is None:
        return Way(name, claims.STATISTICS, None, reason="it has built-in families of one column")
    read = way_answers.named(query.parameters or law.names)
    return _made(name, claims.STATISTICS, lambda: SufficientStatistics(columns[0], law, where=query.where), read)


def _made(name: str, claim: Claim, make: Callable[[], Query[Any]], read: Reader) -> Way:
    """Return a way by a question, with the reason where it cannot be asked."""
    try:
        return Way(name, claim, make(), read)
    except TacitError as problem:
        return Way(name, claim, None, reason=problem.message)


def _fitted_law(
    columns: Sequence[str], kind: str, law: Any, names: Sequence[str], public: Public, where: str | None
) -> Way:
    name = "Histogram, a fit to its cells"
    if len(columns) > 1 or law is None or not set(names) <= set(getattr(law, "histogram_names", ())):
        return Way(name, claims.FITTED_CELLS, None, reason=f"no {kind} law with these parameters is fitted to cells")
    found = dict(public.schema.items()).get(columns[0])
    if not isinstance(found, Real | Integer) or found.lower is None or found.upper is None:
        return Way(name, claims.FITTED_CELLS, None, reason="a histogram needs bounds of the column")
    asked = Histogram(columns[0], bins={columns[0]: "auto"}, where=where)
    return Way(name, claims.FITTED_CELLS, asked, way_answers.fitted_law(columns[0], kind, law, names))


def _regressions_of(columns: Sequence[str], model: str, where: str | None, public: Public) -> Iterator[Way]:
    """Yield the ways to the coefficients of a regression by its formula."""
    if not all(one.isidentifier() for one in columns):
        why = "its columns' names are no words of a formula"
        yield Way("Regression, sums over rows", claims.SCORES, None, reason=why)
        return
    asked = Regression(f"{columns[0]} ~ {' + '.join(columns[1:])}", model=model, where=where)
    yield Way("Regression, sums over rows", claims.SCORES, asked)
    yield _fitted_cells(asked, public)


def _fitted_cells(query: Regression, public: Public) -> Way:
    """Return the way by a model that is fitted to the cells of a histogram."""
    name = "Histogram, a fit to its cells"
    columns = list(dict.fromkeys(query.columns))
    declared = dict(public.schema.items())
    if query.weights is not None:
        return Way(name, claims.FITTED_CELLS, None, reason="a histogram counts rows, without weights")
    if any(one not in declared for one in columns):
        return Way(name, claims.FITTED_CELLS, None, reason="of an expression a histogram has no cells")
    numbers = [one for one in columns if isinstance(declared[one], Real | Integer | Date)]
    asked = Histogram(columns, bins=dict.fromkeys(numbers, "auto"), where=query.where)
    return Way(name, claims.FITTED_CELLS, asked, way_answers.fitted_model(query.formula, query.model))


def _cells(query: Any, public: Public, name: str, read: Reader) -> Way:
    """Return the way by a statistic of the cells of a histogram."""
    columns = getattr(query, "columns", None) or (query.column,)
    declared = dict(public.schema.items())
    why = None
    if getattr(query, "weights", None) is not None or getattr(query, "per", None) is not None:
        why = "a histogram counts rows, without weights"
    elif len(columns) > 1:
        why = "a histogram of several columns has many cells: ask one column at a time"
    elif isinstance(declared.get(columns[0]), Boolean):
        why = "of a Boolean a histogram has two cells, whose shares a Mean tells with less noise"
    elif not isinstance(declared.get(columns[0]), Real | Integer | Date):
        why = "a histogram needs a column of numbers"
    if why is not None:
        return Way(name, claims.CELLS, None, reason=why)
    bins: Any = {**_bins(query), columns[0]: "auto"}
    asked = Histogram((columns[0], *query.by), bins=bins, where=query.where)
    return Way(name, claims.CELLS, asked, read)


def _moments(query: Mean | Variance, public: Public, name: str, place: int) -> Way:
    return _cells(query, public, name, way_answers.moments_of(query.columns[0], place, query.by))


def _bins(query: Any) -> dict[str, Any]:
    return dict(cast("tuple[tuple[str, Any], ...]", query.bins))


def _laws_of_mean(query: Mean, public: Public, law: Any) -> Iterator[Way]:
    """Yield the ways by the law of a column: a normal one within the bounds, where none is named."""
    column = dict(public.schema.items()).get(query.columns[0])
    why = _no_law(query)
    if why is None and isinstance(column, Boolean):
        why = "of a Boolean it is what Mean asks"
    bounded = isinstance(column, Real | Integer) and column.lower is not None and column.upper is not None
    if why is None and law is None and not bounded:
        why = "the mean of a date is the parameter of no law"
    if why is not None:
        yield Way("SufficientStatistics", claims.STATISTICS, None, reason=why)
        yield Way("SampleAndAggregate", claims.BLOCKS, None, reason=why)
        return
    name = query.columns[0]
    if law is not None:
        yield from _functions_of_law(query, name, law, way_answers.mean_by_law)
        return
    from tacit.models.registered_families import Normal

    assert isinstance(column, Real | Integer)
    low, high = float(cast(float, column.lower)), float(cast(float, column.upper))
    normal = Normal(mean=(low, high), sd=((high - low) / NARROWEST, (high - low) / 2))
    read = way_answers.mean_of_normal
    statistics = SufficientStatistics(name, normal, where=query.where)
    yield Way("SufficientStatistics, normal law", claims.STATISTICS, statistics, read)
    blocks = SampleAndAggregate(name, normal, where=query.where, method="tuned")
    yield Way("SampleAndAggregate, normal law, blocks", claims.BLOCKS, blocks, read)
    yield Way("SampleAndAggregate, normal law, one step", claims.STEP, replace(blocks, one_step=True), read)


def _no_law(query: Any) -> str | None:
    """Return why a question about a column is none that the law of the column answers, or None."""
    if query.by or getattr(query, "weights", None) is not None or getattr(query, "per", None) is not None:
        return "a law has no groups and no weights"
    return "a law is of one column" if len(getattr(query, "columns", ("",))) > 1 else None


def _functions_of_law(query: Any, name: str, law: Any, read: Reader) -> Iterator[Way]:
    """Yield the ways by a function of the parameters of a law that is named."""
    blocks = SampleAndAggregate(name, law, where=query.where, method="tuned")
    kind = blocks.model.words["family"]
    yield Way(f"SampleAndAggregate, {kind} law, blocks", claims.BLOCKS, blocks, read)
    step = f"SampleAndAggregate, {kind} law, one step"
    yield _made(step, claims.STEP, lambda: replace(blocks, one_step=True), read)


def _mean_times_rows(query: Sum, public: Public) -> Way:
    """Return the way by a mean and the public number of rows, where all of them count."""
    name = "Mean, times the rows"
    columns: Mapping[str, Any] = dict(public.schema.items())
    missing = any(getattr(columns.get(one), "missing", None) == "exclude" for one in query.columns)
    if public.rows is None or query.by or query.where is not None or query.weights is not None or missing:
        why = "it takes a public number of rows, all of which count: no by=, where=, weights=, and no missing cells"
        return Way(name, claims.SUMS, None, reason=why)
    return Way(name, claims.SUMS, Mean(query.columns), way_answers.times(public.rows))


def _replicates(query: Any) -> Iterator[Way]:
    """Yield the honest bootstrap, at its certified cost."""
    name = f"Bootstrap, {REPLICATES} replicates"
    if len(getattr(query, "columns", ("",))) > 1 or query.weights is not None or getattr(query, "per", None):
        yield Way(name, claims.REPLICATES, None, reason="it takes one column, without weights")
        return
    yield Way(name, claims.REPLICATES, Bootstrap(replace(query, laplace_draws=1), REPLICATES))


def _other_noise(query: Any, claim: Claim, cost: Cost) -> Iterator[Way]:
    """Yield the same sums with noise of another law: at a pair that of its ε alone, at ε the sum of several draws."""
    kind = type(query).__name__
    if cost.noise == "laplace":
        # a question that asks for several draws is compared with one
        other = 1 if query.laplace_draws > 1 else DRAWS
        claim = claims.AVERAGED if other > 1 else claim
        yield Way(_drawn(kind, other), claim, replace(query, laplace_draws=other))
    if cost.kind == "approximate" and cost.epsilon is not None:
        pure = Cost(epsilon=cost.epsilon)
        yield Way(f"{kind}, ε alone", claims.PURE_PART, query, cost=pure)


_WAYS: Final[Mapping[str, Callable[[Any, Public, Cost, Any], Iterator[Way]]]] = {
    "Mean": _mean,
    "Sum": _sum,
    "Count": _count,
    "Variance": _variance,
    "Quantiles": _quantiles,
    "Regression": _regression,
    "SampleAndAggregate": _law,
    "SufficientStatistics": _law,
}
"""The ways of each question, by the name of its class."""
BY_LAW: Final = ("Mean", "Quantiles")
"""Questions that a function of the parameters of a law answers."""

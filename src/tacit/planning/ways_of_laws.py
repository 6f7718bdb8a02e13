"""Ways to the parameters of a law, of a column or of a regression, and to functions of them.  Public facts only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.blocks.resampling import BETWEEN
from tacit.method.moments.query import Mean
from tacit.method.regression.query import Regression
from tacit.method.shared.measurement import Public
from tacit.method.sufficient_statistics.query import SufficientStatistics
from tacit.planning import claims, way_answers
from tacit.planning.way import Reader, Way, made
from tacit.planning.ways_by_cells import fitted_cells, fitted_law
from tacit.privacy import Cost
from tacit.schema import Boolean, Integer, Real

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


def law_parameters(query: Any, public: Public, cost: Cost, law: Any) -> Iterator[Way]:
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
    # resamples tell the variance of plain means of blocks alone
    between = replace(plain, variance=BETWEEN, resamples=None, resample_rows=None)
    window = replace(between, winsorize=True, blocks=None)
    yield Way("SampleAndAggregate, winsorised", claims.WINDOWS, window, read)
    if kind in MODELS:
        yield from _regressions_of(columns, MODELS[kind], where, public)
        return
    step = "SampleAndAggregate, one step"
    yield made(step, claims.STEP, lambda: replace(between, one_step=True, parameters=(), blocks=None), read)
    yield _statistics(query, columns, law)
    yield fitted_law(columns, kind, law, names, public, where)


def _statistics(query: Any, columns: Sequence[str], law: Any) -> Way:
    name = "SufficientStatistics"
    if isinstance(query, SufficientStatistics):
        return Way(name, claims.STATISTICS, query)
    if len(columns) > 1 or law is None:
        return Way(name, claims.STATISTICS, None, reason="it has built-in families of one column")
    read = way_answers.named(query.parameters or law.names)
    return made(name, claims.STATISTICS, lambda: SufficientStatistics(columns[0], law, where=query.where), read)


def _regressions_of(columns: Sequence[str], model: str, where: str | None, public: Public) -> Iterator[Way]:
    """Yield the ways to the coefficients of a regression by its formula."""
    if not all(one.isidentifier() for one in columns):
        why = "its columns' names are no words of a formula"
        yield Way("Regression, sums over rows", claims.SCORES, None, reason=why)
        return
    asked = Regression(f"{columns[0]} ~ {' + '.join(columns[1:])}", model=model, where=where)
    yield Way("Regression, sums over rows", claims.SCORES, asked)
    yield fitted_cells(asked, public)


def laws_of_mean(query: Mean, public: Public, law: Any) -> Iterator[Way]:
    """Yield the ways by the law of a column: a normal one within the bounds, where none is named."""
    column = dict(public.schema.items()).get(query.columns[0])
    why = no_law(query)
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
        yield from functions_of_law(query, name, law, way_answers.mean_by_law)
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


def no_law(query: Any) -> str | None:
    """Return why a question about a column is none that the law of the column answers, or None."""
    if query.by or getattr(query, "weights", None) is not None or getattr(query, "per", None) is not None:
        return "a law has no groups and no weights"
    return "a law is of one column" if len(getattr(query, "columns", ("",))) > 1 else None


def functions_of_law(query: Any, name: str, law: Any, read: Reader) -> Iterator[Way]:
    """Yield the ways by a function of the parameters of a law that is named."""
    blocks = SampleAndAggregate(name, law, where=query.where, method="tuned")
    kind = blocks.model.words["family"]
    yield Way(f"SampleAndAggregate, {kind} law, blocks", claims.BLOCKS, blocks, read)
    step = f"SampleAndAggregate, {kind} law, one step"
    yield made(step, claims.STEP, lambda: replace(blocks, one_step=True), read)

"""`compare`: every method that could answer one question at one price, planned side by side from public facts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

import numpy as np

from tacit.base.arguments import described, named_arguments
from tacit.curator.mechanisms import design
from tacit.errors import QueryError, TacitError
from tacit.estimates.terms import check_level
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.bootstrap.query import Bootstrap
from tacit.method.quantiles.query import Quantiles
from tacit.method.regression.query import Regression
from tacit.method.shared.asked_parameters import asked_parameters
from tacit.method.shared.measurement import Public
from tacit.method.shared.plan_expected import ASSUMED, Expected
from tacit.planning.comparison import ComparedWay, MethodComparison
from tacit.planning.narrower import way_taken
from tacit.planning.plan import checked_neighbors, checked_rows
from tacit.planning.question import PlannedQuestion
from tacit.planning.way_answers import Assumed
from tacit.planning.ways import BY_LAW, Way, ways_of
from tacit.privacy import Cost, Number
from tacit.release.query import Query
from tacit.release.query_checks import of_numbers
from tacit.schema import Schema
from tacit.schema.expectations import Expect, Expectations

INDEPENDENT: Final = "assumed: a response that depends on no regressor; where it does, intervals are narrower"
TOO_NOISY: Final = "the noise is too large for an answer at this price"


@named_arguments(QueryError, "Q05", "compare")
def compare(
    question: Query[Any] | str,
    schema: Schema | Mapping[str, Any],
    *,
    rows: int | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    level: float = 0.95,
    neighbors: str = "replace-one",
    expect: Expect | None = None,
    law: Any = None,
) -> MethodComparison:
    """Every method that could answer a question at one price, side by side, without data.

    question: a query, or a formula, "income ~ age + sex", which stands for a linear `Regression`.  Of a `Bootstrap` its
    statistic is compared.
    rows: the number of rows (public under replace-one; a guess otherwise).  The price is `rho=`, `epsilon=`, or
    `epsilon=` with `delta=`; each way is planned at all of it.  expect: what is known of columns, as in `plan`.
    law: one that the column of a mean or of quantiles may follow, `tc.families.Lognormal(…)`, for ways by it, too.

    For each way: the expected width of its interval over that of the narrowest, and over that of the question's own
    answer without privacy; both standard errors; what its interval claims, and on which page of the reference that was
    measured; its cost; what else it gives, and where it is poor.  Ways that cannot answer are listed with the reason.
    Widths are those of plans: on the tables of the page on plans, nine of ten lie within a factor 1.5 of releases'.
    Raises QueryError Q04 for what is no question, Q130 for a question without a way to compare, Q41 and Q42 and
    BudgetError as `plan` does, and what `plan` raises of the query itself.

    >>> from tacit import Real, Schema
    >>> schema = Schema({"wage": Real(0, 100), "age": Real(18, 93)})
    >>> made = compare("wage ~ age", schema, rows=10_000, rho=0.1)
    >>> sorted(one.name for one in made.ways if one.answers)
    ['Histogram, a fit to its cells', 'Regression, sums over rows']
    """
    cost = Cost.of(epsilon=epsilon, delta=delta, rho=rho)
    return compare_at(cost, question, schema, rows=rows, level=level, neighbors=neighbors, expect=expect, law=law)


def compare_at(
    cost: Cost,
    question: Query[Any] | str,
    schema: Schema | Mapping[str, Any],
    *,
    rows: int | None,
    level: float = 0.95,
    neighbors: str = "replace-one",
    expect: Expect | None = None,
    law: Any = None,
    name: str = "",
    asks: Mapping[str, Query[Any]] | None = None,
) -> MethodComparison:
    """`compare` at a share of a file's price; name: of the question in the file, asks: all questions of the file."""
    declared = schema if isinstance(schema, Schema) else Schema(schema)
    checked_neighbors(neighbors)
    size = checked_rows(rows, neighbors)
    check_level(level)
    query = of_numbers(_query(question), declared)
    asked = query if law is None else _of_law(query, law)
    known = Expectations.of(expect, declared, asked_parameters({**(asks or {}), name: asked})).of_question(name)
    public = Public(declared, neighbors, size if neighbors == "replace-one" else None, rows)
    assumed = Assumed(size, query.level if isinstance(query, Quantiles) else level, known)

    shape = design(query, public, cost)  # raises what is wrong with the question itself
    found = [_planned(way, public, cost, assumed) for way in ways_of(query, public, cost, law)]
    reference = _reference(found)
    made = [_compared(way, terms, reference, assumed) for way, terms in found]
    called = f"{name}: {PlannedQuestion('', shape, ()).asked}" if name else PlannedQuestion("", shape, ()).asked
    notes = (*_assumed_words(known), *_of_regression(query, public, cost))
    made.sort(key=lambda one: one.ratio)
    return MethodComparison(called, query, size, rows is None, cost, assumed.level, tuple(made), notes)


def _query(question: object) -> Query[Any]:
    """Return the question that is compared; QueryError Q04."""
    if isinstance(question, str) and "~" in question:
        return Regression(question)
    if isinstance(question, Bootstrap):
        return question.statistic
    if not isinstance(question, Query):
        hint = f'tc.Mean("{question}")' if isinstance(question, str) and question.isidentifier() else 'tc.Mean("age")'
        text = f"{described(question)} is no question, and no formula with ~."
        raise QueryError(text, code="Q04", hint=hint)
    return cast("Query[Any]", question)


def _of_law(query: Any, law: object) -> Query[Any]:
    """Return the question of the parameters of a law of the question's column; QueryError Q130 where there is none."""
    kind = type(query).__name__
    if kind not in BY_LAW or len(getattr(query, "columns", ("",))) > 1:
        text = f"law= of compare: no function of a law answers this {kind}."
        raise QueryError(text, code="Q130", hint="leave law= out, or ask a mean or quantiles of one column")
    return SampleAndAggregate(query.column if kind == "Quantiles" else query.columns[0], law)


def _of_regression(query: Query[Any], public: Public, cost: Cost) -> tuple[str, ...]:
    """Return what is assumed of a regression, and in words what its method="auto" would take."""
    if not isinstance(query, Regression):
        return ()
    asked = replace(query, method="auto")
    found = way_taken(asked, design(asked, public, cost), public)
    return (INDEPENDENT, *(() if found is None else (found,)))


def _planned(way: Way, public: Public, cost: Cost, assumed: Assumed) -> tuple[Way, tuple[Expected, ...]]:
    """Return the way with its price and the expected precision of its terms, or with the reason that it has none."""
    if way.query is None:
        return way, ()
    try:
        shape = design(way.query, public, way.cost or cost)
        return replace(way, cost=way.cost or cost), tuple(way.read(shape, assumed))
    except TacitError as problem:
        return replace(way, query=None, reason=problem.message.rstrip(".")), ()


def _reference(found: Sequence[tuple[Way, tuple[Expected, ...]]]) -> tuple[Expected, ...]:
    """Return the terms whose widths without privacy the others are compared with: the first ones that have them."""
    told = (terms for _, terms in found if terms and all(0 < one.without < math.inf for one in terms))
    whole = (terms for _, terms in found if terms and all(0 < one.width < math.inf for one in terms))
    # without sampling errors, as of what nothing is expected to be missing, the noise alone is compared
    return next(told, tuple(replace(one, without=one.width) for one in next(whole, ())))


def _compared(way: Way, terms: tuple[Expected, ...], reference: tuple[Expected, ...], assumed: Assumed) -> ComparedWay:
    """Return a way with its ratio to the answer without privacy; without one where a term has no answer."""
    made = ComparedWay(way.name, way.claim, way.query, way.cost, (), math.inf, way.reason)
    if not terms or len(terms) != len(reference):
        return made if way.reason is not None else replace(made, reason=TOO_NOISY)
    terms = tuple(_completed(one, other, assumed) for one, other in zip(terms, reference, strict=True))
    widths = np.array([one.width for one in terms]) / np.array([one.without for one in reference])
    ratio = float(np.sqrt((widths**2).mean())) if np.isfinite(widths).all() else math.inf
    return replace(made, terms=terms, ratio=ratio, reason=way.reason if math.isfinite(ratio) else TOO_NOISY)


def _completed(one: Expected, other: Expected, assumed: Assumed) -> Expected:
    """Return a term with the sampling error of the reference where its own plan knows none, or no standard error."""
    if math.isnan(one.privacy):
        share = max(0.0, 1 - (other.without / one.width) ** 2) if one.width > 0 else 0.0
        return replace(one, term=other.term, without=other.without, privacy=share)
    if one.without > 0 or not math.isfinite(one.width):
        return replace(one, term=other.term)
    noise, sampling = one.std_error * math.sqrt(one.privacy), other.without / assumed.z
    error = math.hypot(noise, sampling)
    share = (noise / error) ** 2
    return replace(one, term=other.term, width=assumed.z * error, std_error=error, privacy=share, without=other.without)


def _assumed_words(known: Expectations) -> tuple[str, ...]:
    columns = known.columns
    return (
        f"assumed: as expected: {', '.join(columns)}; of other columns: {ASSUMED}"
        if columns
        else f"assumed: {ASSUMED}",
    )

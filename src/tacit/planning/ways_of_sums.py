"""Ways to means, sums, counts, variances and cells: with other noise, from cells, by a law, by replicates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from tacit.method.bootstrap.query import Bootstrap
from tacit.method.histogram.query import Histogram
from tacit.method.moments.query import Count, Mean, Sum, Variance
from tacit.method.shared.measurement import Public
from tacit.planning import claims, way_answers
from tacit.planning.claims import Claim
from tacit.planning.way import Way
from tacit.planning.ways_by_cells import bins_of, counts_of, moments
from tacit.planning.ways_of_laws import laws_of_mean
from tacit.privacy import Cost

REPLICATES: Final = 50
"""Replicates of the bootstrap that is compared: those of its default."""
DRAWS: Final = 10
"""Laplace draws that are hardly told from a normal variable."""


def mean(query: Mean, public: Public, cost: Cost, law: Any) -> Iterator[Way]:
    """Yield the ways to a mean, the question itself first."""
    yield Way(_drawn("Mean", query.laplace_draws), _claim(query, claims.SUMS), query)
    yield from _other_noise(query, claims.SUMS, cost)
    yield moments(query, public, "Histogram, its mean", 0)
    yield from laws_of_mean(query, public, law)
    yield from replicates(query)


def sum_(query: Sum, public: Public, cost: Cost, law: Any) -> Iterator[Way]:
    """Yield the ways to a sum, the question itself first."""
    yield Way(_drawn("Sum", query.laplace_draws), _claim(query, claims.TOTALS), query)
    yield from _other_noise(query, claims.TOTALS, cost)
    yield _mean_times_rows(query, public)
    yield from replicates(query)


def count(query: Count, public: Public, cost: Cost, law: Any) -> Iterator[Way]:
    """Yield the ways to counts, the question itself first."""
    yield Way(_drawn("Count", query.laplace_draws), _claim(query, claims.COUNTS), query)
    yield from _other_noise(query, claims.COUNTS, cost)
    name = "Histogram, its counts"
    if query.weights is not None or not query.by:
        why = "a histogram counts rows, without weights" if query.weights else "it has no column to count by"
        yield Way(name, claims.CELL_COUNTS, None, reason=why)
    else:
        asked = Histogram(query.by, bins=bins_of(query), where=query.where)
        yield Way(name, claims.CELL_COUNTS, asked, way_answers.own)
    yield from replicates(query)


def cell_counts(query: Histogram, public: Public, cost: Cost, law: Any) -> Iterator[Way]:
    """Yield the ways to the counts of cells, the question itself first."""
    yield Way("Histogram", claims.CELL_COUNTS, query)
    name, same = "Count, by its columns", counts_of(query)
    if isinstance(same, str):
        yield Way(name, claims.COUNTS, None, reason=same)
        yield Way(f"Bootstrap, {REPLICATES} replicates", claims.REPLICATES, None, reason=same)
        return
    yield Way(name, claims.COUNTS, same)
    yield from replicates(same)


def variance(query: Variance, public: Public, cost: Cost, law: Any) -> Iterator[Way]:
    """Yield the ways to a variance, the question itself first."""
    yield Way("Variance", claims.SUMS, replace(query, interval=True))
    alone = "Variance, one integer"
    if cost.noise == "laplace":
        yield Way(alone, claims.SUMS, replace(query, interval=False))
    else:
        yield Way(alone, claims.SUMS, None, reason="it is for prices in epsilon alone")
    yield moments(query, public, "Histogram, its variance", 1)
    yield from replicates(replace(query, interval=True))


def _mean_times_rows(query: Sum, public: Public) -> Way:
    """Return the way by a mean and the public number of rows, where all of them count."""
    name = "Mean, times the rows"
    columns: Mapping[str, Any] = dict(public.schema.items())
    missing = any(getattr(columns.get(one), "missing", None) == "exclude" for one in query.columns)
    if public.rows is None or query.by or query.where is not None or query.weights is not None or missing:
        why = "it takes a public number of rows, all of which count: no by=, where=, weights=, and no missing cells"
        return Way(name, claims.SUMS, None, reason=why)
    return Way(name, claims.SUMS, Mean(query.columns), way_answers.times(public.rows))


def replicates(query: Any) -> Iterator[Way]:
    """Yield the honest bootstrap, at its certified cost."""
    name = f"Bootstrap, {REPLICATES} replicates"
    if getattr(query, "weights", None) is not None or getattr(query, "per", None):
        yield Way(name, claims.REPLICATES, None, reason="it takes sums without weights")
        return
    statistic = replace(query, laplace_draws=1) if hasattr(query, "laplace_draws") else query
    yield Way(name, claims.REPLICATES, Bootstrap(statistic, REPLICATES))


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


def _drawn(kind: str, draws: int) -> str:
    return kind if draws == 1 else f"{kind}, {draws} Laplace draws"


def _claim(query: Any, claim: Claim) -> Claim:
    return claim if query.laplace_draws == 1 else claims.AVERAGED

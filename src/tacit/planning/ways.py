"""The ways in which a question could be answered: another question of Tacit's each, and how its answer is read.

A way that cannot answer is listed with the reason.  Public facts only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from tacit.method.quantiles.query import Quantiles
from tacit.method.regression.query import Regression
from tacit.method.shared.measurement import Public
from tacit.planning import claims, way_answers, ways_of_sums
from tacit.planning.way import Way
from tacit.planning.ways_by_cells import cells, fitted_cells
from tacit.planning.ways_of_laws import functions_of_law, law_parameters, no_law
from tacit.privacy import Cost

OF_SUMS: Final = "its replicates are of sums over rows"
"""Why a question has no bootstrap."""


def ways_of(query: Any, public: Public, cost: Cost, law: Any = None) -> tuple[Way, ...]:
    """Return the ways to answer a question, the question itself first; law: one that its column may follow, or None."""
    kind = type(query).__name__
    if kind not in _WAYS:
        return (Way(kind, claims.OTHER, query),)
    return tuple(_WAYS[kind](query, public, cost, law))


def _quantiles(query: Quantiles, public: Public, cost: Cost, law: Any) -> Iterator[Way]:
    yield Way("Quantiles", claims.SELECTED, replace(query, interval=True))
    if query.level == Quantiles("x", [Fraction(1, 2)]).level:
        yield Way("Quantiles, points alone", claims.POINT, replace(query, interval=False))
    probs = tuple(map(float, query.probs))
    read = way_answers.quantiles_of(query.column, probs, query.by)
    yield cells(query, public, "Histogram, its quantiles", read)
    why = no_law(query) or ("no law of the column is named: law=tc.families.Lognormal(…)" if law is None else None)
    if why is not None:
        yield Way("SampleAndAggregate", claims.BLOCKS, None, reason=why)
    else:
        yield from functions_of_law(query, query.column, law, way_answers.quantiles_by_law(probs))
    yield Way("Bootstrap", claims.REPLICATES, None, reason=OF_SUMS)


def _regression(query: Regression, public: Public, cost: Cost, law: Any) -> Iterator[Way]:
    yield Way("Regression, sums over rows", claims.SCORES, replace(query, method="scores"))
    yield Way("Regression, cells", claims.COUNTED, replace(query, method="cells"))
    yield fitted_cells(query, public)
    why = "it has no regressions: the noisy products of rows are what those of a linear one are"
    yield Way("SufficientStatistics", claims.STATISTICS, None, reason=why)
    why = "it needs a box for each coefficient: SampleAndAggregate([…], LinearRegression(…)) is compared with this"
    yield Way("SampleAndAggregate", claims.BLOCKS, None, reason=why)
    yield Way("Bootstrap", claims.REPLICATES, None, reason=OF_SUMS)


_WAYS: Final[Mapping[str, Callable[[Any, Public, Cost, Any], Iterator[Way]]]] = {
    "Mean": ways_of_sums.mean,
    "Sum": ways_of_sums.sum_,
    "Count": ways_of_sums.count,
    "Histogram": ways_of_sums.cell_counts,
    "Variance": ways_of_sums.variance,
    "Quantiles": _quantiles,
    "Regression": _regression,
    "SampleAndAggregate": law_parameters,
    "SufficientStatistics": law_parameters,
}
"""The ways of each question, by the name of its class."""
BY_LAW: Final = ("Mean", "Quantiles")
"""Questions that a function of the parameters of a law answers."""

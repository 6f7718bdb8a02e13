"""Ways by the cells of a histogram: a statistic of them, or a model that is fitted to them.  Public facts only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from tacit.method.histogram.query import Histogram
from tacit.method.moments.query import Count, Mean, Variance
from tacit.method.regression.query import Regression
from tacit.method.shared.measurement import Public
from tacit.planning import claims, way_answers
from tacit.planning.way import Reader, Way
from tacit.schema import Boolean, Date, Integer, Real


def cells(query: Any, public: Public, name: str, read: Reader) -> Way:
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
    bins: Any = {**bins_of(query), columns[0]: "auto"}
    asked = Histogram((columns[0], *query.by), bins=bins, where=query.where)
    return Way(name, claims.CELLS, asked, read)


def moments(query: Mean | Variance, public: Public, name: str, place: int) -> Way:
    """Return the way by a moment of the cells: the mean at place 0, the variance at 1."""
    return cells(query, public, name, way_answers.moments_of(query.columns[0], place, query.by))


def fitted_law(
    columns: Sequence[str], kind: str, law: Any, names: Sequence[str], public: Public, where: str | None
) -> Way:
    """Return the way by a law of one column that is fitted to the cells of a histogram."""
    name = "Histogram, a fit to its cells"
    if len(columns) > 1 or law is None or not set(names) <= set(getattr(law, "histogram_names", ())):
        return Way(name, claims.FITTED_CELLS, None, reason=f"no {kind} law with these parameters is fitted to cells")
    found = dict(public.schema.items()).get(columns[0])
    if not isinstance(found, Real | Integer) or found.lower is None or found.upper is None:
        return Way(name, claims.FITTED_CELLS, None, reason="a histogram needs bounds of the column")
    asked = Histogram(columns[0], bins={columns[0]: "auto"}, where=where)
    return Way(name, claims.FITTED_CELLS, asked, way_answers.fitted_law(columns[0], kind, law, names))


def fitted_cells(query: Regression, public: Public) -> Way:
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


def counts_of(query: Histogram) -> Count | str:
    """Return the counts that are the cells of a histogram, or why there are none."""
    bins = bins_of(query)
    if query.missing or query.outside:
        return "it has no cells for missing values, nor for those beyond the bounds"
    if query.sparse:
        return "it releases all cells, of which a sparse histogram has too many"
    if not all(isinstance(one, int | tuple) for one in bins.values()):
        return "it needs numbers of bins, or their edges"
    return Count(by=query.columns, bins=bins, where=query.where)


def bins_of(query: Any) -> dict[str, Any]:
    """Return the bins that a question names, by column."""
    return dict(cast("tuple[tuple[str, Any], ...]", query.bins))

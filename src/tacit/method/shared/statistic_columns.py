"""Columns of sufficient statistics: how each is made of a table's column, and put on its grid.  No data here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol, cast

import numpy as np

from tacit.errors import QueryError
from tacit.models.sufficient_statistics import Bounds, SufficientStatistic
from tacit.rows.row_map import GRID, RowMap
from tacit.schema import Boolean, Integer, Real, Schema
from tacit.schema.predicates.computed_columns import Computed
from tacit.schema.predicates.numeric_expressions import Applied, ColumnCell, Fixed, Number, Operation, cell_of
from tacit.schema.row_maps_of_columns import column_of, rowmap


class AskedStatistics(Protocol):
    """What a question for sufficient statistics says of them: a column, and bounds by name."""

    @property
    def what(self) -> str:
        """The column."""
        ...

    @property
    def bounds(self) -> Any:
        """Pairs of a name and its two bounds."""
        ...

    @property
    def statistics(self) -> tuple[SufficientStatistic, ...] | None:
        """The statistics of a row."""
        ...


def mapped(
    query: AskedStatistics, schema: Schema, given: SufficientStatistic
) -> tuple[RowMap, SufficientStatistic, Computed | None]:
    """Return the map of a statistic to its grid; that of the table's column where the statistic is the row itself."""
    column, bounds = column_of(schema, query.what), dict(query.bounds)
    if not isinstance(column, Boolean | Integer | Real):
        text = f"column {query.what!r} of SufficientStatistics is a {type(column).__name__}: no family is of such rows."
        raise QueryError(text, code="Q11", hint="a Real, Integer or Boolean column")
    bounded = isinstance(column, Boolean) or column.lower is not None
    # the column's own grid: whole numbers are then exact, and no column is computed
    if given.outer == "itself" and given.inner == "row" and query.what not in bounds and bounded:
        return rowmap(schema, query.what), given, None
    inner = _inner(query, column, given)
    statistic = given.within(inner)
    own = statistic.bounds(inner)
    cell = _cell(schema, query.what, statistic, own)
    label = statistic.spelled(query.what)
    computed = Computed(f"= {label} = {own[0]!r} to {own[1]!r}", _number(statistic, cell), (cell,))
    at = RowMap(label, computed.source, "real", own[0], own[1], GRID)
    if cell.missing is None:
        return at, statistic, computed
    # a declared missing value counts as the statistic of that value, on the statistic's grid
    place, _ = at.numpy(statistic.values(np.array([cell.missing]), own))
    return replace(at, missing=int(place[0])), statistic, computed


def _inner(query: AskedStatistics, column: Boolean | Integer | Real, given: SufficientStatistic) -> Bounds:
    """Return where y is clamped: the bounds given for y, or those that follow from the column's; QueryError Q115."""
    bounds, name = dict(query.bounds), given.inner_spelled(query.what)
    if name in bounds:
        found = cast(Bounds, bounds[name])
        if given.inner != "row" and max(map(abs, found)) > 40:
            text = f"bounds of {name!r}: {found[0]:g} to {found[1]:g} is beyond what a log is told from, -40 to 40."
            raise QueryError(text, code="Q115", hint=f'bounds={{"{name}": (-5, 5)}}')
        return _shaped(given, found, name)
    low, high = bounds.get(query.what, (getattr(column, "lower", 0), getattr(column, "upper", 1)))
    if low is None or high is None:
        text = f"column {query.what!r} has no bounds, and SufficientStatistics needs those of {name}."
        raise QueryError(text, code="Q115", hint=f'bounds={{"{name}": (-5, 5)}}')
    if given.inner == "row":
        return _shaped(given, (float(low), float(high)), name)
    # log(1 - x) falls in x: its bounds come from the opposite ends
    low, high = (low, high) if given.inner == "log" else (1 - high, 1 - low)
    if low <= 0:
        text = f"bounds of {query.what!r}: {name} is not bounded by them."
        raise QueryError(text, code="Q115", hint=f'bounds={{"{name}": (-5, 5)}}')
    return _shaped(given, (float(np.log(low)), float(np.log(high))), name)


def _shaped(given: SufficientStatistic, inner: Bounds, name: str) -> Bounds:
    if given.outer == "power" and inner[0] < 0:
        text = f"bounds of {name!r}: {inner[0]:g} is below 0, where no row of the family is."
        raise QueryError(text, code="Q115", hint=f'bounds={{"{name}": (0, {inner[1]:g})}}')
    return inner


def _cell(schema: Schema, name: str, statistic: SufficientStatistic, own: Bounds) -> ColumnCell:
    """Return the column as the statistic reads it, clamped to the rows at which the statistic reaches its bounds."""
    low, high = statistic.row_bounds(statistic.inner_bounds(own))
    cell = replace(cell_of(schema, name), lower=low, upper=high)
    # clamped as any row: a declared value beyond the bounds must not make the statistic leave its own
    return cell if cell.missing is None else replace(cell, missing=min(max(cell.missing, low), high))


def _number(statistic: SufficientStatistic, cell: ColumnCell) -> Number:
    """Return the arithmetic of a row, the same on every engine."""
    y: Number = cell
    if statistic.inner != "row":
        y = Applied("log", cell if statistic.inner == "log" else Operation("-", Fixed(1.0), cell))
    match statistic.outer:
        case "itself":
            return y
        case "square":
            return Operation("**", Operation("-", y, Fixed(cast(float, statistic.at))), Fixed(2.0))
        case "distance":
            return Applied("abs", Operation("-", y, Fixed(cast(float, statistic.at))))
        case "power":
            return y if statistic.at == 1 else Operation("**", y, Fixed(cast(float, statistic.at)))

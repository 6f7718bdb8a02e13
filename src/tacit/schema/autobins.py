"""How many bins, from public facts alone: the mean-squared-error rule of fits to cells (theory §7, K)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tacit.schema.column_types import Date, Integer, Real
from tacit.schema.logistic_bins import MOST_BINS
from tacit.schema.row_maps_of_columns import column_of
from tacit.schema.table_schema import Schema

AUTO: Final = "auto"
LEAST: Final = 4
"""Bins of a column at least: with fewer, the correction for binning has no differences to go by."""


def alpha_of(spread: float) -> float:
    """The alpha of theory §7 whose noise under replace-one, of variance 8 / alpha**2, has this standard deviation."""
    return math.sqrt(8) / spread


def advised(n: float, alpha: float, continuous: int) -> int:
    """Bins a column that make the mean squared error of corrected fits smallest: (n alpha)**(2 / (d + 8)), at least 2.

    n: rows (persons).  continuous: d, how many columns are binned.  Source: theory §7, K.

    >>> advised(250_000, 1.0, 2), advised(250_000, 0.1, 2)
    (12, 8)
    """
    return max(2, round((n * alpha) ** (2 / (continuous + 8))))


@dataclass(frozen=True)
class Size:
    """What is public when bins are chosen: n rows (persons), alpha as in `alpha_of`, how many cells there may be."""

    n: float
    alpha: float
    most: int


def resolved(
    schema: Schema, columns: tuple[str, ...], bins: Mapping[str, Any], size: Size, others: int, extra: int
) -> dict[str, Any]:
    """`bins` with a number, or edges, for "auto".

    others: product of the numbers of cells of all other columns.  extra: cells that each column has beside its bins.
    A Real or Date has as many bins of equal width as `advised` says, but no more than leave 2 / alpha rows a cell (and
    at least LEAST); an Integer as many whole numbers in each bin, or one where that is few; a Category or a Boolean its
    levels, so that its "auto" is left out.  d counts the columns that have bins, those with bins of their own too.
    """
    numbers = [name for name in columns if isinstance(column_of(schema, name), Real | Integer | Date)]
    auto = [name for name in numbers if bins.get(name) == AUTO]
    fixed = {name: edges for name, edges in bins.items() if edges != AUTO}
    chosen: dict[str, Any] = {}
    alone: dict[str, float] = {}
    while True:  # an Integer with a bin a value leaves more bins to the others
        left = [name for name in auto if name not in alone]
        K = _bins(size, len(left), len(left) + len(fixed), others * math.prod(alone.values()), extra)
        few: dict[str, float] = {name: v for name in left if (v := _values(schema, name)) <= K}
        if not few:
            break
        alone |= few
    for name in left:
        column = column_of(schema, name)
        chosen[name] = _whole(column, K) if isinstance(column, Integer) else K
    return fixed | chosen


def _bins(size: Size, auto: int, continuous: int, others: float, extra: int) -> int:
    """Bins of `auto` columns alike; `others`: cells of the columns beside them."""
    if not auto:
        return 0
    bins = min(advised(size.n, size.alpha, continuous), MOST_BINS)
    enough = size.n * size.alpha / 2
    while bins > LEAST and (bins**auto * others > enough or (bins + extra) ** auto * others > size.most):
        bins -= 1
    return max(bins, LEAST)


def _values(schema: Schema, name: str) -> float:
    column = column_of(schema, name)
    return column.upper - column.lower + 1 if isinstance(column, Integer) else math.inf


def _whole(column: Integer, K: int) -> tuple[float, ...]:
    """Edges between whole numbers, equally many in each bin but the last.

    >>> _whole(Integer(1, 10), 4)
    (3.5, 6.5, 9.5)
    """
    width = -(-(column.upper - column.lower + 1) // K)
    return tuple(value - 0.5 for value in range(column.lower + width, column.upper + 1, width))

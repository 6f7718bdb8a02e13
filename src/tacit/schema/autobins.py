"""Automatic numbers of bins, from public facts alone: for fits to cells (theory §7, K), and for densities."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from tacit.schema.column_multiples import has_multiples, multiples
from tacit.schema.column_types import Date, Integer, Real
from tacit.schema.logistic_bins import MOST_BINS
from tacit.schema.row_maps_of_columns import column_of
from tacit.schema.table_schema import Schema

AUTO: Final = "auto"
DENSITY: Final = "density"
CHOSEN: Final = (AUTO, DENSITY)
"""What stands for numbers of bins: as many as fits of models to cells want, or densities."""
FITTED: Final = 500_000
"""Most cells of an automatic choice: fits take them with all points that three binned columns have (27 a cell)."""
ROUND: Final = (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(5, 2), Fraction(3), Fraction(5), Fraction(15, 2))
"""Round widths, times powers of ten.  Not 4, in which heaps at fives drift through four bins of five."""
FAR: Final = 1.5
"""A number of bins is no further, as a ratio, from that of least error for the sake of a round width."""
HEAPS: Final = 2
"""The same for the sake of heaps in the middles of bins."""
UNEVEN: Final = Fraction(3, 20)
"""Range of edges about even places, in bins: widths are .94 and 1.09 of even ones."""
GOLDEN: Final = Fraction(28_657, 46_368)
"""The golden section, as a ratio of Fibonacci numbers; no order repeats below so many bins."""
LEAST: Final = 4
"""Smallest number of bins of a column: the correction for binning needs differences between bins."""


def alpha_of(spread: float) -> float:
    """Return the alpha of theory §7 for noise of this standard deviation: sqrt(8) / alpha, under replace-one."""
    # Laplace noise of scale 2 / alpha (theory E21) has standard deviation sqrt(2) 2 / alpha
    return math.sqrt(8) / spread


def advised(n: float, alpha: float, continuous: int) -> int:
    """Return the bins of each column at which corrected fits have a small error, and know it: (n alpha)**(2 / (d + 6)).

    At least 2.  n: number of rows (persons).  continuous: d, the number of binned columns.  Source: theory §7, K.

    >>> advised(250_000, 1.0, 2), advised(250_000, 0.1, 2)
    (22, 13)
    """
    # squared bias against noise variance K**d / (n alpha)**2 (theory E23, §7).  Corrected scores have a bias of K**-4
    # where densities are smooth; here K**-3 is taken, as for a density that begins within a bin: at (n alpha)**(2 /
    # (d + 8)), the rule for smooth ones, what the bins of a skewed column hide is most of the error
    return max(2, round((n * alpha) ** (2 / (continuous + 6))))


def for_density(n: float, alpha: float, continuous: int) -> int:
    """Return the bins of each column for densities of one, two or more binned columns.

    Of one column as many as a `smooth_density` makes good use of: of a smooth law a histogram would do with a third of
    them, of a narrow peak it wants more, and nobody knows beforehand which it is.  At 1,000 rows and alpha = 1 these
    are 48, or 12 of each of two columns, or 7 of each of three; numbers grow with a power of n alpha that is a fifth or
    a fourth.  Source: benchmarks/default_densities.py.

    >>> for_density(1_000, 1.0, 1), for_density(10_000, 1.0, 1), for_density(10_000, 1.0, 2)
    (48, 85, 21)
    """
    bins, power = {1: (48, 1 / 4), 2: (12, 1 / 4)}.get(continuous, (7, 1 / 5))
    return max(2, round(bins * (n * alpha / 1_000) ** power))


def is_chosen(bins: object) -> bool:
    """Return whether bins are a word for as many as a rule says.

    >>> is_chosen("density"), is_chosen((0, 10, 20)), is_chosen(None)
    (True, False, False)
    """
    return isinstance(bins, str) and bins in CHOSEN


RULES: Final = {AUTO: advised, DENSITY: for_density}
"""Numbers of bins of each column, by n, alpha and the number of binned columns."""


@dataclass(frozen=True)
class Size:
    """The public facts that determine bins: n rows (persons), alpha as in `alpha_of`, and `most` cells allowed."""

    n: float
    alpha: float
    most: int


def resolved(
    schema: Schema, columns: tuple[str, ...], bins: Mapping[str, Any], size: Size, others: int, extra: int
) -> dict[str, Any]:
    """Return `bins` with every "auto" and "density" replaced by a number of bins or by edges.

    others: product of the numbers of cells of all other columns.  extra: cells that each column has beside its bins.
    A Real or Date gets as many bins of equal width as `advised` or `for_density` says, but no more than leave 2 / alpha
    rows for each cell, and at least LEAST; a Real about as many, whose width is a round number, where its bounds
    allow it (`round_bins`); "auto" has their widths a sixth apart (`uneven_edges`).  An Integer, and a Real of declared
    multiples, gets about that many bins of equally many values (the Real of round widths, if they are multiples), or
    one bin for each value where it has no more of them.  A Real with declared heaps gets about that many bins with its
    heaps in their middles (`heap_bins`).
    A Category or a Boolean has its levels, and its "auto" is dropped.  d counts all binned columns, including those
    whose bins were given.
    """
    numbers = [name for name in columns if isinstance(column_of(schema, name), Real | Integer | Date)]
    auto = [name for name in numbers if is_chosen(bins.get(name))]
    fixed = {name: edges for name, edges in bins.items() if not is_chosen(edges)}
    chosen: dict[str, Any] = {}
    alone: dict[str, float] = {}
    while True:  # an Integer with one bin for each value leaves more bins to the other columns: start over without it
        left = [name for name in auto if name not in alone]
        rest = others * math.prod(alone.values())
        many = {name: _bins(size, bins[name], len(left), len(left) + len(fixed), rest, extra) for name in left}
        few: dict[str, float] = {name: v for name in left if (v := _values(schema, name)) <= many[name]}
        if not few:
            break
        # `alone` grows in every round, so the loop ends
        alone |= few
    cells = others * math.prod(alone.values())
    for name in left:
        column, K = column_of(schema, name), many[name]
        if isinstance(column, Real) and column.heaped_at is not None:
            found = heap_bins(column, K)
            fit = (one for one in found if len(one) < K or _fit(size, len(one) + 1, len(left), cells, extra))
            chosen[name] = next(fit, K)
        elif isinstance(column, Real) and column.lower is not None and column.upper is not None:
            near = [k for k in round_bins(column.lower, column.upper, K) if _whole_units(column, k)]
            fits = (k for k in near if k <= K or _fit(size, k, len(left), cells, extra))
            uneven = bins[name] == AUTO
            if has_multiples(column):
                chosen[name] = next(fits, multiples(column).even(K))
            else:
                many_bins = next(fits, K)
                chosen[name] = uneven_edges(column.lower, column.upper, many_bins) if uneven else many_bins
        else:
            chosen[name] = multiples(column).even(K) if isinstance(column, Integer) else K
    return fixed | chosen


def round_bins(lower: float, upper: float, K: int) -> list[int]:
    """Return the numbers of bins near K whose common width is a round number, the nearest first; there may be none.

    Values are told in round numbers: ages in fives, incomes in thousands.  In bins whose width is no multiple of that,
    the place of such heaps drifts from one end of a bin to the other; that bends a slope, and no count shows it.  In
    bins of round widths each has its heaps where the next has them, or one has more than the next, which is seen.

    >>> round_bins(0, 100, 18), round_bins(18, 93, 18), round_bins(0, 300_000, 22), round_bins(0, 3.1416, 18)
    ([20], [15, 25], [20, 30, 15], [])
    """
    # as written in decimals, not as floats are in binary
    span = Fraction(str(upper)) - Fraction(str(lower))
    digits = math.floor(math.log10(span / K))
    widths = [one * Fraction(10) ** (digits + more) for more in (-1, 0, 1) for one in ROUND]
    found = {int(span / width) for width in widths if (span / width).denominator == 1}
    near = [k for k in found if LEAST <= k <= MOST_BINS and 1 / FAR <= k / K <= FAR]
    return sorted(near, key=lambda k: (abs(math.log(k / K)), k))


def uneven_edges(lower: float, upper: float, K: int) -> tuple[float, ...]:
    """Return inner edges of K bins of two widths, a sixth apart, in the order of the Fibonacci word.

    In bins of one width, values told in multiples of it or of a part of it have the counts of values that are not: that
    they are all at one place in their bins, or a half of the distance off, no count shows.  In bins of two widths, in
    an order that never repeats, they have other counts (`fits.heaps.lattice_evidence`), and a mean is less far off.
    Edges have as few decimals as are a hundredth of a bin.  The last is odd: values told to a multiple of a round
    number lie as often right above an edge as right below.

    >>> uneven_edges(0, 100, 5), uneven_edges(0, 3.1416, 4)
    ((20.3, 39.3, 61.1, 79.9), (0.799, 1.539, 2.397))
    """
    # fractions: the same edges on every machine
    low, width = Fraction(str(lower)), (Fraction(str(upper)) - Fraction(str(lower))) / K
    last = Fraction(10) ** ((Decimal(width.numerator) / width.denominator).adjusted() - 2)
    even = (low + width * (i + UNEVEN * (i * GOLDEN % 1 - Fraction(1, 2))) for i in range(1, K))
    return tuple(float(last * (2 * (edge / last // 2) + 1)) for edge in even)


def heap_bins(column: Real, K: int) -> list[tuple[float, ...]]:
    """Return inner edges of about K bins in which declared heaps lie about the middles, the nearest number first.

    Bins are as wide as the distance of two heaps, several such, or an odd part of one, with edges halfway between two
    heaps: a bin's heaps are then as far below its middle as above, and a mean is the same whatever their share.  There
    may be none.

    >>> [edges[:3] for edges in heap_bins(Real(0, 100, heaped_at=10), 12)]
    [(5.0, 15.0, 25.0)]
    """
    assert column.lower is not None
    assert column.upper is not None
    low, high, unit = (Fraction(str(one)) for one in (column.lower, column.upper, column.heaped_at))
    # of values that are multiples of a number every bin holds some
    parts = [unit / odd for odd in range(3, MOST_BINS, 2) if _units(column, unit / odd)]
    widths = [*parts, *(unit * many for many in range(1, int((high - low) / unit) + 1))]
    near = [w for w in widths if LEAST <= (high - low) / w <= MOST_BINS and 1 / HEAPS <= (high - low) / w / K <= HEAPS]
    near.sort(key=lambda w: abs(math.log((high - low) / w / K)))
    return [made for w in near if len(made := _heap_edges(low, high, unit, w)) + 1 >= LEAST]


def _heap_edges(low: Fraction, high: Fraction, unit: Fraction, width: Fraction) -> tuple[float, ...]:
    """Return edges of a width between two bounds, halfway between heaps; no end bin is narrower than half of it."""
    first = unit * math.ceil(low / unit)
    start = first + (width - unit / 2 if width >= unit else width / 2)
    start -= width * math.floor((start - low) / width)
    edges = [start + width * i for i in range(math.ceil((high - start) / width))]
    return tuple(float(edge) for edge in edges if min(edge - low, high - edge) >= width / 2)


def _bins(size: Size, word: str, auto: int, continuous: int, others: float, extra: int) -> int:
    """Return the common number of bins of `auto` columns; others: product of the cells of all other columns.

    word: whose rule it is.  The rows of a density are those of one of the other columns' cells, on average.
    """
    rows = size.n / others if word == DENSITY else size.n
    bins = min(RULES[word](rows, size.alpha, continuous), MOST_BINS)
    while bins > LEAST and not _fit(size, bins, auto, others, extra):
        bins -= 1
    return max(bins, LEAST)


def _fit(size: Size, bins: int, auto: int, others: float, extra: int) -> bool:
    """Return whether so many bins of each of `auto` columns make no more cells than the rows are enough for."""
    # so many cells leave 2 / alpha rows each on average: one scale of the noise
    enough = size.n * size.alpha / 2
    return bins**auto * others <= enough and (bins + extra) ** auto * others <= min(size.most, FITTED)


def _values(schema: Schema, name: str) -> float:
    column = column_of(schema, name)
    return multiples(column).count if has_multiples(column) else math.inf


def _whole_units(column: Real, bins: int) -> bool:
    """Return whether so many bins of equal width are whole multiples of what the values are multiples of, if any is."""
    if column.multiple_of is None or column.lower is None or column.upper is None:
        return True
    span = Fraction(str(column.upper)) - Fraction(str(column.lower))
    return _units(column, span / bins)


def _units(column: Real, width: Fraction) -> bool:
    """Return whether a width is a whole multiple of what the values are multiples of, if any is."""
    return column.multiple_of is None or (width / Fraction(str(column.multiple_of))).denominator == 1

"""The one safe expression: from a cell to an integer in narwhals, equal to `RowMap.numpy` row by row on every engine.

Every branch tests `is_finite`, since comparisons alone let NaN pass on some engines.  `round`, a cast of an unguarded
float, `clip`, and functions whose last digit differs between engines are never used.  The last steps give missing cells
their declared value and clamp in 64-bit integers, so that v is in {0, ..., G} whatever an engine did before them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, Protocol

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.rows.row_map import KeyMap, Polynomial, RowMap
from tacit.schema.predicates.numeric_expressions import ColumnCell
from tacit.source.engine_registry import EXACT

WIDEST: Final = 2**16
"""The widest range of integer codes in which rows are grouped by the number itself."""
LIMB: Final = 2**20
"""Terms whose sum could exceed 64 bits are split as t = LIMB * high + low, and the parts are summed."""


def real(value: float) -> Any:
    """Return a 64-bit float literal."""
    return nw.lit(float(value), dtype=nw.Float64())


def whole(value: int) -> Any:
    """Return a 64-bit integer literal: an untyped one may be 32 bits wide."""
    return nw.lit(int(value), dtype=nw.Int64())


def divide(x: Any, by: Any) -> Any:
    """Divide a finite x in float64, rounded as IEEE 754 demands on any engine.

    Polars multiplies by the reciprocal of a divisor that is constant over rows, which differs in one case of three.
    Adding x - x = 0 makes the divisor vary by row.
    """
    return x / (by + (x - x))


def select(frame: Any, columns: Mapping[str, Any]) -> Any:
    """Select columns by name and keep the number of rows: Polars returns one row of constant columns."""
    if exact(frame):
        return frame.select(**columns)
    return frame.with_columns(**columns).select(*columns)


def exact(frame: Any) -> bool:
    """Whether a frame's implementation is registered to divide as IEEE 754 demands and to keep rows in `select`."""
    return frame.implementation.value in EXACT


class Tools(Protocol):
    """Steps of long expressions that depend on the engine."""

    def divide(self, x: Any, by: Any) -> Any:
        """X / by, rounded as IEEE 754 demands."""
        ...

    def keep(self, x: Any) -> Any:
        """Return x, stored as a column where possible, so that it is computed once."""
        ...

    def whole(self, column: str) -> bool:
        """Whether a column of the frame is known to hold whole numbers (and null): no cell is NaN or infinite."""
        ...


class Inline:
    """`Tools` without a frame: nothing is stored, and nothing is known of types."""

    def divide(self, x: Any, by: Any) -> Any:
        """See `Tools.divide`."""
        return divide(x, by)

    def keep(self, x: Any) -> Any:
        """See `Tools.keep`."""
        return x

    def whole(self, column: str) -> bool:
        """See `Tools.whole`."""
        return False


INLINE: Final = Inline()


def step(at: RowMap, column: str) -> Any:
    """Return the index of a cell's grid step, 0 to steps; -1 for a missing cell."""
    x = nw.col(column).cast(nw.Float64())
    known = x.is_finite()
    if at.kind == "boolean":
        known = known & ((x == real(0.0)) | (x == real(1.0)))
    top = float(at.steps)
    # x - lower may overflow to an infinity, which is not inside: the comparisons of x decide then
    y = (x - real(at.lower)) * real(at.steps / (at.upper - at.lower))
    inside = (y >= real(0.0)) & (y <= real(top))
    z = (
        nw.when(known & inside)
        .then(y)
        .otherwise(
            nw.when(known & (x >= real(at.lower)))
            .then(real(top))
            .otherwise(nw.when(known & (x < real(at.lower))).then(real(0.0)).otherwise(real(-1.0)))
        )
    )
    # z is finite in every branch, so the cast cannot raise; -1 + 1/2 floors to -1, still missing
    return (z + real(0.5)).floor().cast(nw.Int64())


def value(at: RowMap, steps: str) -> Any:
    """Return v of a column of steps, in integers: the declared value (or 0) where missing, else clamped and scaled."""
    k = nw.col(steps)
    # the last word on the range, in integers: whatever k an engine made of a cell, v ends in {0, ..., G} here
    clamped = nw.when(k > whole(at.steps)).then(whole(at.steps)).otherwise(k)
    v = clamped if at.factor == 1 else clamped * whole(at.factor)
    place = whole(0 if at.missing is None else at.missing)
    return nw.when(k < whole(0)).then(place).otherwise(v)


def term(polynomial: Polynomial, at: RowMap, values: str, steps: str) -> Any:
    """Return what one row adds to a sum: the polynomial of v, 0 where the cell is missing without a declared value."""
    total = evaluate(polynomial, values)
    if at.missing is not None:
        return total
    return nw.when(nw.col(steps) < whole(0)).then(whole(0)).otherwise(total)


def evaluate(polynomial: Polynomial, values: str) -> Any:
    """Return floor(sum_k c_k v**k / divisor) of an integer column."""
    v = nw.col(values)
    # Horner's rule; a leading coefficient of 1 needs no product
    total: Any = whole(polynomial.coefficients[-1])
    for i, c in enumerate(reversed(polynomial.coefficients[:-1])):
        total = v if i == 0 and polynomial.coefficients[-1] == 1 else total * v
        total = total + whole(c) if c else total
    if polynomial.divisor != 1:
        exact = total.cast(nw.Float64())
        power_of_two = polynomial.divisor & (polynomial.divisor - 1) == 0
        # the reciprocal of a power of two is exact, hence its product, too; any other divisor needs a true division
        parts = exact * real(1 / polynomial.divisor) if power_of_two else divide(exact, real(polynomial.divisor))
        total = parts.floor().cast(nw.Int64())
    return total


class NarwhalsBackend:
    """`schema.predicates.arithmetic.Backend` in narwhals; comparisons are made of finite values alone.

    frame: the frame of the expressions, to which `keep` adds columns.
    """

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self._first = frame
        self._kept = 0

    def choose(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """See `Backend.choose`."""
        return nw.when(condition).then(then).otherwise(otherwise)

    def finite(self, x: Any) -> Any:
        """See `Backend.finite`."""
        # a null becomes false, since null & true would be null
        return nw.when(x.is_finite()).then(nw.lit(True)).otherwise(nw.lit(False))

    def real(self, x: float) -> Any:
        """See `Backend.real`."""
        return real(x)

    def truth(self, x: bool) -> Any:
        """See `Backend.truth`."""
        return nw.lit(x)

    def nothing(self) -> Any:
        """See `Backend.nothing`."""
        return nw.lit(None, dtype=nw.Float64())

    def divide(self, x: Any, by: Any) -> Any:
        """See `Backend.divide`; `divide` says why not the engine's own everywhere."""
        return x / by if exact(self._first) else divide(x, by)

    def floor(self, x: Any) -> Any:
        """See `Backend.floor`."""
        return x.floor()

    def sqrt(self, x: Any) -> Any:
        """See `Backend.sqrt`."""
        return x.sqrt()

    def keep(self, x: Any) -> Any:
        """See `Backend.keep`."""
        name = f"kept{self._kept}"
        self._kept += 1
        self.frame = self.frame.with_columns(x.alias(name))
        return nw.col(name)

    def whole(self, column: str) -> bool:
        """See `Tools.whole`."""
        return self._types[column].is_integer()

    @cached_property
    def _types(self) -> Any:
        return self._first.collect_schema()


FEW_BINS: Final = 6
"""The most edges for which a value is compared with every one."""


def binned(key: KeyMap, column: str, tools: Tools = INLINE) -> Any:
    """Return the bin of a number, null where missing or not finite; with `beyond`, the last two levels are outside."""
    x = nw.col(column).cast(nw.Float64())
    even = key.even is not None and len(key.edges) >= FEW_BINS
    # comparisons see finite numbers only; the 0 in place of others is overruled by the last step
    known = nw.when(x.is_finite()).then(x).otherwise(real(0.0))
    known = tools.keep(known) if not even and len(key.edges) >= FEW_BINS else known  # once, not for every edge
    # edges ascend: the number of edges at or below x is the index of its bin
    bin_ = _even(key, x, tools, whole=tools.whole(column)) if even else _at_or_below(known, key.edges)
    if key.beyond is not None:
        return _beyond(key, x, known, bin_)
    return bin_ if even else nw.when(x.is_finite()).then(bin_).otherwise(nw.lit(None, dtype=nw.Float64()))


def _at_or_below(known: Any, edges: tuple[float, ...]) -> Any:
    """Return the number of edges at or below a finite number, added in halves: engines refuse deep expressions."""
    if len(edges) > 1:
        return _at_or_below(known, edges[: len(edges) // 2]) + _at_or_below(known, edges[len(edges) // 2 :])
    return (known >= real(edges[0])).cast(nw.Float64()) if edges else real(0.0)


def _beyond(key: KeyMap, x: Any, known: Any, bin_: Any) -> Any:
    """Return the bin, or one of the last two levels for a number below or above the bounds.

    A value that is not finite is infinite where its reciprocal is finite, and NaN otherwise.  Comparisons and `is_nan`
    cannot tell these apart: DuckDB folds them to a constant where a Parquet file's statistics, which omit NaN, suggest
    it.
    """
    assert key.beyond is not None
    low, high = key.beyond
    below, above = real(key.size - 2), real(key.size - 1)
    bin_ = nw.when(known < real(low)).then(below).otherwise(nw.when(known > real(high)).then(above).otherwise(bin_))
    infinite = (real(1.0) / nw.when(x.is_finite()).then(real(1.0)).otherwise(x)).is_finite()
    wild = nw.when(infinite & (x > real(0.0))).then(above).otherwise(nw.lit(None, dtype=nw.Float64()))
    wild = nw.when(infinite & (x < real(0.0))).then(below).otherwise(wild)
    return nw.when(x.is_finite()).then(bin_).otherwise(wild)


def _even(key: KeyMap, x: Any, tools: Tools, *, whole: bool) -> Any:
    """Return the bin among bins of equal width, null where x is not finite: the quotient, corrected by one edge.

    A bin is wider than 2**-30 of either end (`rowmaps`), so that the quotient is off by less than 2**-20 bins, and
    u = floor(quotient + 1 - SLACK) is the bin or the one above it: the one above where x is below its lower edge.
    Edges are computed by the same float64 operations as when the key was made.  A number outside the bins is moved to
    `low`, or to the last number below the upper edge of the last bin.
    Bins of width 1 with low > 0 a multiple of 1/2: x - low is a multiple of ulp(x), or of 1/2 where that is less, and
    below x, so it is an exact float64 and its floor is the bin.
    """
    assert key.even is not None
    low, high = key.even
    bins, width = float(len(key.edges) + 1), high - low
    # computed as the last edge is, then one float down: the largest number of the last bin
    top = math.nextafter(low + width * bins / bins, -math.inf)
    beyond = nw.when(x >= real(low)).then(real(top)).otherwise(real(low))
    known = ~x.is_null() if whole else x.is_finite()
    inside = (x >= real(low)) & (x <= real(top))
    beyond = nw.when(known).then(beyond).otherwise(nw.lit(None, dtype=nw.Float64()))
    x = tools.keep(nw.when(inside if whole else known & inside).then(x).otherwise(beyond))
    from_low = x if low == 0.0 else x - real(low)
    # bins of width 1: no division is needed (the last rule of the docstring); high <= 2**51 keeps 1/2 a multiple of ulp
    if bins == width and low > 0.0 and high <= 2.0**51 and 2 * low == math.floor(2 * low):
        return from_low.floor()
    above = tools.keep((from_low * real(bins / width) + real(1.0 - SLACK)).floor())
    edge = tools.divide(tools.keep(real(width) * above), real(bins))
    return above - (x < (edge if low == 0.0 else real(low) + edge)).cast(nw.Float64())


SLACK: Final = 2.0**-16
"""More than the error of the quotient (2**-20 bins), and far less than a bin."""
SHORT: Final = 64
"""The most codes of a category that are compared one by one."""


def numbered(key: KeyMap) -> bool:
    """Whether `place` can number the levels: text, bins, Booleans, few codes, or codes in a range up to WIDEST."""
    if key.edges or isinstance(key.levels[0], str) or len(key.levels) <= SHORT:
        return True
    return _span(key) <= WIDEST


def _span(key: KeyMap) -> int:
    codes = [int(level) for level in key.levels]
    return max(codes) - min(codes) + 1


def _follow(key: KeyMap) -> bool:
    """Whether the codes are more than four consecutive integers."""
    codes = [int(level) for level in key.levels]
    return len(codes) > 4 and codes == list(range(codes[0], codes[0] + len(codes)))


def _apart(key: KeyMap) -> bool:
    """Whether places number all integers from the least code to the greatest, with one more for other cells."""
    if key.edges or key.constant or isinstance(key.levels[0], str):
        return False
    return len(key.levels) > SHORT and not _follow(key)


def places(key: KeyMap) -> int:
    """Return the number of values of `place`: that of levels, or more for codes with gaps."""
    return _span(key) + 1 if _apart(key) else key.size


def indices(key: KeyMap) -> NDArray[np.int64] | None:
    """Return the index of the level of each place, -1 for none; None where places are the indices themselves."""
    if not _apart(key):
        return None
    found = np.full(places(key), -1 if key.missing is None else key.missing, dtype=np.int64)
    codes = np.array([int(level) for level in key.levels], dtype=np.int64)
    # the last place, and every integer between the codes that is no level, keep the index of missing cells (-1: none)
    found[codes - codes.min()] = np.arange(len(codes))
    return found


def place(key: KeyMap, column: str, tools: Tools = INLINE) -> Any:
    """Return the place of a cell's level (see `indices`) as float64, null where it has none."""
    x = nw.col(column).cast(nw.Float64())
    if key.edges:
        found = binned(key, column, tools)
    elif isinstance(key.levels[0], str):  # read as its place, from 1
        found = x - real(1.0)
    elif not _follow(key) and not _apart(key):
        found = nw.lit(None, dtype=nw.Float64())
        for i, level in enumerate(key.levels):
            found = nw.when(x == real(float(level))).then(real(float(i))).otherwise(found)
    else:
        first, last = (float(end(int(level) for level in key.levels)) for end in (min, max))
        among = (x >= real(first)) & (x <= real(last))
        among = among if tools.whole(column) else x.is_finite() & among & (x == x.floor())
        found = nw.when(among).then(x - real(first)).otherwise(nw.lit(None, dtype=nw.Float64()))
    if key.missing is None:
        return found
    missing = places(key) - 1 if _apart(key) else key.missing
    return nw.when(found.is_null()).then(real(float(missing))).otherwise(found)


def quality(key: KeyMap, column: str) -> Any:
    """Return the data-quality class of a cell: 0 missing, 1 below bounds or unlisted, 2 above, last as declared."""
    x = nw.col(column).cast(nw.Float64())
    known = nw.when(x.is_finite()).then(x).otherwise(real(0.0))
    if key.edges:
        low, high = key.edges
        placed = nw.when(known > real(high)).then(real(2.0)).otherwise(real(3.0)) if np.isfinite(high) else real(3.0)
        placed = nw.when(known < real(low)).then(real(1.0)).otherwise(placed) if np.isfinite(low) else placed
    elif key.kind == "quality-text":  # read as 1 where listed, 0 where not
        placed = known + real(1.0)
    else:
        placed = real(1.0)
        for code_ in key.codes:
            placed = nw.when(known == real(float(code_))).then(real(2.0)).otherwise(placed)
    return nw.when(x.is_finite()).then(placed).otherwise(real(0.0))


def condition_cell(cell: ColumnCell, column: str) -> Any:
    """Return a column that a condition reads as float64, a category by its index; null or not finite where missing."""
    number = nw.col(column).cast(nw.Float64())
    key = cell.key
    if key is None:
        return number
    if isinstance(key.levels[0], str):
        found: Any = number - real(1.0)
    else:
        found = nw.lit(None, dtype=nw.Float64())
        for i, code_ in enumerate(key.levels):
            found = nw.when(number == real(float(code_))).then(real(float(i))).otherwise(found)
    return found if key.missing is None else nw.when(found.is_null()).then(real(float(key.missing))).otherwise(found)


def high(column: str) -> Any:
    """Return floor(t / LIMB) of a term below 2**53."""
    # 1 / LIMB is a power of two: no rounding below 2**53, and the floor is that of the exact quotient
    return (nw.col(column).cast(nw.Float64()) * real(1 / LIMB)).floor().cast(nw.Int64())


def code(key: KeyMap, column: str, *, exact: bool = False) -> Any:
    """Return the numbers that may be a level, else null: at most WIDEST groups, or with `exact` one for each level."""
    number = nw.col(column).cast(nw.Float64())
    codes = sorted(float(level) for level in key.levels)
    # a range test is one step for any number of codes; other integers in it are folded away afterwards
    if codes[-1] - codes[0] < WIDEST and not exact:
        among = (number >= real(codes[0])) & (number <= real(codes[-1])) & (number == number.floor())
    else:
        among = number.is_in(codes)
    return nw.when(number.is_finite() & among).then(number).otherwise(nw.lit(None, dtype=nw.Float64()))

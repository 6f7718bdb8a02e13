"""The one safe expression: a cell -> an integer, in narwhals, equal to `RowMap.numpy` on every engine, row by row.

`is_finite` stands in every branch: comparisons alone let NaN pass on some engines.  Never `round`, a bare cast, `clip`,
or a function whose last digit is the engine's own.  The last steps are missing -> declared place, and a clamp in
64-bit integers, so that whatever an engine did before them, v is in {0, ..., G}.
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
"""Whole numbers between the least and the greatest code are grouped as they are where they are at most so many."""

LIMB: Final = 2**20
"""Terms too large to be added up in 64 bits are added as t = LIMB * high + low."""


def real(value: float) -> Any:
    """A 64-bit float literal."""
    return nw.lit(float(value), dtype=nw.Float64())


def whole(value: int) -> Any:
    """A 64-bit integer literal: an untyped one may be 32 bits wide."""
    return nw.lit(int(value), dtype=nw.Int64())


def divide(x: Any, by: Any) -> Any:
    """X / by in float64 on any engine, x finite, rounded as IEEE 754 demands.

    Polars divides by what is the same in all rows as it multiplies by the reciprocal, which is another number in one
    case of three: so the divisor is made to be a row's own.
    """
    return x / (by + (x - x))


def select(frame: Any, columns: Mapping[str, Any]) -> Any:
    """Columns by their names, as many rows as the frame has: Polars makes one row of columns that no row enters."""
    if exact(frame):
        return frame.select(**columns)
    return frame.with_columns(**columns).select(*columns)


def exact(frame: Any) -> bool:
    """Whether a frame's implementation is registered to divide as IEEE 754 demands and to keep rows in `select`."""
    return frame.implementation.value in EXACT


class Tools(Protocol):
    """What a long expression is made with."""

    def divide(self, x: Any, by: Any) -> Any:
        """X / by, rounded as IEEE 754 demands."""
        ...

    def keep(self, x: Any) -> Any:
        """X, computed once where the engine can be told to."""
        ...

    def whole(self, column: str) -> bool:
        """Whether a column of the frame is known to hold whole numbers (and null): no cell is NaN or infinite."""
        ...


class Inline:
    """`Tools` of an expression that knows no frame."""

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
    """Index of the grid step, 0..steps; -1 for a missing cell."""
    x = nw.col(column).cast(nw.Float64())
    known = x.is_finite()
    if at.kind == "boolean":
        known = known & ((x == real(0.0)) | (x == real(1.0)))
    top = float(at.steps)
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
    return (z + real(0.5)).floor().cast(nw.Int64())


def value(at: RowMap, steps: str) -> Any:
    """Step column -> v, by integers only: missing -> its place or 0, then the clamp."""
    k = nw.col(steps)
    clamped = nw.when(k > whole(at.steps)).then(whole(at.steps)).otherwise(k)
    v = clamped if at.factor == 1 else clamped * whole(at.factor)
    place = whole(0 if at.missing is None else at.missing)
    return nw.when(k < whole(0)).then(place).otherwise(v)


def term(polynomial: Polynomial, at: RowMap, values: str, steps: str) -> Any:
    """What one row adds: the polynomial of v, 0 where the cell is absent."""
    total = evaluate(polynomial, values)
    if at.missing is not None:
        return total
    return nw.when(nw.col(steps) < whole(0)).then(whole(0)).otherwise(total)


def evaluate(polynomial: Polynomial, values: str) -> Any:
    """floor(sum_k c_k v**k / divisor) of an integer column."""
    v = nw.col(values)
    total: Any = whole(polynomial.coefficients[-1])
    for i, c in enumerate(reversed(polynomial.coefficients[:-1])):
        total = v if i == 0 and polynomial.coefficients[-1] == 1 else total * v
        total = total + whole(c) if c else total
    if polynomial.divisor != 1:
        exact = total.cast(nw.Float64())
        power_of_two = polynomial.divisor & (polynomial.divisor - 1) == 0
        parts = exact * real(1 / polynomial.divisor) if power_of_two else divide(exact, real(polynomial.divisor))
        total = parts.floor().cast(nw.Int64())
    return total


class NarwhalsBackend:
    """`schema.predicates.arithmetic.Backend` in narwhals, on every engine: no comparison sees what is not finite.

    frame: what the expressions belong to; what is kept becomes a column of it.
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
"""Edges up to which a value is compared with each."""


def binned(key: KeyMap, column: str, tools: Tools = INLINE) -> Any:
    """The bin of a number, null where it is missing or not finite; `beyond` bounds, one of the last two levels."""
    x = nw.col(column).cast(nw.Float64())
    even = key.even is not None and len(key.edges) >= FEW_BINS
    known = nw.when(x.is_finite()).then(x).otherwise(real(0.0))
    bin_ = _even(key, x, tools, whole=tools.whole(column)) if even else real(0.0)
    for edge in () if even else key.edges:
        bin_ = bin_ + (known >= real(edge)).cast(nw.Float64())
    if key.beyond is not None:
        return _beyond(key, x, known, bin_)
    return bin_ if even else nw.when(x.is_finite()).then(bin_).otherwise(nw.lit(None, dtype=nw.Float64()))


def _beyond(key: KeyMap, x: Any, known: Any, bin_: Any) -> Any:
    """The bin, or one of the last two levels.

    What is not finite is infinite where its reciprocal is finite: no comparison may see a NaN, for DuckDB takes those
    (and `is_nan`) to be the same in all rows where a Parquet file's bounds say so, and the bounds leave NaN out.
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
    """The bin among those of equal width, null where x is not finite: about (x - low) / width, put right by one edge.

    A bin is wider than 2**-30 of either end (`rowmaps`), so that the quotient is off by less than 2**-20 bins, and
    u = floor(quotient + 1 - SLACK) is the bin or the one above it: the one above where x is below its lower edge.
    Edges are computed as they were when the key was made, by the same operations of float64.  A number beyond the bins
    is moved to `low`, or to the last number below the upper edge of the last bin.
    Bins one wide from a half or a whole low > 0: x - low is a multiple of ulp(x), or of 1/2 where that is less, and
    below x: a float64, exact; so its floor is the bin.
    """
    assert key.even is not None
    low, high = key.even
    bins, width = float(len(key.edges) + 1), high - low
    top = math.nextafter(low + width * bins / bins, -math.inf)
    beyond = nw.when(x >= real(low)).then(real(top)).otherwise(real(low))
    known = ~x.is_null() if whole else x.is_finite()
    inside = (x >= real(low)) & (x <= real(top))
    beyond = nw.when(known).then(beyond).otherwise(nw.lit(None, dtype=nw.Float64()))
    x = tools.keep(nw.when(inside if whole else known & inside).then(x).otherwise(beyond))
    from_low = x if low == 0.0 else x - real(low)
    if bins == width and low > 0.0 and high <= 2.0**51 and 2 * low == math.floor(2 * low):
        return from_low.floor()
    above = tools.keep((from_low * real(bins / width) + real(1.0 - SLACK)).floor())
    edge = tools.divide(tools.keep(real(width) * above), real(bins))
    return above - (x < (edge if low == 0.0 else real(low) + edge)).cast(nw.Float64())


SLACK: Final = 2.0**-16

SHORT: Final = 64
"""Codes of a category that are compared one by one."""


def numbered(key: KeyMap) -> bool:
    """Whether `place` serves a key: text, bins, Booleans, few codes, or codes that are not far apart."""
    if key.edges or isinstance(key.levels[0], str) or len(key.levels) <= SHORT:
        return True
    return _span(key) <= WIDEST


def _span(key: KeyMap) -> int:
    codes = [int(level) for level in key.levels]
    return max(codes) - min(codes) + 1


def _follow(key: KeyMap) -> bool:
    """Whether codes are more than a few whole numbers that follow each other."""
    codes = [int(level) for level in key.levels]
    return len(codes) > 4 and codes == list(range(codes[0], codes[0] + len(codes)))


def _apart(key: KeyMap) -> bool:
    """Whether places are those of the whole numbers from the least code to the greatest, and one for other cells."""
    if key.edges or key.constant or isinstance(key.levels[0], str):
        return False
    return len(key.levels) > SHORT and not _follow(key)


def places(key: KeyMap) -> int:
    """Number of values of `place`: as many as levels, or more of codes with gaps."""
    return _span(key) + 1 if _apart(key) else key.size


def indices(key: KeyMap) -> NDArray[np.int64] | None:
    """The index of the level of each place, -1 for none; None where places are indices."""
    if not _apart(key):
        return None
    found = np.full(places(key), -1 if key.missing is None else key.missing, dtype=np.int64)
    codes = np.array([int(level) for level in key.levels], dtype=np.int64)
    found[codes - codes.min()] = np.arange(len(codes))
    return found


def place(key: KeyMap, column: str, tools: Tools = INLINE) -> Any:
    """The place of a cell's level (`indices`) as float64, that of missing cells where they have one, else null."""
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
    """The class of a cell: 0 missing, 1 below or unlisted, 2 above, the last one as declared."""
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
    """A column that a condition reads, as float64, null or not finite where it is missing; of a category, its index."""
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
    """floor(t / LIMB) of a term below 2**53."""
    return (nw.col(column).cast(nw.Float64()) * real(1 / LIMB)).floor().cast(nw.Int64())


def code(key: KeyMap, column: str, *, exact: bool = False) -> Any:
    """A number that may be a level, null for every other: at most WIDEST groups, or (`exact`) one a level."""
    number = nw.col(column).cast(nw.Float64())
    codes = sorted(float(level) for level in key.levels)
    if codes[-1] - codes[0] < WIDEST and not exact:
        among = (number >= real(codes[0])) & (number <= real(codes[-1])) & (number == number.floor())
    else:
        among = number.is_in(codes)
    return nw.when(number.is_finite() & among).then(number).otherwise(nw.lit(None, dtype=nw.Float64()))

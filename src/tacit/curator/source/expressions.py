"""The one safe expression: a cell -> an integer, in narwhals, equal to `RowMap.numpy` on every engine, row by row.

`is_finite` stands in every branch: comparisons alone let NaN pass on some engines.  Never `round`, a bare cast, `clip`,
or a function whose last digit is the engine's own.  The last steps are missing -> declared place, and a clamp in
64-bit integers, so that whatever an engine did before them, v is in {0, ..., G}.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw

from tacit.rowmap import KeyMap, Polynomial, RowMap


def real(value: float) -> Any:
    """A 64-bit float literal."""
    return nw.lit(float(value), dtype=nw.Float64())


def whole(value: int) -> Any:
    """A 64-bit integer literal: an untyped one may be 32 bits wide."""
    return nw.lit(int(value), dtype=nw.Int64())


def step(at: RowMap, column: str) -> Any:
    """Index of the grid step, 0..steps; -1 for a missing cell."""
    x = nw.col(column).cast(nw.Float64())
    known = x.is_finite()
    if at.kind == "boolean":
        known = known & ((x == 0.0) | (x == 1.0))
    top = float(at.steps)
    y = (x - at.lower) * (at.steps / (at.upper - at.lower))
    inside = (y >= 0.0) & (y <= top)
    z = (
        nw.when(known & inside)
        .then(y)
        .otherwise(
            nw.when(known & (x >= at.lower))
            .then(real(top))
            .otherwise(nw.when(known & (x < at.lower)).then(real(0.0)).otherwise(real(-1.0)))
        )
    )
    return (z + 0.5).floor().cast(nw.Int64())


def value(at: RowMap, steps: str) -> Any:
    """Step column -> v, by integers only: missing -> its place or 0, then the clamp."""
    k = nw.col(steps)
    clamped = nw.when(k > at.steps).then(whole(at.steps)).otherwise(k)
    place = whole(0 if at.missing is None else at.missing)
    return nw.when(k < 0).then(place).otherwise(clamped * whole(at.factor))


def term(polynomial: Polynomial, at: RowMap, values: str, steps: str) -> Any:
    """What one row adds: the polynomial of v, 0 where the cell is absent."""
    v = nw.col(values)
    total: Any = whole(polynomial.coefficients[-1])
    for c in reversed(polynomial.coefficients[:-1]):
        total = total * v + whole(c)
    if polynomial.divisor != 1:
        total = (total.cast(nw.Float64()) / float(polynomial.divisor)).floor().cast(nw.Int64())
    if at.missing is not None:
        return total
    return nw.when(nw.col(steps) < 0).then(whole(0)).otherwise(total)


def listed(key: KeyMap, column: str) -> Any:
    """A level as it stands in the table; null for a missing or unlisted cell.  At most one group a level, and one."""
    if all(isinstance(level, str) for level in key.levels):
        text = nw.col(column).cast(nw.String())
        return nw.when(text.is_in(list(key.levels))).then(text).otherwise(nw.lit(None, dtype=nw.String()))
    number = nw.col(column).cast(nw.Float64())
    codes = [float(level) for level in key.levels]
    return nw.when(number.is_finite() & number.is_in(codes)).then(number).otherwise(nw.lit(None, dtype=nw.Float64()))

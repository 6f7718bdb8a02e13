"""Bounded scores of rows in narwhals: the same integers as `PiecewiseScore.numpy`, row by row.  INSIDE the wall.

Every step has integers below 2**52, exact in float64.  The steps are stages of one frame, so that the segments of the
piecewise linear functions are computed once for the score and its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from tacit.rows.coordinates import H
from tacit.rows.piecewise_score import FINE, PIECES, WIDTH, L, PiecewiseScore, rises
from tacit.rows.row_weight import SHIFT, STEPS
from tacit.source.engine_sums import cell_expressions as ex


def with_scores(frame: Any, score: PiecewiseScore, response: str) -> Any:
    """Add the columns psi (the score) and size; coordinates are columns z0, z1, ..., `response` is one of them."""
    frame = frame.with_columns(clamped(combined(score.weights, score.shift), -L, L).alias("e"))
    # constant polygons have no slopes, so no segment is read
    if any(len(set(one)) > 1 for one in score.polygons):
        starts = [ex.whole(L - k * WIDTH) for k in range(PIECES)]
        frame = frame.with_columns(
            *(clamped(nw.col("e") + start, 0, WIDTH).alias(f"r{k}") for k, start in enumerate(starts))
        )
    total = _height(score.slope) * (nw.col(response) + ex.whole(H)) - _height(score.middle) + ex.whole(2 ** (FINE - 1))
    frame = frame.with_columns(clamped(halved(total, FINE), -score.clip, score.clip).alias("psi"))
    psi = nw.col("psi")
    size = nw.when(psi < ex.whole(0)).then(ex.whole(0) - psi).otherwise(psi)
    if score.inside:
        whole = ex.whole(score.clip)
        size = nw.when(size < whole).then(whole).otherwise(ex.whole(0))
    elif score.weight:
        size = clamped(halved(_height(score.weight) + ex.whole(2 ** (FINE - 1)), FINE), 0, score.clip)
    return frame.with_columns(size.alias("size"))


def with_weights(frame: Any, names: Sequence[str]) -> Any:
    """Multiply columns of scores by the weight, column a, as `row_weight.weighed` does: halves to even numbers."""
    totals = {name: nw.col(name) * nw.col("a") + ex.whole(STEPS // 2) for name in names}
    frame = frame.with_columns(*(one.alias(f"{name}_total") for name, one in totals.items()))
    whole = {name: halved(nw.col(f"{name}_total"), SHIFT) for name in names}
    frame = frame.with_columns(*(one.alias(f"{name}_whole") for name, one in whole.items()))
    return frame.with_columns(*(_even(name).alias(name) for name in names))


def _even(name: str) -> Any:
    total, whole = nw.col(f"{name}_total"), nw.col(f"{name}_whole")
    odd = whole - halved(whole, 1) * ex.whole(2)
    return nw.when(total == whole * ex.whole(STEPS)).then(whole - odd).otherwise(whole)


def _height(polygon: tuple[int, ...]) -> Any:
    """Return a piecewise linear function, from how far a row is along each segment (columns r0, r1, ...)."""
    total: Any = ex.whole(polygon[0])
    for k, rise in enumerate(rises(polygon)):
        if rise:
            total = total + nw.col(f"r{k}") * ex.whole(rise)
    return total


def combined(weights: Sequence[int], shift: int) -> Any:
    """Return floor(sum_j weights_j z_j / 2**shift + 1/2)."""
    # half of the divisor: floor(x + 1/2) rounds to nearest
    total: Any = ex.whole(2 ** (shift - 1))
    for j, weight in enumerate(weights):
        if weight:
            total = total + nw.col(f"z{j}") * ex.whole(weight)
    return halved(total, shift)


def halved(total: Any, shift: int) -> Any:
    """Return floor(total / 2**shift) of integers below 2**52: exact in float64."""
    return (total.cast(nw.Float64()) * ex.real(2.0**-shift)).floor().cast(nw.Int64())


def clamped(value: Any, low: int, high: int) -> Any:
    """Clamp integers to {low, ..., high}."""
    top, bottom = ex.whole(high), ex.whole(low)
    return nw.when(value > top).then(top).otherwise(nw.when(value < bottom).then(bottom).otherwise(value))

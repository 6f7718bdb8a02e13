"""Norm-clipped vectors of rows in narwhals: the same integers as `NormClip.numpy`, row by row.  INSIDE the wall.

Every step has integers below 2**52, exact in float64.  The steps are stages of one frame, so that the sum of squares
and its root are computed once for all entries.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw

from tacit.rows.norm_clip import WIDEST, NormClip
from tacit.source.engine_sums import cell_expressions as ex
from tacit.source.engine_sums.engine_scores import clamped, combined


def with_vector(frame: Any, clip: NormClip) -> Any:
    """Add the columns w0, w1, ... of the clipped vector; coordinates are columns z0, z1, ..."""
    made = [clamped(combined(one, clip.shift), -WIDEST, WIDEST) for one in clip.weights]
    names, most = [f"w{i}" for i in range(len(made))], ex.whole(clip.most**2)
    frame = frame.with_columns(*(one.alias(name) for one, name in zip(made, names, strict=True)))
    frame = frame.with_columns(_squares(names).alias("norm"))
    frame = frame.with_columns((_floats("norm").sqrt().floor().cast(nw.Int64()) + ex.whole(1)).alias("root"))
    shorter = [nw.when(nw.col("norm") > most).then(_shorter(one, clip.most)).otherwise(nw.col(one)) for one in names]
    frame = frame.with_columns(*(one.alias(name) for one, name in zip(shorter, names, strict=True)))
    # the last word on the norm, in integers: whatever an engine made of the steps before
    frame = frame.with_columns(_squares(names).alias("norm"))
    within = nw.col("norm") <= most
    return frame.with_columns(*(nw.when(within).then(nw.col(one)).otherwise(ex.whole(0)).alias(one) for one in names))


def _squares(names: list[str]) -> Any:
    """Return the sum of squares of columns of integers."""
    total: Any = nw.col(names[0]) * nw.col(names[0])
    for name in names[1:]:
        total = total + nw.col(name) * nw.col(name)
    return total


def _shorter(name: str, most: int) -> Any:
    """Return sign(w) floor(|w| C / root): a quotient of integers below 2**52 has the floor of its rounded value."""
    w = nw.col(name)
    size = nw.when(w < ex.whole(0)).then(ex.whole(0) - w).otherwise(w)
    floats = (size * ex.whole(most)).cast(nw.Float64())
    whole = ex.divide(floats, _floats("root")).floor().cast(nw.Int64())
    return nw.when(w < ex.whole(0)).then(ex.whole(0) - whole).otherwise(whole)


def _floats(name: str) -> Any:
    return nw.col(name).cast(nw.Float64())

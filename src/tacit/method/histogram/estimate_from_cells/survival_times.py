"""Times of survival curves: the ends of bins, the values in them, and where a curve crosses a height."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.cells.cell_arrays import CellAxis


@dataclass(frozen=True)
class WholeTimes:
    """Times that are values of a grid, such as whole months: a curve falls at these values, and nowhere between them.

    first, final: the smallest and the greatest value of each of T bins, at whose ends the curve is known, shape (T,).
    step: the spacing of the values.

    >>> months = WholeTimes((1.0, 4.0), (3.0, 6.0), 1.0)
    >>> months.crossing(np.array([0.8, 0.4]), 0.5), months.limits(np.array([0.7, 0.3]), np.array([0.9, 0.45]), 0.5)
    (6.0, (4.0, 6.0))
    """

    first: tuple[float, ...]
    final: tuple[float, ...]
    step: float

    def crossing(self, curve: Array, height: float) -> float:
        """Return the first value at which a curve is at or below `height`, inf if none; even falls within a bin."""
        below = np.flatnonzero(curve <= height)
        if not below.size:
            return np.inf
        i = int(below[0])
        before = float(curve[i - 1]) if i else 1.0
        values = max(round((self.final[i] - self.first[i]) / self.step) + 1, 1)
        # 1e-9: a share that is k of so many equal falls is the k-th value, whatever the rounding
        k = int(np.ceil(values * (before - height) / (before - float(curve[i])) - 1e-9))
        return self.first[i] + self.step * (min(max(k, 1), values) - 1)

    def limits(self, lower: Array, upper: Array, height: float) -> tuple[float, float]:
        """Return an interval of the crossing from pointwise limits of the curve; inf for an end that is not known.

        Let t be the crossing: S(t) <= height < S(t - step).  The lower limits at the end of t's bin are at or below
        height, or the pointwise interval misses S there; the first bin where they are begins at or before t.  Likewise
        the upper limits before t's bin are above height, and the bin after the last of these ends at t or later.
        Nothing is assumed of the curve within a bin.
        """
        low, high = np.flatnonzero(lower <= height), np.flatnonzero(upper > height)
        i = int(high[-1]) + 1 if high.size else 0
        return (
            self.first[int(low[0])] if low.size else np.inf,
            self.final[i] if i < len(self.final) else np.inf,
        )


def crossing(times: tuple[float, ...], curve: Array, height: float, known: int | None = None) -> float:
    """Return the first time at which a curve, linear between its times, is at or below `height`; inf if never.

    times: the start, where the curve is 1, then the times of the curve.  From index `known` on the curve is not known,
    so that it may fall right after the previous time, which is returned.

    >>> crossing((0.0, 1.0, 2.0), np.array([0.8, 0.4]), 0.5)
    1.75
    """
    below = np.flatnonzero(curve <= height)
    if not below.size:
        return np.inf
    i = int(below[0])
    if known is not None and i >= known:
        return float(times[i])
    before = float(curve[i - 1]) if i else 1.0
    return float(times[i] + (times[i + 1] - times[i]) * (before - height) / (before - float(curve[i])))


def last(times: tuple[float, ...], curve: Array, height: float) -> float:
    """Return the last time at which a curve, linear between its times, is at or above `height`; inf if at its end."""
    above = np.flatnonzero(curve >= height)
    i = int(above[-1]) + 1 if above.size else 0
    if i == len(curve):
        return np.inf
    before = float(curve[i - 1]) if i else 1.0
    return float(times[i] + (times[i + 1] - times[i]) * (before - height) / (before - float(curve[i])))


def times_of(axis: CellAxis) -> list[float]:
    """Return the times of a survival curve: ends of bins (the lower bound too, with a cell below), or the values."""
    if axis.kind == "levels":
        # rows below the first value count as at the value before it
        first = [start_of(axis)] if "below" in axis.extra else []
        return first + [float(x) for x in axis.centers]
    edges = [float(x) for x in axis.last]
    return edges if "below" in axis.extra else edges[1:]


def start_of(axis: CellAxis) -> float:
    """Return the start of the first bin, where survival is 1."""
    if axis.kind == "levels":
        return float(axis.centers[0]) - _spacing(axis)
    return float(axis.last[0])


def _spacing(axis: CellAxis) -> float:
    """Return the spacing of the values of levels: 1 where they have no numbers, or are one."""
    return float(np.diff(axis.centers).min()) if axis.bins > 1 else 1.0


def whole_times(axis: CellAxis, times: list[float]) -> WholeTimes | None:
    """Return the values in each bin of times that are whole numbers; None where times are real numbers."""
    if axis.kind == "levels":
        return WholeTimes(tuple(times), tuple(times), _spacing(axis))
    if not axis.step:
        return None
    # a first "time" of rows below the bounds stands for all of these: its own value is all that is said of it
    before = [float(axis.last[0]) - axis.step, *times[:-1]] if "below" in axis.extra else [start_of(axis), *times[:-1]]
    return WholeTimes(tuple(t + axis.step for t in before), tuple(times), axis.step)


def absent_parts(time: CellAxis) -> Array:
    """Return the part of each bin for which a row censored in it is not at risk, with a first bin of rows below."""
    single = time.kind == "levels"
    # of w whole numbers 1 - (w + 1) / 2 w; of real numbers w is infinite
    parts = np.zeros(time.bins) if single else (1 - time.step / time.widths) / 2
    return np.append(0.0 if single else 0.5, parts) if "below" in time.extra else parts

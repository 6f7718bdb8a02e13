"""A grid of 4,097 points over a box of any width, and a window about two of them: public arithmetic.  No data here.

Points are evenly spaced in a coordinate s: the log of positive parameters that are searched on the log scale, the
log-odds of shares, and for others asinh: x = middle + half sinh(s) / sinh(CURVE), where points are denser in the middle
than at the ends.  Neighbouring points differ by less than 0.6% of the parameter (or of its distance from the middle of
the box).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.models.boxes import Array, Parameter

STEPS: Final = 2**12
CURVE: Final = 12.0
REACH: Final = 4.0
"""Extension of a window beyond each quartile, in distances between them: 6 standard deviations of a normal law."""


@dataclass(frozen=True)
class WideGrid:
    """Points 0, ..., STEPS of a box from lower to upper; kind: "log", "logit" or "line"."""

    lower: float
    upper: float
    kind: str
    low: float
    high: float

    @classmethod
    def of(cls, one: Parameter) -> WideGrid:
        """Return the grid of a parameter, in the coordinate of its search.

        >>> WideGrid.of(Parameter("rate", 0.001, 1_000.0, "log")).values(np.array([0, 2**11, 2**12])).tolist()
        [0.001, 1.0, 1000.0]
        """
        if one.link in ("log", "logit"):
            return cls(one.lower, one.upper, one.link, *one.region(0.0))
        return cls(one.lower, one.upper, "line", -CURVE, CURVE)

    def values(self, points: NDArray[np.int64]) -> Array:
        """Return the parameter at points; the first and the last point are the ends of the box."""
        at = np.asarray(points, dtype=np.int64)
        s = self.low + (self.high - self.low) * (at / STEPS)
        if self.kind == "log":
            found = np.exp(s)
        elif self.kind == "logit":
            found = 1 / (1 + np.exp(-s))
        else:
            half = (self.upper - self.lower) / 2
            found = self.lower + half + half * (np.sinh(s) / np.sinh(CURVE))
        # exp and sinh round: the ends are set exactly, and nothing lies outside the box
        found = np.where(at <= 0, self.lower, np.where(at >= STEPS, self.upper, found))
        return np.clip(found, self.lower, self.upper)

    def places(self, values: Array) -> NDArray[np.int64]:
        """Return the last point that is not above each value, in {0, ..., STEPS}; 0 for NaN and infinities."""
        at = np.where(np.isfinite(values), values, self.lower)
        found = np.searchsorted(self.values(np.arange(STEPS + 1)), at, side="right") - 1
        return np.clip(found.astype(np.int64), 0, STEPS)


def window(wide: WideGrid, points: Sequence[int]) -> tuple[float, float]:
    """Return the window that estimates are clamped to, from the points selected near the quartiles: never empty."""
    # a point stands for values from it up to the next: the upper quartile may lie just below max(points) + 1
    first, last = max(min(points), 0), min(max(points) + 1, STEPS)
    low, high = (float(x) for x in wide.values(np.array([max(first - 1, 0), min(last + 1, STEPS)])))
    apart = high - low
    lower, upper = max(wide.lower, low - REACH * apart), min(wide.upper, high + REACH * apart)
    return (lower, upper) if lower < upper else (wide.lower, wide.upper)

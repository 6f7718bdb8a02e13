"""Sufficient statistics of exponential families of one column: functions of a row that are averaged within bounds.

Let y be the row x, log(x) or log(1 - x), clamped to public bounds.  A statistic is y, (y - c)**2, |y - c| or y**k.
Bounds of y give bounds of the statistic, and the reverse, so that a release, which stores the statistic's bounds, also
says where y was clamped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, cast

import numpy as np

from tacit.models.boxes import Array
from tacit.schema.predicates.syntax import Arithmetic, Call, Constant, Name, Value, spelled

Inner: TypeAlias = Literal["row", "log", "log of the rest"]
Outer: TypeAlias = Literal["itself", "square", "distance", "power"]
Bounds: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class SufficientStatistic:
    """One sufficient statistic of a row x.

    inner: y = x, log(x) or log(1 - x).  outer: y, (y - at)**2, abs(y - at) or y**at.  at: None for a square about the
    middle of y's bounds; any point would make the statistics sufficient, and this one needs the least noise.

    >>> one = SufficientStatistic("log").within((-5.0, 3.0))
    >>> one.spelled("wait"), one.bounds((-5.0, 3.0))
    ('log(wait)', (-5.0, 3.0))
    """

    inner: Inner = "row"
    outer: Outer = "itself"
    at: float | None = None

    def within(self, inner: Bounds) -> SufficientStatistic:
        """Return the statistic with `at` set to the middle of the public bounds of y, where it was None."""
        loose = self.at is None and self.outer != "itself"
        return replace(self, at=(inner[0] + inner[1]) / 2) if loose else self

    def bounds(self, inner: Bounds) -> Bounds:
        """Return the bounds of the statistic from those of y; `inner_bounds` of them may be wider than y's own."""
        low, high = inner
        match self.outer:
            case "itself":
                return low, high
            case "square":
                # from 0, whether or not the point lies within the bounds of y: one rule, and a little more noise if not
                return 0.0, max(abs(low - self._at), abs(high - self._at)) ** 2
            case "distance":
                return 0.0, max(abs(low - self._at), abs(high - self._at))
            case "power":
                return low**self._at, high**self._at

    def inner_bounds(self, own: Bounds) -> Bounds:
        """Return the bounds to which y is clamped, from those of the statistic."""
        low, high = own
        match self.outer:
            case "itself":
                return low, high
            case "square":
                return self._at - math.sqrt(high), self._at + math.sqrt(high)
            case "distance":
                return self._at - high, self._at + high
            case "power":
                return low ** (1 / self._at), high ** (1 / self._at)

    def row_bounds(self, inner: Bounds) -> Bounds:
        """Return the bounds to which the row itself is clamped, from those of y."""
        low, high = inner
        if self.inner == "row":
            return low, high
        low, high = math.exp(low), math.exp(high)
        # log(1 - x) falls in x: the ends change places
        return (low, high) if self.inner == "log" else (1 - high, 1 - low)

    def kinks(self, own: Bounds) -> tuple[float, ...]:
        """Return the rows at which the clamped statistic has no derivative; own: its bounds."""
        ends = self.row_bounds(self.inner_bounds(own))
        return (*ends, self._at) if self.outer == "distance" else ends

    def values(self, x: Array, own: Bounds) -> Array:
        """Return the clamped statistic of rows in the support, shape (n,); own: its bounds."""
        with np.errstate(all="ignore"):
            y = x if self.inner == "row" else np.log(x) if self.inner == "log" else np.log1p(-x)
        y = np.clip(y, *self.inner_bounds(own))
        match self.outer:
            case "itself":
                return np.asarray(y)
            case "square":
                return np.asarray((y - self._at) ** 2)
            case "distance":
                return np.asarray(np.abs(y - self._at))
            case "power":
                return np.asarray(y**self._at)

    def spelled(self, name: str) -> str:
        """Return the statistic as text of a computed column: "log(wait)", "(age - 50) ** 2"."""
        return _bare(self._value(name, True))

    def inner_spelled(self, name: str) -> str:
        """Return y, whose bounds are given, as text of a computed column."""
        return _bare(self._value(name, False))

    @property
    def _at(self) -> float:
        return cast(float, self.at)

    def _value(self, name: str, whole: bool) -> Value:
        y: Value = Name(name)
        if self.inner != "row":
            y = Call("log", y if self.inner == "log" else Arithmetic("-", Constant(1), y))
        if self.outer == "itself" or not whole:
            return y
        if self.outer == "power":
            return Arithmetic("**", y, Constant(int(self._at)))
        off = y if self._at == 0 else Arithmetic("-", y, Constant(self._at))
        return Arithmetic("**", off, Constant(2)) if self.outer == "square" else Call("abs", off)


def _bare(value: Value) -> str:
    text = spelled(value)
    return text[1:-1] if isinstance(value, Arithmetic) else text


ROW: Final = SufficientStatistic()
LOG: Final = SufficientStatistic("log")
LOG_OF_REST: Final = SufficientStatistic("log of the rest")

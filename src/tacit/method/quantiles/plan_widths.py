"""Width of a quantile's interval over the laws that a column may have: its middle, and a range that holds 90% of them.

An interval reaches between two ranks.  How far apart the values of these ranks lie depends on the law; and of values
that are recorded in units, on whether the ranks are at one value or at two.  A step of the grid is added: an interval
reaches half a step beyond either end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.shared.plan_shapes import Laws, heaped, shortest, weighted
from tacit.method.shared.plan_shares import Spread

HELD: Final = 0.85
"""Part of the laws, by weight, that the range holds."""
SMALL: Final = 0.05
"""Part of the middle width below which widths are alike, where values are recorded in no units."""
UNEVEN: Final = ((0.8, 0.25), (1.0, 0.5), (1.25, 0.25))
"""By how much a density lies above or below that of a law, about a quantile, and how often."""
SHARES: Final = (0.0, 0.3, 0.7)
"""Shares of the values that are supposed to be at declared heaps."""


@dataclass(frozen=True)
class Recorded:
    """How values are recorded on [0, 1], the range of a column.

    unit: all are multiples of it; 0 where nothing is known.  heaps: a share of them is at multiples of it; 0 for none.
    grid: a step of the released grid, which an interval has for itself; 0 for points alone.  first: the place on
    [0, 1] of a multiple.
    """

    unit: float = 0.0
    heaps: float = 0.0
    grid: float = 0.0
    first: float = 0.0

    @property
    def step(self) -> float:
        """Distance of two values that a release can tell apart."""
        return max(self.unit, self.grid)


@dataclass(frozen=True)
class Width:
    """Width of an interval: in the middle of the laws, without privacy, and over 90% of the laws; value: in the middle.

    between: None of one law alone, whose values are not recorded in units.
    """

    value: float
    middle: float
    without: float
    between: tuple[float, float] | None


def width_of(laws: Laws | Spread, p: float, reach: float, own: float, recorded: Recorded) -> Width:
    """Return the width between the quantiles of p - reach and p + reach; own: the same without privacy.

    laws: those that the column may have, or one that it is taken to have.

    >>> even = Spread(0.5, 0.2887, uniform=True)
    >>> round(width_of(even, 0.5, 0.1, 0.05, Recorded()).middle, 6), width_of(even, 0.5, 0.1, 0.05, Recorded()).between
    (0.2, None)
    """
    ends = np.array([p - reach, p + reach, p - own, p + own, p])
    if isinstance(laws, Laws):
        weights, at = laws.weights, laws.at(ends)
        if recorded.heaps:
            weights, at = _with_heaps(laws, ends, recorded)
    else:
        weights, at = np.ones(1), laws.at(ends)[None]
    wide, narrow = (_steps(at[:, i : i + 2], recorded) for i in (0, 2))
    middle, without = (weighted(one, weights, (0.5,))[0] for one in (wide.middle, narrow.middle))
    value = weighted(at[:, 4], weights, (0.5,))[0]
    if len(weights) == 1 and not recorded.step:
        return Width(value, max(middle, without), without, None)
    found, each = _each(at[:, :2], weights, recorded)
    low, high = shortest(found, each, HELD, max(SMALL * middle, 1e-12))
    return Width(value, max(middle, without), without, (min(low, middle), max(high, middle)))


def _each(ends: Array, weights: Array, recorded: Recorded) -> tuple[Array, Array]:
    """Return all widths that laws may have, and their weights: real densities go up and down about those of laws."""
    found, each = list[Array](), list[Array]()
    for times, part in UNEVEN:
        middle = ends.mean(axis=1, keepdims=True)
        made = _steps(np.clip(middle + times * (ends - middle), 0.0, 1.0), recorded)
        found += [made.fewer, made.fewer + recorded.step]
        each += [part * weights * (1 - made.more), part * weights * made.more]
    return np.concatenate(found), np.concatenate(each)


@dataclass(frozen=True)
class _Steps:
    """Widths of laws: in the middle, and with as few steps as can be; more: the probability of one step more."""

    middle: Array
    fewer: Array
    more: Array


def _steps(ends: Array, recorded: Recorded) -> _Steps:
    """Return the widths between ends, shape (laws, 2), as they are recorded."""
    length = ends[:, 1] - ends[:, 0]
    step, grid = recorded.step, recorded.grid
    # an interval ends at a bound, and not half a step beyond it
    cut = (ends[:, 0] <= step / 2).astype(np.float64) + (ends[:, 1] >= 1 - step / 2)
    beyond = grid * (1 - cut / 2)
    if not step:
        return _Steps(length, length, np.zeros(len(length)))
    whole = np.floor(length / step + 1e-9)
    return _Steps(length + beyond, whole * step + beyond, np.clip(length / step - whole, 0.0, 1.0))


def _with_heaps(laws: Laws, p: Array, recorded: Recorded) -> tuple[Array, Array]:
    """Return weights and quantiles of laws of which several shares are at heaps."""
    made = [heaped(laws, recorded.heaps, recorded.first, share) for share in SHARES]
    return np.tile(laws.weights / len(SHARES), len(SHARES)), np.concatenate([one.at(p) for one in made])

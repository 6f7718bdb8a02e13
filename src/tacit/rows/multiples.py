"""Multiples of one number between two others, and bins that begin halfway between two of them.  No data here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Final

ROUNDING: Final = Fraction(1, 10**6)
"""A place so near to a multiple, in units, is one: edges are sums and quotients of floats, as 0.1 + 0.2 for 0.3."""


@dataclass(frozen=True)
class Multiples:
    """The multiples k * unit, first <= k <= last; unit: as written in decimals, not as a float is in binary.

    >>> prices = Multiples(Fraction("0.5"), 0, 200)
    >>> prices.count, prices.value(3), prices.before(3), prices.from_edge(10.0)
    (201, 1.5, 1.25, 20)
    """

    unit: Fraction
    first: int
    last: int

    @property
    def count(self) -> int:
        """Number of values."""
        return self.last - self.first + 1

    def value(self, k: int) -> float:
        """Return the value k * unit."""
        return float(self.unit * k)

    def before(self, k: int) -> float:
        """Return the place halfway between value k and the one before it."""
        return float(self.unit * (k - Fraction(1, 2)))

    @property
    def ends(self) -> tuple[float, float]:
        """Half a unit below the first value, and above the last."""
        return self.before(self.first), self.before(self.last + 1)

    def from_edge(self, edge: float) -> int:
        """Return k of the first value at or above an edge."""
        return _ceil(edge, self.unit)

    def edges(self, firsts: Iterable[int]) -> tuple[float, ...]:
        """Return the inner edges of bins that begin with these values, each once, without the first value's own."""
        return tuple(self.before(k) for k in dict.fromkeys(firsts) if self.first < k <= self.last)

    def one_each(self) -> tuple[float, ...]:
        """Return the inner edges of bins of one value each."""
        return self.edges(range(self.first, self.last + 1))

    def even(self, bins: int) -> tuple[float, ...]:
        """Return the inner edges of at most so many bins, with equally many values in each but the last."""
        each = -(-self.count // bins)
        return self.edges(range(self.first, self.last + 1, each))


def between(lower: float, upper: float, unit: float) -> Multiples:
    """Return the multiples of `unit` from `lower` to `upper`; there may be none."""
    exact = Fraction(str(unit))
    return Multiples(exact, _ceil(lower, exact), -_ceil(-upper, exact))


def halfway(edges: Iterable[float], unit: float) -> bool:
    """Return whether all edges lie halfway between two multiples of `unit`, but for rounding in floats.

    >>> halfway([-0.25, 4.75], 0.5), halfway([0.0, 4.75], 0.5)
    (True, False)
    """
    exact = Fraction(str(unit))
    # far more units than a schema may have are no multiples that floats can tell apart
    if not all(abs(edge) <= 2.0**45 * unit for edge in edges):
        return False
    halves = [Fraction(edge) / exact - Fraction(1, 2) for edge in edges]
    return all(abs(k - round(k)) <= Fraction(1, 100) for k in halves)


def _ceil(x: float, unit: Fraction) -> int:
    """Return the smallest k with k * unit at or above x, but for rounding in floats."""
    k = Fraction(x) / unit
    near = round(k)
    # 2**-50: of numbers that are more than a billion units
    return near if abs(k - near) <= max(ROUNDING, Fraction(abs(near), 2**50)) else ceil(k)

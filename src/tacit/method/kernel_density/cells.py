"""The public cells of a kernel density: how many each column has, by its bandwidth, and their edges.  No data here.

The kernel is laid on counts of cells that are CELL bandwidths wide.  Narrower cells need more noise in all, wider ones
average out what the kernel shows; theory §3.5 compares the noise with that of a Gaussian process of the kernel's own
covariance, and with a bound that no linear mechanism is below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from tacit.rows.multiples import Multiples

CELL: Final = 1.5
"""Width of a cell, in bandwidths."""
MOST_CELLS: Final = {1: 2_000, 2: 100, 3: 32}
"""Most cells of a column, by the number of columns."""
FEWEST_CELLS: Final = 4
"""Fewest cells of a column of real numbers."""
STEP: Final = 1.06
"""Each bandwidth tried is so many times the one before."""
SPREAD: Final = {1: 0.1, 2: 0.125, 3: 0.125}
"""Standard deviation of the law that "auto" is for, as part of the range, by the number of columns: narrow, since the
estimate can only widen what was bought."""


@dataclass(frozen=True)
class Support:
    """The values of a column: its kind and bounds; of real numbers the multiples that are declared, if any are."""

    kind: str
    lower: float
    upper: float
    multiples: Multiples | None = None

    @property
    def length(self) -> float:
        """Its length, in the column's units: declared multiples have the unit around them."""
        if self.multiples is None:
            return length(self.kind, self.lower, self.upper)
        return float(self.multiples.unit) * self.multiples.count

    def number(self, width: float) -> int:
        """Return how many cells it has for a bandwidth, in the column's units."""
        return number_of_cells(*self._whole, width / self.length)

    def edges(self, cells: int) -> tuple[float, ...]:
        """Return the inner edges of cells: of declared multiples halfway between two of them.

        >>> from tacit.rows.multiples import between
        >>> Support("real", 0, 2.5, between(0, 2.5, 0.5)).edges(4)
        (0.25, 1.25, 1.75)
        """
        inner = inner_edges(*self._whole, cells)
        return inner if self.multiples is None else self.multiples.edges(math.ceil(edge) for edge in inner)

    @property
    def _whole(self) -> tuple[str, float, float]:
        """Kind and bounds; of multiples, which are whole numbers of units, of these."""
        if self.multiples is None:
            return self.kind, self.lower, self.upper
        return "integer", self.multiples.first, self.multiples.last


def number_of_cells(kind: str, lower: float, upper: float, bandwidth: float) -> int:
    """Return how many cells a column has; bandwidth: as part of its support.

    >>> number_of_cells("real", 0, 1, 0.02), number_of_cells("integer", 1, 6, 0.02)
    (34, 6)
    """
    wanted = max(FEWEST_CELLS, math.ceil((1 - 1e-8) / (CELL * bandwidth)))
    return wanted if kind == "real" else max(2, min(wanted, values(kind, lower, upper)))


def values(kind: str, lower: float, upper: float) -> int:
    """Return how many cells a column of whole numbers or days can have: the last two days are in one."""
    return int(upper) - int(lower) + (1 if kind == "integer" else 0)


def inner_edges(kind: str, lower: float, upper: float, cells: int) -> tuple[float, ...]:
    """Return the inner edges of the cells: of whole numbers halfway between two of them, of dates days.

    >>> inner_edges("real", 0, 1, 4), inner_edges("integer", 1, 6, 4)
    ((0.25, 0.5, 0.75), (1.5, 3.5, 4.5))
    """
    if kind == "real":
        # bit for bit what bins of equal width are in a schema
        return tuple(lower + (upper - lower) * i / cells for i in range(1, cells))
    first = lower - 0.5 if kind == "integer" else lower
    number = values(kind, lower, upper)
    return tuple(first + number * i // cells for i in range(1, cells))


def length(kind: str, lower: float, upper: float) -> float:
    """Return the length of a column's support: a whole number v is [v - 1/2, v + 1/2], a day d is [d, d + 1]."""
    return upper - lower + (0.0 if kind == "real" else 1.0)


def chosen_bandwidth(columns: int, rows: int, variance: float) -> float:
    """Return the bandwidth of least expected error for normal columns of standard deviation SPREAD, a part of 1.

    Each column has the same, as part of its range.  variance: of the noise of a count.  The error is the squared bias,
    h**4 / 4 times the integral of the squared Laplacian, and the variances of rows and of noise, both integrated.

    >>> round(chosen_bandwidth(1, 10_000, 36.0), 3), round(chosen_bandwidth(1, 10_000, 3_600.0), 3)
    (0.018, 0.03)
    """
    d, s, n = columns, SPREAD[columns], max(rows, 1)
    root = 2 * math.sqrt(math.pi)
    rough = d * (d + 2) / (4 * root**d * s ** (d + 4))
    least, best, h = math.inf, 0.3, 1 / (CELL * MOST_CELLS[d])
    while h < 0.3:
        # the noise of a cell is averaged over as many as the kernel holds
        noise = variance / n**2 / (CELL * root * h * h) ** d
        error = h**4 / 4 * rough + 1 / (n * (root * h) ** d) + noise
        if error < least:
            least, best = error, h
        h *= STEP
    return best

"""Row maps: how one cell of a table becomes a bounded integer (theory §12, engine notes).  No data here.

A `RowMap` says how a value becomes v in {0, ..., G}, or nothing (absent); a `KeyMap` says how it becomes the index of
a public level, or nothing; a `Polynomial` is an integer function of v that an engine can sum.  `numpy` methods are the
reference that every engine must equal, row by row: whatever an engine does on the way, the last step is missing ->
declared place, then a clamp in 64-bit integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, SupportsFloat, TypeAlias

import numpy as np
from numpy.typing import NDArray

Kind: TypeAlias = Literal["real", "integer", "boolean", "date"]
Level: TypeAlias = str | int | bool
KeyKind: TypeAlias = Literal[
    "category", "boolean", "bins", "bins-date", "quality-number", "quality-date", "quality-text", "quality-boolean"
]

GRID: Final = 2**20
"""Steps of a real column (theory §12): squares stay below 2**40, sums of v below 2**62 for MAX_ROWS rows."""

MAX_ROWS: Final = 2**42
"""More rows than this are refused: no sum of a term below 2**21 overflows 64 bits; larger ones are added in limbs."""


@dataclass(frozen=True)
class RowMap:
    """value -> v in {0, ..., steps * factor}, or absent.

    real, integer, date:  y = (x - lower) * (steps / (upper - lower)) in float64,
                          v = floor(clamp(y, 0, steps) + 1/2) * factor
    boolean:              0 or False -> 0, 1 or True -> factor, anything else is missing (steps = 1)

    Null, NaN and +-inf are missing: v = `missing`, or absent where `missing` is None.  Dates are days since 1970-01-01.
    """

    column: str
    """Name in the schema."""
    source: str
    """Name in the table."""
    kind: Kind
    lower: float
    upper: float
    steps: int
    factor: int = 1
    missing: int | None = None

    @property
    def G(self) -> int:
        """Largest value of v."""
        return self.steps * self.factor

    def numpy(self, values: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Reference: float64 cells (NaN where null) -> (v, present), both of the same shape; v = 0 where absent."""
        x = np.asarray(values, dtype=np.float64)
        known = np.isfinite(x)
        if self.kind == "boolean":
            known &= (x == 0.0) | (x == 1.0)
        safe = np.where(known, x, self.lower)
        with np.errstate(over="ignore", invalid="ignore"):
            y = (safe - self.lower) * (self.steps / (self.upper - self.lower))
            y = np.where(safe >= self.upper, float(self.steps), np.where(safe <= self.lower, 0.0, y))
        step = np.floor(np.clip(y, 0.0, float(self.steps)) + 0.5).astype(np.int64)
        v = np.clip(step, 0, self.steps) * self.factor
        v = np.where(known, v, 0 if self.missing is None else self.missing)
        present = known if self.missing is None else np.ones_like(known)
        return v.astype(np.int64), present

    def value(self, v: float) -> float:
        """The point of the column's own scale that a grid value stands for."""
        return self.lower + (self.upper - self.lower) * (v / self.G)


@dataclass(frozen=True)
class KeyMap:
    """value -> index of its level, or absent: missing cells go to `missing` (an index), unlisted ones likewise."""

    column: str
    source: str
    kind: KeyKind
    levels: tuple[Level, ...]
    """Codes as they stand in the table, in the schema's order (booleans: False, True)."""
    labels: tuple[str, ...]
    """One label a level; longer than `levels` by one where missing is a level of its own."""
    missing: int | None = None
    ordered: bool = False
    """Whether the order of the levels means something."""
    edges: tuple[float, ...] = ()
    """Of a column of numbers in bins: their inner edges, ascending; level i is for edges[i-1] <= x < edges[i].
    Of a question about quality: the column's bounds."""
    codes: tuple[Level, ...] = ()
    """Of a question about quality: what a category's cells may be."""
    constant: bool = False
    """Whether a person has one level: the first that any of her rows has."""
    even: tuple[float, float] | None = None
    """Of bins of equal width: both ends; edge i is even[0] + (even[1] - even[0]) * i / (number of bins), in floats."""
    extra: tuple[str, ...] = ()
    """Labels of the last levels, which no regular cell has: "missing", "below", "above"."""
    beyond: tuple[float, float] | None = None
    """Of bins whose last two levels are for numbers below and above these bounds, infinite ones too."""

    @property
    def size(self) -> int:
        """Number of public levels, that of missing values included where there is one."""
        return len(self.labels)

    @property
    def regular(self) -> int:
        """Number of levels without the extra ones."""
        return len(self.labels) - len(self.extra)

    @property
    def order(self) -> tuple[str, ...]:
        """Labels whose order means something: no level for missing cells, and none of an unordered category."""
        return self.labels[: len(self.levels)] if self.ordered or self.kind == "boolean" else ()

    def index(self, value: object) -> int | None:
        """Reference: one cell -> index or None."""
        if self.kind.startswith("quality"):
            return self._quality(value)
        if self.edges:
            return self._bin(float(value)) if isinstance(value, SupportsFloat) else self.missing
        for i, level in enumerate(self.levels):
            if same_level(value, level):
                return i
        return self.missing

    def _bin(self, x: float) -> int | None:
        if self.beyond is not None and (x < self.beyond[0] or x > self.beyond[1]):
            return self.size - 2 if x < self.beyond[0] else self.size - 1
        return sum(x >= edge for edge in self.edges) if np.isfinite(x) else self.missing

    def _quality(self, value: object) -> int:
        """0 missing, 1 below or unlisted, 2 above, and last: as declared."""
        if self.kind == "quality-text":
            return 0 if not isinstance(value, str) else 2 if value in self.codes else 1
        if not isinstance(value, SupportsFloat) or isinstance(value, str) or not np.isfinite(float(value)):
            return 0
        if self.edges:
            return 1 if float(value) < self.edges[0] else 2 if float(value) > self.edges[1] else 3
        return 2 if any(float(value) == float(code) for code in self.codes) else 1


def same_level(value: object, level: Level) -> bool:
    """Whether a cell is a level: text equals text only; numbers and booleans compare as float64 (1 == 1.0 == True)."""
    if isinstance(value, str) or isinstance(level, str):
        return isinstance(value, str) and isinstance(level, str) and value == level
    return isinstance(value, SupportsFloat) and float(value) == float(level)


@dataclass(frozen=True)
class Polynomial:
    """floor(sum_k c_k v**k / divisor) of the grid value v of a present row, an integer.  Absent rows count 0.

    Evaluated in 64-bit integers, then divided in float64 and floored.  Exact while the numerator a is below 2**52: a
    quotient a / d that is no integer is at least 1 / d from the next one, relatively 1 / a, which exceeds the rounding
    error 2**-53 of a division.  For a power of two as divisor 2**53 will do.  `check` proves it from public facts.

    >>> Polynomial((0, 0, 1), 8).numpy(np.array([0, 4, 5]))
    array([0, 2, 3])
    """

    coefficients: tuple[int, ...]
    divisor: int = 1

    def __call__(self, v: int) -> int:
        """Exact value at one grid point, in Python integers."""
        return sum(c * v**k for k, c in enumerate(self.coefficients)) // self.divisor

    def numpy(self, v: NDArray[np.int64]) -> NDArray[np.int64]:
        """Reference for the engines; v of any shape."""
        total = np.zeros_like(v, dtype=np.int64)
        for c in reversed(self.coefficients):
            total = total * v + c
        if self.divisor == 1:
            return total
        return np.floor(total.astype(np.float64) / float(self.divisor)).astype(np.int64)

    def bound(self, G: int) -> int:
        """Largest |value| over v in {0, ..., G}: exact for degree two and for small grids, else from the coefficients.

        >>> Polynomial((16, -8, 1), 2).bound(8)
        8
        """
        return _bound(self, G)

    def check(self, G: int) -> None:
        """Refuse what could round or overflow for some v in {0, ..., G} (a mistake of ours, not of a user)."""
        _check(self, G)


@lru_cache(maxsize=1024)
def _check(p: Polynomial, G: int) -> None:
    steps = sum(abs(c) * G**k for k, c in enumerate(p.coefficients))  # bounds every intermediate sum
    value = steps
    if steps >= 2**52 and G <= 2**13:
        value = max(abs(sum(c * v**k for k, c in enumerate(p.coefficients))) for v in range(G + 1))
    power_of_two = p.divisor & (p.divisor - 1) == 0
    limit = 2**62 if p.divisor == 1 else 2**53 if power_of_two else 2**52
    if steps >= 2**62 or value >= limit:
        raise ArithmeticError(f"polynomial reaches {value}, at or above {limit}, on a grid of {G}")


@lru_cache(maxsize=1024)
def _bound(p: Polynomial, G: int) -> int:
    if G <= 2**13:
        return max(abs(p(v)) for v in range(G + 1))
    if len(p.coefficients) <= 3:
        _, slope, square = (*p.coefficients, 0, 0, 0)[:3]
        vertex = -slope // (2 * square) if square else 0
        ends = {0, G, *(v for v in (vertex, vertex + 1) if 0 <= v <= G)}
        return max(abs(p(v)) for v in ends)
    return sum(abs(c) * G**k for k, c in enumerate(p.coefficients)) // p.divisor + 1


ONE: Final = Polynomial((1,))
"""Counts present rows."""
IDENTITY: Final = Polynomial((0, 1))
"""Sums v."""


@dataclass(frozen=True)
class Unit:
    """The column that says whose row a row is.  Rows without an answer there are one person's."""

    column: str
    source: str


@dataclass(frozen=True)
class Share:
    """A person's weight in one cell, in {0, ..., G}: floor(s * min(C, cap) / (cap * C)), `cap` being 1 where None.

    C: the person's rows that count (in some cell, and present where a column is summed); s: G for each of those of this
    cell.  `of`: a column of weights on G steps, whose own rows count, and s is the sum of their weights in this cell:
    at cap 1 a person weighs the mean of her rows' weights, shared out over her cells.  Since s adds up to at most G C,
    the weights of one person add up to at most G over all cells.  Source: ours; proofs in
    `method.shared.weighted_encoding`.

    >>> Share(100).value(1, 3), Share(100, cap=4).value(2, 2), Share(100, cap=4).value(3, 6)
    (33, 50, 50)
    >>> Share(100).weighed(60 + 90, 3), Share(100, cap=4).weighed(60 + 90, 2)
    (50, 37)
    """

    G: int
    cap: int | None = None
    of: RowMap | None = None

    def value(self, c: int, total: int) -> int:
        """Reference: the integer for c of `total` rows that weigh alike."""
        return self.weighed(self.G * c, total)

    def weighed(self, weights: int, total: int) -> int:
        """Reference: the integer for rows of a cell whose weights add up to `weights`, of `total` rows that count."""
        cap = self.cap or 1
        return weights * min(total, cap) // (cap * total) if total else 0


@dataclass(frozen=True)
class SumTerm:
    """What a source adds up in each cell: `polynomial` of `rowmap`'s value over present rows; all rows where None.

    weight: each summand times `weight_polynomial` of another column's value (present rows of both count), or of a
    person's `Share`.
    """

    rowmap: RowMap | None
    polynomial: Polynomial = ONE
    weight: RowMap | Share | None = None
    weight_polynomial: Polynomial = ONE

    @property
    def maps(self) -> tuple[RowMap, ...]:
        """Columns that it reads."""
        weight = self.weight.of if isinstance(self.weight, Share) else self.weight
        return tuple(at for at in (self.rowmap, weight) if at is not None)

    @property
    def bound(self) -> int:
        """Largest |summand|."""
        own = 1 if self.rowmap is None else self.polynomial.bound(self.rowmap.G)
        return own if self.weight is None else own * self.weight_polynomial.bound(self.weight.G)


@dataclass(frozen=True)
class Aggregate:
    """Exact integers from one pass over the table.  INSIDE the wall: not released.

    rows:  all rows of the table (or persons, where rows are reduced to persons), in a cell or not; public under
           replace-one only.
    cells: one list of Python integers for each cell, len(sums) long; cells in row-major order of the keys' levels,
           all of them, empty ones zero; one cell where there is no key.  Rows with an absent key are in no cell.
    """

    rows: int
    cells: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Ranked:
    """Exact counts from one pass over the table.  INSIDE the wall: not released.

    rows:  all rows of the table (or persons), in a cell or not; public under replace-one only.
    cells: {v: rows} of a column's present values in each cell, in row-major order of the keys' levels; {v: weight},
           none of them 0, of persons who may be in several.
    """

    rows: int
    cells: tuple[dict[int, int], ...]


@dataclass(frozen=True)
class Tally:
    """Exact counts of many cells.  INSIDE the wall: not released.

    rows: all rows, in a cell or not.  counts: int64 array of shape (cells,), row-major in the keys' levels.
    """

    rows: int
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class Occupied:
    """Exact counts of the cells that some row is in.  INSIDE the wall: not released.

    rows: all rows, in a cell or not (persons count once in each cell).  cells: their places, row-major in the keys'
    levels, ascending; counts: of each, not 0.  int64 arrays of one shape.
    """

    rows: int
    cells: NDArray[np.int64]
    counts: NDArray[np.int64]

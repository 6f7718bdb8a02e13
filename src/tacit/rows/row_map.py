"""Row maps: how one cell of a table becomes a bounded integer (theory §12, engine notes).  No data here.

A `RowMap` maps a value to v in {0, ..., G}, or to nothing (absent); a `KeyMap` maps it to the index of a public level,
or to nothing; a `Polynomial` is an integer function of v that an engine can sum.  The `numpy` methods are the reference
that every engine must equal, row by row.  Whatever an engine computes before, its last steps replace a missing value
and clamp in 64-bit integers, so that sensitivities hold for every cell.
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
"""Grid steps of a real column (theory §12): v**2 is at most 2**40, and sums of v over MAX_ROWS rows at most 2**62."""

MAX_ROWS: Final = 2**42
"""Largest number of rows: sums of terms below 2**21 do not overflow 64 bits; larger terms are added in limbs."""


@dataclass(frozen=True)
class RowMap:
    """The map from a value x to v in {0, ..., steps * factor}, or to nothing (absent).

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
        """Reference: return (v, present), both of the shape of `values`, float64 cells with NaN for null.

        v is 0 where a cell is absent.
        """
        x = np.asarray(values, dtype=np.float64)
        known = np.isfinite(x)
        # other numbers in a boolean column are errors of entry: missing, not clamped
        if self.kind == "boolean":
            known &= (x == 0.0) | (x == 1.0)
        # the arithmetic below runs for every cell: missing ones stand at the lower bound until they are replaced
        safe = np.where(known, x, self.lower)
        with np.errstate(over="ignore", invalid="ignore"):  # x - lower may overflow: such cells are clamped next
            y = (safe - self.lower) * (self.steps / (self.upper - self.lower))
            # exact ends: (upper - lower) * (steps / (upper - lower)) may round to another number than steps
            y = np.where(safe >= self.upper, float(self.steps), np.where(safe <= self.lower, 0.0, y))
        step = np.floor(np.clip(y, 0.0, float(self.steps)) + 0.5).astype(np.int64)
        # the clamp in integers is the one that sensitivities rest on
        v = np.clip(step, 0, self.steps) * self.factor
        v = np.where(known, v, 0 if self.missing is None else self.missing)
        present = known if self.missing is None else np.ones_like(known)
        return v.astype(np.int64), present

    def value(self, v: float) -> float:
        """Return the value on the column's own scale that a grid value v stands for."""
        return self.lower + (self.upper - self.lower) * (v / self.G)


@dataclass(frozen=True)
class KeyMap:
    """The map from a cell to the index of its level; missing and unlisted cells go to `missing`, absent if None."""

    column: str
    source: str
    kind: KeyKind
    levels: tuple[Level, ...]
    """Codes in the table, in the schema's order (booleans: False, True)."""
    labels: tuple[str, ...]
    """One label for each level; one more than `levels` where missing cells have a level of their own."""
    missing: int | None = None
    ordered: bool = False
    """Whether the levels are ordered."""
    edges: tuple[float, ...] = ()
    """For bins: inner edges, ascending; level i is edges[i-1] <= x < edges[i].  For quality: the column's bounds."""
    codes: tuple[Level, ...] = ()
    """For quality: the codes that a category declares."""
    constant: bool = False
    """Whether all rows of a person have one level: the first level that any of the person's rows has."""
    even: tuple[float, float] | None = None
    """For bins of equal width: both ends; edge i is even[0] + (even[1] - even[0]) * i / (number of bins), in floats."""
    extra: tuple[str, ...] = ()
    """Labels of additional levels after the regular ones: "missing", "below", "above"."""
    beyond: tuple[float, float] | None = None
    """For bins whose last two levels count numbers below and above these bounds, infinite ones included."""

    @property
    def size(self) -> int:
        """Number of public levels, including those for missing cells and for cells beyond the bounds."""
        return len(self.labels)

    @property
    def regular(self) -> int:
        """Number of levels without those of `extra`."""
        return len(self.labels) - len(self.extra)

    @property
    def order(self) -> tuple[str, ...]:
        """Labels of the ordered levels: without a level for missing cells; empty for an unordered category."""
        return self.labels[: len(self.levels)] if self.ordered or self.kind == "boolean" else ()

    def index(self, value: object) -> int | None:
        """Reference: return the index of one cell's level, or None where it is absent."""
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
            # before the test for finite numbers: infinite cells count as beyond
            return self.size - 2 if x < self.beyond[0] else self.size - 1
        return sum(x >= edge for edge in self.edges) if np.isfinite(x) else self.missing

    def _quality(self, value: object) -> int:
        """Return the class of a cell.

        0 missing; for numbers 1 below, 2 above, 3 as declared; for levels 1 unlisted, 2 as declared.
        """
        if self.kind == "quality-text":
            return 0 if not isinstance(value, str) else 2 if value in self.codes else 1
        if not isinstance(value, SupportsFloat) or isinstance(value, str) or not np.isfinite(float(value)):
            return 0
        if self.edges:
            return 1 if float(value) < self.edges[0] else 2 if float(value) > self.edges[1] else 3
        return 2 if any(float(value) == float(code) for code in self.codes) else 1


def same_level(value: object, level: Level) -> bool:
    """Return whether a cell is a level: text equals only text; numbers and booleans compare as float64 (1 == True)."""
    if isinstance(value, str) or isinstance(level, str):
        return isinstance(value, str) and isinstance(level, str) and value == level
    return isinstance(value, SupportsFloat) and float(value) == float(level)


@dataclass(frozen=True)
class Polynomial:
    """The integer floor(sum_k c_k v**k / divisor) of the grid value v of a present row; 0 for an absent row.

    It is evaluated in 64-bit integers, then divided in float64 and floored.  That is exact while the numerator a is
    below 2**52: a non-integer quotient a / d is at least 1 / d away from every integer, relatively 1 / a, which exceeds
    the rounding error 2**-53 of a division.  For a divisor that is a power of two 2**53 suffices.  `check` verifies
    this from public facts.

    >>> Polynomial((0, 0, 1), 8).numpy(np.array([0, 4, 5]))
    array([0, 2, 3])
    """

    coefficients: tuple[int, ...]
    divisor: int = 1

    def __call__(self, v: int) -> int:
        """Return the exact value at one grid point, in Python integers."""
        return sum(c * v**k for k, c in enumerate(self.coefficients)) // self.divisor

    def numpy(self, v: NDArray[np.int64]) -> NDArray[np.int64]:
        """Reference: return the values at v, int64 of any shape."""
        total = np.zeros_like(v, dtype=np.int64)
        # Horner's rule; `check` bounds every intermediate sum
        for c in reversed(self.coefficients):
            total = total * v + c
        if self.divisor == 1:
            return total
        return np.floor(total.astype(np.float64) / float(self.divisor)).astype(np.int64)

    def bound(self, G: int) -> int:
        """Return the largest |value| over v in {0, ..., G}: exact up to degree two and on small grids, else a bound.

        >>> Polynomial((16, -8, 1), 2).bound(8)
        8
        """
        return _bound(self, G)

    def check(self, G: int) -> None:
        """Raise ArithmeticError if a value could round or overflow for a v in {0, ..., G}: a defect of the library."""
        _check(self, G)


@lru_cache(maxsize=1024)
def _check(p: Polynomial, G: int) -> None:
    """Perform `Polynomial.check`, once for each polynomial and grid."""
    steps = sum(abs(c) * G**k for k, c in enumerate(p.coefficients))  # bounds every intermediate sum
    value = steps
    # the bound by absolute values ignores that terms cancel: small grids are evaluated point by point
    if steps >= 2**52 and G <= 2**13:
        value = max(abs(sum(c * v**k for k, c in enumerate(p.coefficients))) for v in range(G + 1))
    power_of_two = p.divisor & (p.divisor - 1) == 0
    limit = 2**62 if p.divisor == 1 else 2**53 if power_of_two else 2**52
    if steps >= 2**62 or value >= limit:
        raise ArithmeticError(f"polynomial reaches {value}, at or above {limit}, on a grid of {G}")


@lru_cache(maxsize=1024)
def _bound(p: Polynomial, G: int) -> int:
    """Compute `Polynomial.bound`, once for each polynomial and grid."""
    if G <= 2**13:
        return max(abs(p(v)) for v in range(G + 1))
    if len(p.coefficients) <= 3:  # a parabola is largest at an end or next to its vertex
        _, slope, square = (*p.coefficients, 0, 0, 0)[:3]
        # floor of the real vertex: the extreme over integers is there or one above
        vertex = -slope // (2 * square) if square else 0
        ends = {0, G, *(v for v in (vertex, vertex + 1) if 0 <= v <= G)}
        return max(abs(p(v)) for v in ends)
    # one more for the floor of a negative quotient
    return sum(abs(c) * G**k for k, c in enumerate(p.coefficients)) // p.divisor + 1


ONE: Final = Polynomial((1,))
"""The constant 1: its sum is the number of present rows."""
IDENTITY: Final = Polynomial((0, 1))
"""The value v itself."""


@dataclass(frozen=True)
class Unit:
    """The column that identifies the person each row belongs to; rows with a missing cell there are one person's."""

    column: str
    source: str


@dataclass(frozen=True)
class PersonWeight:
    """A person's weight in one cell, in {0, ..., G}: floor(s * min(C, cap) / (cap * C)), where cap None means 1.

    C is the number of the person's rows that count (in some cell, and present where a column is summed), and s is G
    times the number of those in this cell.  With a column of weights on G steps (`of`), rows count where their weight
    is present, and s is the sum of the weights in this cell: at cap 1 a person's weight is the mean of the weights of
    the person's rows, divided among the cells.  Since the s of all cells add up to at most G C, a person's weights add
    up to at most G.  Source: ours; proofs in `method.shared.weighted_encoding`.

    >>> PersonWeight(100).value(1, 3), PersonWeight(100, cap=4).value(2, 2), PersonWeight(100, cap=4).value(3, 6)
    (33, 50, 50)
    >>> PersonWeight(100).weighed(60 + 90, 3), PersonWeight(100, cap=4).weighed(60 + 90, 2)
    (50, 37)
    """

    G: int
    cap: int | None = None
    of: RowMap | None = None

    def value(self, c: int, total: int) -> int:
        """Reference: return the weight in a cell with c of the person's `total` rows, all of weight G."""
        return self.weighed(self.G * c, total)

    def weighed(self, weights: int, total: int) -> int:
        """Reference: return the weight in a cell where weights add up to `weights`, of a person with `total` rows."""
        cap = self.cap or 1
        # a single floor at the end, so that the weights of all cells add up to at most G
        return weights * min(total, cap) // (cap * total) if total else 0


@dataclass(frozen=True)
class SumTerm:
    """A sum over the rows of each cell: `polynomial` of the value of `rowmap` over present rows; 1 over all where None.

    weight: each summand is multiplied by `weight_polynomial` of another column's value (only rows where both are
    present count), or of a person's `PersonWeight`.
    """

    rowmap: RowMap | None
    polynomial: Polynomial = ONE
    weight: RowMap | PersonWeight | None = None
    weight_polynomial: Polynomial = ONE

    @property
    def maps(self) -> tuple[RowMap, ...]:
        """Row maps of the columns that are read."""
        weight = self.weight.of if isinstance(self.weight, PersonWeight) else self.weight
        return tuple(at for at in (self.rowmap, weight) if at is not None)

    @property
    def bound(self) -> int:
        """Largest absolute value of a summand."""
        own = 1 if self.rowmap is None else self.polynomial.bound(self.rowmap.G)
        return own if self.weight is None else own * self.weight_polynomial.bound(self.weight.G)


@dataclass(frozen=True)
class Aggregate:
    """Exact sums of every cell from one pass over the table.  INSIDE the wall: never released.

    rows:  number of all rows of the table (or persons, where rows are reduced to persons), in a cell or not; public
           under replace-one only.
    cells: for each cell its sums, as Python integers; all cells in row-major order of the keys' levels, zeros for empty
           ones; a single cell where there is no key.  Rows with an absent key are in no cell.
    """

    rows: int
    cells: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Ranked:
    """Exact counts of each value of a column, by cell, from one pass over the table.  INSIDE the wall: never released.

    rows:  number of all rows of the table (or persons), in a cell or not; public under replace-one only.
    cells: for each cell, in row-major order of the keys' levels, {v: number of rows} of the column's present values; of
           persons, who may be in several cells, {v: weight}, weights of 0 left out.
    """

    rows: int
    cells: tuple[dict[int, int], ...]


@dataclass(frozen=True)
class Tally:
    """Exact counts of all cells.  INSIDE the wall: never released.

    rows: number of all rows, in a cell or not.  counts: int64 of shape (cells,), row-major in the keys' levels.
    """

    rows: int
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class Occupied:
    """Exact counts of the non-empty cells.  INSIDE the wall: never released.

    rows: number of all rows, in a cell or not.  cells: indices of the non-empty cells, row-major in the keys' levels,
    ascending; counts: the count of each, where a person counts once in each cell.  Both int64, of one shape.
    """

    rows: int
    cells: NDArray[np.int64]
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class JointValues:
    """Which values rows (persons) have together, in several columns and cells.  INSIDE the wall: never released.

    A pattern has one entry, or for a person in several cells one for each of them; rows in no cell have entries, too.
    counts: rows with each pattern, shape (patterns,).  pattern, cell: of each entry, shape (entries,); the cell is -1
    for none, else row-major in the keys' levels.  values: shape (columns, entries), -1 where a column has no value; 0
    where no column is asked for and the row counts.  weights: a person's parts, of the shape of `values`, or None.
    """

    counts: NDArray[np.int64]
    pattern: NDArray[np.int64]
    cell: NDArray[np.int64]
    values: NDArray[np.int64]
    weights: NDArray[np.int64] | None

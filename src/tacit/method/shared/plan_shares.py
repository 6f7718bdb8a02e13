"""What plans assume of a table: values of a column and shares of cells, as declared (`Expectations`) or else evenly.

Values of a column whose mean and standard deviation are expected follow the Beta law between its bounds that has both;
there is one for every pair that a law between these bounds can have.  Where quantiles are told,
shares of bins are those of laws that have them.  Columns are taken to be independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.lazy_imports import special
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_matched import matched
from tacit.method.shared.plan_shapes import Laws, laws_of
from tacit.rows.row_map import KeyMap, RowMap
from tacit.schema.expectations import Expectations, ExpectedNumbers

Array = NDArray[np.float64]
NOTHING: Final = Expectations()
"""Nothing is expected of any column."""
PART: Final = 0.1
"""Part of its bounds that a column uses which does not fill them: the lowest, where amounts and counts mostly lie."""
POINTS: Final = 1_001
ALIKE: Final = 1.3
"""Widths of automatic bins are within this ratio."""
FLAT: Final = 1e-9
"""Below this sum of its two parameters a Beta law is taken to be its limit, on the two bounds alone."""


@dataclass(frozen=True)
class Spread:
    """A law of values on [0, 1], the range of a column: uniform, or Beta with an expected mean and sd."""

    mean: float
    sd: float
    uniform: bool = False

    def below(self, x: Array) -> Array:
        """Return the probability of values up to x, of the shape of x."""
        if self.uniform:
            return np.clip(x, 0.0, 1.0)
        if self.sd == 0:
            return np.where(x >= self.mean, 1.0, 0.0)
        if self._size < FLAT:
            return np.where(x >= 1, 1.0, np.where(x < 0, 0.0, 1 - self.mean))
        a, b = self.mean * self._size, (1 - self.mean) * self._size
        return np.asarray(special().betainc(a, b, np.clip(x, 0.0, 1.0)), dtype=np.float64)

    def at(self, p: Array) -> Array:
        """Return the quantiles of probabilities p, of the shape of p."""
        q = np.clip(p, 0.0, 1.0)
        if self.uniform:
            return q
        if self.sd == 0:
            return np.full_like(q, self.mean)
        if self._size < FLAT:
            return np.where(q > 1 - self.mean, 1.0, 0.0)
        a, b = self.mean * self._size, (1 - self.mean) * self._size
        return np.asarray(special().betaincinv(a, b, q), dtype=np.float64)

    def points(self, size: int) -> Array:
        """Return quantiles of `size` equal probabilities, shape (size,), with the mean and sd of the law."""
        if self.uniform:
            return np.arange(size) / (size - 1)
        x = self.at((np.arange(size) + 0.5) / size)
        # what lies beyond the outermost of them is put back: a sample without its tails spreads too little
        own = float(x.std())
        return np.clip(self.mean + (x - x.mean()) * (self.sd / own if own > 0 else 0.0), 0.0, 1.0)

    @property
    def _size(self) -> float:
        """The sum of the parameters of the Beta law with this mean and sd."""
        return self.mean * (1 - self.mean) / self.sd**2 - 1


EVEN: Final = Spread(0.5, 1 / math.sqrt(12), uniform=True)


def spread_of(at: RowMap, expect: Expectations) -> Spread:
    """Return the law of a column's values on its range, which for weights begins at 0."""
    found = expect.numbers.get(at.column)
    if found is None:
        return EVEN
    span = at.upper - at.lower
    return Spread(min(max((found.mean - at.lower) / span, 0.0), 1.0), found.sd / span)


def points_told(at: RowMap, expect: Expectations, size: int, *, long: bool = False) -> Array:
    """Return values on [0, 1] that stand for the rows of a told column, in rising order, shape (size,).

    long: those of the law of the longest tails among the laws that have what is told.
    """
    one = expect.numbers[at.column]
    laws = laws_told(one) if long or one.quantiles else None
    if laws is None:
        return np.sort(spread_of(at, expect).points(size))
    p = (np.arange(size) + 0.5) / size
    return laws.longest(p) if long else laws.together(p)


def presence(at: RowMap, expect: Expectations) -> float:
    """Return the share of rows in which a column has a value: all of them, where nothing else is expected."""
    if at.column in expect.numbers:
        return 1 - expect.numbers[at.column].missing
    return min(1.0, math.fsum(expect.shares.get(at.column, (1.0,))))


def values_of(at: RowMap, expect: Expectations, size: int) -> tuple[list[int], Array]:
    """Return grid values of a column and the share of rows that has each; the shares add up to those that count.

    size: about how many values stand for the law.
    """
    shares = expect.shares.get(at.column)
    if at.G == 1:
        yes = 0.5 if shares is None else shares[1] / math.fsum(shares)
        values, each = [0, 1], np.array([1 - yes, yes])
    elif at.column in expect.numbers:
        x = spread_of(at, expect).points(size)
        values, each = [int(v) for v in np.rint(x * at.G)], np.full(size, 1 / size)
    else:
        values = sorted({round(at.G * i / (size - 1)) for i in range(size)})
        each = np.full(len(values), 1 / len(values))
    known = presence(at, expect)
    if known < 1 and at.missing is not None:
        # a missing cell counts as one of the declared value
        return [*values, at.missing], np.append(each * known, 1 - known)
    return values, each * known


def level_shares(key: KeyMap, expect: Expectations, edges: tuple[float, ...] = ()) -> Array:
    """Return the share of rows at each level of a key, shape (size,); what they lack to 1 is in no cell.

    edges: of its bins, the outermost included, where these are known.
    """
    found = np.zeros(key.size)
    if key.column in expect.shares and not key.edges:
        given = np.array(expect.shares[key.column])
        found[: len(given)] = given
    elif key.column in expect.numbers and key.edges:
        one = expect.numbers[key.column]
        found[: key.regular] = (1 - one.missing) * np.diff(_below(one, key.edges))
    else:
        widths = np.diff(edges) if len(edges) == key.regular + 1 else np.ones(key.regular)
        # bins whose widths are far apart were typed, as a rule so that rows are about as many in each
        alike = widths.max() <= ALIKE * widths.min()
        found[: key.regular] = widths / widths.sum() if alike else 1 / key.regular
        return found
    lacking = max(0.0, 1 - math.fsum(found))
    place = key.extra.index("missing") + key.regular if "missing" in key.extra else key.missing
    if place is not None:
        found[place] += lacking
    return found


def _below(one: ExpectedNumbers, edges: tuple[float, ...]) -> Array:
    """Return the probability of values below each edge of bins, the outermost included: from 0 to 1."""
    at = (np.array(edges) - one.lower) / (one.upper - one.lower)
    laws = laws_told(one) if one.quantiles else None
    inner = Spread(*one.shape).below(at) if laws is None else laws.below(at)
    return np.concatenate(([0.0], inner, [1.0]))


def laws_told(one: ExpectedNumbers) -> Laws | None:
    """Return the laws on [0, 1] that a column may have of which this is expected; None where none has it."""
    span = one.upper - one.lower
    told = tuple((p, min(max((value - one.lower) / span, 0.0), 1.0)) for p, value in one.quantiles)
    mean, sd = one.shape
    return matched(mean, sd, told) if told else laws_of(mean, sd)


def cell_shares(shape: Measurement, expect: Expectations) -> Array:
    """Return the share of rows in each cell, shape (cells,), row-major in the keys' levels, which are independent."""
    found = np.ones(1)
    for i, key in enumerate(shape.keys):
        edges = shape.axes[i].edges if i < len(shape.axes) else ()
        found = np.outer(found, level_shares(key, expect, edges)).reshape(-1)
    return found


def unknown_keys(shape: Measurement, expect: Expectations) -> tuple[str, ...]:
    """Return the columns of a measurement's cells of whose levels or values nothing is expected."""
    known = expect.columns
    return tuple(key.column for key in shape.keys if key.column not in known)


def lowest(lower: float, upper: float, part: float = PART) -> ExpectedNumbers:
    """Return the mean and the deviation of values spread evenly over the lowest part of their bounds."""
    used = part * (upper - lower)
    return ExpectedNumbers(lower + used / 2, used / math.sqrt(12), 0.0, lower, upper)

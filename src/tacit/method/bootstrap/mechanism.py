"""Noisy bootstrap replicates of an additive statistic.  INSIDE the wall.

Definition
    Row i becomes a vector x_i of integers: what it adds to the sums of the plain question, of all its columns and in
    all cells of `by` (`method.shared.encoding`), on a grid of few steps; zero where it is left out.  A replicate draws
    secret multiplicities M_i and releases sum M_i x_i + Z.  Under replace-one M is multinomial, of as many draws as
    there are rows, which is public; under add-remove the M_i are independent Poisson(1).  Multiplicities and noise are
    fresh in each replicate.  With a PrivacyUnit a row is a person, reduced to the mean of the person's rows in each
    cell; a person in several cells has a part of one weight in each (`method.shared.weighted_encoding.shared`), and
    one multiplicity for all of them.
    Public: schema, query, relation, price, the number of replicates, and under replace-one that of rows (persons).
    Neighbours: one row replaced, or one added or removed; with a PrivacyUnit, one person with all rows.
Sensitivity
    Delta_j^2 = l2_squared of the encoding of column j of p: under replace-one it bounds |x_j - y_j|^2 for the vectors
    of any two rows (persons), present or absent, in the same or in different cells; under add-remove |x_j|^2.
    Divide the integers of column j by sigma_j = sqrt(p) Delta_j / mu: the squared l2 distance of the vectors of two
    rows, or norm of one, all columns together, is then at most sum over j of mu^2 / p = mu^2, and all noise has
    variance 1.  `privacy.bootstrap_cost` asks no more of vectors: its proofs use this bound alone, in any dimension.
Noise
    Z: independent for each integer, normal of standard deviation sigma_j, rounded to integers: as sums are integers,
    sum + round(sigma N) = round(sum + sigma N), post-processing of the normal mechanism.
Cost
    Not mu^2 k: a row may be drawn more than once.  `privacy.bootstrap_cost` bounds the profile of a replicate by that
    of its multiplicity (theorem and proof there, Replace-one multinomial and Add-remove Poisson) and composes k of
    them; mu is the largest for which they are the approximate part (mu', delta') that the price buys.
    All integers of a replicate are one vector, so cells and integers cost nothing further; p columns share its mu^2.
Drawing
    The sums depend on how often each pattern of values was drawn, cell and values of all columns, so that they are
    drawn from the table of their counts, in which rows that are left out are patterns, too: the same law as
    multiplicities of rows (`mechanism_resampling`, exact).  Persons in several cells are a pattern each.  Counts and
    multiplicities are neither stored nor released.
Failures
    None depends on a row: a table cell that cannot be read is missing, and every cell of the public levels is
    released, empty or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt
from typing import Any, Final

import numpy as np

from tacit.method.bootstrap.design import design, vector
from tacit.method.bootstrap.mechanism_resampling import Ints, resampled
from tacit.method.bootstrap.price import weights_of
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_sums import check_number
from tacit.noise.exact import added, draw
from tacit.release.parts import Cells, Part
from tacit.rows.row_map import PersonWeight
from tacit.source import Source

AT_ONCE: Final = 2**21
"""Multiplicities held at a time, in all: memory is bounded whatever the number of replicates."""


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Draw all replicates from one pass over the table and add noise at once; only that is kept."""
    noisy = [part for sums in _samples(shape, source) for part in _noisy(shape, sums)]
    return tuple(one.released(cells) for one, cells in zip(shape.columns, noisy, strict=True))


def exact(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  Return the sums with every row drawn once, for each replicate, before noise: never to be shown.

    What a neighbour changes in them is what it changes in a replicate that has the row once: Delta bounds it.
    """
    held = patterns(shape, source)
    once = [tuple(tuple(cell) for cell in sums[0].tolist()) for sums in held.sums(held.counts[None, :])]
    return tuple(once[i % len(once)] for i in range(len(shape.columns)))


@dataclass(frozen=True)
class Patterns:
    """Patterns of values, and what one draw of each adds.  INSIDE the wall: never released.

    counts: rows (persons) with each pattern, shape (r,), those that add nothing included: they are drawn like others.
    pattern: of each entry, shape (e,), in the order of cells.  cells, first: the cells that have entries, and the place
    of their first one.  vectors: for each column of the question what an entry adds, shape (e, integers).
    """

    counts: Ints
    pattern: Ints
    cells: Ints
    first: Ints
    vectors: tuple[Ints, ...]
    number: int
    """Number of public cells."""

    def sums(self, drawn: Ints) -> list[Ints]:
        """Return, for each column, sums of shape (samples, cells, integers); drawn: shape (samples, r)."""
        times = drawn[:, self.pattern]
        found: list[Ints] = []
        for rows in self.vectors:
            sums = np.zeros((len(drawn), self.number, rows.shape[1]), dtype=np.int64)
            for j in range(rows.shape[1] if len(self.first) else 0):
                sums[:, self.cells, j] = np.add.reduceat(times * rows[:, j], self.first, axis=1)
            found.append(sums)
        return found


def _samples(shape: Measurement, source: Source) -> Iterator[list[Ints]]:
    """READS ROWS.  Yield exact sums of bootstrap samples, see `Patterns.sums`, some samples at a time."""
    held = patterns(shape, source)
    left = len(shape.columns) // len(held.vectors)
    most = max(1, AT_ONCE // max(1, len(held.counts), len(held.pattern)))
    while left:
        some = min(left, most)
        yield held.sums(resampled(held.counts, some, weights_of(shape.neighbors)))
        left -= some


def _noisy(shape: Measurement, sums: list[Ints]) -> Iterator[Cells]:
    """Yield the parts of replicates, with fresh noise on every integer; sums: of each column, see `Patterns.sums`."""
    noisy: list[Any] = [
        added(one.ravel(), draw(column.law, one.size)).reshape(one.shape).tolist()
        for one, column in zip(sums, vector(shape), strict=True)
    ]
    for sample in range(len(sums[0])):
        for one in noisy:
            yield tuple(tuple(cell) for cell in one[sample])


def patterns(shape: Measurement, source: Source) -> Patterns:
    """READS ROWS.  Return the patterns of all rows (persons), those that add nothing included."""
    columns = vector(shape)
    maps = tuple(one.rowmap for one in columns if one.rowmap is not None)
    (share,) = {one.weight for one in columns}
    assert share is None or isinstance(share, PersonWeight)
    source = source.computing({one.source: one for one in shape.computed}) if shape.computed else source
    found = source.joint_values(maps, shape.keys, shape.unit, shape.where, share)
    rows = int(found.counts.sum())
    check_number(shape.rows, rows)
    for one in columns:
        # an entry is at most the root of l2_squared: sums over twice as many draws as rows stay below 2^63
        if 2 * rows * (isqrt(one.form.l2_squared) + 1) >= 2**63:
            raise ArithmeticError("more rows than the sums are proven for")
    order = np.argsort(found.cell, kind="stable")
    order = order[found.cell[order] >= 0]
    cell = found.cell[order]
    vectors = tuple(
        _vectors(one, found.values[j, order], None if found.weights is None else found.weights[j, order])
        for j, one in enumerate(columns)
    )
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    return Patterns(found.counts, found.pattern[order], cell[first], first, vectors, shape.cells)


def _vectors(one: PartSpec, value: Ints, weight: Ints | None) -> Ints:
    """Return what an entry with each value, -1 for none, adds to its cell; shape (entries, integers)."""
    sums = np.stack([p.numpy(np.maximum(value, 0)) for p in one.form.polynomials], axis=1)
    sums = sums if weight is None else sums * weight[:, None]
    return np.where(value[:, None] >= 0, sums @ np.array(one.form.matrix, dtype=np.int64).T, 0)


MECHANISM: Final = Mechanism(design, measure, exact)

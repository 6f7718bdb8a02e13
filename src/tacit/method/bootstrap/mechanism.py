"""Noisy bootstrap replicates of an additive statistic.  INSIDE the wall.

Definition
    Row i becomes a vector x_i of integers: what it adds to the sums of the plain question, in all cells of `by`
    (`method.shared.encoding`), on a grid of few steps; zero where it is left out.  A replicate draws secret
    multiplicities M_i and releases sum M_i x_i + Z.  Under replace-one M is multinomial, of as many draws as there are
    rows, which is public; under add-remove the M_i are independent Poisson(1).  Multiplicities and noise are fresh in
    each replicate.  With a PrivacyUnit a row is a person, reduced to the mean of the person's rows in one cell.
    Public: schema, query, relation, price, the number of replicates, and under replace-one that of rows (persons).
    Neighbours: one row replaced, or one added or removed; with a PrivacyUnit, one person with all rows.
Sensitivity
    Delta^2 = l2_squared of the encoding: under replace-one it bounds |x - y|^2 for the vectors of any two rows, present
    or absent, in the same or in different cells; under add-remove |x|^2.  Both are what `privacy.bootstrap_cost` asks.
Noise
    Z: independent for each integer, normal of standard deviation sigma = Delta / mu, rounded to integers: as sums are
    integers, sum + round(sigma N) = round(sum + sigma N), post-processing of the normal mechanism.
Cost
    Not Delta^2 k / sigma^2: a row may be drawn more than once.  `privacy.bootstrap_cost` bounds the profile of a
    replicate by that of its multiplicity (theorem and proof there, Replace-one multinomial and Add-remove Poisson) and
    composes k of them; mu is the largest for which they are the approximate part (mu', delta') that the price buys.
    All integers of a replicate are one vector, so cells and integers cost nothing further.
Drawing
    The sum depends on how often each value was drawn in each cell, so that it is drawn from the table of their counts,
    in which rows that are left out are one more value: the same law as multiplicities of rows
    (`mechanism_resampling`, exact).  Counts and multiplicities are neither stored nor released.
Failures
    None depends on a row: a table cell that cannot be read is missing, and every cell of the public levels is
    released, empty or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from tacit.method.bootstrap.design import design
from tacit.method.bootstrap.mechanism_resampling import Ints, resampled
from tacit.method.bootstrap.price import weights_of
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_sums import check_number
from tacit.noise.exact import added, draw
from tacit.release.parts import Cells, Part
from tacit.source import Source

AT_ONCE: Final = 2**21
"""Counts of samples held at a time, in all: memory is bounded whatever the number of replicates."""
MOST_ROWS: Final = 2**40
"""Sums of vectors, whose entries are below 2^22, over so many draws stay below 2^63."""


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Draw all replicates from one pass over the table and add noise at once; only that is kept."""
    noisy = [part for sums in _samples(shape, source) for part in _noisy(shape, sums)]
    return tuple(one.released(cells) for one, cells in zip(shape.columns, noisy, strict=True))


def exact(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  Return the sums with every row drawn once, for each replicate, before noise: never to be shown.

    What a neighbour changes in them is what it changes in a replicate that has the row once: Delta bounds it.
    """
    place, value, counts = _counted(shape, source)
    sums = np.zeros((shape.cells + 1, len(shape.columns[0].form.matrix)), dtype=np.int64)
    np.add.at(sums, place, _vectors(shape.columns[0], value) * counts[:, None])
    # rows in no cell add nothing
    return (tuple(tuple(cell) for cell in sums[:-1].tolist()),) * len(shape.columns)


def _noisy(shape: Measurement, sums: Ints) -> list[Cells]:
    """Return replicates with fresh noise on every integer; sums: shape (samples, cells, integers)."""
    law = shape.columns[0].law
    found: Any = added(sums.ravel(), draw(law, sums.size)).reshape(sums.shape).tolist()
    return [tuple(tuple(cell) for cell in one) for one in found]


def _samples(shape: Measurement, source: Source) -> Iterator[Ints]:
    """READS ROWS.  Yield exact sums of bootstrap samples, shape (samples, cells, integers), some samples at a time."""
    one, cells = shape.columns[0], shape.cells
    place, value, counts = _counted(shape, source)
    rows = _vectors(one, value)
    left, most = len(shape.columns), max(1, AT_ONCE // max(1, len(counts)))
    while left:
        some = min(left, most)
        drawn = resampled(counts, some, weights_of(shape.neighbors))
        sums = np.zeros((some, cells + 1, rows.shape[1]), dtype=np.int64)
        first = np.flatnonzero(np.diff(place, prepend=-1))
        for j in range(rows.shape[1]):
            # values are in the order of their cells, the rows in no cell last
            sums[:, place[first], j] = np.add.reduceat(drawn * rows[:, j], first, axis=1)
        yield sums[:, :cells]
        left -= some


def _vectors(one: PartSpec, value: Ints) -> Ints:
    """Return the vector that a present row with each value adds to its cell; shape (values, integers)."""
    sums = np.stack([p.numpy(value) for p in one.form.polynomials], axis=1)
    return sums @ np.array(one.form.matrix, dtype=np.int64).T


def _counted(shape: Measurement, source: Source) -> tuple[Ints, Ints, Ints]:
    """READS ROWS.  Return cell, value and number of the rows that have them, by cell; rows in no cell are in the last.

    Cells without rows are left out; the last entry has the rows that are left out, if the number of all is public.
    """
    at = shape.columns[0].rowmap
    if at is None:
        tally = source.tallied(shape.keys, shape.where, shape.unit)
        found, total = [(c, 0, int(n)) for c, n in enumerate(tally.counts) if n], tally.rows
    else:
        ranked = source.ranked(at, shape.keys, shape.unit, shape.where)
        found = [(c, v, n) for c, cell in enumerate(ranked.cells) for v, n in sorted(cell.items())]
        total = ranked.rows
    if shape.unit is None or not shape.keys:
        check_number(shape.rows, total)
    present = sum(n for _, _, n in found)
    # drawn as often as others, and adding nothing; where the number of rows is private, independent of the others
    out = 0 if shape.rows is None else max(0, shape.rows - present)
    if present + out > MOST_ROWS:
        raise ArithmeticError("more rows than the sums are proven for")
    place, value, counts = np.array([*found, (shape.cells, 0, out)], dtype=np.int64).T
    return place, value, counts


MECHANISM: Final = Mechanism(design, measure, exact)

"""Sparse histograms: of very many cells those whose noisy count passes a public threshold.  INSIDE the wall.

Definition
    The cells of `histogram`, up to 2**40 of them.  Released: place and noisy count of each whose noisy count is T or
    more, empty cells among them.  Public: as there, and T: the question's own, or from the number of cells, the noise
    and (where public, or declared) the number of rows.
Sensitivity
    That of `histogram`, of the counts of all cells, empty ones too: the same form.
Noise
    That of `histogram`, on every cell.  It is not drawn for empty cells that stay below T: which of them pass, and
    their counts, are drawn from the law that this has under noise on each (`noise.threshold`: independent trials of
    probability P(Z >= T), values from the law of Z given Z >= T).  Cells with rows get their own noise and stay or go.
    So the release has exactly the law of all noisy counts with those below T left out: whether a cell has rows shows in
    nothing but its noisy count.
Cost
    The price, once: post-processing of the noisy counts of all cells, whatever T.  No delta, unlike thresholds on the
    cells that happen to have rows.
Failures
    As for `histogram`.  Idealised: `noise.exact`; time and memory follow the number of occupied cells, and are not
    covered.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.mechanism_sums import check_number
from tacit.noise.exact import added, draw
from tacit.noise.threshold import passing
from tacit.release.parts import Part
from tacit.rows.row_map import IDENTITY, ONE, Occupied, SumTerm
from tacit.source import Source

Ints = NDArray[np.int64]


# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Exact counts of occupied cells, and at once noise on all; only what passes is kept."""
    (column,) = shape.columns
    cells, counts = released(column, occupied(shape, source), shape.cells)
    pairs = tuple(zip(cells.tolist(), counts.tolist(), strict=True))
    return (column.released(pairs),)


def released(column: PartSpec, found: Occupied, cells: int) -> tuple[Ints, Ints]:
    """Places, ascending, and noisy counts of the cells that pass: the law of dense noise and a threshold."""
    threshold = column.form.parameters["threshold"]
    noisy = added(found.counts, draw(column.law, len(found.counts)))
    stays = noisy >= threshold
    places, values = passing(column.law, threshold, cells)  # of all cells; those that have rows have their own noise
    empty = ~np.isin(places, found.cells)
    where = np.concatenate([found.cells[stays], places[empty]])
    order = np.argsort(where)
    return where[order], np.concatenate([noisy[stays], values[empty]])[order]


def occupied(shape: Measurement, source: Source) -> Occupied:
    """READS ROWS.  The counts before noise of the cells that rows are in: never to be shown."""
    (column,) = shape.columns
    term = SumTerm(None) if column.weight is None else SumTerm(None, ONE, column.weight, IDENTITY)
    found = source.occupied(shape.keys, term, shape.unit, shape.where)
    if shape.unit is None:
        check_number(shape.rows, found.rows)
    return found


def dense(shape: Measurement, source: Source) -> Ints:
    """READS ROWS.  The same of all cells, for the contract suite on few cells."""
    found = occupied(shape, source)
    counts = np.zeros(shape.cells, dtype=np.int64)
    counts[found.cells] = found.counts
    return cast(Ints, counts)

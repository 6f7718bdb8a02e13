"""Sparse histograms: the cells, of very many, whose noisy count reaches a public threshold.  INSIDE the wall.

Definition
    The cells are those of `histogram`, up to 2**40 of them.  The place and the noisy count of every cell whose noisy
    count is T or more are released, empty cells included.  Public are the facts that are public there, and T, which is
    stated in the question or computed from the number of cells, the noise and the number of rows where that is public
    or declared.
Sensitivity
    It is that of `histogram`, for the counts of all cells, empty ones included.
Noise
    The release has exactly the law of `histogram`'s noise on every cell, after which counts below T are left out.  A
    cell with rows has its own noise drawn, and is kept if its noisy count is T or more.  For empty cells only those
    that are kept are drawn (`noise.threshold`): each passes independently with probability P(Z >= T), with a value from
    the law of Z given Z >= T.  So nothing but its noisy count depends on whether a cell has rows.
Cost
    The price is charged once: the release is post-processing of the noisy counts of all cells, whatever T is.  It needs
    no delta, unlike a threshold on occupied cells only.
Failures
    They are those of `histogram`.  Idealised: `noise.exact`.  Time and memory grow with the number of occupied cells;
    the privacy argument does not cover them.
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
    """READS ROWS.  Count occupied cells and add noise to all cells at once; only those that pass are kept."""
    (column,) = shape.columns
    cells, counts = released(column, occupied(shape, source), shape.cells)
    pairs = tuple(zip(cells.tolist(), counts.tolist(), strict=True))
    return (column.released(pairs),)


def released(column: PartSpec, found: Occupied, cells: int) -> tuple[Ints, Ints]:
    """Return ascending places and noisy counts of the cells that pass, as noise on every cell and T would have it."""
    threshold = column.form.parameters["threshold"]
    # cells with rows: their own noise, and then the threshold, as in the definition
    noisy = added(found.counts, draw(column.law, len(found.counts)))
    stays = noisy >= threshold
    # Drawn as if all cells were empty; places that turn out to have rows are dropped, for they have their own noise.
    places, values = passing(column.law, threshold, cells)
    empty = ~np.isin(places, found.cells)
    where = np.concatenate([found.cells[stays], places[empty]])
    # ascending places: the order tells nothing of which cells have rows
    order = np.argsort(where)
    return where[order], np.concatenate([noisy[stays], values[empty]])[order]


def occupied(shape: Measurement, source: Source) -> Occupied:
    """READS ROWS.  Return the counts before noise of occupied cells, which must not be shown."""
    (column,) = shape.columns
    # rows count 1; persons the part of their weight of one that is in the cell
    term = SumTerm(None) if column.weight is None else SumTerm(None, ONE, column.weight, IDENTITY)
    found = source.occupied(shape.keys, term, shape.unit, shape.where)
    if shape.unit is None:
        check_number(shape.rows, found.rows)
    return found


def dense(shape: Measurement, source: Source) -> Ints:
    """READS ROWS.  Return the counts of all cells before noise; the contract suite calls it with few cells."""
    found = occupied(shape, source)
    counts = np.zeros(shape.cells, dtype=np.int64)
    counts[found.cells] = found.counts
    return cast(Ints, counts)

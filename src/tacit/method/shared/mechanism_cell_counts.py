"""Noisy counts of the rows in every cell, of whoever releases them: histograms, and regressions of cells.  INSIDE.

The argument is that of `method.histogram.mechanism`: cells are disjoint, so that a neighbour changes the counts by at
most what the part's encoding says, and every cell is released, empty or not.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism_sums import check_number
from tacit.noise.exact import added, draw
from tacit.release.packing import Packed
from tacit.release.parts import Part
from tacit.rows.row_map import PersonWeight
from tacit.source import Source


def noisy_counts(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Count all cells and add noise at once; only noisy integers are kept."""
    (column,) = shape.columns
    with ThreadPoolExecutor(1) as pool:  # noise of many cells is drawn while an engine counts: it depends on no row
        noise = pool.submit(draw, column.law, shape.cells)
        noisy = added(counts(shape, source), noise.result())
    return (column.released(Packed(noisy)),)


def counts(shape: Measurement, source: Source) -> NDArray[np.int64]:
    """READS ROWS.  Return the counts before noise, shape (cells,), which must not be shown."""
    (column,) = shape.columns
    share = column.weight if isinstance(column.weight, PersonWeight) else None
    found = source.tallied(shape.keys, shape.where, shape.unit, share)
    # a person may be in several cells: persons were counted when the table was opened
    if shape.unit is None:
        check_number(shape.rows, found.rows)
    return found.counts

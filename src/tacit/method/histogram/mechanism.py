"""Perturbed histograms: the number of rows in every cell of several columns, with noise.  INSIDE the wall.

Definition
    Each row (for which `where` holds) is in one public cell: bins of numbers and dates, levels of categories, crossed;
    or in none, where a cell of it is missing and has no level.  `missing`: such cells are a level of their own;
    `outside`: so are numbers below and above a column's bounds, which are in the end bins otherwise.  Released: the
    number of rows of every cell, empty ones too.  With a PrivacyUnit a person's rows have a weight of one in all
    (`rows.row_map.Share`), given out by their cells.
    Public: schema, query, relation, price, and under replace-one the number of rows (persons).  Neighbours as for
    `moments`.
Sensitivity
    A row adds 1 to one cell, or to none.  Add-remove: 1 in l1 and in squared l2.  Replace-one: a row leaves one cell
    and enters another, 2 in both; with one cell, 1, for it can only leave (`method.shared.encoding.count`).  Attained,
    whether or not there are rows in no cell; cells of their own for such rows are cells like others.  [Lei 2011, Lemma
    2: scale 2/alpha is that of replace-one; erratum E7]
    Persons: times the share's whole, and its square (`method.shared.weighted_encoding.shared`).
Noise
    Independent for each cell: discrete Laplace of scale l1 / epsilon, or normal of standard deviation
    sqrt(l2^2 / (2 rho)) rounded to integers, whatever the number of cells: they are disjoint.
Cost
    The price, once.
Failures
    None depends on a row: every cell is released, empty or not.  A failure of the machine is the curator's to hide.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.method.histogram import design as dense_design
from tacit.method.histogram import mechanism_sparse, sparse_design
from tacit.method.histogram.query import Histogram
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_sums import check_number
from tacit.noise.exact import added, draw
from tacit.privacy import Cost
from tacit.release.packing import Packed
from tacit.release.parts import Cells, Part
from tacit.rows.row_map import Share
from tacit.source import Source

# Noise --------------------------------------------------------------------------------------------------------------


def noisy_counts(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Exact counts, and at once their noise; only noisy integers are kept."""
    (column,) = shape.columns
    with ThreadPoolExecutor(1) as pool:  # noise of many cells is drawn while an engine counts: it depends on no row
        noise = pool.submit(draw, column.law, shape.cells)
        noisy = added(counts(shape, source), noise.result())
    return (column.released(Packed(noisy)),)


def counts(shape: Measurement, source: Source) -> NDArray[np.int64]:
    """READS ROWS.  The counts before noise, shape (cells,): never to be shown."""
    (column,) = shape.columns
    share = column.weight if isinstance(column.weight, Share) else None
    found = source.tallied(shape.keys, shape.where, shape.unit, share)
    if shape.unit is None:
        check_number(shape.rows, found.rows)
    return found.counts


def exact(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  The counts of all cells before noise, sparse or not: never to be shown."""
    found = mechanism_sparse.dense(shape, source) if shape.kind == sparse_design.KIND else counts(shape, source)
    return (tuple(zip(found.tolist(), strict=True)),)


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Noisy counts of all cells, or, sparse, of those that pass the threshold."""
    return (mechanism_sparse.measure if shape.kind == sparse_design.KIND else noisy_counts)(shape, source)


def design(query: Histogram, public: Public, cost: Cost) -> Measurement:
    """Cells, noise and, sparse, a threshold."""
    return (sparse_design if query.sparse else dense_design).design(query, public, cost)


MECHANISM: Final = Mechanism(design, measure, exact)

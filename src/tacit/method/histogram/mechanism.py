"""Perturbed histograms: the number of rows in every cell of several columns, with noise.  INSIDE the wall.

Definition
    The public cells are the crossed bins of numbers and dates and levels of categories.  A row for which `where` holds
    is counted in exactly one cell, or in none if one of its values is missing and the column has no level for that.
    With `missing` missing values have a level of their own; with `outside` so have numbers below and above a column's
    bounds, which are otherwise counted in its first and last bin.  The number of rows in every cell is released, empty
    cells included.  With a PrivacyUnit each person has a total weight of one, divided among the cells of her rows
    (`rows.row_map.PersonWeight`).
    Public are the schema, the query, the neighbouring relation, the price and, under replace-one, the number of rows
    (persons).  Neighbours are those of `moments`.
Sensitivity
    A row adds 1 to one cell, or to none.  Under add-remove the counts change by at most 1 in l1 and in squared l2.
    Under replace-one a row can leave one cell and enter another, which is 2 in both; with a single cell it is 1, for
    the row can only leave or enter it (`method.shared.encoding.count`).  The bounds are attained, whether or not some
    rows are in no cell; levels for missing or outside values are cells like others.  [Lei 2011, Lemma 2: scale 2/alpha
    is that of replace-one; erratum E7]
    For persons l1 is multiplied by the number of integer parts of a weight of one, and squared l2 by its square
    (`method.shared.weighted_encoding.shared`).
Noise
    Each cell has independent noise: discrete Laplace of scale l1 / epsilon, or normal of standard deviation
    sqrt(l2^2 / (2 rho)) rounded to integers.  It does not grow with the number of cells, since cells are disjoint.
Cost
    The price is charged once, for all cells together.
Failures
    No failure depends on a row: every cell is released, empty or not.  The curator hides failures of the machine.
"""

from __future__ import annotations

from typing import Final

from tacit.method.histogram import design as dense_design
from tacit.method.histogram import mechanism_sparse, sparse_design
from tacit.method.histogram.query import Histogram
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_cell_counts import counts, noisy_counts
from tacit.method.shared.pair_or_epsilon import mean_variance
from tacit.privacy import Cost
from tacit.release.parts import Cells, Part
from tacit.source import Source


def exact(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  Return the counts of all cells before noise, sparse or not, which must not be shown."""
    found = mechanism_sparse.dense(shape, source) if shape.kind == sparse_design.KIND else counts(shape, source)
    return (tuple(zip(found.tolist(), strict=True)),)


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Return noisy counts of all cells; of a sparse histogram, of those that pass the threshold."""
    return (mechanism_sparse.measure if shape.kind == sparse_design.KIND else noisy_counts)(shape, source)


def design(query: Histogram, public: Public, cost: Cost) -> Measurement:
    """Return cells and noise, and the threshold of a sparse histogram, from public facts."""
    return (sparse_design if query.sparse else dense_design).design(query, public, cost)


MECHANISM: Final = Mechanism(design, measure, exact, mean_variance)

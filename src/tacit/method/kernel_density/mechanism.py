"""Noisy counts of the cells that a kernel is laid on.  INSIDE the wall.

Definition
    The public cells are the crossed bins of the columns, CELL bandwidths wide (`cells`).  A row for which `where` holds
    and that has a value in every column is counted in exactly one cell, any other row in none; values beyond a column's
    bounds are in its first and last bin.  The number of rows in every cell is released, empty cells included; kernels
    of any bandwidth are laid on these numbers outside the wall (`estimate_kernel`).
    With a PrivacyUnit each person has a total weight of one, divided among the cells of her rows
    (`rows.row_map.PersonWeight`).
    Public are the schema, the query, the relation, the price, the bandwidth (from these and the number of rows or the
    size_hint) and, under replace-one, the number of rows (persons).  Neighbours are those of `moments`.
Sensitivity
    That of `method.histogram.mechanism`: cells are disjoint, so that a row adds 1 to one cell or to none.  Under
    add-remove the counts change by at most 1 in l1 and in squared l2, under replace-one by at most 2 in both.  For
    persons l1 is multiplied by the number of integer parts of a weight of one, and squared l2 by its square
    (`method.shared.weighted_encoding.shared`).  No kernel enters it.
Noise
    Independent in each cell: discrete Laplace of scale l1 / epsilon, or normal of standard deviation
    sqrt(l2^2 / (2 rho)) rounded to integers (`method.shared.mechanism_cell_counts`).
Cost
    The price is charged once, for all cells together; every kernel and bandwidth is post-processing of their counts.
    [The printed calibration of the source, noise of amplitude h^(-d/2) times a Gaussian process, is not private: a row
    moves the estimate by (2 pi)^(-d/2) h^(-d) / n at a point.  Erratum E9; theory §3.5.]
Failures
    No failure depends on a row: every cell is released, empty or not.  The curator hides failures of the machine.
"""

from __future__ import annotations

from typing import Final

from tacit.method.kernel_density.design import design
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_cell_counts import counts, noisy_counts
from tacit.method.shared.pair_or_epsilon import mean_variance
from tacit.release.parts import Cells, Part
from tacit.source import Source


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Return noisy counts of all cells."""
    return noisy_counts(shape, source)


def exact(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  Return the counts of all cells before noise, which must not be shown."""
    return (tuple(zip(counts(shape, source).tolist(), strict=True)),)


MECHANISM: Final = Mechanism(design, measure, exact, mean_variance)

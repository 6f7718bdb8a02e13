"""Regression from the cells of a histogram: the noisy number of rows in each cell of the formula's columns.  INSIDE.

Definition
    The public cells are the crossed levels of the formula's columns, the response among them: of Booleans and
    categories, and the values of Integers, to which others are clamped.  A row for which `where` holds and that has a
    value in every column is counted in exactly one cell, any other row in none.  The number of rows in every cell is
    released, empty cells included; the model is fitted to these numbers outside the wall (`estimate_cells`).
    With a PrivacyUnit each person has a total weight of one, divided equally among the person's counted rows.
    Public are schema, query, relation, price and, under replace-one, the number of rows (persons).  Whether cells or
    scores are used is a function of these alone (`cells_or_scores`).  Neighbours are those of `moments`.
Sensitivity
    That of `method.histogram.mechanism`: cells are disjoint, so that a row adds 1 to one cell or to none.  Under
    add-remove the counts change by at most 1 in l1 and in squared l2, under replace-one by at most 2 in both.  For
    persons l1 is multiplied by the number of integer parts of a weight of one, and squared l2 by its square
    (`method.shared.weighted_encoding.shared`).  No fit enters it.
Noise
    Independent in each cell: discrete Laplace of scale l1 / epsilon, or normal of standard deviation
    sqrt(l2^2 / (2 rho)) rounded to integers (`method.shared.mechanism_cell_counts`).
Cost
    The price is charged once, for all cells together; every fit is post-processing of their counts.
Failures
    No failure depends on a row: every cell is released, empty or not.  The curator hides failures of the machine.
"""

from __future__ import annotations

from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism_cell_counts import counts, noisy_counts
from tacit.release.parts import Cells, Part
from tacit.source import Source


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Return noisy counts of all cells."""
    return noisy_counts(shape, source)


def exact(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  Return the counts of all cells before noise, which must not be shown."""
    return (tuple(zip(counts(shape, source).tolist(), strict=True)),)

"""How many cells are missing, out of bounds or unlisted, by noisy counts.  INSIDE the wall.

Definition
    Each cell of a column is in exactly one public class: missing (null, not finite, unreadable), below or above the
    bounds (or unlisted), as declared.  Released, for each column: the number of rows in each class.  With a PrivacyUnit
    a person's rows have a weight of one in all (`rows.row_map.Share`), given out by their classes.  Public: schema,
    query, relation, price, and under replace-one the number of rows (persons).  Neighbours as for `moments`.
Sensitivity
    A row adds 1 to one class of each column: add-remove, 1 in l1 and in squared l2; replace-one, a row leaves one
    class and enters another: 2 in both.  Attained.  Persons: times the share's whole, and its square (`shared`).
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers, where the prime is the column's equal share of the price.
Cost
    Shares add up to the price: columns are released side by side (basic composition; Gaussian: sums of rho).
Failures
    None depends on a row: every class is released, empty or not.  A failure of the machine is the curator's to hide.
"""

from __future__ import annotations

from typing import Final

from tacit.method.quality.design import design
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_sums import check_rows, noisy_parts
from tacit.release.parts import Cells, Part
from tacit.rows.row_map import IDENTITY, ONE, SumTerm
from tacit.source import Source

# Noise --------------------------------------------------------------------------------------------------------------


def exact(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  The exact counts, one cell of all classes a column, before noise: never to be shown."""
    answers: list[Cells] = []
    for column in shape.columns:
        assert column.key is not None
        term = SumTerm(None) if column.weight is None else SumTerm(None, ONE, column.weight, IDENTITY)
        found = source.aggregate((column.key,), (term,), shape.unit)
        if shape.unit is None:
            check_rows(shape, found)
        answers.append((tuple(cell[0] for cell in found.cells),))
    return tuple(answers)


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Exact counts, and at once their noise; only noisy integers are kept."""
    return noisy_parts(shape, exact(shape, source))


MECHANISM: Final = Mechanism(design, measure, exact)

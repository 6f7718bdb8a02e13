"""How many table cells are missing, out of bounds or unlisted, by noisy counts.  INSIDE the wall.

Definition
    Each table cell of a column is in exactly one public class: missing (null, not finite, unreadable); below or above
    the bounds (of a category: unlisted); or as declared.  Released, for each column: the number of rows in each class.
    With a PrivacyUnit the rows of a person have a total weight of one, in integers at most A
    (`rows.row_map.PersonWeight`), divided over the classes by the number of rows there.
    Public: schema, query, relation, price, and under replace-one the number of rows (persons).
    Neighbours: one row replaced, or one added or removed; with a PrivacyUnit, one person with all rows.
Sensitivity
    A row adds 1 to one class of each column.  Add-remove: 1 in l1 and in squared l2.  Replace-one: a row leaves one
    class and enters another, 2 in both.  Attained.  Persons: A times that in l1 and A^2 times in squared l2
    (`method.shared.weighted_encoding.shared`).
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers.  epsilon' and rho' are the column's equal share of the price.
Cost
    The shares add up to the price, by basic composition over the columns (Gaussian: the rho add up).
Failures
    None depends on a row: every class is released, empty or not.  The curator hides a failure of the machine.
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
    """READS ROWS.  Return the exact counts before noise, all classes of a column in one cell: never to be shown."""
    answers: list[Cells] = []
    for column in shape.columns:
        assert column.key is not None
        term = SumTerm(None) if column.weight is None else SumTerm(None, ONE, column.weight, IDENTITY)
        found = source.aggregate((column.key,), (term,), shape.unit)
        if shape.unit is None:
            # of rows alone: persons may be in several classes, and were counted when the table was opened
            check_rows(shape, found)
        # classes are keys of the aggregation, one sum in each: put side by side they are one cell of counts
        answers.append((tuple(cell[0] for cell in found.cells),))
    return tuple(answers)


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Add noise to the exact counts at once; only the noisy integers are kept."""
    return noisy_parts(shape, exact(shape, source))


MECHANISM: Final = Mechanism(design, measure, exact)

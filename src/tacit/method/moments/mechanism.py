"""Counts, sums, means and variances by noisy integer moments.  INSIDE the wall.

Definition
    Rows are mapped to integers v in {0..G} (`tacit.rows.row_map`), turned into the vector of an integer form
    (`method.shared.encoding`), and added up, in each cell of `by`; rows for which `where` does not hold are absent.
    With a PrivacyUnit the rows of a person are first reduced to one: the person's mean, rounded to the grid, in each
    cell that the person has rows in (in one, where the levels of `by` are constant: the first that any of her rows
    has); with weights, a person weighs the mean of her rows' weights.  Public: schema, query, relation, price, and
    under replace-one the number of rows (persons).  Neighbours: one row replaced, or one added or removed; with a
    PrivacyUnit, one person with all rows.
Sensitivity
    That of the form, one for each column, proven beside it over all pairs of rows; of persons as of rows, a reduced
    person being a row; with several cells or weights, `method.shared.weighted_encoding`.
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers, where the prime is the column's equal share of the price.
Cost
    Shares add up to the price: columns are released side by side (basic composition; Gaussian: sums of rho).
Failures
    None depends on a row: cells that cannot be read are missing, every cell of the public levels is released, empty
    or not.  A failure of the machine is the curator's to hide.
"""

from __future__ import annotations

from typing import Final

from tacit.method.moments.design import design
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_sums import exact_sums, noisy_parts
from tacit.release.parts import Cells, Part
from tacit.source import Source


def exact(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  The exact integers, one tuple of cells a column, before noise: never to be shown."""
    return exact_sums(shape, source)


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Exact sums, and at once their noise; only noisy integers are kept."""
    return noisy_parts(shape, exact(shape, source))


MECHANISM: Final = Mechanism(design, measure, exact)

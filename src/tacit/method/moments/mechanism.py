"""Counts, sums, means and variances by noisy sums of integers.  INSIDE the wall.

Definition
    A column's value in a row is an integer v in {0, ..., G} on a public grid of G steps (`tacit.rows.row_map`).  The
    column's integer encoding turns v into a short vector of integers (`method.shared.encoding`), and the vectors are
    added up in each cell of `by`.  A row for which `where` does not hold is absent and adds nothing.  The encoding
    `deviations` makes one integer of its sums; for it the bound below is that of this integer.
    With a PrivacyUnit the rows of a person are first reduced to one: the person's mean, rounded to the grid, in each
    cell that the person has rows in (in one cell, where the levels of `by` are constant: the first that any of the
    person's rows has).  With weights, a person weighs the mean of the weights of the person's rows.
    Public: schema, query, relation, price, and under replace-one the number of rows (persons).
    Neighbours: one row replaced, or one added or removed; with a PrivacyUnit, one person with all rows.
Sensitivity
    Bounds on what a neighbour changes in one column's integers, over all cells together: in l1 for Laplace noise, in
    squared l2 for Gaussian noise.  W is the most that one row adds, in the norm of the noise, and A is the largest
    weight.  A reduced person counts as a row.  Each bound is proven for all pairs of rows in the docstring named.

        encoding (function)     used for                                  W    replace-one           add-remove
        plain, exclusion        numbers in one cell, replace-one               G; G^2
        total                   `Sum` of numbers, S steps from 0 on       S    2 W; 2 W^2 (*)        W; W^2
        group                   numbers, otherwise                        G    2 W; 2 W^2            W; W^2
        bernstein               `Variance`, M <= 2^20 (MASS)              M    2 W; 2 W^2            W; W^2
        deviations              `Variance(interval=False)`, one cell           G^2; G^4
        binary_plain            Booleans, one cell, none absent or `Sum`       1; 1
        binary_exclusion        Booleans in one cell, replace-one              2; 16 (its entries are larger)
        binary_group            Booleans, otherwise                       1    2 W; 2 W^2            W; W^2
        count                   numbers of rows                           1    2; 2 (one cell: 1; 1) 1; 1
        weighted                numbers with weights                      A G  2 W; 2 W^2            W; W^2
        counted                 totals of weights, one cell               A    W; W^2                W; W^2
        counted                 totals of weights, several cells          A    2 W; 2 W^2            W; W^2

    (*) in one cell W; W^2.  The last three rows are proven in `method.shared.weighted_encoding`, the others in
    `method.shared.encoding`.  A person with rows in several cells has weights that add up to at most A over the cells:
    for encodings without weights l1 is then multiplied by A and squared l2 by A^2 (`weighted_encoding.shared`).
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers.  epsilon' and rho' are the column's equal share of the price.
    Where the question asks for k > 1 draws (`laplace_draws`) at a pure price, the noise of each integer is the sum of k
    independent discrete Laplace draws, each of that scale (`method.moments.laplace_draws`).
    At a pure price, columns in one cell have noise of one vector where it adds less (`method.shared.joint_noise`): X
    rounded, of density proportional to exp(-max_j |X_j|_1 / s_j), s_j = l1 of column j / the sum of their epsilon'.
Cost
    Of several draws the first pays: the others do not depend on the rows, and adding them is post-processing.
    The shares add up to the price, by basic composition over the columns (Gaussian: the rho add up).  In the norm
    of a vector of columns, a neighbour changes it by at most max_j l1 / s_j, the sum of their epsilon': it is one
    mechanism at that price (`method.shared.mechanism_additive`, Product Laplace).
Failures
    None depends on a row: a table cell that cannot be read is missing, and every cell of the public levels is
    released, empty or not.  The curator hides a failure of the machine.
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
    """READS ROWS.  Return the exact integers before noise, one tuple of cells for each column: never to be shown."""
    return exact_sums(shape, source)


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Add noise to the exact sums at once; only the noisy integers are kept."""
    return noisy_parts(shape, exact(shape, source))


MECHANISM: Final = Mechanism(design, measure, exact)

"""A user's own additive statistic: sums of bounded integers, one or several of each row.  INSIDE the wall.

Definition
    The user's function names expressions, and sees no row.  An expression is evaluated on a row by the arithmetic of
    computed columns, rounded to the nearest integer, and clamped in 64-bit integers to bounds a_j <= r_j <= b_j, which
    the library finds from the schema (interval arithmetic, `schema.predicates.number_bounds`).  A row adds r to the
    sums of its cell; a row for which `where` does not hold, or in which a column that a number is computed from is
    missing, adds nothing.  With a PrivacyUnit a person adds the mean of r over the rows that count, times their number,
    at most max_rows (`encoding`, Persons).  Released are the sums and, with `moments`, the sums of products r_i r_j,
    less public middles and rounded to public units first.  Public are the schema, the question, the relation, the price
    and, under replace-one, the number of rows (persons).  Neighbours are those of `moments`.
Sensitivity
    From the bounds a_j, b_j alone, so that it holds whatever the expressions compute (`encoding`, which has the proof).
    A declared sensitivity below it is refused before anything is charged; a larger one is used in its place, which is
    more noise.  Whether the user's functions are right is thus no part of the argument.
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers, where epsilon' and rho' are the part's share of the price.
Cost
    The sums are one part, each product is another; their shares of the price add up to it (basic composition; Gaussian:
    the rho add up).
Failures
    None depends on a row: an expression has a value or is missing, and every cell of the public levels is released.
    The user's estimate is a function of what is released, and runs outside.
"""

from __future__ import annotations

from typing import Final

from tacit.method.additive.design import design
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_sums import exact_sums, noisy_parts
from tacit.release.parts import Cells, Part
from tacit.source import Source


def exact(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  Return the exact sums of each part, before noise: never to be shown."""
    return exact_sums(shape, source.computing({one.source: one for one in shape.computed}))


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Sum exactly and add noise at once; only noisy integers are kept."""
    return noisy_parts(shape, exact(shape, source))


MECHANISM: Final = Mechanism(design, measure, exact)

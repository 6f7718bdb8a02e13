"""Noisy values of a risk on a lattice of coefficients.  INSIDE the wall.

Definition
    A row whose values are all there and for which `where` holds lies in one public cell, of bins of the regressors and
    a level or bin of the outcome.  The sums over rows of a_j(cell), j = 1, ..., m (`encoding`, Definition), are
    released: S times the sum of the losses at the j-th lattice point, less a public number for each row; and q times
    the number of rows, where that is not public or rows can be left out.  As they depend on the cells alone they are
    made from the counts of all cells, which are neither stored nor shown.
    With a PrivacyUnit each person has a total weight of one, divided among the cells of her rows
    (`rows.row_map.PersonWeight`).
    Public are the schema, the query with its loss, box and degree, the relation, the price and, under replace-one, the
    number of rows (persons).  Neighbours are those of `moments`.
Sensitivity
    The largest distance of the vectors of two rows, or of a row and 0, in l1 and in l2 (`encoding`, Sensitivity): the
    exact maximum over all public cells, found by trying all pairs in integers.
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon at a pure price, else normal of standard
    deviation sqrt(l2^2 / (2 rho)), rounded (`mechanism_additive`).  The risk function, its minimum, errors and the
    certificate are made from the noisy integers alone.
Cost
    The price is charged once, for all lattice points together.
Failures
    None depends on a row: a missing value is in no cell, and all lattice points are released.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.risk_function.design import RiskPart, design
from tacit.method.risk_function.encoding import table
from tacit.method.risk_function.query import RiskFunction
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_cell_counts import counts
from tacit.method.shared.mechanism_sums import noisy_parts
from tacit.method.shared.pair_or_epsilon import mean_variance
from tacit.release.parts import Cells, Part
from tacit.source import Source


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Add noise to the exact sums at once; only the noisy integers are kept."""
    return noisy_parts(shape, exact(shape, source))


def exact(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  Return the exact sums before noise, all in one cell: never to be shown."""
    return tuple(
        (sums(shape, part, counts(replace(shape, keys=part.keys, columns=(part,)), source)),)
        for part in cast("tuple[RiskPart, ...]", shape.columns)
    )


def sums(shape: Measurement, part: RiskPart, found: NDArray[np.int64]) -> tuple[int, ...]:
    """Return the sums over rows from the counts of all cells, shape (cells,), in Python integers."""
    query, presence = cast(RiskFunction, shape.query), part.form.parameters["presence"]
    integers = table(query.loss, query.box, query.steps, shape.variables).integers
    # within 64 bits: an integer is at most 2^12, and the counts of 2^40 persons add up to 2^50
    made = tuple(int(x) for x in integers @ found)
    return (*made, *([presence * int(found.sum())] if presence else []))


MECHANISM: Final = Mechanism(design, measure, exact, mean_variance)

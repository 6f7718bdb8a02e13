"""Noisy coefficients of a density in a basis of orthonormal functions.  INSIDE the wall.

Definition
    A complete row for which `where` holds lies in one public bin of each column, and so in one cell.  The sums over
    rows of T_j(cell), the products of the columns' integers (`encoding`, Definition), are released for all j but the
    constant; and the sum of kappa, the number of rows, where that is not public or rows can be left out.
    As they depend on the cells alone they are made from the counts of all cells, which are neither stored nor shown.
    With a PrivacyUnit each person has a total weight of one, divided among the cells of her rows
    (`rows.row_map.PersonWeight`).
    Public are the schema, the query, the relation, the price, the number of terms (from these and the number of rows or
    the size_hint) and, under replace-one, the number of rows (persons).  Neighbours are those of `moments`.
Sensitivity
    The largest distance of the vectors of two rows, or of a row and 0 (`encoding`, Sensitivity): the exact maximum over
    all public cells, attained.
Noise
    Of one vector: normal of standard deviation sqrt(l2^2 / (2 rho)) in each integer, rounded; at a pure price of
    density proportional to exp(-|z| / s), s = l2 / epsilon, rounded; of a single integer discrete Laplace
    (`mechanism_additive`).
Cost
    The price is charged once, for all coefficients together.
Failures
    None depends on a row: bins of missing values are none, and all coefficients are released.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.orthogonal_series.design import SeriesPart, design, edges, error
from tacit.method.orthogonal_series.encoding import SCALE, table
from tacit.method.orthogonal_series.query import OrthogonalSeries
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_cell_counts import counts
from tacit.method.shared.mechanism_sums import noisy_parts
from tacit.release.parts import Cells, Part
from tacit.source import Source

LOW: Final = 20
"""Counts are split into their last 20 bits and the rest, so that no product or sum exceeds 64 bits."""


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Add noise to the exact sums at once; only the noisy integers are kept."""
    return noisy_parts(shape, exact(shape, source))


def exact(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  Return the exact sums before noise, all in one cell: never to be shown."""
    return tuple(
        (sums(shape, part, counts(counting(shape, part), source)),)
        for part in cast("tuple[SeriesPart, ...]", shape.columns)
    )


def counting(shape: Measurement, part: SeriesPart) -> Measurement:
    """Return the measurement whose cells are the bins of a part."""
    return replace(shape, keys=part.keys, columns=(part,))


def sums(shape: Measurement, part: SeriesPart, found: NDArray[np.int64]) -> tuple[int, ...]:
    """Return the sums over rows from the counts of all cells, shape (cells,)."""
    high, low = _products(shape, part, found >> LOW), _products(shape, part, found & ((1 << LOW) - 1))
    made = [(int(a) << LOW) + int(b) for a, b in zip(high, low, strict=True)]
    kappa = part.form.parameters["presence"]
    # the first is the constant, the same for every row
    return (*made[1:], *([kappa * int(found.sum())] if kappa else []))


def _products(shape: Measurement, part: SeriesPart, found: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sums of T_j for all j, the constant first, in 64-bit integers."""
    query, d = cast(OrthogonalSeries, shape.query), len(part.keys)
    made = found.reshape([key.size for key in part.keys])
    for one in shape.variables:
        functions = table(query.basis, edges(one, d), part.form.parameters["terms"], SCALE[d])
        # the first axis is summed, and that of the functions put last: after all columns the order is that of columns
        made = np.tensordot(made, functions, axes=([0], [1]))
    return made.reshape(-1)


MECHANISM: Final = Mechanism(design, measure, exact, error)

"""Noisy values of a distribution function on a lattice.  INSIDE the wall.

Definition
    A row whose value is there and for which `where` holds lies in one public bin of the column.  The sums over rows of
    a_j(bin), j = 1, ..., k - 1 (`encoding`, Definition), are released: the numbers of rows below the lattice values,
    times S; and S times the number of rows, where that is not public or rows can be left out.  As they depend on the
    bins alone they are made from the counts of all bins, which are neither stored nor shown.
    With a PrivacyUnit each person has a total weight of one, divided among the bins of her rows
    (`rows.row_map.PersonWeight`).
    Public are the schema, the query, the relation, the price, the degree (from these and the number of rows or the
    size_hint) and, under replace-one, the number of rows (persons).  Neighbours are those of `moments`.
Sensitivity
    The largest distance of the vectors of two rows, or of a row and 0, in l1 and in l2 (`encoding`, Sensitivity): the
    exact maximum over all public bins, attained.
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon at a pure price, else normal of standard
    deviation sqrt(l2^2 / (2 rho)), rounded (`mechanism_additive`).  The polynomials of all orders, derivatives and
    limits are made from the noisy integers alone.
Cost
    The price is charged once, for all lattice values together.
Failures
    None depends on a row: a missing value is in no bin, and all lattice values are released.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.bernstein.design import LatticePart, design, error
from tacit.method.bernstein.encoding import steps
from tacit.method.bernstein.lattice_bins import unit_edges
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_cell_counts import counts
from tacit.method.shared.mechanism_sums import noisy_parts
from tacit.release.parts import Cells, Part
from tacit.source import Source


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Add noise to the exact sums at once; only the noisy integers are kept."""
    return noisy_parts(shape, exact(shape, source))


def exact(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  Return the exact sums before noise, all in one cell: never to be shown."""
    (part,) = cast("tuple[LatticePart, ...]", shape.columns)
    bins = replace(shape, keys=part.keys, columns=(part,))
    return ((sums(shape, part, counts(bins, source)),),)


def sums(shape: Measurement, part: LatticePart, found: NDArray[np.int64]) -> tuple[int, ...]:
    """Return the sums over rows from the counts of all bins, shape (bins,), in Python integers."""
    facts, (one,) = part.form.parameters, shape.variables
    values = steps(unit_edges(one, facts["degree"]), facts["degree"], facts["G"])
    each = found.astype(object)
    made = tuple(int(x) for x in values.astype(object) @ each)
    return (*made, *([facts["G"] * int(each.sum())] if facts["presence"] else []))


MECHANISM: Final = Mechanism(design, measure, exact, error)

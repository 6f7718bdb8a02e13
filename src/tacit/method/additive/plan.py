"""Expected precision of a user's statistic from public facts: of integers that are spread evenly over their bounds."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.additive.design import AdditivePart
from tacit.method.additive.encoding import over
from tacit.method.additive.query import Additive
from tacit.method.additive.statistic import defined
from tacit.method.additive.stored import boxes_of, reach_of
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected, of_integers
from tacit.method.shared.plan_shares import NOTHING
from tacit.method.shared.simulated_parts import simulated
from tacit.rows.row_map import RowMap
from tacit.schema.expectations import Expectations

POINTS = 1_001
"""Points at which an integer is taken to be."""


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return the expected precision of each term of the estimate; of the sums where the statistic is not defined here.

    What is said of columns beforehand does not enter: expressions are taken to be spread evenly over their bounds.
    """
    del expect
    return of_integers(shape, integers(shape, rows), rows, level)


def integers(shape: Measurement, rows: int) -> tuple[NDArray[np.int64], ...]:
    """Return the integers of each part where rows (persons of one row) are spread evenly over cells and bounds."""
    each = rows / shape.cells
    made = list[NDArray[np.int64]]()
    for part in cast("tuple[AdditivePart, ...]", shape.columns):
        sums = np.array([each * _mean(one.rowmap, one.polynomial) * _other(one) for one in part.sums])
        made.append(np.rint(np.tile(sums, (shape.cells, 1))).astype(np.int64))
    return tuple(made)


def _other(term: object) -> float:
    """Return the mean of what a summand is multiplied by: another integer; 1 for a person with one row."""
    weight = getattr(term, "weight", None)
    return _mean(weight, getattr(term, "weight_polynomial", None)) if isinstance(weight, RowMap) else 1.0


def _mean(at: RowMap | None, polynomial: object) -> float:
    assert at is not None
    places = np.linspace(0, at.G, POINTS)
    # in floats: the squares of large integers would overflow
    coefficients = getattr(polynomial, "coefficients", (1,))
    return float(np.mean(sum(c * places**power for power, c in enumerate(coefficients))))


def cautions(shape: Measurement, rows: int) -> list[str]:
    """Return warnings that follow from public facts: more sensitivity declared than needed, no error of sampling."""
    del rows
    query = cast(Additive, shape.query)
    empty = simulated(shape, tuple(np.zeros((shape.cells, len(one.form.matrix)), np.int64) for one in shape.columns))
    said = ["expressions are taken to be spread evenly over their bounds"]
    times = over(query, boxes_of(empty), reach_of(empty))
    if times is not None:
        said.append(f"the declared sensitivity is {float(times):.3g} times what the bounds need: so much more noise")
    if not query.moments:
        said.append("moments=False: the error of privacy alone, without that of sampling")
    if defined(query) is None:
        said.append(f"the statistic {query.statistic!r} is not defined in this program: precision is that of its sums")
    return said

"""Expected precision of a term from public facts, for plans: the real inference, on the integers of an assumed table.

In the assumed table values and cells are as expected, and spread evenly where nothing is said of them
(`plan_shares`).  The noise is set to 0, but the errors include it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.plan_shares import NOTHING, POINTS, Array, cell_shares, values_of
from tacit.method.shared.simulated_parts import simulated
from tacit.rows.row_map import PersonWeight
from tacit.schema.expectations import Expectations

ASSUMED = "values and weights spread evenly over their bounds, levels equally frequent, nothing missing"
UNTOLD_COUNTS = "counts of a Poisson model are a tenth of their range on average, with the variance mean + mean²"
UNTOLD_POSITIVES = "responses of a gamma model are a tenth of their range on average, and vary as much as their mean"
UNTOLD_DENSITY = (
    "a quantile's interval is as much narrower as values lie closer together there than evenly between the bounds, and "
    "wider where they lie apart: where bounds are ten times as wide as the values, ten times"
)
GUESSED_ROWS = 10_000
"""Rows assumed where their number is private and not given."""
STEPS = 11
"""Weights that stand for those of rows."""


@dataclass(frozen=True)
class Expected:
    """Expected precision of one term.

    width: of the interval.  privacy: part of the variance that is due to privacy.  without: width without privacy.
    between: the least and the largest width, where what is told of a column leaves much open; None elsewhere.  open:
    whether there may be no answer, too.
    """

    term: str
    value: float
    width: float
    privacy: float
    without: float
    std_error: float
    rows: float
    between: tuple[float, float] | None = None
    open: bool = False


def uniform(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return one entry for each term, for values and cells as expected, and evenly spread where nothing is said."""
    return of_integers(shape, uniform_integers(shape, rows, expect), rows, level, rows * cell_shares(shape, expect))


def uniform_integers(shape: Measurement, rows: int, expect: Expectations = NOTHING) -> tuple[NDArray[np.int64], ...]:
    """Return the integers of each part, shape (cells, k), for values and cells as expected, else evenly spread."""
    sizes = rows * cell_shares(shape, expect)
    return tuple(_integers(column, sizes, expect) for column in shape.columns)


def _integers(column: PartSpec, sizes: Array, expect: Expectations) -> NDArray[np.int64]:
    """Return the integers of one part for cells of these sizes, shape (cells, k)."""
    if column.form.name == "deviations":  # one integer that is no linear function of sums over rows
        each = [tuple(round(size * one) for one in _mean_sums(column, expect)) for size in sizes.tolist()]
        return np.array([column.form.assemble(sums) for sums in each], dtype=np.int64)
    return np.rint(np.outer(sizes, _mean_row(column, expect))).astype(np.int64)


def of_integers(
    shape: Measurement, integers: tuple[NDArray[np.int64], ...], rows: int, level: float, sizes: Array | None = None
) -> list[Expected]:
    """Return one entry for each term of the estimate that a release of these integers would give.

    sizes: rows of each cell, shape (cells,); equal where not given.
    """
    found: Any = simulated(shape, integers).estimate()
    limits = found.intervals(level)
    sampling, privacy = found.sampling_variances, found.privacy_variances
    # width of a normal interval, in standard errors
    z = 2 * NormalDist().inv_cdf(0.5 + level / 2)
    each = np.full(len(found.terms), rows / regular(shape))
    if sizes is not None and len(each) == len(sizes) * len(shape.columns):
        # terms are those of the first column in all cells, then of the second
        each = np.tile(sizes, len(shape.columns))
    return [
        Expected(
            term or "all",
            float(found.values[i]),
            math.inf if reason is not None else float(limits[i, 1] - limits[i, 0]),
            float(privacy[i] / (privacy[i] + sampling[i])) if privacy[i] + sampling[i] > 0 else 0.0,
            float(z * np.sqrt(sampling[i])),
            float(np.sqrt(sampling[i] + privacy[i])),
            float(each[i]),
        )
        for i, (term, reason) in enumerate(zip(found.terms, found.reasons, strict=True))
    ]


def regular(shape: Measurement) -> int:
    """Return the number of cells that rows are assumed to be in: not those for missing or out-of-bounds values."""
    return math.prod(key.regular for key in shape.keys)


def _mean_row(column: PartSpec, expect: Expectations) -> Array:
    """Return what a row of a cell adds to the integers of a part in the mean, shape (k,)."""
    if column.key is not None:
        one = np.zeros(len(column.key.labels))
        # the last class holds the cells that are as declared
        one[-1] = 1 if column.weight is None else column.weight.G
        return one
    sums = _mean_sums(column, expect)
    weights, heavy = _weights(column, expect)
    if column.form.weights:
        # weights and values are assumed independent: the mean of a product is the product of means
        sums = sums * [heavy @ q.numpy(np.array(weights)) for q in column.form.weights]
    return np.asarray(np.array(column.form.matrix, dtype=np.float64) @ sums, dtype=np.float64)


def _mean_sums(column: PartSpec, expect: Expectations) -> Array:
    """Return the mean of each polynomial of a row, shape (number of polynomials,)."""
    values, each = ([0], np.ones(1)) if column.rowmap is None else values_of(column.rowmap, expect, POINTS)
    return np.array([each @ p.numpy(np.array(values)) for p in column.form.polynomials])


def _weights(column: PartSpec, expect: Expectations) -> tuple[list[int], Array]:
    """Return weights and their shares: spread evenly up to their cap; the full weight for persons, each in one cell."""
    if column.weight is None or not column.form.weights:
        return [0], np.ones(1)
    G = column.weight.G
    # without a column of weights a person who is in one cell has all of the weight there
    if isinstance(column.weight, PersonWeight) and column.weight.of is None:
        return [G], np.ones(1)
    of = column.weight.of if isinstance(column.weight, PersonWeight) else column.weight
    assert of is not None
    return values_of(of, expect, STEPS)

"""Expected precision of a term from public facts, for plans: the real inference, on the integers of an assumed table.

In the assumed table the values of a column are spread evenly over its bounds.  The noise is set to 0, but the errors
include it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.simulated_parts import simulated
from tacit.rows.row_map import PersonWeight

ASSUMED = "values and weights spread evenly over their bounds, levels equally frequent, nothing missing"
GUESSED_ROWS = 10_000
"""Rows assumed where their number is private and not given."""
POINTS = 1_001


@dataclass(frozen=True)
class Expected:
    """Expected precision of one term.

    width: of the interval.  privacy: part of the variance that is due to privacy.  without: width without privacy.
    """

    term: str
    value: float
    width: float
    privacy: float
    without: float
    std_error: float
    rows: float


def uniform(shape: Measurement, rows: int, level: float) -> list[Expected]:
    """Return one entry for each term, for values spread evenly and equally frequent cells."""
    filled = np.ones(1, dtype=np.int64)
    for key in shape.keys:
        # 1 for cells of regular levels, 0 for those of missing or outside values; row-major, shape (cells,)
        filled = np.outer(filled, np.arange(key.size) < key.regular).reshape(-1)
    each = tuple(_integers(column, rows / regular(shape), shape.cells) for column in shape.columns)
    return of_integers(shape, tuple(one * filled[:, None] for one in each), rows, level)


def of_integers(shape: Measurement, integers: tuple[NDArray[np.int64], ...], rows: int, level: float) -> list[Expected]:
    """Return one entry for each term of the estimate that a release of these integers would give."""
    found: Any = simulated(shape, integers).estimate()
    limits = found.intervals(level)
    sampling, privacy = found.sampling_variances, found.privacy_variances
    # width of a normal interval, in standard errors
    z = 2 * NormalDist().inv_cdf(0.5 + level / 2)
    return [
        Expected(
            term or "all",
            float(found.values[i]),
            float(limits[i, 1] - limits[i, 0]),
            float(privacy[i] / (privacy[i] + sampling[i])) if privacy[i] + sampling[i] > 0 else 0.0,
            float(z * np.sqrt(sampling[i])),
            float(np.sqrt(sampling[i] + privacy[i])),
            rows / regular(shape),
        )
        for i, term in enumerate(found.terms)
    ]


def regular(shape: Measurement) -> int:
    """Return the number of cells that rows are assumed to be in: not those for missing or out-of-bounds values."""
    return math.prod(key.regular for key in shape.keys)


def _integers(column: PartSpec, rows: float, cells: int) -> NDArray[np.int64]:
    """Return the integers that a part would have for the assumed values, shape (cells, k)."""
    if column.key is not None:
        one = np.zeros(len(column.key.labels))
        # the last class holds the cells that are as declared
        one[-1] = rows * (1 if column.weight is None else column.weight.G)
    elif column.rowmap is None:
        one = np.mean([column.form.row(0, a) for a in _weights(column)], axis=0) * rows
    else:
        G = column.rowmap.G
        points = [0, 1] if G == 1 else sorted({round(G * i / (POINTS - 1)) for i in range(POINTS)})
        # every weight with every value: weights and values are assumed independent
        one = np.mean([column.form.row(v, a) for a in _weights(column) for v in points], axis=0) * rows
    return np.repeat(np.rint(one).astype(np.int64)[None, :], cells, axis=0)


def _weights(column: PartSpec) -> list[int | None]:
    """Return weights spread evenly up to their cap; the full weight for persons, each in one cell."""
    if column.weight is None or not column.form.weights:
        return [None]
    G = column.weight.G
    # without a column of weights a person who is in one cell has all of the weight there
    alike = isinstance(column.weight, PersonWeight) and column.weight.of is None
    return [G] if alike else [round(G * i / 10) for i in range(11)]

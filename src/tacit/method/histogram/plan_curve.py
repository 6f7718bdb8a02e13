"""Expected precision of the smooth density of a histogram of one column, from public facts: simulated releases."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.estimates.bins import spans
from tacit.estimates.densities.column_values import distance_of_values
from tacit.method.histogram import sparse_design
from tacit.method.histogram.estimate_smooth import FEWEST, smooth_density
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_densities import (
    AssumedCounts,
    BinnedColumn,
    assumed,
    curve_width,
    drawn_counts,
    ranged,
    tried,
)
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.simulated_parts import simulated
from tacit.schema.expectations import Expectations

TRIALS: Final = 3
"""Number of simulated releases of values as expected."""
MOST: Final = 2_000
"""Bins beyond which no density is planned: that of a release takes long."""


def planned_density(shape: Measurement, rows: int, level: float, expect: Expectations) -> Expected | None:
    """Return the expected width of the limits of `smooth_density`, root mean square over the column's range.

    None for a histogram of several columns, of levels, of few bins, or of additional bins (missing, beyond bounds).
    """
    if shape.kind == sparse_design.KIND or len(shape.keys) != 1 or not shape.keys[0].edges or shape.keys[0].extra:
        return None
    (axis,), name = shape.axes, shape.keys[0].column
    lower, upper = spans(axis)
    if not FEWEST <= len(lower) <= MOST or not (upper > lower).all():
        return None
    ends = np.append(lower, upper[-1])
    column = BinnedColumn(name, ends, distance_of_values(axis.kind, axis.multiple_of))
    guesses, rng = assumed([column], expect), np.random.default_rng(0)  # equal questions get equal plans

    def width(counts: AssumedCounts) -> list[float]:
        release = simulated(shape, (_noisy(shape, rows, counts, rng)[:, None],))
        return [curve_width(smooth_density(release, name), level)]

    widths, height = tried(guesses, TRIALS, width), 1 / float(np.ptp(ends))
    entry = Expected(f"density of {name}", height, widths[0][0], 0.0, 0.0, 0.0, rows)
    return ranged([entry], widths)[0]


def _noisy(shape: Measurement, rows: int, counts: AssumedCounts, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return noisy counts of rows drawn with these shares, shape (bins,), on the grid of the release."""
    drawn = drawn_counts(rows, counts, rng) * shape.columns[0].form.parameters.get("share", 1)
    return np.asarray(drawn + np.asarray(shape.columns[0].law.sample(len(drawn), rng)), dtype=np.int64)

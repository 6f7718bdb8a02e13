"""Expected precision of a bootstrap: the spread of its replicates without noise, from public facts, and the noise."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.method.bootstrap.design import vector
from tacit.method.bootstrap.estimate import estimate, linear
from tacit.method.bootstrap.estimate_replicates import noise_factor, total_variances
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected, uniform_integers
from tacit.method.shared.plan_shares import NOTHING, POINTS, cell_shares, values_of
from tacit.method.shared.simulated_parts import simulated
from tacit.rows.row_map import RowMap
from tacit.schema.expectations import Expectations


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return the expected precision of each term, with conservative errors at their expected size."""
    columns = vector(shape)
    one = replace(shape, columns=columns)
    k = len(shape.columns) // len(columns)
    released: Any = simulated(shape, uniform_integers(one, rows, expect) * k)
    found = estimate(released, "table")
    noise = linear(released).noise
    shares = rows * cell_shares(shape, expect)
    sampling = np.concatenate([_sampling(shape, at.rowmap, rows, shares, expect) for at in columns])
    sizes = np.tile(shares, len(columns))
    # E s2 - v c / (k - 1), in place of the sample variance
    variance = sampling + noise * (1 - noise_factor("conservative", k))
    error = np.sqrt(variance + (variance + noise) / k)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    uncertain = total_variances(sampling + noise, noise, k, population=True, rows=shape.rows)
    half = np.maximum(z * error, uncertain.half_widths(level))
    return [
        Expected(
            term or "all",
            float(found.values[i]),
            math.inf if found.reasons[i] is not None else float(2 * half[i]),
            float(1 - sampling[i] / error[i] ** 2) if error[i] > 0 else 0.0,
            float(2 * z * np.sqrt(sampling[i])),
            float(error[i]),
            float(sizes[i]),
        )
        for i, term in enumerate(found.terms)
    ]


def _sampling(shape: Measurement, at: RowMap | None, rows: int, sizes: Array, expect: Expectations) -> Array:
    """Return the variance that the statistic of one column would have without noise, in each cell."""
    kind = type(cast(Any, shape.query).statistic).__name__
    share = sizes / max(rows, 1)
    fixed = shape.neighbors == "replace-one"
    if kind == "Count":
        return np.asarray(sizes * ((1 - share) if fixed else 1.0), dtype=np.float64)
    assert at is not None
    points, each = values_of(at, expect, POINTS)
    x = np.array([at.value(v) for v in points])
    mean, square = float(each @ x), float(each @ x**2)
    if kind == "Sum":
        return np.asarray(sizes * (square - (mean**2 * share if fixed else 0.0)), dtype=np.float64)
    central = square - mean**2
    if kind == "Variance":
        # of squared deviations: the fourth central moment less the square of the second
        central = max(float(each @ (x - mean) ** 4) - central**2, 0.0)
    return np.asarray(central / np.maximum(sizes, 1.0), dtype=np.float64)

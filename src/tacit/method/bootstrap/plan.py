"""Expected precision of a bootstrap: the spread of its replicates without noise, from public facts, and the noise."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any, cast

import numpy as np

from tacit.method.bootstrap.estimate import estimate, linear
from tacit.method.bootstrap.estimate_replicates import noise_factor
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected, uniform_integers
from tacit.method.shared.plan_shares import NOTHING, POINTS, cell_shares, values_of
from tacit.method.shared.simulated_parts import simulated
from tacit.schema.expectations import Expectations


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return the expected precision of each term, with conservative errors at their expected size."""
    one = replace(shape, columns=shape.columns[:1])
    k = len(shape.columns)
    (integers,) = uniform_integers(one, rows, expect)
    released: Any = simulated(shape, (integers,) * k)
    found = estimate(released, "table")
    noise = linear(released).noise
    shares = rows * cell_shares(shape, expect)
    sampling = _sampling(shape, rows, shares, expect)
    # E s2 - v c / (k - 1), in place of the sample variance
    variance = sampling + noise * (1 - noise_factor("conservative", k))
    error = np.sqrt(variance + (variance + noise) / k)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    return [
        Expected(
            term or "all",
            float(found.values[i]),
            math.inf if found.reasons[i] is not None else float(2 * z * error[i]),
            float(1 - sampling[i] / error[i] ** 2) if error[i] > 0 else 0.0,
            float(2 * z * np.sqrt(sampling[i])),
            float(error[i]),
            float(shares[i]),
        )
        for i, term in enumerate(found.terms)
    ]


def _sampling(shape: Measurement, rows: int, sizes: Any, expect: Expectations) -> Any:
    """Return the variance that the statistic of each cell would have without noise."""
    kind = type(cast(Any, shape.query).statistic).__name__
    share = sizes / max(rows, 1)
    fixed = shape.neighbors == "replace-one"
    if kind == "Count":
        return sizes * ((1 - share) if fixed else 1.0)
    at = shape.columns[0].rowmap
    assert at is not None
    points, each = values_of(at, expect, POINTS)
    x = np.array([at.value(v) for v in points])
    mean, square = float(each @ x), float(each @ x**2)
    if kind == "Mean":
        return (square - mean**2) / np.maximum(sizes, 1.0)
    return sizes * (square - (mean**2 * share if fixed else 0.0))

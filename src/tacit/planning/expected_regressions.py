"""Expected precision of a regression: its steps on made-up rows whose values are spread evenly and independent."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.regression.estimate import fit_release
from tacit.method.regression.product_parts import ProductPart
from tacit.method.regression.query import Regression
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.release.parts import Variable
from tacit.testing.simulated_regressions import RegressionRows

MADE: Final = 2**12
"""Number of made-up rows; each has the weight (rows of the table) / MADE."""


def expected(shape: Measurement, rows: int, level: float) -> list[Expected]:
    """Return the expected precision of each coefficient, with a response independent of all regressors.

    Widths are infinite where noise is too large for any coefficient.
    """
    made = made_up(shape)
    found = fit_release(made.expected(rows))
    z = 2 * NormalDist().inv_cdf(0.5 + level / 2)
    # standard errors fall with the root of the number of rows
    ordinary = made.ordinary()[1] * math.sqrt(MADE / rows)
    out: list[Expected] = []
    for i, name in enumerate(found.names):
        without = float(z * ordinary[i])
        if found.reasons[i] is not None:
            out.append(Expected(name, 0.0, math.inf, 1.0, without, 0.0, rows))
            continue
        error, privacy = float(found.std_errors[i]), float(found.cov_privacy[i, i])
        out.append(Expected(name, float(found.values[i]), z * error, privacy / error**2, without, error, rows))
    return out


def made_up(shape: Measurement) -> RegressionRows:
    """Return made-up rows of evenly spread, independent values, one a person; a Poisson response is drawn as counts."""
    first = cast(ProductPart, shape.columns[0])
    question, made = first.question, first.layout
    # a fixed seed: equal questions get equal plans
    rng = np.random.default_rng(0)
    values: dict[Any, Any] = {at: rng.integers(0, at.G + 1, MADE) for at in question.maps}
    places: dict[Any, Any] = {key: rng.integers(0, key.size, MADE) for key in question.keys}
    z = question.numpy(values, places, MADE)
    query = cast(Regression, shape.query)
    if query.model == "poisson":
        z[:, -1] = _counts(shape.variables[0], made.bounds[-1], rng)
    return RegressionRows(shape, made, z, MADE, None if shape.unit is None else np.arange(MADE))


def _counts(response: Variable, half: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw Poisson counts with mean a quarter of the response's range, as integers -half..half of its grid."""
    room = response.upper - response.lower
    # a quarter leaves few counts to be clamped, unless the range is small
    counts = np.minimum(rng.poisson(room / 4, MADE), room)
    return np.rint(counts * (2 * half / max(room, 1))).astype(np.int64) - half

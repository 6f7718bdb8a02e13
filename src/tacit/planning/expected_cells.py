"""Expected precision of a regression from cells: the fit to the counts of an assumed table, noise in its errors."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any, cast

from tacit.method.regression.designs.cells_design import KIND
from tacit.method.regression.estimate_cells import fitted_cells
from tacit.method.regression.query import Regression
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected, uniform_integers
from tacit.method.shared.plan_shares import NOTHING, cell_shares
from tacit.method.shared.simulated_parts import simulated
from tacit.release.parts import Variable
from tacit.rows.row_map import KeyMap
from tacit.schema.expectations import Expectations, ExpectedNumbers


def by_cells(shape: Measurement) -> bool:
    """Return whether a question is a regression that is answered from cells."""
    return shape.kind == KIND


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return the expected precision of each coefficient, with a response independent of all regressors."""
    expect = _with_counts(shape, expect)
    integers = uniform_integers(shape, rows, expect)
    complete = rows * float(cell_shares(shape, expect).sum())
    z = 2 * NormalDist().inv_cdf(0.5 + level / 2)
    found: Any = fitted_cells(cast(Any, simulated(shape, integers))).coefficients
    out: list[Expected] = []
    for i, name in enumerate(found.terms):
        sampling, privacy = float(found.sampling_variances[i]), float(found.privacy_variances[i])
        error, without = math.sqrt(sampling + privacy), z * math.sqrt(sampling)
        if found.reasons[i] is not None or not math.isfinite(error):
            out.append(Expected(name, 0.0, math.inf, 1.0, without, 0.0, complete))
            continue
        out.append(Expected(name, float(found.values[i]), z * error, privacy / error**2, without, error, complete))
    return out


def columns_of(shape: Measurement) -> list[Variable]:
    """Return the columns of the cells: numbers with their bounds, others with their levels."""
    return [_variable(key) for key in shape.keys]


def _variable(key: KeyMap) -> Variable:
    if not key.edges:
        return Variable(key.column, "levels", labels=key.labels)
    return Variable(key.column, "integer", float(key.labels[0]), float(key.labels[-1]))


def _with_counts(shape: Measurement, expect: Expectations) -> Expectations:
    """Return what is expected, and of counts of which nothing is said `plan_expected.UNTOLD_COUNTS`."""
    response = _variable(shape.keys[0])
    known = response.kind != "integer" or response.name in expect.numbers
    if cast(Regression, shape.query).model != "poisson" or known:
        return expect
    low, high = response.lower, response.upper
    mean = low + max((high - low) / 10, 0.5)
    most = math.sqrt((mean - low) * (high - mean))
    made = ExpectedNumbers(mean, min(math.sqrt(mean + mean**2), most), 0.0, low, high)
    return replace(expect, numbers={**expect.numbers, response.name: made})

"""Expected precision of a data set from public facts: the errors where rows are spread evenly over the cells."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, Final

import numpy as np

from tacit.method.ks_dataset.estimate import band, cdf, edges_of
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.method.shared.simulated_parts import simulated
from tacit.schema.expectations import Expectations


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return an entry for the share of rows below the middle, and one for the whole distribution function.

    The rows are spread evenly over the cells: the mechanism, which draws data sets nearer to even ones, errs least
    there.  What is said of values beforehand does not enter.
    """
    del expect
    facts = shape.columns[0].form.parameters
    k, m = facts["G"], facts["cells"]
    points = np.diff(np.arange(m + 1) * k // m)
    one: Any = shape.columns[-1].form.parameters.get("share", 1)
    number = [np.array([[rows * one]])] if len(shape.columns) > 1 else []
    made = simulated(shape, (points[None, :], *number))
    middle = float(edges_of(made)[[0, -1]].mean())
    found, curve = cdf(made, [middle]), band(made)
    z = 2 * NormalDist().inv_cdf(0.5 + level / 2)
    sampling, privacy = float(found.sampling[0, 0]), float(found.privacy[0, 0])
    if curve.errors.reason is not None:
        return [Expected(term, value, float("inf"), 0.0, float("inf"), float("inf"), rows) for term, value in
                (("share below the middle", 0.5), ("distribution function", 0.5))]  # fmt: skip
    total = sampling + privacy
    without = float(np.quantile(np.abs(curve.errors.sampling).max(axis=1), level))
    half = curve.half_width(level)
    part = max(0.0, 1 - (without / half) ** 2)
    return [
        Expected("share below the middle", 0.5, z * total**0.5, privacy / total, z * sampling**0.5, total**0.5, rows),
        Expected("distribution function", 0.5, 2 * half, part, 2 * without, 2 * half / z, rows),
    ]


SAYS_ALL: Final = True
"""The method's own cautions replace the general ones."""


def cautions(shape: Measurement, rows: int) -> list[str]:
    """Return what the data set is for."""
    del shape, rows
    return ["a histogram of the same price is nearer to the rows: a data set is for those who need one"]

"""Expected precision of a kernel density from public facts: the error of its limits where the density is even."""

from __future__ import annotations

from statistics import NormalDist
from typing import Final

import numpy as np

from tacit.method.kernel_density.estimate_kernel import KernelFit, ends_of, fitted
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.method.shared.simulated_parts import simulated
from tacit.schema.expectations import Expectations

GROUPS: Final = False
"""Cells are bins of the columns, not groups."""
SIDE: Final = {1: 101, 2: 21, 3: 9}
"""Places along each column over which the squared error is averaged."""


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return one entry for the density of each column, and one for the joint density of several.

    The error is the root of the mean over the support of the squared error of what limits are around; what is said of
    values beforehand does not enter.
    """
    share = shape.columns[0].form.parameters.get("share", 1)
    ends = [ends_of(axis) for axis in shape.axes]
    even = np.ones(1)
    for one in ends:
        even = np.outer(even, np.diff(one) / np.ptp(one)).reshape(-1)
    counts = np.rint(rows * share * even).astype(np.int64)
    fit = fitted(simulated(shape, (counts[:, None],)))
    lengths, names = [float(np.ptp(one)) for one in ends], [key.column for key in shape.keys]
    found = [
        _entry(f"density of {name}", 1 / length, fit.margin(at), level, rows)
        for at, (name, length) in enumerate(zip(names, lengths, strict=True))
    ]
    if len(names) > 1:
        found.append(_entry("joint density", 1 / float(np.prod(lengths)), fit, level, rows))
    return found


def _entry(term: str, value: float, fit: KernelFit, level: float, rows: int) -> Expected:
    side = np.linspace(0, 1, SIDE[len(fit.edges)])
    grid = np.stack([one.reshape(-1) for one in np.meshgrid(*[side] * len(fit.edges), indexing="ij")], axis=1)
    sampling, noise = (float(one.mean()) for one in fit.errors(fit.limiting, grid))
    z = NormalDist().inv_cdf(0.5 + level / 2)
    error = value * float(np.sqrt(sampling + noise))
    part = noise / (sampling + noise) if sampling + noise > 0 else 0.0
    width = float("inf") if fit.reason is not None else 2 * z * error
    return Expected(term, value, width, part, 2 * z * value * float(np.sqrt(sampling)), error, rows)

"""Expected precision of a kernel density from public facts: the error of its limits, for values as expected or even."""

from __future__ import annotations

from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.method.kernel_density.estimate import joint_density, smooth_density
from tacit.method.kernel_density.estimate_kernel import KernelFit, ends_of, fitted
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_densities import (
    AssumedCounts,
    BinnedColumn,
    assumed,
    curve_width,
    joint_width,
    over_cells,
    ranged,
)
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.method.shared.simulated_parts import simulated
from tacit.release.document import Released
from tacit.release.parts import Axis
from tacit.schema.expectations import Expectations

GROUPS: Final = False
"""Cells are bins of the columns, not groups."""
SIDE: Final = {1: 101, 2: 21, 3: 9}
"""Places along each column over which the squared error is averaged."""


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return one entry for the density of each column, and one for the joint density of several.

    A width is the root mean square, over the support, of those of the limits.
    """
    names = [key.column for key in shape.keys]
    columns = [BinnedColumn(name, ends_of(axis), _step(axis)) for name, axis in zip(names, shape.axes, strict=True)]
    guesses = assumed(columns, expect)
    releases = [simulated(shape, (_counts(shape, rows, one)[:, None],)) for one in guesses]
    fit, lengths = fitted(releases[0]), [float(np.ptp(one.ends)) for one in columns]
    found = [
        _entry(f"density of {name}", 1 / length, fit.margin(at), level, rows)
        for at, (name, length) in enumerate(zip(names, lengths, strict=True))
    ]
    if len(names) > 1:
        found.append(_entry("joint density", 1 / float(np.prod(lengths)), fit, level, rows))
    return ranged(found, [_widths(one, names, level) for one in releases])


def _widths(release: Released, names: list[str], level: float) -> list[float]:
    """Return the widths of the limits of each column's density, and of the joint one of several."""
    found = [curve_width(smooth_density(release, name), level) for name in names]
    return found if len(names) == 1 else [*found, joint_width(joint_density(release), level)]


def _counts(shape: Measurement, rows: int, counts: AssumedCounts) -> NDArray[np.int64]:
    """Return the exact counts of all cells."""
    share = shape.columns[0].form.parameters.get("share", 1)
    return np.rint(rows * share * counts.present * over_cells(counts, lambda _, own: own)).astype(np.int64)


def _step(axis: Axis) -> float:
    """Return the distance of the values of a column that is recorded in steps, else 0."""
    return 1.0 if axis.kind in ("integer", "date") else float(axis.multiple_of or 0)


def _entry(term: str, value: float, fit: KernelFit, level: float, rows: int) -> Expected:
    side = np.linspace(0, 1, SIDE[len(fit.edges)])
    grid = np.stack([one.reshape(-1) for one in np.meshgrid(*[side] * len(fit.edges), indexing="ij")], axis=1)
    sampling, noise = (float(one.mean()) for one in fit.errors(fit.limiting, grid))
    z = NormalDist().inv_cdf(0.5 + level / 2)
    error = value * float(np.sqrt(sampling + noise))
    part = noise / (sampling + noise) if sampling + noise > 0 else 0.0
    width = float("inf") if fit.reason is not None else 2 * z * error
    return Expected(term, value, width, part, 2 * z * value * float(np.sqrt(sampling)), error, rows)

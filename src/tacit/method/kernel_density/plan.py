"""Expected precision of a kernel density from public facts: the error of its limits, for values as expected or even."""

from __future__ import annotations

from functools import partial
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.estimates.densities.column_values import distance_of_values
from tacit.method.kernel_density.estimate import joint_density, smooth_density
from tacit.method.kernel_density.estimate_kernel import KernelFit, ends_of, fitted
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_densities import (
    AssumedCounts,
    BinnedColumn,
    assumed,
    drawn_counts,
    over_cells,
    ranged,
    tried,
    widths_of,
)
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.method.shared.simulated_parts import simulated
from tacit.schema.expectations import Expectations

GROUPS: Final = False
"""Cells are bins of the columns, not groups."""
SIDE: Final = {1: 101, 2: 21, 3: 9}
"""Places along each column over which the squared error is averaged."""
TRIALS: Final = 3
"""Number of simulated releases of values as expected."""


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return one entry for the density of each column, and one for the joint density of several.

    A width is the root mean square, over the support, of those of the limits.  Simulated releases, with their noise,
    say over which widths they range: noise may look like what values do, and limits are then wider, or not told.
    """
    names = [key.column for key in shape.keys]
    columns = [
        BinnedColumn(name, ends_of(axis), distance_of_values(axis.kind, axis.multiple_of))
        for name, axis in zip(names, shape.axes, strict=True)
    ]
    guesses = assumed(columns, expect)
    quiet = simulated(shape, (_counts(shape, rows, guesses[0])[:, None],))
    fit = fitted(quiet)
    lengths = [float(np.ptp(one.ends)) for one in columns]
    found = [
        _entry(f"density of {name}", 1 / length, fit.margin(at), level, rows)
        for at, (name, length) in enumerate(zip(names, lengths, strict=True))
    ]
    if len(names) > 1:
        found.append(_entry("joint density", 1 / float(np.prod(lengths)), fit, level, rows))
    rng = np.random.default_rng(0)  # equal questions get equal plans

    def of(one: Any) -> list[float]:
        return widths_of(names, level, partial(smooth_density, one), partial(joint_density, one))

    _, *tries = tried(guesses, TRIALS, lambda counts: of(_noisy(shape, rows, counts, rng)))
    # in the middle are limits without doubts, which most releases of such values have
    return ranged(found, [of(quiet), *tries])


def _noisy(shape: Measurement, rows: int, counts: AssumedCounts, rng: np.random.Generator) -> Any:
    """Return a simulated release of rows drawn with these shares."""
    (part,) = shape.columns
    exact = part.form.parameters.get("share", 1) * drawn_counts(rows, counts, rng)
    noise = np.asarray(part.law.sample(len(exact), rng), dtype=np.int64)
    return simulated(shape, ((exact + noise)[:, None],))


def _counts(shape: Measurement, rows: int, counts: AssumedCounts) -> NDArray[np.int64]:
    """Return the exact counts of all cells."""
    share = shape.columns[0].form.parameters.get("share", 1)
    return np.rint(rows * share * counts.present * over_cells(counts, lambda _, own: own)).astype(np.int64)


def _entry(term: str, value: float, fit: KernelFit, level: float, rows: int) -> Expected:
    side = np.linspace(0, 1, SIDE[len(fit.edges)])
    grid = np.stack([one.reshape(-1) for one in np.meshgrid(*[side] * len(fit.edges), indexing="ij")], axis=1)
    sampling, noise = (float(one.mean()) for one in fit.errors(fit.limiting, grid))
    z = NormalDist().inv_cdf(0.5 + level / 2)
    error = value * float(np.sqrt(sampling + noise))
    part = noise / (sampling + noise) if sampling + noise > 0 else 0.0
    width = float("inf") if fit.reason is not None else 2 * z * error
    return Expected(term, value, width, part, 2 * z * value * float(np.sqrt(sampling)), error, rows)

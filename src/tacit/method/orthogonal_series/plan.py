"""Expected precision of a series from public facts: the error of its densities, for values as expected or even."""

from __future__ import annotations

from functools import partial
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.densities.column_values import distance_of_values
from tacit.method.orthogonal_series.design import edges
from tacit.method.orthogonal_series.encoding import SCALE, table
from tacit.method.orthogonal_series.estimate import smooth_density
from tacit.method.orthogonal_series.estimate_coefficients import SeriesFit, fitted
from tacit.method.orthogonal_series.estimate_joint import joint_density
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.numeric_columns import support
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
from tacit.release.parts import Variable
from tacit.schema.expectations import Expectations

TRIALS: Final = 3
"""Number of simulated releases of values as expected."""


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return one entry for the density of each column, and one for the joint density of several.

    A width is the root mean square, over the support, of those of the limits.  Simulated releases, with their noise,
    say over which widths they range: noise may look like what values do, and limits are then wider, or not told.
    """
    columns = [_binned(one, len(shape.variables)) for one in shape.variables]
    guesses = assumed(columns, expect)
    quiet = simulated(shape, (_integers(shape, rows, guesses[0])[None, :],))
    fit = fitted(quiet)
    lengths = [float(np.ptp(one.ends)) for one in columns]
    privacy = fit.variance * (fit.load**2).sum(axis=1)
    found = list[Expected]()
    for at, one in enumerate(shape.variables):
        alone = (np.delete(fit.indices, at, axis=1) == 0).all(axis=1)
        found.append(_entry(f"density of {one.name}", 1 / lengths[at], alone, fit, privacy, level, rows))
    if len(lengths) > 1:
        every = np.full(len(fit.values), True)
        found.append(_entry("joint density", 1 / float(np.prod(lengths)), every, fit, privacy, level, rows))
    names = [one.name for one in columns]
    rng = np.random.default_rng(0)  # equal questions get equal plans

    def of(one: Any) -> list[float]:
        return widths_of(names, level, partial(smooth_density, one), partial(joint_density, one))

    _, *tries = tried(guesses, TRIALS, lambda counts: of(_noisy(shape, rows, counts, rng)))
    # limits of counts without noise have fewer terms than those of a release, which all count in the error
    middle = [max(one.width, width) for one, width in zip(found, of(quiet), strict=True)]
    return ranged(found, [middle, *tries])


def _noisy(shape: Measurement, rows: int, counts: AssumedCounts, rng: np.random.Generator) -> Any:
    """Return a simulated release of rows drawn with these shares."""
    (part,) = shape.columns
    made = drawn_counts(rows, counts, rng).astype(np.float64)
    made = made.reshape([len(one) for one in counts.shares])
    present = float(made.sum())
    for at in range(made.ndim):
        # each turn replaces the first axis, bins, by the functions of the column, and moves it to the end
        made = np.tensordot(made, _functions(shape, at), axes=([0], [1]))
    exact = _of_sums(shape, made.reshape(-1), present)
    noise = np.asarray(part.law.sample(len(exact), rng), dtype=np.int64)
    return simulated(shape, ((exact + noise)[None, :],))


def _binned(one: Variable, columns: int) -> BinnedColumn:
    """Return the bins of a column in its units."""
    low, high = support(one)
    ends = low + (high - low) * np.array(edges(one, columns))
    return BinnedColumn(one.name, ends, distance_of_values(one.kind, one.multiple_of))


def _entry(
    term: str, value: float, kept: NDArray[np.bool_], fit: SeriesFit, privacy: Array, level: float, rows: int
) -> Expected:
    """Return the entry of a density whose value is that of an even one; functions have mean square 1."""
    sampling, noise = float(np.diag(fit.sampling)[kept].sum()), float(privacy[kept].sum())
    z = NormalDist().inv_cdf(0.5 + level / 2)
    error = value * np.sqrt(sampling + noise)
    share = noise / (sampling + noise) if sampling + noise > 0 else 0.0
    width = np.inf if fit.reason is not None else 2 * z * error
    return Expected(term, value, float(width), share, float(2 * z * value * np.sqrt(sampling)), float(error), rows)


def _integers(shape: Measurement, rows: int, counts: AssumedCounts) -> NDArray[np.int64]:
    """Return the integers of rows with these shares in the bins, shape (integers,)."""
    made = over_cells(counts, lambda at, shares: np.asarray(_functions(shape, at) @ shares))
    return _of_sums(shape, rows * counts.present * made, rows * counts.present)


def _functions(shape: Measurement, at: int) -> Array:
    """Return the functions of one column in its bins, shape (functions, bins)."""
    d, facts = len(shape.variables), shape.columns[0].form.parameters
    ends = edges(shape.variables[at], d)
    functions = table(getattr(shape.query, "basis", "cosine"), ends, facts["terms"], SCALE[d])
    return np.asarray(functions, dtype=np.float64)


def _of_sums(shape: Measurement, sums: Array, present: float) -> NDArray[np.int64]:
    """Return the integers of sums of all products of functions, the constant first, over `present` rows."""
    facts = shape.columns[0].form.parameters
    counted = [present * float(facts["presence"])] if facts["presence"] else []
    return np.rint(facts.get("share", 1) * np.array([*sums[1:], *counted])).astype(np.int64)

"""Expected precision of a series from public facts: the error of its densities, for values as expected or even."""

from __future__ import annotations

from functools import partial
from statistics import NormalDist

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
    over_cells,
    ranged,
    widths_of,
)
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.method.shared.simulated_parts import simulated
from tacit.release.parts import Variable
from tacit.schema.expectations import Expectations


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return one entry for the density of each column, and one for the joint density of several.

    A width is the root mean square, over the support, of those of the limits.
    """
    columns = [_binned(one, len(shape.variables)) for one in shape.variables]
    guesses = assumed(columns, expect)
    releases = [simulated(shape, (_integers(shape, rows, one)[None, :],)) for one in guesses]
    fit = fitted(releases[0])
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
    widths = [widths_of(names, level, partial(smooth_density, one), partial(joint_density, one)) for one in releases]
    # limits of counts without noise have fewer terms than those of a release, which all count in the error
    widths[0] = [max(one.width, width) for one, width in zip(found, widths[0], strict=True)]
    return ranged(found, widths)


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
    (part,), query = shape.columns, shape.query
    d, facts = len(shape.variables), part.form.parameters

    def own(at: int, shares: Array) -> Array:
        ends = edges(shape.variables[at], d)
        return np.asarray(table(getattr(query, "basis", "cosine"), ends, facts["terms"], SCALE[d]) @ shares)

    presence = [float(facts["presence"])] if facts["presence"] else []
    made = np.array([*over_cells(counts, own)[1:], *presence])
    return np.rint(rows * facts.get("share", 1) * counts.present * made).astype(np.int64)

"""Expected precision of a series from public facts: the mean error of its densities where they are even."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.method.orthogonal_series.design import edges
from tacit.method.orthogonal_series.encoding import SCALE, table
from tacit.method.orthogonal_series.estimate_coefficients import SeriesFit, fitted
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.numeric_columns import support
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.method.shared.simulated_parts import simulated
from tacit.schema.expectations import Expectations


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return one entry for the density of each column, and one for the joint density of several.

    The error is the root of the mean over the support of the squared error, of all terms; what is said of values
    beforehand does not enter.
    """
    fit = fitted(simulated(shape, (_even(shape, rows)[None, :],)))
    lengths = [high - low for low, high in map(support, shape.variables)]
    privacy = fit.variance * (fit.load**2).sum(axis=1)
    found = list[Expected]()
    for at, one in enumerate(shape.variables):
        alone = (np.delete(fit.indices, at, axis=1) == 0).all(axis=1)
        found.append(_entry(f"density of {one.name}", 1 / lengths[at], alone, fit, privacy, level, rows))
    if len(lengths) > 1:
        every = np.full(len(fit.values), True)
        found.append(_entry("joint density", 1 / float(np.prod(lengths)), every, fit, privacy, level, rows))
    return found


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


def _even(shape: Measurement, rows: int) -> NDArray[np.int64]:
    """Return the integers of rows that are spread evenly over the cells, shape (integers,)."""
    (part,), query = shape.columns, shape.query
    d, facts = len(shape.variables), part.form.parameters
    made = np.ones(1)
    for one in shape.variables:
        ends = edges(one, d)
        own = table(getattr(query, "basis", "cosine"), ends, facts["terms"], SCALE[d])
        made = np.outer(made, own @ np.diff(np.array(ends))).reshape(-1)
    share = facts.get("share", 1)
    presence = [float(facts["presence"])] if facts["presence"] else []
    return np.rint(rows * share * np.array([*made[1:], *presence])).astype(np.int64)

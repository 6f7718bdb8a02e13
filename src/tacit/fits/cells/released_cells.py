"""The cells of a released histogram as the arrays that fits, quantiles, densities and samples are made of."""

from __future__ import annotations

from typing import cast

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.estimates.bins import spans, values_of
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.release.document import Released
from tacit.release.packing import floats
from tacit.release.parts import Axis as Facts


def cells_of(release: Released) -> CellCounts:
    """Noisy counts with their axes, the variance of a cell's noise, and the number of rows where all are in a cell.

    Bins are continuous axes; an Integer whose bins have one value each, a Real with one of its declared multiples in
    each, and a Boolean, are levels with numbers; categories are levels without, a level that the schema has for missing
    cells among them.  Cells that the question added (`missing=`, `outside=`) are the last of their axis, its `extra`.
    Counts of persons: rows of a person weigh one in all, so that the sampling covariance of anything made of them is at
    most what rows of as many different people would have.

    >>> import tacit as tc
    >>> people = {"age": list(range(18, 94)) * 20, "sex": ["f", "m"] * 760}
    >>> schema = tc.Schema({"age": tc.Real(18, 93), "sex": tc.Category(["f", "m"], missing="unknown")})
    >>> curator = tc.Curator(people, schema, budget=tc.Budget(rho=1))
    >>> cells = cells_of(curator.release(tc.Histogram(["age", "sex"], bins={"age": 5}), rho=0.1))
    >>> cells.axes[0].bins, cells.axes[1].labels, round(cells.variance, 2), cells.total
    (5, ('f', 'm', 'unknown'), 10.08, None)
    """
    part = release.parts[0]
    share = part.parameters.get("share", 1)
    facts = cast("tuple[Facts, ...]", getattr(release, "axes", ()))
    axes = tuple(_axis(name, labels, fact) for (name, labels), fact in zip(release.levels, facts, strict=True))
    return CellCounts(axes, counts_of(release), part.law.variance() / share**2, _total(release, facts))


def counts_of(release: Released) -> Array:
    """Noisy counts in rows (persons), shape (levels of the first column, of the second, ...).

    InferenceError Q84 of a sparse histogram.
    """
    part = release.parts[0]
    if part.form == "sparse-histogram":
        text = "a sparse histogram has the cells that passed its threshold, not all: no sums, margins or fits of them."
        raise InferenceError(text, code="Q84", hint="release.to_frame(), or a Histogram of fewer cells", state=None)
    shape = tuple(len(labels) for _, labels in release.levels)
    return floats(part.integers).reshape(shape) / part.parameters.get("share", 1)


def _total(release: Released, facts: tuple[Facts, ...]) -> float | None:
    """The number of rows, where it is public and none of them can be in no cell."""
    # rows with a missing value are then in no cell, and how many they are is private
    out = any(fact.missing == "exclude" and "missing" not in fact.extra for fact in facts)
    leaves = getattr(release.query, "where", None) is not None or out
    return None if leaves or release.rows is None else float(release.rows)


def _axis(name: str, labels: tuple[str, ...], fact: Facts) -> CellAxis:
    """Return one column's axis: levels, with numbers where bins have one value each, or continuous bins."""
    extra = fact.extra
    labels = labels[: len(labels) - len(extra)]
    if fact.kind == "levels":
        # a Boolean enters formulas as a number, not as a factor
        numbers = np.array([0.0, 1.0]) if labels == ("false", "true") else None
        missing = fact.missing if labels[-1] == fact.missing else None
        return CellAxis(name, "levels", labels=labels, units=fact.units, numbers=numbers, extra=extra, missing=missing)
    edges, step = _edges(fact)
    # bins of one value each: nothing to correct for, and no density within a bin
    if fact.kind != "date" and step and (np.diff(edges) < 1.5 * step).all():
        numbers = values_of(fact, edges)
        return CellAxis(name, "levels", labels=labels, units=fact.units, numbers=numbers, extra=extra)
    heaped_at = fact.heaped_at or 0.0
    return CellAxis(name, "continuous", edges, units=fact.units, extra=extra, step=step, heaped_at=heaped_at)


def _edges(fact: Facts) -> tuple[Array, float]:
    """Edges of bins, between the values that a column can have, and the distance of these.

    As they were asked for where the numbers are real, or where a bin has no value in it.
    """
    lower, upper = spans(fact)
    if fact.multiple_of is not None:
        return np.array(fact.edges, dtype=np.float64), fact.multiple_of
    if fact.kind == "real" or not (upper > lower).all():
        return np.array(fact.edges, dtype=np.float64), 0.0
    # a day d is [d, d + 1] in `spans`, and the point d here: edges lie halfway between days
    return np.append(lower, upper[-1]) - (0.5 if fact.kind == "date" else 0.0), 1.0

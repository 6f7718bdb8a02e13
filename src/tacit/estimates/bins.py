"""Ends of bins of real numbers, whole numbers or days, from public facts of a release alone."""

from __future__ import annotations

from typing import cast

import numpy as np

from tacit.base.arrays import Array
from tacit.release.document import Released
from tacit.release.parts import Axis
from tacit.schema.logistic_bins import LogisticBins

BINNED = ("real", "integer", "date")


def spans(axis: Axis) -> tuple[Array, Array]:
    """Return lower and upper end of each bin, shape (K,) each, in the column's units; dates in days since 1970-01-01.

    A bin holds the numbers from its lower edge to below the upper one; the last holds its upper edge too.  A whole
    number v stands for [v - 1/2, v + 1/2], a day d for [d, d + 1], so that the width of a bin is the number of possible
    values in it: 0 for a bin of an Integer that contains no whole number.  Edges of a Real of declared multiples lie
    half a unit beside these as they are.

    >>> spans(Axis("real", (0.0, 10.0, 25.0)))
    (array([ 0., 10.]), array([10., 25.]))
    >>> spans(Axis("integer", (18.0, 30.0, 93.0)))
    (array([17.5, 29.5]), array([29.5, 93.5]))
    """
    edges = np.asarray(axis.edges, dtype=np.float64)
    if axis.kind == "real":
        return edges[:-1], edges[1:]
    # the first value at or above each edge; the last bin holds its upper edge too, so it ends one value further
    firsts = np.ceil(edges)
    firsts[-1] = np.floor(edges[-1]) + 1
    if axis.kind == "integer":
        firsts = firsts - 0.5
    return firsts[:-1], firsts[1:]


def values_of(axis: Axis, edges: Array) -> Array:
    """Return the value in the middle of each bin of one value, shape (K,): of declared multiples as it is written."""
    middles = (edges[1:] + edges[:-1]) / 2
    return middles if axis.multiple_of is None else nearest_multiples(middles, axis.multiple_of)


def nearest_multiples(values: Array, unit: float) -> Array:
    """Return the nearest multiple of `unit` to each value, as the float nearest to the decimal number.

    >>> nearest_multiples(np.array([0.31, 0.69]), 0.1).tolist()
    [0.3, 0.7]
    """
    over = 1 / unit
    # a unit such as 0.1 is one part of ten, and k / 10 is rounded once where k * 0.1 is rounded twice
    parts = round(over) if abs(over - round(over)) < 1e-9 * over and over >= 1 else None
    k = np.rint(np.asarray(values, dtype=np.float64) / unit)
    return k * unit if parts is None else k / parts


def uneven(lower: Array, upper: Array) -> bool:
    """Return whether bins differ in width by more than rounding in floating point."""
    widths = upper - lower
    return bool(np.ptp(widths) > 1e-6 * widths.max())


def axis_of(release: Released, column: str) -> Axis:
    """Return the public facts of a column of a released histogram."""
    axes = cast("tuple[Axis, ...]", getattr(release, "axes", ()))
    return axes[[name for name, _ in release.levels].index(column)]


def logistic_of(release: Released, column: str) -> LogisticBins | None:
    """Return the public logistic bins of a column, or None where its bins are not logistic."""
    for name, bins in getattr(release.query, "bins", ()):
        if name == column and isinstance(bins, LogisticBins):
            return bins
    return None

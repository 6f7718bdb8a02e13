"""The public cells of a risk: bins of regressors, levels or bins of the outcome, and their values.  No data here."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.method.shared.numeric_columns import inner_edges, support
from tacit.release.parts import Variable

REGRESSOR_BINS: Final = {(1, True): 1_024, (2, True): 32, (1, False): 64, (2, False): 16}
"""Most bins of a regressor, by the number of them and whether the outcome has two levels: 2,048 cells in all."""
OUTCOME_BINS: Final = {1: 32, 2: 8}
"""Most bins of an outcome of numbers."""
KINDS: Final = ("levels", "boolean")
"""Kinds of columns that have no bins."""


def most_bins(variables: tuple[Variable, ...], place: int) -> int:
    """Return the most bins of a column, the outcome being the first."""
    number = len(variables) - 1
    return REGRESSOR_BINS[number, variables[0].kind in KINDS] if place else OUTCOME_BINS[number]


def inner(one: Variable, most: int) -> tuple[float, ...]:
    """Return the inner edges of a column's bins: one bin for each whole number or day where they are few."""
    found = inner_edges(one, most)
    if one.kind == "integer" and one.upper - one.lower >= most:
        found = tuple(math.floor(x) - 0.5 for x in found)
    return found


def values(one: Variable, most: int) -> Array:
    """Return the value of each bin on [-1, 1]: its middle, or -1 and 1 of two levels.

    >>> values(Variable("x", "integer", 1, 3), 64).tolist(), values(Variable("x", "boolean"), 64).tolist()
    ([-1.0, 0.0, 1.0], [-1.0, 1.0])
    """
    if one.kind in KINDS:
        return np.array([-1.0, 1.0])
    low, high = support(one)
    ends = np.array([low, *inner(one, most), high])
    middles = (ends[:-1] + ends[1:]) / 2 - (0.5 if one.kind == "date" else 0.0)
    # the last bin of dates holds two days, and its middle stays within the bounds
    return np.clip((2 * middles - one.lower - one.upper) / (one.upper - one.lower), -1.0, 1.0)


def cells(variables: tuple[Variable, ...]) -> tuple[Array, Array]:
    """Return the regressors of every cell with a 1 before them, shape (cells, p), and its outcome, shape (cells,)."""
    each = [values(one, most_bins(variables, place)) for place, one in enumerate(variables)]
    y, *x = (grid.reshape(-1) for grid in np.meshgrid(*each, indexing="ij"))
    return np.stack([np.ones_like(y), *x], axis=1), y


def few(variables: tuple[Variable, ...]) -> NDArray[np.int64]:
    """Return the places of some of the cells, spread evenly and with those at the ends: 512 at most."""
    most = {2: 64, 3: 16} if variables[0].kind in KINDS else {2: 32, 3: 8}
    found = np.zeros(1, dtype=np.int64)
    for place, one in enumerate(variables):
        size = len(values(one, most_bins(variables, place)))
        wanted = min(size, most[len(variables)] if place else 16 if len(variables) == 2 else 8)
        kept = np.unique(np.rint(np.linspace(0, size - 1, wanted)).astype(np.int64))
        # row-major, as the cells are
        found = (found[:, None] * size + kept).reshape(-1)
    return found

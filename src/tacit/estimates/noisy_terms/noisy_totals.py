"""Noisy sums of a column's values and of their squares, in the column's units, from the integers of any form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.noisy_terms.noisy_moments import moments
from tacit.release.parts import Grid, Part


@dataclass(frozen=True)
class ColumnTotals:
    """Noisy sums of x and of x**2 over the rows of m cells (with weights w, of w x and its square), absent rows as 0.

    value, squares: shape (m,).  load, square_load: how they react to the k noises of a cell, shape (k,).
    """

    value: Array
    squares: Array
    load: Array
    square_load: Array


def column_totals(part: Part, cells: Array, rows: int | None) -> ColumnTotals:
    """Decode integers, shape (m, k), of a part that has a grid; `rows` is the public size, which plain forms need."""
    grid = cast(Grid, part.grid)
    if part.form == "total":
        step = (grid.upper - grid.lower) / part.parameters["G"]
        load = np.array([[step], [step**2]]) * _from_zero(part.parameters)
        value, squares = load @ cells.T
        return ColumnTotals(value, squares, load[0], load[1])
    cap = 1.0 if part.weight is None else part.weight.upper
    center, half = cap * (grid.lower + grid.upper) / 2, cap * (grid.upper - grid.lower) / 2
    noisy = moments(part.form, part.parameters, cells, rows)
    # x = c + h u, so x**2 = c**2 + 2 c h u + h**2 u**2, for sums of 1, u and u**2
    weights = np.array([center**2, 2 * center * half, half**2])
    load = center * noisy.loadings[0] + half * noisy.loadings[1]
    value = center * noisy.size + half * noisy.total
    return ColumnTotals(value, weights @ noisy.squares, load, weights @ noisy.square_loadings)


def _from_zero(parameters: Mapping[str, int]) -> Array:
    """Return how sums of y and y**2, y in steps from 0, follow from both integers of the form `total`, shape (2, 2).

    y (a + b - y) = c T, but for floors of at most c a row, gives y**2 (see `method.shared.encoding.total`).
    """
    G, offset = parameters["G"], parameters["offset"]
    return np.array([[1.0, 0.0], [min(0, offset) + max(0, offset + G), -parameters["divisor"]]])

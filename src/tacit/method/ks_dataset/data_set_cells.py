"""The public cells of a column: their edges and what a cell stands for.  No data here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import QueryError
from tacit.method.shared.numeric_columns import map_to_bins, multiples, numeric
from tacit.release.parts import Variable
from tacit.rows.row_map import KeyMap
from tacit.schema import Schema


def variable(schema: Schema, name: str) -> Variable:
    """Return the public facts of a column; QueryError Q10, Q12 (no bounds), Q13 (no numbers), Q263 (one value)."""
    made = numeric(schema, name, "a data set", recorded=True)
    if len(edges(made, 2)) < 3:
        text = f"column {name!r} has too few values for a data set."
        raise QueryError(text, code="Q263", hint=f'Count(), or wider bounds of "{name}" in the schema')
    return made


def variable_of(release: Any) -> Variable:
    """Return the public facts of the column of a release, real or simulated."""
    return release.variables[0]


def edges(one: Variable, cells: int) -> Array:
    """Return the edges of the cells, ends included; a whole number v is [v - 1/2, v + 1/2], a day d is [d, d + 1].

    Declared multiples have the unit around them.

    >>> edges(Variable("x", "integer", 1, 4), 100).tolist()
    [0.5, 1.5, 2.5, 3.5, 4.5]
    """
    if (values := multiples(one)) is not None:
        count = values.count
        begin = sorted({values.first - (-count * i // cells) for i in range(1, cells)})
        return np.array([values.ends[0], *values.edges(begin), values.ends[1]])
    low, high = one.lower, one.upper
    if one.kind == "real":
        # bit for bit those of `schema.row_maps_of_columns`
        return np.array([low, *(low + (high - low) * i / cells for i in range(1, cells)), high])
    # whole numbers and days: the first value of each cell
    last = int(high) + (1 if one.kind == "integer" else 0)
    firsts = sorted({math.ceil(low + (last - low) * i / cells) for i in range(1, cells)} - {int(low), last})
    beside = 0.5 if one.kind == "integer" else 0.0
    return np.array([low - beside, *(first - beside for first in firsts), high + (0.5 if beside else 1.0)])


def key(schema: Schema, one: Variable, cells: int) -> KeyMap:
    """Return the map of the column's cells of the table to the cells of the grid."""
    return map_to_bins(schema, one, edges(one, cells)[1:-1].tolist())

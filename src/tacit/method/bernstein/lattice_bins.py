"""The public bins of a column whose distribution function is asked for."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tacit.method.shared.numeric_columns import inner_edges, support
from tacit.release.parts import Variable

MOST_BINS: Final = 1_024
"""Most bins of whole numbers, days or declared multiples."""


def bin_edges(one: Variable, degree: int) -> tuple[float, ...]:
    """Return the inner edges of a column's bins: the lattice, or one bin for each whole number or day, where few.

    Declared multiples have bins as whole numbers have.
    """
    found = inner_edges(one, degree if _continuous(one) else MOST_BINS)
    if one.kind == "integer" and one.upper - one.lower >= MOST_BINS:
        # halfway between two whole numbers, where those of few already are
        found = tuple(math.floor(x) - 0.5 for x in found)
    return found


def unit_edges(one: Variable, degree: int) -> tuple[float, ...]:
    """Return the edges of a column's bins on [0, 1].

    >>> unit_edges(Variable("x", "integer", 1, 4), 3)
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    if _continuous(one):
        # the lattice itself, so that each row adds 0 or 1
        return tuple(j / degree for j in range(degree + 1))
    low, high = support(one)
    ends = np.array([low, *bin_edges(one, degree), high])
    return tuple(float(x) for x in (ends - low) / (high - low))


def scale_of(one: Variable, fine: int) -> int:
    """Return S: 1 of real columns, whose lattice values are edges."""
    return 1 if _continuous(one) else fine


def _continuous(one: Variable) -> bool:
    """Return whether values may be any real numbers."""
    return one.kind == "real" and one.multiple_of is None

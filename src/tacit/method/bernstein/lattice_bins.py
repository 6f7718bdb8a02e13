"""The public bins of a column whose distribution function is asked for."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tacit.release.parts import Variable

MOST_BINS: Final = 1_024
"""Most bins of whole numbers or days."""


def bin_edges(one: Variable, degree: int) -> tuple[float, ...]:
    """Return the inner edges of a column's bins: the lattice, or one bin for each whole number or day, where few."""
    low, high = one.lower, one.upper
    if one.kind == "real":
        return tuple(low + (high - low) * j / degree for j in range(1, degree))
    if one.kind == "integer" and high - low < MOST_BINS:
        return tuple(float(v) - 0.5 for v in range(int(low) + 1, int(high) + 1))
    if one.kind == "date" and high - low < MOST_BINS:
        # the last bin holds the last two days, as bins of dates do
        return tuple(float(day) for day in range(int(low) + 1, int(high)))
    found = [low + (high - low) * i / MOST_BINS for i in range(1, MOST_BINS)]
    return tuple(math.floor(x) - 0.5 if one.kind == "integer" else float(math.floor(x)) for x in found)


def unit_edges(one: Variable, degree: int) -> tuple[float, ...]:
    """Return the edges of a column's bins on [0, 1].

    >>> unit_edges(Variable("x", "integer", 1, 4), 3)
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    if one.kind == "real":
        # the lattice itself, so that each row adds 0 or 1
        return tuple(j / degree for j in range(degree + 1))
    low, high = support(one)
    ends = np.array([low, *bin_edges(one, degree), high])
    return tuple(float(x) for x in (ends - low) / (high - low))


def support(one: Variable) -> tuple[float, float]:
    """Return the ends of a column's support: a whole number v is [v - 1/2, v + 1/2], a day d is [d, d + 1]."""
    beside = {"integer": (0.5, 0.5), "date": (0.0, 1.0)}.get(one.kind, (0.0, 0.0))
    return one.lower - beside[0], one.upper + beside[1]


def scale_of(one: Variable, fine: int) -> int:
    """Return S: 1 of real columns, whose lattice values are edges."""
    return 1 if one.kind == "real" else fine

"""Simulated releases: given integers in the parts of a measurement.  No data here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.method.shared.measurement import Measurement
from tacit.release.parts import Part
from tacit.release.simulated import SimulatedRelease


def simulated(shape: Measurement, integers: tuple[NDArray[np.int64], ...]) -> SimulatedRelease:
    """Return a simulated release of these noisy integers, one array of shape (cells, k) for each part."""
    parts = tuple(
        replace(part, integers=tuple(tuple(int(x) for x in cell) for cell in noisy))
        for part, noisy in zip(empty_parts(shape), integers, strict=True)
    )
    unit = None if shape.unit is None else shape.max_rows
    facts = (shape.query, "simulated", shape.neighbors, shape.rows, shape.levels, parts, shape.cost, unit)
    return SimulatedRelease(*facts, axes=shape.axes, ordered=shape.ordered, variables=shape.variables)


def empty_parts(shape: Measurement) -> tuple[Part, ...]:
    """Return the parts of a release of this measurement, without integers."""
    return tuple(column.released(()) for column in shape.columns)
